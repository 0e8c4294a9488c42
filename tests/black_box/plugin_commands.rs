//! `cargo agents plugin …` (F203–F210).

use symposium_testlib::{Run, Sandbox, slashes};

use crate::{NO_BUILTIN, plugin_with_skill, sandbox, skill};

fn ready() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox
}

/// The one JSON document of a run.
fn document(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

fn named<'v>(list: &'v serde_json::Value, name: &str) -> &'v serde_json::Value {
    let list = list.as_array().expect("a list");
    list.iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("no {name}: {list:?}"))
}

const FULL: &str = r#"name = "full"
crates = ["widget>=1"]

[[skills]]
source.path = "skills"

[[skills]]
crates = ["bevy"]
source = "crate"

[[installations]]
name = "tool"
source = "cargo"
crate = "widget-tool"
version = "2"
executable = "widget-tool"
install_commands = ["widget-tool setup --all"]

[[hooks]]
name = "check"
event = "PreToolUse"
matcher = "Bash"
command = { script = "hooks/check.sh" }
args = ["--strict", "a b"]

[[mcp_servers]]
name = "docs"
command = "tool"
args = ["serve"]
env = [{ name = "TOKEN", value = "s3cret-token" }]

[[mcp_servers]]
name = "remote"
type = "http"
url = "https://example.com/mcp"
headers = [{ name = "Authorization", value = "s3cret-header" }]

[subcommand.widget]
description = "Inspect the widgets"
command = "tool"
"#;

fn full(sandbox: &Sandbox) {
    sandbox.user_plugin("full/SYMPOSIUM.toml", FULL);
    sandbox.user_plugin("full/hooks/check.sh", "exit 0\n");
    sandbox.user_plugin(
        "full/skills/basics/SKILL.md",
        "---\nname: basics\ndescription: What it is for.\nallowed-tools: Bash\n---\n\n!`make all`\n",
    );
    sandbox.user_plugin(
        "full/skills/narrow/SKILL.md",
        "---\nname: narrow\ndescription: n\ncrates: tokio\n---\n",
    );
}

#[test]
fn f204_list_shows_sources_and_plugins_and_why_they_apply_or_not() {
    let sandbox = ready();
    full(&sandbox);
    plugin_with_skill(&sandbox, "bevy", "bevy>=0.16", "bevy-ecs");
    plugin_with_skill(&sandbox, "off", "widget", "off-skill");
    sandbox
        .user_plugin("alone/SKILL.md", "---\nname: alone\ndescription: a\ncrates: widget\n---\n");
    sandbox.write("more/full/SYMPOSIUM.toml", "name = \"full\"\ncrates = [\"*\"]\n");
    let sources = "[[plugin-source]]\nname = \"gone\"\npath = \"gone\"\n\
                   [plugins]\ndisable = [\"off\"]\n";
    sandbox.write("home/.symposium/config.toml", format!("{sources}{NO_BUILTIN}"));
    sandbox.user_plugin("zz/SYMPOSIUM.toml", "name = \"full\"\ncrates = [\"*\"]\n");
    let run = sandbox.run(&["plugin", "list"]).ok();
    for part in [
        "user-plugins",
        "~/.symposium/plugins",
        "gone",
        "does not exist",
        "active, user-plugins",
        "widget 1.2.3",
        "bevy is not a dependency",
        "shadowed",
        "disabled",
        "2 skills",
        "1 hook, 2 servers, 1 subcommand",
        "alone",
    ] {
        assert!(slashes(&run.stdout).contains(part), "{part}\n{}", run.stdout);
    }
    let json = document(&sandbox.run(&["plugin", "list", "--json"]).ok());
    assert_eq!(json["workspace"], sandbox.ws().display().to_string());
    assert_eq!(named(&json["sources"], "gone")["root"], serde_json::Value::Null);
    let of = |name: &str| named(&json["plugins"], name)["verdict"].clone();
    assert_eq!([of("full"), of("bevy"), of("off")], ["matched", "skipped", "disabled"]);
    let plugins = json["plugins"].as_array().expect("a list");
    assert!(plugins.iter().any(|plugin| plugin["verdict"] == "shadowed"), "{plugins:?}");
    assert_eq!(named(&json["skills"], "alone")["verdict"], "matched");
}

