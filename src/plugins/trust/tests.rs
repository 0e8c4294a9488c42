//! What a plugin's parts are, and what of a change concerns which.

use std::path::Path;

use super::part::{Part, PartKind};
use super::record::{Owner, Record};
use super::{Trust, Waits};
use crate::Symposium;
use crate::config::TrustPrograms;
use crate::plugins::manifest::Strictness;
use crate::plugins::model::Plugin;
use crate::plugins::registry::scan;
use crate::workspace::UNOBSERVED;

const MANIFEST: &str = r#"
name = "p"
crates = ["*"]
[[hooks]]
name = "a"
event = "PreToolUse"
command = { script = "bin/a.sh" }
[[hooks]]
name = "b"
event = "PreToolUse"
command = { script = "bin/b.sh" }
[[mcp_servers]]
name = "far"
command = "npx"
args = ["docs"]
env = { TOKEN = "secret-1" }
"#;

/// A folder with the plugin, and a context in which the user is asked.
fn plugin_folder() -> (tempfile::TempDir, Symposium) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), "p/SYMPOSIUM.toml", MANIFEST);
    write(dir.path(), "p/bin/a.sh", ". ./bin/used-by-a.sh\n");
    write(dir.path(), "p/bin/b.sh", "exit 0\n");
    write(dir.path(), "p/bin/used-by-a.sh", "x=1\n");
    write(dir.path(), "p/README.md", "about\n");
    let mut sym = Symposium::from_dir(&dir.path().join("home"));
    sym.config.trust_programs = TrustPrograms::Ask;
    (dir, sym)
}

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
    std::fs::write(path, text).expect("writes");
}

fn plugin(dir: &Path) -> Plugin {
    scan("s", dir, Strictness::Load, &UNOBSERVED).plugins.remove(0)
}

fn allow(dir: &Path, sym: &Symposium) {
    let plugin = plugin(dir);
    let parts = Trust::of(sym, &UNOBSERVED).parts(&plugin);
    let mut record = Record::of(&Owner::of(&plugin));
    record.parts = parts.as_ref().clone().expect("few files");
    record.save(&sym.dirs.trust()).expect("writes");
}

/// What waits, of `hook a`, `hook b` and `server far`.
fn waits(dir: &Path, sym: &Symposium) -> [Option<Waits>; 3] {
    let (plugin, trust) = (plugin(dir), Trust::of(sym, &UNOBSERVED));
    [(PartKind::Hook, "a"), (PartKind::Hook, "b"), (PartKind::Server, "far")]
        .map(|(kind, name)| trust.waits(&plugin, kind, name))
}

const CHANGED: Option<Waits> = Some(Waits::Changed);

#[test]
fn nothing_runs_before_it_is_allowed_and_all_does_afterwards() {
    let (dir, mut sym) = plugin_folder();
    assert_eq!(waits(dir.path(), &sym), [Some(Waits::New); 3]);
    allow(dir.path(), &sym);
    assert_eq!(waits(dir.path(), &sym), [None; 3]);
    sym.config.trust_programs = TrustPrograms::Source;
    std::fs::remove_dir_all(sym.dirs.trust()).expect("removes");
    assert_eq!(waits(dir.path(), &sym), [None; 3]);
}

#[test]
fn a_change_concerns_exactly_what_could_run_it() {
    let changes: &[(&str, &str, [Option<Waits>; 3])] = &[
        ("p/bin/a.sh", "exit 1\n", [CHANGED, None, None]),
        // Nobody knows what of the plugin uses a script that no entry names.
        ("p/bin/used-by-a.sh", "x=2\n", [CHANGED, CHANGED, None]),
        ("p/bin/new.py", "pass\n", [CHANGED, CHANGED, None]),
        ("p/README.md", "more\n", [None; 3]),
        ("p/SYMPOSIUM.toml", &MANIFEST.replace("docs", "other"), [None, None, CHANGED]),
        ("p/SYMPOSIUM.toml", &MANIFEST.replace("secret-1", "2"), [None, None, CHANGED]),
        (
            "p/SYMPOSIUM.toml",
            &MANIFEST.replacen("PreToolUse", "PostToolUse", 1),
            [CHANGED, None, None],
        ),
        ("p/SYMPOSIUM.toml", &MANIFEST.replace("[\"*\"]", "[\"serde\"]"), [CHANGED; 3]),
    ];
    for (path, text, expected) in changes {
        let (dir, sym) = plugin_folder();
        allow(dir.path(), &sym);
        write(dir.path(), path, text);
        assert_eq!(waits(dir.path(), &sym), *expected, "{path}: {text}");
    }
}

