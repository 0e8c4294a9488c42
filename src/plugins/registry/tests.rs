use std::fs;
use std::path::Path;

use super::scan::Scan;
use super::*;
use crate::fetch::git::testing::{Repo, environment};
use crate::plugins::manifest::Strictness;
use crate::symposium::UpdateLevel;
use crate::workspace::{Observer, UNOBSERVED};

const PLUGIN: &str = "crates = [\"*\"]\n[[skills]]\nsource.path = \".\"\n";

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("inside")).expect("creates");
        fs::write(path, text).expect("writes");
    }
}

fn plugin(name: &str) -> String {
    format!("name = \"{name}\"\n{PLUGIN}")
}

/// Names of the plugins, paths of the skills.
fn names(found: &Scan) -> (Vec<&str>, Vec<&str>) {
    let plugins = found.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    (plugins, found.skills.iter().map(|skill| skill.path.as_str()).collect())
}

fn texts(diagnostics: &[Diagnostic]) -> Vec<String> {
    let text = |problem: &Diagnostic| {
        let text = problem.to_string();
        if cfg!(windows) { text.replace('\\', "/") } else { text }
    };
    diagnostics.iter().map(text).collect()
}

fn context(home: &Path, config: &str) -> Symposium {
    fs::write(home.join("config.toml"), config).expect("writes");
    let mut sym = Symposium::from_dir(home);
    sym.env = environment(home, &[]);
    sym
}

/// No source but the configured ones.
const ALONE: &str =
    "[defaults]\nsymposium-recommendations = false\nuser-plugins = false\nbuiltin = false\n";

#[test]
fn f114_to_f118_folders_are_searched_until_they_are_claimed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (p, q, both) = (plugin("p"), plugin("q"), plugin("both"));
    write(
        dir.path(),
        &[
            ("p/SYMPOSIUM.toml", &p),
            ("p/skills/basic/SKILL.md", "claimed by the plugin"),
            ("p/nested/SYMPOSIUM.toml", &plugin("nested")),
            ("skill/SKILL.md", ""),
            ("skill/inner/SKILL.md", ""),
            ("skill/inner/SYMPOSIUM.toml", &plugin("inner")),
            ("a/b/c/deep/SKILL.md", ""),
            ("mixed/SYMPOSIUM.toml", &both),
            ("mixed/SKILL.md", ""),
            ("z/1/2/3/4/5/SYMPOSIUM.toml", &q),
            ("z/1/2/3/4/5x/6/SKILL.md", ""),
            (".git/x/SKILL.md", ""),
            (".agents/skills/x/SKILL.md", ""),
            ("target/x/SKILL.md", ""),
            ("node_modules/x/SKILL.md", ""),
        ],
    );
    let observer = Observer::default();
    let found = scan("s", dir.path(), Strictness::Load, &observer);
    assert_eq!(names(&found), (vec!["both", "p", "q"], vec!["a/b/c/deep", "skill"]));
    let one = &found.plugins[1];
    assert_eq!((one.source.as_str(), one.source_root.as_path()), ("s", dir.path()));
    assert_eq!(one.dir, dir.path().join("p"));
    let (observed, _) = observer.findings();
    let inputs: Vec<_> = observed.paths().collect();
    for input in ["", "p/SYMPOSIUM.toml", "skill/SKILL.md", "a/b"] {
        assert!(inputs.contains(&dir.path().join(input).as_path()), "{input}");
    }
    assert!(!inputs.iter().any(|input| input.starts_with(dir.path().join("p/skills"))));
}

#[test]
fn the_root_itself_may_be_a_plugin_or_a_skill() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), &[("SKILL.md", ""), ("x/SKILL.md", "")]);
    assert_eq!(names(&scan("s", dir.path(), Strictness::Load, &UNOBSERVED)), (vec![], vec!["."]));
    write(dir.path(), &[("SYMPOSIUM.toml", &plugin("root"))]);
    assert_eq!(
        names(&scan("s", dir.path(), Strictness::Load, &UNOBSERVED)),
        (vec!["root"], vec![])
    );
}