#[test]
fn f204_list_works_outside_of_a_workspace_and_of_any_home_of_ours() {
    let sandbox = ready();
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    plugin_with_skill(&sandbox, "every", "*", "always");
    let run = sandbox.run_in("home", &["plugin", "list", "--json"]).ok();
    let json = document(&run);
    assert_eq!(json["workspace"], serde_json::Value::Null);
    assert_eq!(named(&json["plugins"], "widget")["verdict"], "skipped");
    assert_eq!(named(&json["plugins"], "every")["verdict"], "matched");
    let run = sandbox.run_in("home", &["plugin", "list"]).ok();
    assert!(run.stdout.contains("no Rust workspace"), "{}", run.stdout);
}

#[test]
fn a_broken_configuration_does_not_spoil_the_document() {
    let sandbox = ready();
    sandbox.write("home/.symposium/config.toml", format!("flavour = 1\n{NO_BUILTIN}"));
    let run = sandbox.run(&["plugin", "list", "--json"]).ok();
    assert!(document(&run)["plugins"].is_array());
    assert!(run.stderr.contains("flavour"), "{}", run.stderr);
}

#[test]
fn f205_show_tells_everything_it_offers_and_could_run() {
    let sandbox = ready();
    full(&sandbox);
    let run = sandbox.run(&["plugin", "show", "full"]).ok();
    for part in [
        "full (user-plugins)",
        "~/.symposium/plugins/full/SYMPOSIUM.toml",
        "widget>=1",
        "widget 1.2.3",
        "basics: What it is for.",
        "skills/basics/SKILL.md",
        "bevy is not a dependency",
        "PreToolUse of Bash",
        "hook check: sh hooks/check.sh --strict 'a b'",
        "install tool: cargo install widget-tool --version 2",
        "install tool: sh -c 'widget-tool setup --all'",
        "server docs: widget-tool serve (with TOKEN)",
        "server remote: https://example.com/mcp (with Authorization)",
        "subcommand widget: widget-tool",
        "skill basics: runs !`make all`",
        "skill basics: allows Bash",
        "[[mcp_servers]]",
    ] {
        assert!(slashes(&run.stdout).contains(part), "{part}\n{}", run.stdout);
    }
    let json = document(&sandbox.run(&["plugin", "show", "user-plugins/full", "--json"]).ok());
    assert_eq!(json["verdict"], "matched");
    assert_eq!(named(&json["groups"][0]["skills"], "narrow")["verdict"], "skipped");
    assert_eq!(json["may_run"].as_array().map(Vec::len), Some(8));
    for args in [&["plugin", "show", "full"][..], &["plugin", "show", "full", "--json", "-v"]] {
        let run = sandbox.run(args).ok();
        assert!(!run.stdout.contains("s3cret") && !run.stderr.contains("s3cret"), "{}", run.stdout);
    }
}

#[test]
fn f205_show_with_a_wrong_name_is_an_error_with_the_nearest_names() {
    let sandbox = ready();
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    let run = sandbox.run(&["plugin", "show", "wigdet"]).code(1);
    assert!(run.stderr.contains("did you mean `widget`?"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    sandbox.run(&["plugin", "show", "elsewhere/widget"]).code(1);
}

#[test]
fn f205_show_chooses_by_source_where_a_name_is_ambiguous() {
    let sandbox = ready();
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox
        .write("home/.symposium/first/w/SYMPOSIUM.toml", "name = \"widget\"\ncrates = [\"*\"]\n");
    let source = "[[plugin-source]]\nname = \"first\"\npath = \"first\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{source}{NO_BUILTIN}"));
    let run = sandbox.run(&["plugin", "show", "widget"]).ok();
    assert!(run.stdout.contains("widget (first)"), "{}", run.stdout);
    assert!(run.stderr.contains("user-plugins/widget"), "{}", run.stderr);
    let run = sandbox.run(&["plugin", "show", "user-plugins/widget"]).ok();
    assert!(run.stdout.contains("shadowed"), "{}", run.stdout);
    assert!(run.stdout.contains("basics"), "{}", run.stdout);
}