#[test]
fn a_script_in_the_folder_of_another_plugin_counts_for_whoever_names_it() {
    let (dir, sym) = plugin_folder();
    write(dir.path(), "p/SYMPOSIUM.toml", &MANIFEST.replace("bin/a.sh", "inner/a.sh"));
    write(dir.path(), "p/inner/SYMPOSIUM.toml", "name = \"inner\"\n");
    write(dir.path(), "p/inner/a.sh", "exit 0\n");
    write(dir.path(), "p/inner/b.sh", "exit 0\n");
    allow(dir.path(), &sym);
    write(dir.path(), "p/inner/b.sh", "exit 1\n");
    assert_eq!(waits(dir.path(), &sym), [None; 3]);
    write(dir.path(), "p/inner/a.sh", "exit 1\n");
    assert_eq!(waits(dir.path(), &sym), [CHANGED, None, None]);
}

#[test]
fn a_file_that_is_gone_brings_nothing_new_and_one_that_comes_back_must_be_the_same() {
    let (dir, sym) = plugin_folder();
    allow(dir.path(), &sym);
    for path in ["p/bin/a.sh", "p/bin/used-by-a.sh"] {
        std::fs::remove_file(dir.path().join(path)).expect("removes");
    }
    assert_eq!(waits(dir.path(), &sym), [None; 3]);
    write(dir.path(), "p/bin/a.sh", "exit 1\n");
    assert_eq!(waits(dir.path(), &sym), [CHANGED, None, None]);
}

#[test]
fn a_denial_holds_whatever_the_configuration_says_and_is_not_lost_with_its_file() {
    let (dir, mut sym) = plugin_folder();
    let owner = Owner::new("s", "p");
    let record = Record { denied: true, ..Record::of(&owner) };
    record.save(&sym.dirs.trust()).expect("writes");
    sym.config.trust_programs = TrustPrograms::Source;
    assert_eq!(waits(dir.path(), &sym), [Some(Waits::Denied); 3]);
    let file = std::fs::read_dir(sym.dirs.trust()).expect("reads").next().expect("one");
    std::fs::write(file.expect("reads").path(), "{").expect("writes");
    assert_eq!(waits(dir.path(), &sym), [Some(Waits::Unreadable); 3]);
}

#[test]
fn secrets_are_in_no_record() {
    let (dir, sym) = plugin_folder();
    allow(dir.path(), &sym);
    let file = std::fs::read_dir(sym.dirs.trust()).expect("reads").next().expect("one");
    let text = std::fs::read_to_string(file.expect("reads").path()).expect("reads");
    assert!(text.contains("TOKEN") && !text.contains("secret-1"), "{text}");
}

#[test]
fn a_record_read_by_itself_says_what_was_allowed() {
    let (dir, sym) = plugin_folder();
    let parts = Trust::of(&sym, &UNOBSERVED).parts(&plugin(dir.path()));
    let parts: &[Part] = parts.as_ref().as_ref().expect("few files");
    assert_eq!(
        parts[0].lines,
        ["event: PreToolUse", "format: symposium", "runs: sh bin/a.sh", "timeout: 30s", "where: *",]
    );
    assert_eq!(parts[0].files.keys().collect::<Vec<_>>(), ["bin/a.sh", "bin/used-by-a.sh"]);
    assert_eq!(parts[0].files["bin/a.sh"].text.as_deref(), Some(". ./bin/used-by-a.sh\n"));
    assert_eq!(parts[2].lines[0], "runs: npx docs (with TOKEN)");
    assert!(parts[2].files.is_empty());
}
