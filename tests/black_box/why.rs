//! `cargo agents why NAME`.

mod names;

use crate::with_agents;
use crate::{plugin_with_skill, skill};
use symposium_testlib::Sandbox;

fn why(sandbox: &Sandbox, name: &str) -> String {
    // Wide enough that nothing wraps.
    let mut command = sandbox.command(&["why", name]);
    let output = command.env("COLUMNS", "120").output().expect("runs");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    sandbox.redact(&stdout)
}

fn has(text: &str, words: &[&str]) {
    let found = symposium_testlib::slashes(text).lines().any(|line| {
        let line: Vec<_> = line.split_whitespace().collect();
        line.windows(words.len()).any(|window| window == words)
    });
    assert!(found, "{words:?} in\n{text}");
}

#[test]
fn why_a_skill_is_there() {
    let sandbox = with_agents(&["claude", "codex"]);
    plugin_with_skill(&sandbox, "widget", "widget>=1.0", "widget-basics");
    let before = why(&sandbox, "widget-basics");
    has(&before, &["widget-basics", "(skill)", "applies,", "and", "the", "next", "sync"]);
    sandbox.run(&["sync"]).ok();
    let after = why(&sandbox, "widget_basics");
    has(&after, &["widget-basics", "(skill)", "is", "installed"]);
    has(&after, &["needs", "widget>=1.0"]);
    has(&after, &["found", "widget", "1.2.3"]);
    has(&after, &["in", ".claude/skills/widget-basics"]);
    has(&after, &["seen", "by", "claude,", "codex"]);
}

#[test]
fn why_a_skill_is_not_there() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "bevy", "bevy>=0.16", "bevy-ecs");
    let text = why(&sandbox, "bevy-ecs");
    has(&text, &["bevy-ecs", "(skill)", "is", "not", "installed"]);
    has(&text, &["plugin", "bevy", "(source", "user-plugins,"]);
    has(&text, &["needs", "bevy>=0.16"]);
    has(&text, &["found", "bevy", "is", "not", "a", "dependency"]);
}

#[test]
fn a_crate_that_comes_through_another_is_told_with_its_way() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "bevy", "bevy", "bevy-ecs");
    let lock = sandbox.read("ws/Cargo.lock");
    let index = "registry+https://github.com/rust-lang/crates.io-index";
    let lock = lock.replace(
        &format!("version = \"1.2.3\"\nsource = \"{index}\"\n"),
        &format!("version = \"1.2.3\"\nsource = \"{index}\"\ndependencies = [\n \"bevy\",\n]\n"),
    );
    let bevy =
        format!("\n[[package]]\nname = \"bevy\"\nversion = \"0.16.1\"\nsource = \"{index}\"\n");
    sandbox.write("ws/Cargo.lock", format!("{lock}{bevy}"));
    for name in ["bevy", "bevy-ecs"] {
        let text = why(&sandbox, name);
        has(&text, &["bevy", "0.16.1", "is", "in", "Cargo.lock,", "through", "widget;", "only"]);
    }
}