#[test]
fn f123_a_broken_plugin_stops_no_other() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(
        dir.path(),
        &[
            ("a/SYMPOSIUM.toml", "name = = 1\n"),
            ("c/SYMPOSIUM.toml", &"#".repeat(1024 * 1024 + 1)),
            ("d/SYMPOSIUM.toml", &plugin("d")),
        ],
    );
    fs::create_dir_all(dir.path().join("b")).expect("creates");
    fs::write(dir.path().join("b/SYMPOSIUM.toml"), b"name = \"\xff\"\n").expect("writes");
    let found = scan("s", dir.path(), Strictness::Load, &UNOBSERVED);
    assert_eq!(names(&found).0, ["d"]);
    let said = texts(&found.diagnostics);
    for expected in [
        "a/SYMPOSIUM.toml:1:",
        "b/SYMPOSIUM.toml:1:9: this manifest is not UTF-8 text",
        "c/SYMPOSIUM.toml: this manifest is larger than 1 MB",
    ] {
        assert!(said.iter().any(|text| text.contains(expected)), "{expected}: {said:?}");
    }
    assert!(!said.iter().any(|text| text.contains("d/SYMPOSIUM.toml")), "{said:?}");
}

#[cfg(unix)]
#[test]
fn case_84_links_are_followed_inside_only_and_once() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = dir.path().join("root");
    write(
        dir.path(),
        &[
            ("root/real/p/SYMPOSIUM.toml", &plugin("p")),
            ("root/1/2/3/4/5/6/7/SKILL.md", ""),
            ("root/.hidden/SKILL.md", ""),
            ("outside/SYMPOSIUM.toml", &plugin("outside")),
            ("outside/SKILL.md", ""),
        ],
    );
    for (target, link) in [
        ("real/p", "a"),
        ("../root", "around"),
        ("1/2/3/4/5/6/7", "too-deep-without-me"),
        ("../outside", "out"),
        (".hidden", "hidden"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
    ] {
        symlink(target, root.join(link)).expect("links");
    }
    for (target, link) in [
        ("../../outside/SYMPOSIUM.toml", "m/SYMPOSIUM.toml"),
        ("../../outside/SKILL.md", "k/SKILL.md"),
    ] {
        let link = root.join(link);
        fs::create_dir_all(link.parent().expect("inside")).expect("creates");
        symlink(target, link).expect("links");
    }
    let found = scan("s", &root, Strictness::Load, &UNOBSERVED);
    assert_eq!(names(&found), (vec!["p"], vec!["too-deep-without-me"]));
    assert_eq!(found.plugins[0].dir, root.join("real/p"));
    let said = texts(&found.diagnostics);
    for name in ["root/out", "root/m/SYMPOSIUM.toml", "root/k/SKILL.md", "dangling", "root/loop"] {
        assert!(said.iter().any(|text| text.contains(name)), "{name}: {said:?}");
    }
    assert_eq!(said.len(), 5, "{said:?}");
}

#[test]
fn f33_f135_the_first_source_wins_and_the_later_says_which() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(
        dir.path(),
        &[
            ("one/p/SYMPOSIUM.toml", &plugin("p")),
            ("one/q/SYMPOSIUM.toml", &plugin("p")),
            ("plugins/p/SYMPOSIUM.toml", &plugin("p")),
            ("plugins/own/SYMPOSIUM.toml", &plugin("own")),
            ("plugins/mine/SYMPOSIUM.toml", &plugin("symposium")),
        ],
    );
    let sym = context(
        dir.path(),
        "[[plugin-source]]\nname = \"one\"\npath = \"one\"\n\
         [defaults]\nsymposium-recommendations = false\n",
    );
    let registry = Registry::load(&sym, &Refresh::cached());
    let shadows: Vec<_> = registry
        .plugins
        .iter()
        .map(|entry| {
            let by = entry.shadowed_by.as_ref().map(|shadow| shadow.source.as_str());
            (entry.plugin.source.as_str(), entry.plugin.name.as_str(), by)
        })
        .collect();
    assert_eq!(
        shadows,
        [
            ("one", "p", None),
            ("one", "p", Some("one")),
            ("user-plugins", "symposium", None),
            ("user-plugins", "own", None),
            ("user-plugins", "p", Some("one")),
            ("builtin", "cargo-agents", None),
        ]
    );
    assert_eq!(registry.plugin("p").expect("there").dir, dir.path().join("one/p"));
    let reason = registry.plugins[1].shadowed_by.as_ref().expect("shadowed").to_string();
    assert!(reason.contains("the source `one` has a plugin of this name"), "{reason}");
    assert!(registry.diagnostics.is_empty(), "{:?}", registry.diagnostics);
}

#[test]
fn f33_a_plugin_that_is_passed_over_still_has_its_name() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let of = |crates: &str| format!("name = \"p\"\ncrates = [\"{crates}\"]\n");
    write(
        dir.path(),
        &[
            ("one/p/SYMPOSIUM.toml", &of("other")),
            ("plugins/p/SYMPOSIUM.toml", &of("serde")),
            ("plugins/q/SYMPOSIUM.toml", &of("other")),
        ],
    );
    let sym = context(
        dir.path(),
        "[[plugin-source]]\nname = \"one\"\npath = \"one\"\n\
         [defaults]\nsymposium-recommendations = false\nbuiltin = false\n",
    );
    let all = Registry::load(&sym, &Refresh::cached());
    let some = Registry::load_for(&sym, &Refresh::cached(), &|name| name == "serde");
    assert_eq!((all.plugins.len(), some.plugins.len()), (3, 1));
    assert_eq!(some.plugins[0], all.plugins[1]);
    assert_eq!(some.plugins[0].shadowed_by.as_ref().expect("shadowed").source, "one");
    assert_eq!(some.fingerprint, all.fingerprint);
}