#[test]
fn f203_sync_of_a_folder_a_wrong_name_and_nothing_at_all() {
    let sandbox = ready();
    let run = sandbox.run(&["plugin", "sync", "user-plugins"]).ok();
    assert!(run.stderr.contains("needs no fetch"), "{}", run.stderr);
    let run = sandbox.run(&["plugin", "sync", "user-plugin"]).code(1);
    assert!(run.stderr.contains("did you mean `user-plugins`?"), "{}", run.stderr);
    assert!(run.stderr.contains("the sources are user-plugins"), "{}", run.stderr);
    sandbox.run(&["plugin", "sync"]).ok();
    let source = "[[plugin-source]]\nname = \"bad\"\ngit = \"ext::sh -c evil\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{source}{NO_BUILTIN}"));
    let run = sandbox.run(&["plugin", "sync"]).code(1);
    assert!(run.stderr.contains("config.toml") && run.stderr.contains("error"), "{}", run.stderr);
}

fn validate(sandbox: &Sandbox, path: &str) -> Run {
    sandbox.run_in("", &["plugin", "validate", path, "--no-check-crates"])
}

#[test]
fn f206_f210_a_sound_source_is_exit_code_0_with_a_summary() {
    let sandbox = ready();
    full(&sandbox);
    sandbox
        .user_plugin("alone/SKILL.md", "---\nname: alone\ndescription: a\ncrates: widget\n---\n");
    for (path, summary) in [
        ("home/.symposium/plugins", "1 plugin, 3 skills: 2 warnings"),
        ("home/.symposium/plugins/full", "1 plugin, 2 skills: 2 warnings"),
        ("home/.symposium/plugins/full/SYMPOSIUM.toml", "1 plugin, 2 skills: 2 warnings"),
        ("home/.symposium/plugins/alone", "1 skill: nothing wrong"),
        ("home/.symposium/plugins/alone/SKILL.md", "1 skill: nothing wrong"),
    ] {
        let run = validate(&sandbox, path).ok();
        assert!(run.stderr.contains(&format!("Finished {summary}")), "{path}\n{}", run.stderr);
    }
    // What runs unasked is pointed out.
    let run = validate(&sandbox, "home/.symposium/plugins").ok();
    assert!(run.stderr.contains("warning[S110]"), "{}", run.stderr);
}

#[test]
fn f207_every_mistake_is_told_with_its_line_and_code() {
    let sandbox = ready();
    sandbox.write(
        "src/widget/SYMPOSIUM.toml",
        "name = \"widget\"\ncratse = [\"widget\"]\ncrates = [\"widget>=x\"]\n\n[[skills]]\n\
         source.path = \"skillz\"\n\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUs\"\n\
         matcher = \"(\"\ncommand = { script = \"gone.sh\" }\n",
    );
    sandbox.write("src/bad/SKILL.md", "---\nname: Bad_Name\ndescription: d\ncrates: widget\n---\n");
    sandbox.write("src/blank/SKILL.md", "no frontmatter\n");
    sandbox.write("src/lost/SKILL.md", "---\nname: lost\ndescription: d\n---\n");
    sandbox.write("src/near/symposium.toml", "name = \"near\"\n");
    sandbox.write("src/again/SYMPOSIUM.toml", "name = \"again\"\ncrates = [\"*\"]\n");
    sandbox.write("src/again2/SYMPOSIUM.toml", "name = \"again\"\ncrates = [\"*\"]\n");
    let run = validate(&sandbox, "src").code(1);
    for part in [
        "error[S003]: unknown key `cratse`",
        "src/widget/SYMPOSIUM.toml:2:1",
        "did you mean `crates`?",
        "error[S007]",
        "error[S036]: there is no folder `skillz`",
        "error[S012]: unknown event `PreToolUs`",
        "10 | event = \"PreToolUs\"",
        "^^^^^^^^^^^ did you mean `PreToolUse`?",
        "cargo agents plugin explain S012",
        "error[S014]",
        "error[S103]",
        "error[S101]",
        "error[S111]",
        "warning[S033]",
        "error[S039]: the plugin `again` is never used",
        "Finished 3 plugins, 3 skills:",
    ] {
        assert!(slashes(&run.stderr).contains(part), "{part}\n{}", run.stderr);
    }
    assert_eq!(run.stdout, "");
    let json = sandbox
        .run_in("", &["plugin", "validate", "src", "--no-check-crates", "--json"])
        .code(1)
        .json_lines();
    let codes: Vec<_> = json.iter().filter_map(|line| line["code"].as_str()).collect();
    assert!(codes.contains(&"S012") && codes.contains(&"S101"), "{codes:?}");
    assert_eq!(json.last().expect("lines")["event"], "finished");
}

