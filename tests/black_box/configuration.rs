//! Configuration, folders, state and logs (F10–F33, F218, F221).

use crate::{bare_sandbox, sandbox};
use symposium_testlib::Tree;

#[test]
fn f28_no_configuration_and_no_network_still_works_on_a_fresh_machine() {
    let sandbox = bare_sandbox();
    sandbox.package(&[]);
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("Finished"), "{}", run.stderr);
    let skills = std::fs::read_dir(sandbox.ws().join(".claude/skills")).expect("skills").count();
    assert_eq!(skills, 2, "the two skills inside the program");
}

#[test]
fn builtin_can_be_switched_off() {
    let sandbox = bare_sandbox();
    sandbox.package(&[]);
    sandbox.write("home/.symposium/config.toml", crate::NO_BUILTIN);
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(!sandbox.has("ws/.claude/skills"));
}

#[test]
fn f31_a_broken_configuration_is_reported_defaults_serve_and_nothing_writes_it() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let broken = "auto-sync = true\n[[agent\nname = \"claude\"\n";
    sandbox.write("home/.symposium/config.toml", broken);
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("config.toml:2:"), "{}", run.stderr);
    assert_eq!(sandbox.read("home/.symposium/config.toml"), broken);
}

#[test]
fn f29_unknown_keys_are_named_with_their_place() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.config("auto-snyc = true");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("config.toml:1:1"), "{}", run.stderr);
    assert!(run.stderr.contains("auto-snyc"), "{}", run.stderr);
}

#[test]
fn f24_symposium_home_holds_everything_and_empty_is_unset() {
    let mut sandbox = bare_sandbox();
    sandbox.package(&[]);
    let elsewhere = sandbox.dir().join("elsewhere");
    sandbox.set("SYMPOSIUM_HOME", &elsewhere);
    sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(elsewhere.join("state.toml").exists());
    assert!(!sandbox.has("home/.symposium"));
    let mut other = bare_sandbox();
    other.package(&[]);
    other.set("SYMPOSIUM_HOME", "");
    let before = other.ws_tree();
    other.run(&["--offline", "sync", "--agent", "claude", "--dry-run"]).ok();
    assert!(other.has("home/.symposium/state.toml"));
    assert_eq!(other.ws_tree(), before);
}

#[test]
fn f25_xdg_variables_move_their_own_folders() {
    let mut sandbox = bare_sandbox();
    sandbox.package(&[]);
    sandbox.set("XDG_CONFIG_HOME", sandbox.dir().join("xc"));
    sandbox.set("XDG_CACHE_HOME", sandbox.dir().join("xk"));
    sandbox.set("XDG_STATE_HOME", sandbox.dir().join("xs"));
    sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(sandbox.has("xc/symposium/state.toml"));
    assert!(sandbox.has("xk/symposium"));
    assert!(!sandbox.has("home/.symposium"));
}

#[test]
fn f218_the_version_is_stamped() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    let state = sandbox.read("home/.symposium/state.toml");
    assert_eq!(state, format!("version = \"{}\"\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn f221_each_run_has_one_log_with_what_was_decided_and_why_and_nothing_secret() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    crate::plugin_with_skill(&sandbox, "teacher", "widget", "widget-basics");
    crate::plugin_with_skill(&sandbox, "other", "widget>=2", "widget-news");
    let server = "[[mcp_servers]]\nname = \"s\"\ntype = \"http\"\nurl = \"https://s.example/\"\n\
                  headers = { Authorization = \"h1dden\" }\n";
    sandbox.user_plugin(
        "tools/SYMPOSIUM.toml",
        &format!("name = \"tools\"\ncrates = [\"*\"]\n{server}"),
    );
    sandbox.config("[[agent]]\nname = \"claude\"\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(std::fs::read_dir(sandbox.home().join(".symposium/logs")).expect("logs").count(), 1);
    let log = crate::hook_kit::logs(&sandbox);
    for words in [
        "INFO",
        "`cargo agents sync`, version ",
        "Installed widget-basics",
        "Skipped other: ",
        "Finished 4 skills, 1 server for claude",
    ] {
        assert!(log.contains(words), "no {words} in {log}");
    }
    assert!(!log.contains("h1dden"), "{log}");
}

#[test]
fn f221_f222_a_log_is_made_only_when_something_of_its_level_is_logged() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.config("[logging]\nlevel = \"warn\"\n");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(!sandbox.has("home/.symposium/logs"));
    sandbox.config("nonsense = 1\n[logging]\nlevel = \"warn\"\n");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    let logs: Vec<_> =
        std::fs::read_dir(sandbox.home().join(".symposium/logs")).expect("logs").collect();
    assert_eq!(logs.len(), 1);
    let path = logs[0].as_ref().expect("an entry").path();
    let text = std::fs::read_to_string(path).expect("reads");
    assert!(text.contains("WARN") && text.contains("nonsense"), "{text}");
}

#[test]
fn help_and_version_write_nothing_anywhere() {
    let sandbox = bare_sandbox();
    let before = Tree::of(&sandbox.dir());
    for args in [["--help"], ["--version"], ["-h"]] {
        let run = sandbox.run(&args).ok();
        assert!(!run.stdout.is_empty());
        assert_eq!(run.stderr, "");
    }
    assert_eq!(Tree::of(&sandbox.dir()), before);
}

#[cfg(unix)]
#[test]
fn a_home_that_can_not_be_written_is_no_obstacle() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut sandbox = sandbox();
    sandbox.package(&[]);
    // A file in place of the folder also stops root, whom permissions do not.
    sandbox.write("blocked", "");
    sandbox.set("SYMPOSIUM_HOME", sandbox.dir().join("blocked/home"));
    std::fs::set_permissions(sandbox.dir().join("blocked"), std::fs::Permissions::from_mode(0o400))
        .expect("sets the mode");
    sandbox.write("ws/.agents/skills/own/SKILL.md", crate::skill("own", "Own."));
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]);
    assert!(sandbox.has("ws/.claude/skills/own/SKILL.md"), "{}", run.stderr);
}