#[test]
fn f52_f115_the_central_repository_comes_through_git_with_a_word_about_its_near_miss() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recommendations");
    let repo = Repo::new(dir.path().join("central"));
    for entry in walkdir::WalkDir::new(&fixture) {
        let entry = entry.expect("reads");
        if entry.file_type().is_file() {
            let inside = entry.path().strip_prefix(&fixture).expect("inside");
            let text = fs::read_to_string(entry.path()).expect("reads");
            write(&repo.dir, &[(inside.to_str().expect("UTF-8"), &text)]);
        }
    }
    repo.commit(&[]);
    let mut sym = context(dir.path(), "[defaults]\nuser-plugins = false\n");
    sym.env = environment(dir.path(), &[("SYMPOSIUM_RECOMMENDATIONS_URL", &repo.url())]);

    let registry = Registry::load(&sym, &Refresh::for_command(&sym));
    let plugins: Vec<_> = registry.active().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(plugins, ["battery-packs", "cargo-guard", "dial9", "sqlx-tools", "cargo-agents"]);
    assert_eq!(registry.skills.len(), 1);
    assert_eq!(registry.skills[0].path, "salsa-queries");
    let said = texts(&registry.diagnostics);
    assert!(said.len() == 1 && said[0].contains("rtk/rtk.toml"), "{said:?}");

    // A git source costs a fingerprint one file, whatever it holds.
    let cache = sym.dirs.plugin_sources();
    let (in_cache, others): (Vec<_>, Vec<_>) =
        registry.fingerprint.paths().partition(|input| input.starts_with(&cache));
    assert_eq!((in_cache.len(), others.len()), (1, 0), "{others:?}");
    assert!(in_cache[0].is_file());

    let again = Registry::load(&sym, &Refresh::cached());
    assert_eq!(again.plugins, registry.plugins);
    assert!(again.fingerprint.paths().eq(registry.fingerprint.paths()));
}

#[test]
fn f122_a_first_run_without_a_network_works_with_the_rest() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut sym = context(dir.path(), "");
    sym.options.offline = true;
    let registry = Registry::load(&sym, &Refresh::for_command(&sym));
    assert_eq!(registry.active().count(), 1);
    assert!(registry.diagnostics.is_empty(), "{:?}", registry.diagnostics);
    let told: Vec<_> = registry.sources.iter().filter_map(|source| source.notice.clone()).collect();
    assert_eq!(told, ["offline, not fetched yet"]);
}

#[test]
fn an_unknown_source_is_named_with_those_in_force() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let sym = context(dir.path(), ALONE);
    let registry = Registry::load(&sym, &Refresh::for_plugin_sync(&sym, Some("acme")));
    assert!(registry.diagnostics[0].is_error());
    assert!(registry.diagnostics[0].message.contains("no plugin source `acme`"));
}

#[test]
fn decision_27_the_built_in_plugin_has_nothing_to_complain_about() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = crate::plugins::builtin::materialise(dir.path()).expect("writes");
    let found = scan("builtin", &root, Strictness::Validate, &UNOBSERVED);
    assert_eq!(names(&found), (vec!["cargo-agents"], vec![]));
    assert!(found.diagnostics.is_empty(), "{:?}", texts(&found.diagnostics));
}

#[test]
fn for_a_command_none_means_none() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let repo = Repo::new(dir.path().join("central"));
    repo.commit(&[("p/SYMPOSIUM.toml", &plugin("p"))]);
    let config = format!("{ALONE}[[plugin-source]]\nname = \"acme\"\ngit = \"{}\"\n", repo.url());
    let mut sym = context(dir.path(), &config);
    sym.options.update = Some(UpdateLevel::None);
    let registry = Registry::load(&sym, &Refresh::for_command(&sym));
    let notice = registry.sources[0].notice.as_deref();
    assert_eq!(notice, Some("not fetched yet; `cargo agents plugin sync acme` fetches it"));
    assert!(registry.diagnostics.is_empty());
    sym.options.update = None;
    assert_eq!(Registry::load(&sym, &Refresh::for_command(&sym)).active().count(), 1);
}