#[test]
fn f207_a_script_that_is_not_there_is_an_error_with_its_place() {
    let sandbox = ready();
    full(&sandbox);
    std::fs::remove_file(sandbox.home().join(".symposium/plugins/full/hooks/check.sh"))
        .expect("removes");
    let run = validate(&sandbox, "home/.symposium/plugins/full").code(1);
    assert!(
        slashes(&run.stderr).contains("error[S037]: there is no file `hooks/check.sh`"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("SYMPOSIUM.toml:23:22"), "{}", run.stderr);
}

#[test]
fn validate_says_what_the_shell_can_t_read_in_a_script() {
    let sandbox = ready();
    full(&sandbox);
    let script = "home/.symposium/plugins/full/hooks/check.sh";
    sandbox.write(script, "touch ran\nif true\n");
    let run = validate(&sandbox, "home/.symposium/plugins/full").code(1);
    let told = "error[S040]: the shell can't read this script";
    assert!(run.stderr.contains(told) && run.stderr.contains("check.sh"), "{}", run.stderr);
    sandbox.write(script, "exit 2\n");
    validate(&sandbox, "home/.symposium/plugins/full").ok();
}

#[cfg(unix)]
#[test]
fn validate_says_of_which_script_it_could_not_ask_a_shell() {
    let sandbox = ready();
    let manifest = "name = \"p\"\ncrates = [\"*\"]\n[[hooks]]\nname = \"h\"\n\
                    event = \"PreToolUse\"\ncommand = { executable = \"h.sh\" }\n";
    sandbox.user_plugin("p/SYMPOSIUM.toml", manifest);
    sandbox.user_plugin("p/h.sh", "#!/no/such/folder/bash\nif true\n");
    let run = validate(&sandbox, "home/.symposium/plugins/p");
    let told = "warning[S040]: this script was not looked through for syntax errors";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("/no/such/folder/bash"), "{}", run.stderr);
}

#[test]
fn f206_a_path_inside_the_source_but_outside_of_the_plugin_s_folder() {
    let sandbox = ready();
    sandbox.user_plugin("shared/basics/SKILL.md", &skill("basics", "b"));
    let manifest = "name = \"p\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"../shared\"\n";
    sandbox.user_plugin("p/SYMPOSIUM.toml", manifest);
    // The user's own folder is a configured source.
    validate(&sandbox, "home/.symposium/plugins/p").ok();
    sandbox.write("repo/shared/basics/SKILL.md", skill("basics", "b"));
    sandbox.write("repo/p/SYMPOSIUM.toml", manifest);
    let run = validate(&sandbox, "repo/p").code(1);
    assert!(run.stderr.contains("error[S025]"), "{}", run.stderr);
    sandbox.git_in("repo", &["init", "-q"]);
    validate(&sandbox, "repo/p").ok();
}