#[test]
fn a_home_that_another_program_of_our_name_wrote_is_left_whole() {
    // Each with what is said, once, of what has no effect here.
    for (text, said) in [
        ("# theirs\nsync-default = true\nauto-sync = true\n", "unknown key `sync-default`"),
        ("use = [\"widget\"] # mine\n", "`use` counts as that of `[plugins]` for `widget`"),
        ("[[use]]\ncrate = \"widget\" # mine\n", "`use` counts as that of `[plugins]`"),
        ("[agent]\nname = \"claude-code\" # old\n", "`[agent]` names `claude`"),
    ] {
        let sandbox = bare_sandbox();
        sandbox.package(&[]);
        let text = format!("{text}{}", crate::NO_BUILTIN);
        sandbox.write("home/.symposium/config.toml", &text);
        sandbox.write("home/.symposium/state.toml", "version = \"0.5.1\"\nother = 1 # theirs\n");
        sandbox.write("home/.symposium/other/file", "theirs");
        let run = sandbox.run(&["sync"]);
        assert_eq!(run.stderr.matches(said).count(), 1, "{}", run.stderr);
        sandbox.run(&["init", "--add-agent", "codex"]);
        sandbox.run(&["init", "--remove-agent", "codex"]);
        let now = sandbox.read("home/.symposium/config.toml");
        for line in text.lines() {
            let line = line.replace("[agent]", "[[agent]]");
            assert!(now.lines().any(|known| known == line), "{line}: {now}");
        }
        assert!(sandbox.read("home/.symposium/state.toml").contains("other = 1 # theirs\n"));
        assert_eq!(sandbox.read("home/.symposium/other/file"), "theirs");
    }
}

#[test]
fn a_home_that_another_program_of_our_name_wrote_is_understood_and_nothing_in_it_is_lost() {
    let sandbox = bare_sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    let theirs = "# mine\nuse = [\"widget\"]\nbanner = true\n\n[agent]\nname = \"claude-code\"\n\n\
                  [defaults]\nsymposium-recommendations = false\n";
    sandbox.write("home/.symposium/config.toml", theirs);
    sandbox.write("home/.symposium/state.toml", "version = \"0.5.1\"\nseen = 3\n");
    let run = sandbox.run(&["sync"]).ok();
    let told = "`[agent]` names `claude`; `use` counts as that of `[plugins]` for `widget`";
    assert_eq!(run.stderr.matches(told).count(), 1, "{}", run.stderr);
    assert!(sandbox.has("ws/.claude/skills/rust-change-checks/SKILL.md"), "{}", run.stderr);
    assert_eq!(sandbox.read("home/.symposium/config.toml"), theirs);
    let state = sandbox.read("home/.symposium/state.toml");
    assert!(state.contains("seen = 3") && state.contains("version-before = \"0.5.1\""), "{state}");
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    let config = sandbox.read("home/.symposium/config.toml");
    for kept in ["# mine", "use = [\"widget\"]", "banner = true", "[defaults]"] {
        assert!(config.contains(kept), "{config}");
    }
    for name in ["claude-code", "codex"] {
        assert!(config.contains(&format!("[[agent]]\nname = \"{name}\"\n")), "{config}");
    }
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("for claude and codex"), "{}", run.stderr);
}
