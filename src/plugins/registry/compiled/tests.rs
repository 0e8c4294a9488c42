#[cfg(unix)]
use sha2::{Digest as _, Sha256};

use super::*;

fn state(root: &Path) -> SourceState {
    SourceState {
        is_teams: false,
        name: "mine".to_owned(),
        kind: SourceKind::Path,
        location: root.display().to_string(),
        place: root.display().to_string(),
        root: Some(root.to_path_buf()),
        commit: None,
        reference: None,
        fetched_at: None,
        pin: None,
        outcome: None,
        notice: None,
        is_told: false,
        observed: Fingerprint::default(),
    }
}

fn plugins(content: &Content) -> Vec<&Plugin> {
    let whole = content.plugins.iter().filter_map(|found| match found {
        Found::Plugin(plugin) => Some(&**plugin),
        Found::PassedOver { .. } => None,
    });
    whole.collect()
}

fn names(content: &Content) -> Vec<&str> {
    plugins(content).into_iter().map(|plugin| plugin.name.as_str()).collect()
}

#[test]
fn what_was_remembered_is_what_is_there_after_every_change() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(&dir.path().join("home"));
    let root = dir.path().join("source");
    let plugin = |name: &str, crates: &str| {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder).expect("creates");
        let text = format!("name = \"{name}\"\ncrates = [\"{crates}\"]\n");
        std::fs::write(folder.join("SYMPOSIUM.toml"), text).expect("writes");
    };
    let pause = || std::thread::sleep(std::time::Duration::from_millis(30));
    plugin("a", "x>=1.2, <2");
    pause();
    let state = state(&root);
    let first = scan_cached((&dirs, true), &state, &root, None);
    let again = scan_cached((&dirs, true), &state, &root, None);
    assert!(file(&dirs, &state).exists(), "it is remembered");
    assert_eq!(first.plugins, again.plugins);
    assert!(again.fingerprint.as_ref().expect("a path source").holds());
    plugin("b", "y");
    assert_eq!(names(&scan_cached((&dirs, true), &state, &root, None)), ["a", "b"]);
    plugin("a", "z");
    let changed = scan_cached((&dirs, true), &state, &root, None);
    let fresh = scan("mine", &root, Strictness::Load, &UNOBSERVED).plugins;
    assert_eq!(plugins(&changed), fresh.iter().collect::<Vec<_>>());
    std::fs::remove_dir_all(root.join("a")).expect("removes");
    assert_eq!(names(&scan_cached((&dirs, true), &state, &root, None)), ["b"]);
}

#[test]
fn only_plugins_that_cannot_matter_are_passed_over() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(&dir.path().join("home"));
    let root = dir.path().join("source");
    let of_a_crate = "[[skills]]\nsource = \"crate\"\n";
    let subcommand = "[subcommand.s]\ndescription = \"d\"\ncommand = { script = \"s.sh\" }\n";
    for (name, text) in [
        ("any", "crates = [\"*\"]\n".to_owned()),
        ("gated", "crates = [\"other\"]\npredicates = [\"env(A)\"]\n".to_owned()),
        ("group", format!("crates = [\"other\"]\n{of_a_crate}crates = [\"ser-de\"]\n")),
        ("here", "crates = [\"other\", \"ser_de>=9\"]\n".to_owned()),
        ("nowhere", "crates = []\n".to_owned()),
        ("telling", format!("crates = [\"other\"]\n{subcommand}")),
        ("there", format!("crates = [\"other\", \"more>=1\"]\n{of_a_crate}")),
    ] {
        std::fs::create_dir_all(root.join(name)).expect("creates");
        let text = format!("name = \"{name}\"\n{text}");
        std::fs::write(root.join(name).join("SYMPOSIUM.toml"), text).expect("writes");
    }
    std::thread::sleep(std::time::Duration::from_millis(30));
    let depends = |name: &str| crate::text::same_crate(name, "ser-de");
    let state = state(&root);
    let fresh = scan_cached((&dirs, true), &state, &root, Some(&depends));
    let kept = scan_cached((&dirs, true), &state, &root, Some(&depends));
    assert_eq!(fresh.plugins, kept.plugins);
    let diagnostics = &fresh.rest.diagnostics;
    assert!(diagnostics.is_empty() && file(&dirs, &state).exists(), "{diagnostics:?}");
    assert_eq!(names(&kept), ["any", "gated", "group", "here", "telling"]);
    assert_eq!(scan_cached((&dirs, true), &state, &root, None).plugins.len(), 7);
    assert_eq!(names(&scan_cached((&dirs, true), &state, &root, None)).len(), 7);
}