#[test]
fn why_a_hook_a_server_and_a_subcommand() {
    let sandbox = with_agents(&["claude", "gemini"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"script\"\n\
         script = \"go.sh\"\n\n[[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\n\
         command = \"script\"\n\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\nargs = [\"w\"]\n\
         crates = [\"widget>=2\"]\n\n[subcommand.w-check]\ndescription = \"Checks\"\n\
         command = \"script\"\n",
    );
    sandbox.user_plugin("w/go.sh", "exit 0\n");
    sandbox.run(&["sync"]).ok();
    let hook = why(&sandbox, "guard");
    has(&hook, &["guard", "(hook)", "applies", "here"]);
    has(&hook, &["event", "PreToolUse"]);
    has(&hook, &["matcher", "Bash"]);
    has(&hook, &["claude", "registered"]);
    // Gemini runs none of them in a folder that it does not trust.
    has(&hook, &["but", "gemini:", "this", "folder", "is", "not", "trusted,"]);
    has(&hook, &["may", "run", "script", "go.sh", "for", "hook", "guard,"]);
    let server = why(&sandbox, "tools");
    has(&server, &["tools", "(server)", "does", "not", "apply", "here"]);
    has(&server, &["needs", "widget", "and", "widget>=2"]);
    let command = why(&sandbox, "w-check");
    has(&command, &["w-check", "(subcommand)", "applies", "here"]);
    let plugin = why(&sandbox, "w");
    has(&plugin, &["w", "(plugin)", "is", "active"]);
    has(&plugin, &["server", "tools", "does", "not", "apply:"]);
}

#[test]
fn a_shadowed_plugin_and_one_that_is_off_say_so() {
    let sandbox = with_agents(&["claude"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let more =
        "[[plugin-source]]\nname = \"team\"\npath = \"team\"\n[plugins]\ndisable = [\"lint\"]\n";
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{more}"));
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    plugin_with_skill(&sandbox, "lint", "widget", "lint-rules");
    sandbox.write(
        "home/.symposium/team/w/SYMPOSIUM.toml",
        "name = \"widget\"\ncrates = [\"widget\"]\n",
    );
    let text = why(&sandbox, "widget");
    has(&text, &["widget", "(plugin)", "is", "active"]);
    has(&text, &["widget", "(plugin)", "is", "shadowed"]);
    has(&text, &["widget", "1.2.3", "(crate)"]);
    has(&why(&sandbox, "lint-rules"), &["off", "`[plugins]", "disable`"]);
}

#[test]
fn why_a_dependency_brings_no_skills() {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    let text = why(&sandbox, "widget");
    has(&text, &["ships", "skills/a"]);
    has(&text, &["`cargo", "agents", "use", "widget`"]);
    has(&why(&sandbox, "a"), &["found", "no", "plugin", "source", "vouches"]);
    sandbox.run(&["use", "widget", "--remove"]).ok();
    has(&why(&sandbox, "widget"), &["you", "said", "no,", "for", "this", "workspace"]);
    sandbox.run(&["use", "widget"]).ok();
    let text = why(&sandbox, "basics");
    has(&text, &["basics", "(skill)", "is", "installed"]);
    has(&text, &["asked", "by", "`use`"]);
}

#[test]
fn a_renamed_skill_is_found_by_both_names() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "one", "widget", "basics");
    plugin_with_skill(&sandbox, "two", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    let text = why(&sandbox, "basics");
    assert_eq!(text.matches("is claimed by others, too").count(), 2, "{text}");
}

#[test]
fn what_nobody_knows_is_an_error_with_a_guess() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let run = sandbox.run(&["why", "widgett"]).code(1);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.contains("nothing is known") && run.stderr.contains("`widget`?"),
        "{}",
        run.stderr
    );
    let run = sandbox.run(&["why", "a\u{1b}[31mb"]).code(1);
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
}

#[test]
fn a_word_for_every_workspace_says_when_this_one_s_own_wins() {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox.run(&["use", "widget", "--remove"]).ok();
    let run = sandbox.run(&["use", "widget", "--global"]).ok();
    assert!(run.stderr.contains("you said no to widget for this workspace"), "{}", run.stderr);
    assert!(run.stderr.contains("`cargo agents use widget`"), "{}", run.stderr);
    let run = sandbox.run(&["use", "widget"]).ok();
    assert!(!run.stderr.contains("wins here"), "{}", run.stderr);
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
}

#[test]
fn a_skill_that_was_declined_is_still_known() {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox.run(&["use", "widget", "--remove"]).ok();
    for name in ["a", "basics"] {
        let text = why(&sandbox, name);
        has(&text, &["from", "widget", "1.2.3,", "a", "dependency,", "in", "skills/a"]);
        has(&text, &["you", "said", "no,", "for", "this", "workspace"]);
        has(&text, &["`cargo", "agents", "use", "widget`", "takes", "that", "back"]);
    }
    let run = sandbox.run(&["use", "basics"]).code(1);
    assert!(run.stderr.contains("basics is a skill of widget: `cargo agents use widget`"));
}

