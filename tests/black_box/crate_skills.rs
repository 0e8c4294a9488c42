//! Skills from crates' own sources (F138–F151).

use crate::{NO_BUILTIN, sandbox, skill};
use symposium_testlib::Sandbox;

fn ready(dependencies: &[(&str, &str)], crates: &str) -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.package(dependencies);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!("name = \"p\"\ncrates = [{crates}]\n[[skills]]\nsource = \"crate\"\n"),
    );
    sandbox
}

fn sync(sandbox: &Sandbox) -> (Vec<String>, String) {
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude", "-v"]).ok();
    let mut names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    (names, run.stderr)
}

fn manifest(name: &str, version: &str, metadata: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n\n{metadata}")
}

#[test]
fn f139_f140_the_exact_version_s_skills_folder_is_used() {
    let sandbox = ready(&[("widget", "1.2.0")], "\"widget\"");
    sandbox.registry_crate("widget", "1.2.0", &[("skills/new/SKILL.md", &skill("new", "n"))]);
    sandbox.registry_crate("widget", "1.1.0", &[("skills/old/SKILL.md", &skill("old", "o"))]);
    assert_eq!(sync(&sandbox).0, ["new"]);
}

#[test]
fn f138_a_path_dependency_and_a_vendored_crate_are_read_where_they_are() {
    let sandbox = ready(&[], "\"local\", \"vendored\"");
    sandbox.write("ws/Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\nlocal = { path = \"local\" }\nvendored = \"0.3\"\n");
    sandbox.write("ws/local/Cargo.toml", manifest("local", "0.2.0", ""));
    sandbox.write("ws/local/src/lib.rs", "");
    sandbox.write("ws/local/skills/at-home/SKILL.md", skill("at-home", "h"));
    sandbox.write("ws/Cargo.lock", "version = 4\n\n[[package]]\nname = \"local\"\nversion = \"0.2.0\"\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\ndependencies = [\n \"local\",\n \"vendored\",\n]\n\n[[package]]\nname = \"vendored\"\nversion = \"0.3.1\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n");
    sandbox.write(
        "ws/.cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"vendor\"\n[source.vendor]\ndirectory = \"vendor\"\n",
    );
    sandbox.write("ws/vendor/vendored/Cargo.toml", manifest("vendored", "0.3.1", ""));
    sandbox.write("ws/vendor/vendored/skills/kept/SKILL.md", skill("kept", "k"));
    assert_eq!(sync(&sandbox).0, ["at-home", "kept"]);
}

#[test]
fn f142_an_empty_list_is_an_opt_out() {
    let sandbox = ready(&[("widget", "1.0.0")], "\"widget\"");
    let toml = manifest("widget", "1.0.0", "[package.metadata.symposium]\nskills = []\n");
    sandbox.registry_crate(
        "widget",
        "1.0.0",
        &[("Cargo.toml", &toml), ("skills/a/SKILL.md", &skill("a", "a"))],
    );
    assert!(sync(&sandbox).0.is_empty());
}

#[test]
fn f143_a_path_entry_replaces_the_default_and_a_missing_one_is_silent() {
    let sandbox = ready(&[("widget", "1.0.0")], "\"widget\"");
    let toml = manifest(
        "widget",
        "1.0.0",
        "[[package.metadata.symposium.skills]]\npath = \"guide\"\n[[package.metadata.symposium.skills]]\npath = \"gone\"\n",
    );
    sandbox.registry_crate(
        "widget",
        "1.0.0",
        &[
            ("Cargo.toml", &toml),
            ("skills/a/SKILL.md", &skill("a", "a")),
            ("guide/b/SKILL.md", &skill("b", "b")),
        ],
    );
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["b"]);
    assert!(!talk.contains("warning"), "{talk}");
}

#[test]
fn f144_f146_a_redirect_leads_to_a_crate_that_is_no_dependency() {
    let sandbox = ready(&[("widget", "1.0.0")], "\"widget\"");
    let toml = manifest(
        "widget",
        "1.0.0",
        "[[package.metadata.symposium.skills]]\ncrate = { name = \"widget-guide\", version = \"<2\" }\n",
    );
    sandbox.registry_crate("widget", "1.0.0", &[("Cargo.toml", &toml)]);
    for version in ["1.0.0", "1.5.0", "2.0.0"] {
        let name = format!("v{}", version.replace('.', "-"));
        sandbox.registry_crate(
            "widget-guide",
            version,
            &[(&format!("skills/{name}/SKILL.md"), &skill(&name, "g"))],
        );
    }
    assert_eq!(sync(&sandbox).0, ["v1-5-0"]);
}

