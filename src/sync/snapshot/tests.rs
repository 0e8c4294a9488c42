//! What is stored, and when it counts.

#[cfg(unix)]
use sha2::{Digest as _, Sha256};

use super::*;

fn snapshot(root: &Path) -> Snapshot {
    let hook = |name: &str| SnapshotHook {
        plugin: "p".to_owned(),
        name: name.to_owned(),
        matcher: Some("Bash".to_owned()),
        format: "symposium".to_owned(),
        timeout: 1000,
        on_failure: OnFailure::Block,
        run: Run { argv: Some(vec!["/bin/x".to_owned()]), ..Run::default() },
        ..SnapshotHook::default()
    };
    let skill = SnapshotSkill {
        name: "s".to_owned(),
        description: "two\nlines".to_owned(),
        dirs: vec![".agents/skills/s".to_owned()],
        since: 7,
    };
    Snapshot {
        header: Header {
            layout: 0,
            program: "1.0.0".to_owned(),
            root: root.to_path_buf(),
            fingerprint: Fingerprint::of([root.join("Cargo.lock")]),
            env: vec![("A".to_owned(), None), ("B".to_owned(), Some("1".to_owned()))],
            changed_at: 5,
            servers: vec!["docs".to_owned()],
            refreshable: false,
            outside: false,
            unsynced: false,
            failed: false,
            hooks: BTreeMap::new(),
        },
        hooks: [(Event::PreToolUse, vec![hook("one"), hook("two")])].into(),
        offer: Offer { skills: vec![skill], ..Offer::default() },
        member_entry_dirs: vec![root.join("a")],
    }
}

#[test]
fn what_was_stored_is_read_and_holds_while_nothing_changed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (root, path) = (dir.path(), dir.path().join("s/snapshot"));
    let made = snapshot(root);
    made.clone().store().expect("JSON").save(&path).expect("writes");
    let read = Stored::load(&path, "1.0.0", root).expect("is there");
    assert_eq!((read.count(Event::PreToolUse), read.count(Event::PostToolUse)), (2, 0));
    assert_eq!(read.hooks(Event::PreToolUse), made.hooks[&Event::PreToolUse]);
    assert_eq!(read.hooks(Event::SessionStart), []);
    assert_eq!(read.offer(), made.offer);
    assert!(read.is_found_from(root) && read.is_found_from(&root.join("a")));
    assert!(!read.is_found_from(&root.join("b")));
    let env = |vars: &[(&str, &str)]| Environment::with(root, vars.iter().copied());
    assert!(read.holds(&env(&[("B", "1")])));
    assert!(!read.holds(&env(&[("B", "2")])), "a variable that a gate looked at");
    assert!(!read.holds(&env(&[("B", "1"), ("A", "x")])));
    std::fs::write(root.join("Cargo.lock"), "").expect("writes");
    assert!(!read.holds(&env(&[("B", "1")])), "a file that was not there");
}

#[test]
fn what_is_not_ours_to_understand_counts_as_absent() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (root, path) = (dir.path(), dir.path().join("snapshot"));
    snapshot(root).store().expect("JSON").save(&path).expect("writes");
    assert!(Stored::load(&path, "1.0.1", root).is_none(), "of another program");
    assert!(Stored::load(&path, "1.0.0", &root.join("x")).is_none(), "of another workspace");
    let text = std::fs::read_to_string(&path).expect("reads");
    let before = text.replace(&format!("\"layout\":{LAYOUT}"), "\"layout\":9");
    for broken in ["", "{", "\n\n", &before] {
        std::fs::write(&path, broken).expect("writes");
        assert!(Stored::load(&path, "1.0.0", root).is_none(), "{broken:.20}");
    }
    // Half a file, as no writer of ours leaves it: hooks that can't be read are none.
    let first_line = text.find('\n').expect("several lines");
    std::fs::write(&path, &text[..first_line + 10]).expect("writes");
    let half = Stored::load(&path, "1.0.0", root).expect("the first line is whole");
    assert_eq!((half.hooks(Event::PreToolUse).len(), half.offer()), (0, Offer::default()));
}

#[test]
fn what_was_new_when_the_sync_began_is_read_by_no_event_after_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let lock = dir.path().join("Cargo.lock");
    std::fs::write(&lock, "version = 4").expect("writes");
    let mut snapshot = snapshot(dir.path());
    snapshot.header.fingerprint = Fingerprint::of([&lock]);
    snapshot.header.fingerprint.wait_until_old();
    let stored = snapshot.store().expect("JSON");
    assert_eq!(Fingerprint::from_bytes(stored.fingerprint()), Some(Fingerprint::of([&lock])));
}

#[cfg(unix)]
fn sample() -> Stored {
    let mut snapshot = snapshot(Path::new("/ws"));
    snapshot.header.fingerprint = Fingerprint::sample();
    snapshot.store().expect("JSON")
}

/// Where this fails, raise [`LAYOUT`], and then correct what is expected.
#[cfg(unix)]
#[test]
fn other_bytes_have_another_layout() {
    let stored = sample();
    let hash = crate::text::hex(&Sha256::digest(&stored.bytes)[..8]);
    assert_eq!((LAYOUT, hash.as_str()), (11, "864efeed7994327a"));
}

/// `UPDATE_EXPECT=1` writes it anew.
#[cfg(unix)]
#[test]
fn the_fuzzer_begins_with_a_snapshot_of_this_layout() {
    let stored = sample();
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/snapshot/sample");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&seed, &stored.bytes).expect("writes");
    }
    assert!(std::fs::read(&seed).expect("reads") == stored.bytes, "{}", seed.display());
}

#[test]
fn a_program_that_is_missing_is_found_out_before_it_is_started() {
    let run = |argv: &[&str]| Run {
        argv: Some(argv.iter().map(|&word| word.to_owned()).collect()),
        ..Run::default()
    };
    assert!(Run::default().missing().is_some());
    assert!(run(&[]).missing().is_some());
    assert_eq!(run(&["sh"]).missing(), None);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let gone = dir.path().join("x.sh").display().to_string();
    for argv in [vec!["sh", &*gone], vec![&gone]] {
        assert_eq!(run(&argv).missing(), Some(format!("there is no {gone}")));
    }
    assert_eq!(run(&["named"]).missing(), None);
}