#[test]
fn f206_a_crate_s_own_skills() {
    let sandbox = crate::registries::with_cargo();
    sandbox.write("k/src/lib.rs", "");
    sandbox.write("k/Cargo.toml", "[package]\nname = \"k\"\nversion = \"1.0.0\"\n");
    sandbox.write("k/skills/basics/SKILL.md", skill("basics", "b"));
    let run = validate(&sandbox, "k").ok();
    assert!(run.stderr.contains("Finished 1 crate, 1 skill: nothing wrong"), "{}", run.stderr);
    let toml = "[package]\nname = \"k\"\nversion = \"1.0.0\"\n[[package.metadata.symposium.skills]]\npath = \"gone\"\n";
    sandbox.write("k/Cargo.toml", toml);
    let run = validate(&sandbox, "k").code(1);
    assert!(run.stderr.contains("there is no skill in `gone`"), "{}", run.stderr);
    assert!(slashes(&run.stderr).contains("k/Cargo.toml:4:"), "{}", run.stderr);
    sandbox.write(
        "k/Cargo.toml",
        "[package]\nname = \"k\"\nversion = \"1.0.0\"\n[package.metadata.symposium]\nskills = 1\n",
    );
    let run = validate(&sandbox, "k").code(1);
    assert!(slashes(&run.stderr).contains("k/Cargo.toml:5:10"), "{}", run.stderr);
}

#[test]
fn f206_nothing_to_validate_is_an_error() {
    let sandbox = ready();
    sandbox.write("empty/readme.txt", "");
    for path in ["empty", "missing", "empty/readme.txt"] {
        let run = validate(&sandbox, path).code(1);
        assert!(run.stderr.contains("error"), "{path}: {}", run.stderr);
    }
    let run = sandbox.run(&["plugin", "validate"]).code(2);
    assert!(run.stderr.contains("PATH"), "{}", run.stderr);
}

#[test]
fn f206_what_hides_in_a_skill_is_an_error_and_in_other_files_too() {
    let sandbox = ready();
    sandbox.write(
        "s/hidden/SKILL.md",
        "---\nname: hidden\ndescription: d\ncrates: x\n---\na\u{e0041}b\n",
    );
    sandbox.write("s/more/SKILL.md", "---\nname: more\ndescription: d\ncrates: x\n---\n");
    sandbox.write("s/more/notes.md", "a\u{e0041}b\n");
    let run = validate(&sandbox, "s").code(1);
    let stderr = slashes(&run.stderr);
    assert!(stderr.contains("s/hidden/SKILL.md:6:2"), "{stderr}");
    assert!(stderr.contains("s/more/notes.md:1:2"), "{stderr}");
}

#[test]
fn explain_prints_what_a_code_means() {
    let sandbox = ready();
    let run = sandbox.run(&["plugin", "explain", "s012"]).ok();
    assert!(run.stdout.starts_with("S012: "), "{}", run.stdout);
    assert!(run.stdout.contains("PreToolUse"), "{}", run.stdout);
    assert_eq!(
        document(&sandbox.run(&["plugin", "explain", "S012", "--json"]).ok())["code"],
        "S012"
    );
    let run = sandbox.run(&["plugin", "explain", "S999"]).code(1);
    assert!(run.stderr.contains("no code `S999`"), "{}", run.stderr);
}

#[test]
fn decision_12_a_folder_with_nothing_but_a_misnamed_manifest_has_nothing_to_validate() {
    let sandbox = sandbox();
    sandbox.write("p/symposium.toml", "name = \"p\"\ncrates = [\"*\"]\n");
    let run = sandbox.run(&["plugin", "validate", "../p"]).code(1);
    assert!(run.stderr.contains("named exactly `SYMPOSIUM.toml`"), "{}", run.stderr);
    assert!(run.stderr.contains("no plugin and no skill"), "{}", run.stderr);
    assert!(!run.stderr.contains("0 skills"), "{}", run.stderr);
}

#[test]
fn a_plugin_that_names_no_crate_says_why_it_never_applies() {
    let sandbox = ready();
    for crates in ["", "crates = []", "crates = [\"not a crate\"]"] {
        sandbox.user_plugin("p/SYMPOSIUM.toml", &format!("name = \"p\"\n{crates}\n"));
        let list = sandbox.run(&["plugin", "list"]).ok();
        assert!(list.stdout.contains("names no crate that it could be for"), "{}", list.stdout);
    }
}