#[test]
fn f148_f149_a_circle_ends_with_a_warning() {
    let sandbox = ready(&[("my-a", "1.0.0")], "\"my-a\"");
    let to = |name: &str| {
        format!(
            "[[package.metadata.symposium.skills]]\npath = \"skills\"\n[[package.metadata.symposium.skills]]\ncrate = {{ name = \"{name}\" }}\n"
        )
    };
    sandbox.registry_crate(
        "my-a",
        "1.0.0",
        &[
            ("Cargo.toml", &manifest("my-a", "1.0.0", &to("my-b"))),
            ("skills/a/SKILL.md", &skill("a", "a")),
        ],
    );
    sandbox.registry_crate(
        "my-b",
        "1.0.0",
        &[
            ("Cargo.toml", &manifest("my-b", "1.0.0", &to("my_a"))),
            ("skills/b/SKILL.md", &skill("b", "b")),
        ],
    );
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["a", "b"]);
    assert!(talk.contains("warning"), "{talk}");
}

#[test]
fn f150_a_diamond_is_installed_once() {
    let sandbox = ready(&[("left", "1.0.0"), ("right", "1.0.0")], "\"left\", \"right\"");
    let metadata = "[[package.metadata.symposium.skills]]\ncrate = { name = \"shared\" }\n";
    for name in ["left", "right"] {
        sandbox.registry_crate(
            name,
            "1.0.0",
            &[("Cargo.toml", &manifest(name, "1.0.0", metadata))],
        );
    }
    sandbox.registry_crate("shared", "1.0.0", &[("skills/s/SKILL.md", &skill("s", "s"))]);
    assert_eq!(sync(&sandbox).0, ["s"]);
}

#[test]
fn f141_malformed_metadata_is_a_warning_and_the_default_serves() {
    let sandbox = ready(&[("widget", "1.0.0")], "\"widget\"");
    let toml = manifest("widget", "1.0.0", "[package.metadata.symposium]\nskills = \"all\"\n");
    sandbox.registry_crate(
        "widget",
        "1.0.0",
        &[("Cargo.toml", &toml), ("skills/a/SKILL.md", &skill("a", "a"))],
    );
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["a"]);
    assert!(talk.contains("warning") && talk.contains("Cargo.toml:"), "{talk}");
}

#[test]
fn f151_only_the_crates_that_are_there_count() {
    let sandbox = ready(&[("foo", "1.0.0")], "\"foo\", \"bar\", \"baz\"");
    sandbox.registry_crate("foo", "1.0.0", &[("skills/f/SKILL.md", &skill("f", "f"))]);
    sandbox.registry_crate("bar", "1.0.0", &[("skills/b/SKILL.md", &skill("b", "b"))]);
    assert_eq!(sync(&sandbox).0, ["f"]);
}

#[test]
fn a_crate_that_is_not_on_disk_is_reported_and_the_rest_goes_on() {
    let sandbox = ready(&[("foo", "1.0.0"), ("bar", "1.0.0")], "\"foo\", \"bar\"");
    sandbox.registry_crate("foo", "1.0.0", &[("skills/f/SKILL.md", &skill("f", "f"))]);
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["f"]);
    assert!(talk.contains("bar 1.0.0"), "{talk}");
}

#[test]
fn f132_decision_22_crate_path_is_tried_first() {
    let sandbox = ready(&[("widget", "1.0.0")], "\"widget\"");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.crate_path = \"agent\"\n",
    );
    sandbox.registry_crate(
        "widget",
        "1.0.0",
        &[("agent/a/SKILL.md", &skill("a", "a")), ("skills/b/SKILL.md", &skill("b", "b"))],
    );
    assert_eq!(sync(&sandbox).0, ["a"]);
}

#[test]
fn a_skill_s_own_crates_narrow_and_never_widen() {
    let sandbox = ready(&[("widget", "1.0.0")], "\"widget\"");
    let narrowed = |name: &str, crates: &str| {
        format!("---\nname: {name}\ndescription: d\ncrates: {crates}\n---\nb\n")
    };
    sandbox.registry_crate(
        "widget",
        "1.0.0",
        &[
            ("skills/yes/SKILL.md", &narrowed("yes", "widget>=1")),
            ("skills/no/SKILL.md", &narrowed("no", "tokio")),
            ("skills/old/SKILL.md", &narrowed("old", "widget<1")),
        ],
    );
    assert_eq!(sync(&sandbox).0, ["yes"]);
}

#[test]
fn an_override_of_cargos_gives_its_own_skills_and_not_the_registrys() {
    let overrides: [(&str, &str, &str); 2] = [
        ("paths", "paths = [\"../local/widget\"]\n", ""),
        ("[replace]", "", "[replace]\n\"widget:1.2.0\" = { path = \"../local/widget\" }\n"),
    ];
    for (name, config, replace) in overrides {
        let sandbox = ready(&[("widget", "1.2.0")], "\"widget\"");
        sandbox.registry_crate("widget", "1.2.0", &[("skills/old/SKILL.md", &skill("old", "o"))]);
        sandbox.write("local/widget/Cargo.toml", manifest("widget", "1.2.0", ""));
        sandbox.write("local/widget/skills/mine/SKILL.md", skill("mine", "m"));
        assert_eq!(sync(&sandbox).0, ["old"], "{name}");
        sandbox.write("ws/.cargo/config.toml", config);
        let package = sandbox.read("ws/Cargo.toml");
        sandbox.write("ws/Cargo.toml", format!("{package}\n{replace}"));
        assert_eq!(sync(&sandbox).0, ["mine"], "{name}");
    }
}