#[test]
fn a_skill_whose_voucher_is_off_or_does_not_apply_is_still_known() {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    let manifest = |gate: &str| {
        format!("name = \"w\"\ncrates = [\"{gate}\"]\n[[skills]]\nsource = \"crate\"\n")
    };
    sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest("widget>=2"));
    let text = why(&sandbox, "basics");
    has(&text, &["needs", "widget>=2"]);
    sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest("widget"));
    let config = sandbox.read("home/.symposium/config.toml");
    let config = format!("{config}\n[plugins]\ndisable = [\"w\"]\n");
    sandbox.write("home/.symposium/config.toml", config);
    let text = why(&sandbox, "basics");
    has(&text, &["plugin", "w", "(source", "user-plugins,"]);
    has(&text, &["off", "`[plugins]", "disable`"]);
}

#[test]
fn gates_of_parts_are_told_apart_with_the_way_a_crate_comes() {
    let sandbox = with_agents(&["claude"]);
    let lock = sandbox.read("ws/Cargo.lock");
    let index = "registry+https://github.com/rust-lang/crates.io-index";
    let lock = lock.replace(
        &format!("version = \"1.2.3\"\nsource = \"{index}\"\n"),
        &format!("version = \"1.2.3\"\nsource = \"{index}\"\ndependencies = [\n \"deep\",\n]\n"),
    );
    let deep =
        format!("\n[[package]]\nname = \"deep\"\nversion = \"0.2.0\"\nsource = \"{index}\"\n");
    sandbox.write("ws/Cargo.lock", format!("{lock}{deep}"));
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = \"*\"\n[[skills]]\ncrates = [\"deep\"]\nsource.path = \"skills\"\n\n\
         [[installations]]\nname = \"s\"\nscript = \"s.sh\"\n\n[subcommand.w-check]\n\
         description = \"Checks\"\ncommand = \"s\"\ncrates = [\"deep\"]\n",
    );
    sandbox.user_plugin("w/skills/deep-ways/SKILL.md", &skill("deep-ways", "d"));
    for (name, label) in [("deep-ways", "group"), ("w-check", "itself"), ("w", "subcommand")] {
        let text = why(&sandbox, name);
        has(&text, &["but", "deep", "0.2.0", "is", "in", "Cargo.lock,", "through", "widget;"]);
        has(&text, &[label]);
        if name != "w" {
            has(&text, &["its", "plugin", "applies", "everywhere;", "it", "delivers", "nothing:"]);
        }
    }
}

#[test]
fn a_server_that_the_user_changed_is_registered_and_no_fault() {
    let sandbox = with_agents(&["claude"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = \"*\"\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n\
         args = []\n",
    );
    sandbox.run(&["sync"]).ok();
    let live = sandbox.read("home/.claude.json");
    sandbox.write("home/.claude.json", live.replace("npx", "pnpx"));
    let text = why(&sandbox, "tools");
    has(&text, &["claude", "registered,", "but", "the", "server"]);
    let run = sandbox.run(&["doctor", "--json", "--offline"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("one document");
    let findings = document["findings"].as_array().expect("a list");
    let edited = findings.iter().find(|finding| finding["code"] == "edited").expect("a finding");
    assert_eq!(edited["severity"], "note");
}

#[test]
fn what_applies_everywhere_does_so_outside_of_workspaces_too() {
    let sandbox = with_agents(&["claude"]);
    let hook = "[[hooks]]\nname = \"no-force\"\nevent = \"PreToolUse\"\n\
                command = { script = \"g.sh\" }\n";
    sandbox.user_plugin(
        "guard/SYMPOSIUM.toml",
        &format!("name = \"guard\"\ncrates = [\"*\"]\n{hook}"),
    );
    sandbox.user_plugin("guard/g.sh", "exit 0\n");
    sandbox.user_plugin(
        "other/SYMPOSIUM.toml",
        &format!("name = \"other\"\ncrates = [\"serde\"]\n{}", hook.replace("no-force", "never")),
    );
    std::fs::remove_file(sandbox.ws().join("Cargo.toml")).expect("there was one");
    let guard = why(&sandbox, "guard");
    has(&guard, &["is", "active"]);
    has(&guard, &["found", "applies", "everywhere"]);
    has(&why(&sandbox, "no-force"), &["(hook)", "applies", "here"]);
    let other = why(&sandbox, "other");
    has(&other, &["is", "not", "active"]);
    has(&other, &["serde", "is", "needed,", "and", "this", "is", "no", "Rust", "workspace"]);
    has(&why(&sandbox, "never"), &["does", "not", "apply", "here"]);
}