#[test]
fn what_is_not_ours_to_understand_counts_as_absent() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(&dir.path().join("home"));
    let root = dir.path().join("source");
    std::fs::create_dir_all(root.join("a")).expect("creates");
    let text = "name = \"a\"\ncrates = [\"x>=1\"]\npredicates = [\"any(env(A=b), not(env(C)))\"]\n";
    std::fs::write(root.join("a/SYMPOSIUM.toml"), text).expect("writes");
    std::thread::sleep(std::time::Duration::from_millis(30));
    let state = state(&root);
    scan_cached((&dirs, true), &state, &root, None);
    let file = file(&dirs, &state);
    let bytes = std::fs::read(&file).expect("it is remembered");
    let loads =
        |bytes: &[u8], state: &SourceState, root: &Path| load(bytes, state, root, None).is_some();
    assert!(loads(&bytes, &state, &root));
    let yours = SourceState { name: "yours".to_owned(), ..state.clone() };
    assert!(!loads(&bytes, &yours, &root) && !loads(&bytes, &state, dirs.cache()));
    for cut in 0..bytes.len() {
        assert!(!loads(&bytes[..cut], &state, &root), "{cut} of {}", bytes.len());
    }
    // Of another layout, or another program.
    let program = bytes.windows(VERSION.len()).position(|some| some == VERSION.as_bytes());
    for at in [0, program.expect("is there")] {
        let mut other = bytes.clone();
        other[at] += 1;
        assert!(!loads(&other, &state, &root));
    }
}

#[test]
fn what_had_problems_is_told_again() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dirs = Dirs::under(&dir.path().join("home"));
    let root = dir.path().join("source");
    std::fs::create_dir_all(root.join("a")).expect("creates");
    std::fs::write(root.join("a/SYMPOSIUM.toml"), "name = [").expect("writes");
    std::thread::sleep(std::time::Duration::from_millis(30));
    let state = state(&root);
    for _ in 0..2 {
        assert!(!scan_cached((&dirs, true), &state, &root, None).rest.diagnostics.is_empty());
    }
}

/// Where this fails, the bytes of files that others have read differently from now on: raise
/// [`LAYOUT`], and then correct what is expected.
#[cfg(unix)]
#[test]
fn other_bytes_have_another_layout() {
    let text = include_str!("every_key.toml");
    let root = Path::new("/source");
    let place = crate::plugins::manifest::Place {
        source: "mine",
        source_root: root,
        manifest: &root.join("p/SYMPOSIUM.toml"),
    };
    let source = crate::text::Source::new(place.manifest, text);
    let parsed = crate::plugins::manifest::Manifest::parse(source, &place, Strictness::Load);
    assert!(parsed.is_whole && parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let alone = StandaloneSkill {
        source: "mine".to_owned(),
        source_root: root.to_path_buf(),
        dir: root.join("alone"),
        path: "alone".to_owned(),
    };
    let scan = Scan {
        plugins: parsed.plugin.into_iter().collect(),
        skills: vec![alone],
        ..Scan::default()
    };
    let bytes = packed(&state(root), root, &scan, &Fingerprint::sample()).expect("packs");
    // The program's version in front may change alone.
    let (_, bytes) = postcard::take_from_bytes::<Head>(&bytes).expect("a head");
    let hash = crate::text::hex(&Sha256::digest(bytes)[..8]);
    assert_eq!((LAYOUT, hash.as_str()), (11, "88dea75a876e8d31"));
}
