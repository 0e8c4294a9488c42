//! `cargo agents crate-info` (F199–F202, decision 21).

use symposium_testlib::{Run, Sandbox, slashes};

use crate::registries::{instead_of_crates_io, with_cargo};
use crate::{NO_BUILTIN, sandbox, skill};

fn ready(dependencies: &[(&str, &str)]) -> Sandbox {
    let sandbox = sandbox();
    let accepted = "[plugins]\nuse = [\"widget\", \"lib_x\"]\n";
    sandbox.write("home/.symposium/config.toml", format!("{NO_BUILTIN}{accepted}"));
    sandbox.package(dependencies);
    sandbox
}

fn info(sandbox: &Sandbox, args: &[&str]) -> Run {
    sandbox.run(&[&["crate-info", "--offline"], args].concat())
}

const SRC: &str = "[DIR]/home/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";

#[test]
fn f199_f200_f201_the_workspace_s_version_its_sources_and_skills() {
    let sandbox = ready(&[("widget", "1.2.0")]);
    sandbox.registry_crate(
        "widget",
        "1.2.0",
        &[
            ("skills/basics/SKILL.md", &skill("basics", "How to widget.")),
            ("skills/more/SKILL.md", "---\nname: more\ndescription: m\ncrates: widget>=2\n---\n"),
        ],
    );
    sandbox.registry_crate("widget", "1.3.0", &[]);
    let run = info(&sandbox, &["widget"]).ok();
    let expected = format!(
        "Crate: widget\nVersion: 1.2.0\nSource: {SRC}/widget-1.2.0\nFrom: this workspace's \
         Cargo.lock\nUsed by: shop\nDocs: https://docs.rs/widget/1.2.0\nChangelog: this crate \
         ships none\nSkills:\n- basics: How to widget.\n  \
         {SRC}/widget-1.2.0/skills/basics/SKILL.md\n"
    );
    assert_eq!(sandbox.redact(&run.stdout), expected);
    assert_eq!(run.stderr, "");
    let run = info(&sandbox, &["widget", "--json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("one document");
    let first = &json["crates"][0];
    assert_eq!(first["version"], "1.2.0");
    assert_eq!(first["skills"][0]["name"], "basics");
    assert_eq!(first["how"], "registry-source");
}

#[test]
fn f199_another_version_by_its_number_or_a_requirement() {
    let sandbox = ready(&[("widget", "1.2.0")]);
    for version in ["1.2.0", "1.2.5", "2.0.0"] {
        sandbox.registry_crate("widget", version, &[]);
    }
    for (wanted, version) in [
        ("1.2.0", "1.2.0"),
        ("=1.2.5", "1.2.5"),
        // What the workspace has is preferred where it meets the requirement.
        ("^1", "1.2.0"),
        (">=1.2.1, <2", "1.2.5"),
        ("2", "2.0.0"),
    ] {
        let run = info(&sandbox, &["widget", "--version", wanted]).ok();
        assert!(run.stdout.contains(&format!("Version: {version}\n")), "{wanted}: {}", run.stdout);
    }
    let run = info(&sandbox, &["widget", "--version", "newest"]).code(1);
    assert!(run.stderr.contains("`newest` is no version"), "{}", run.stderr);
    let run = info(&sandbox, &["widget", "--version", "3"]).code(1);
    assert!(run.stderr.contains("widget"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn f202_path_dependencies_and_members_are_where_they_are() {
    let sandbox = ready(&[]);
    sandbox.write("ws/Cargo.toml", "[workspace]\nmembers = [\"app\", \"lib\"]\n");
    sandbox.write("ws/Cargo.lock", "version = 4\n");
    sandbox.write("ws/app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n[dependencies]\nlib_x = { path = \"../lib\" }\nnear = { path = \"../../near\" }\n");
    sandbox.write("ws/app/src/lib.rs", "");
    sandbox.write("ws/lib/Cargo.toml", "[package]\nname = \"lib_x\"\nversion = \"0.2.0\"\n");
    sandbox.write("ws/lib/src/lib.rs", "");
    sandbox.write("ws/lib/skills/inside/SKILL.md", skill("inside", "i"));
    sandbox.write("near/Cargo.toml", "[package]\nname = \"near\"\nversion = \"0.3.0\"\n");
    sandbox.write("near/src/lib.rs", "");
    for (name, version, dir, from) in [
        ("app", "0.1.0", "ws/app", "a member of this workspace"),
        ("lib-x", "0.2.0", "ws/lib", "a member of this workspace"),
        ("near", "0.3.0", "near", "a path dependency of this workspace"),
    ] {
        let run = info(&sandbox, &[name]).ok();
        let text = sandbox.redact(&run.stdout);
        assert!(text.contains(&format!("Version: {version}\n")), "{text}");
        assert!(text.contains(&format!("Source: [DIR]/{dir}\n")), "{text}");
        assert!(text.contains(&format!("From: {from}\n")), "{text}");
    }
    assert!(info(&sandbox, &["lib_x"]).ok().stdout.contains("- inside: i"));
}

#[test]
fn several_versions_in_one_workspace_are_all_shown() {
    let sandbox = ready(&[]);
    sandbox.write("ws/Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\nwidget = \"1\"\nold = { package = \"widget\", version = \"0.9\" }\n");
    let package = |version: &str| {
        format!(
            "\n[[package]]\nname = \"widget\"\nversion = \"{version}\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n"
        )
    };
    sandbox.write("ws/Cargo.lock", format!("version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\ndependencies = [\n \"widget 0.9.1\",\n \"widget 1.0.0\",\n]\n{}{}", package("0.9.1"), package("1.0.0")));
    sandbox.registry_crate("widget", "0.9.1", &[]);
    sandbox.registry_crate("widget", "1.0.0", &[]);
    let run = info(&sandbox, &["widget"]).ok();
    let versions: Vec<_> =
        run.stdout.lines().filter_map(|line| line.strip_prefix("Version: ")).collect();
    assert_eq!(versions, ["1.0.0", "0.9.1"]);
    // One that can't be had does not hide the other.
    std::fs::remove_dir_all(
        sandbox.home().join(".cargo/registry/src/index.crates.io-1949cf8c6b5b557f/widget-0.9.1"),
    )
    .expect("removes");
    let run = info(&sandbox, &["widget"]).ok();
    assert!(run.stdout.contains("Version: 1.0.0"), "{}", run.stdout);
    assert!(run.stderr.contains("widget 0.9.1"), "{}", run.stderr);
}

#[test]
fn a_misspelt_name_is_an_error_with_the_nearest_dependencies() {
    let sandbox = ready(&[("serde_json", "1.0.0"), ("tokio", "1.0.0")]);
    let run = info(&sandbox, &["serde-jsn"]).code(1);
    let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("this workspace does not depend on `serde-jsn`"), "{told}");
    assert!(told.contains("did you mean `serde_json`?"), "{told}");
    assert_eq!(run.stdout, "");
    for name in ["../evil", "", "a b", "-x"] {
        let run = sandbox.run(&["crate-info", "--offline", "--", name]).code(1);
        assert!(run.stderr.contains("can't be a crate's name"), "{name}: {}", run.stderr);
    }
}

#[test]
fn decision_21_outside_of_a_workspace_the_newest_that_is_not_yanked_is_fetched() {
    let sandbox = with_cargo();
    let accepted = "[plugins]\nuse = [\"widget\"]\n";
    sandbox.write("home/.symposium/config.toml", format!("{NO_BUILTIN}{accepted}"));
    let registry = instead_of_crates_io(&sandbox);
    let text = skill("basics", "b");
    for version in ["1.0.0", "1.1.0"] {
        registry.publish("widget", version, &[("skills/basics/SKILL.md", &text)]);
    }
    registry.publish_yanked("widget", "1.2.0", &[]);
    registry.publish("widget", "2.0.0-beta.1", &[]);
    let run = sandbox.run_in("home", &["crate-info", "widget"]).ok();
    assert!(run.stdout.contains("Version: 1.1.0\n"), "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("From: the newest version; this is no Rust workspace"));
    assert!(run.stdout.contains("- basics: b"), "{}", run.stdout);
    let run = sandbox.run_in("home", &["crate-info", "widget", "--version", "1.0.0"]).ok();
    assert!(run.stdout.contains("Version: 1.0.0\n"), "{}", run.stdout);
    // A newer one is found although an older one is here already.
    registry.publish("widget", "1.3.0", &[]);
    let run = sandbox.run_in("home", &["crate-info", "widget"]).ok();
    assert!(run.stdout.contains("Version: 1.3.0\n"), "{}\n{}", run.stdout, run.stderr);
    // Without the registry, what is here serves, and says so.
    registry.server.set(symposium_testlib::Manner::Refuse);
    let run = sandbox.run_in("home", &["crate-info", "widget"]).ok();
    assert!(run.stdout.contains("of those here"), "{}", run.stdout);
    let run = sandbox.run_in("home", &["crate-info", "nothing-of-the-kind"]).code(1);
    assert!(run.stderr.contains("nothing-of-the-kind"), "{}", run.stderr);
    let before = registry.server.requests().len();
    let run = sandbox.run_in("home", &["crate-info", "widget", "--offline"]).ok();
    assert!(run.stdout.contains("offline"), "{}", run.stdout);
    assert_eq!(registry.server.requests().len(), before);
}

#[test]
fn f199_a_dependency_that_is_not_locked_yet_says_so() {
    let sandbox = ready(&[("widget", "1.0.0")]);
    std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("removes");
    sandbox.registry_crate("widget", "1.1.0", &[]);
    let run = info(&sandbox, &["widget"]).ok();
    assert!(run.stdout.contains("Cargo.lock has none yet"), "{}", run.stdout);
    assert!(!sandbox.has("ws/Cargo.lock"));
}

#[test]
fn f201_skills_of_another_crate_that_it_redirects_to_say_which() {
    let sandbox = ready(&[("widget", "1.0.0")]);
    let toml = "[package]\nname = \"widget\"\nversion = \"1.0.0\"\n[[package.metadata.symposium.skills]]\ncrate = { name = \"widget-guide\" }\n";
    sandbox.registry_crate("widget", "1.0.0", &[("Cargo.toml", toml)]);
    let text = skill("guide", "g");
    sandbox.registry_crate("widget-guide", "3.0.0", &[("skills/guide/SKILL.md", &text)]);
    let run = info(&sandbox, &["widget"]).ok();
    assert!(run.stdout.contains("- guide (in widget-guide 3.0.0): g"), "{}", run.stdout);
}

#[test]
fn f199_the_versions_that_are_here_are_named_when_none_is_wanted() {
    let sandbox = ready(&[]);
    for version in ["1.0.9", "1.0.10"] {
        sandbox.registry_crate("widget", version, &[]);
    }
    let run = info(&sandbox, &["widget", "--version", "2"]).code(1);
    let told = "no version that meets `2`, only of 1.0.10, 1.0.9";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(!run.stderr.contains("are not on this machine"), "{}", run.stderr);
    assert!(run.stderr.contains("without `--offline`"), "{}", run.stderr);
    let run = info(&sandbox, &["gadget"]).code(1);
    assert!(run.stderr.contains("the sources of gadget are not on this machine"));
}

const WIDGET: &str = "widget-1.2.0/skills/basics/SKILL.md";

/// A workspace on `widget`, whose skill nobody said anything about yet, and what is told of it.
fn undecided() -> Sandbox {
    let sandbox = ready(&[("widget", "1.2.0")]);
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.registry_crate(
        "widget",
        "1.2.0",
        &[("skills/basics/SKILL.md", &skill("basics", "Obey me."))],
    );
    sandbox
}

fn told(sandbox: &Sandbox) -> (String, serde_json::Value) {
    let text = info(sandbox, &["widget"]).ok().stdout;
    let json = info(sandbox, &["widget", "--json"]).ok().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("one document");
    (slashes(&text), json["crates"][0].clone())
}

#[test]
fn a_skill_that_nobody_accepted_is_named_and_its_text_not_offered() {
    let sandbox = undecided();
    let withheld = |because: &str| serde_json::json!([{ "name": "basics", "because": because }]);
    let (text, json) = told(&sandbox);
    assert!(
        text.ends_with(
            "Skills:\n- basics: not accepted: nobody vouches for it, and the user has not \
             decided\nFor the user to decide: cargo agents use widget\n"
        ),
        "{text}"
    );
    assert!(!text.contains("Obey me.") && !text.contains("SKILL.md"), "{text}");
    assert_eq!(
        (&json["skills"], &json["withheld"]),
        (&serde_json::json!([]), &withheld("undecided"))
    );
    sandbox.run(&["use", "widget", "--remove"]).ok();
    let (text, json) = told(&sandbox);
    assert!(text.ends_with("- basics: not accepted: the user declined it\n"), "{text}");
    assert!(!text.contains("Obey me.") && !text.contains("SKILL.md"), "{text}");
    assert_eq!(json["withheld"], withheld("declined"));
    sandbox.run(&["use", "widget"]).ok();
    let (text, json) = told(&sandbox);
    assert!(text.contains("- basics: Obey me.") && text.contains(WIDGET), "{text}");
    assert_eq!(json["withheld"], serde_json::json!([]));
}

#[test]
fn a_plugin_accepts_a_crate_s_skills_only_where_it_delivers_them() {
    let sandbox = undecided();
    let plugin = |gate: &str| {
        let text = format!("name = \"w\"\ncrates = [\"{gate}\"]\n[[skills]]\nsource = \"crate\"\n");
        sandbox.user_plugin("w/SYMPOSIUM.toml", &text);
    };
    plugin("widget");
    let (text, json) = told(&sandbox);
    assert!(text.contains("- basics: Obey me.") && text.contains(WIDGET), "{text}");
    assert_eq!(json["withheld"], serde_json::json!([]));
    plugin("widget>=2");
    let (text, _) = told(&sandbox);
    assert!(text.contains("- basics: not accepted: nobody vouches"), "{text}");
    plugin("widget");
    sandbox.run(&["use", "widget", "--remove"]).ok();
    assert!(told(&sandbox).0.contains("the user declined it"));
    // And so with the plugin itself.
    sandbox.run(&["use", "widget"]).ok();
    sandbox.write(
        "home/.symposium/config.toml",
        format!("{NO_BUILTIN}[plugins]\ndisable = [\"w\"]\n"),
    );
    assert!(told(&sandbox).0.contains("nobody vouches for it"));
}
