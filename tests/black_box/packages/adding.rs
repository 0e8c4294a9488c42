//! `cargo agents plugin add`.

use super::*;
#[cfg(unix)]
use crate::terminal::Terminal;

/// A folder `more` with a package that has a guard, and a workspace that uses `widget`.
fn lab() -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    sandbox.write("more/guard/.claude-plugin/plugin.json", "{\"name\":\"guard\"}");
    sandbox.write("more/guard/hooks/hooks.json", format!("{{\"hooks\":{GUARD}}}"));
    sandbox.program("more/guard/hooks/guard.sh", GUARD_SCRIPT);
    sandbox.write("more/guard/commands/c.md", "x");
    sandbox.write("more/guard/skills/ways/SKILL.md", skill("ways", "d"));
    sandbox
}

#[test]
fn without_a_terminal_it_shows_what_could_run_and_refuses() {
    let sandbox = lab();
    let before = sandbox.read("home/.symposium/config.toml");
    let run = sandbox.run(&["plugin", "add", "../more", "--crates", "widget"]).code(1);
    for part in
        ["guard", "may run hook", "/hooks/guard.sh", "1 skill: ways", "not taken: command `c`"]
    {
        assert!(run.stdout.contains(part), "no {part}: {}", run.stdout);
    }
    assert!(run.stderr.contains("--yes"), "{}", run.stderr);
    assert_eq!(sandbox.read("home/.symposium/config.toml"), before);
    assert!(!sandbox.has("ws/.claude/skills/ways"));
}

#[cfg(unix)]
#[test]
fn with_yes_it_is_written_into_the_configuration_and_in_force() {
    let sandbox = lab();
    let config = "home/.symposium/config.toml";
    let before = format!("# mine\n{}# last\n", sandbox.read(config));
    sandbox.write(config, &before);
    let run = sandbox.run(&["plugin", "add", "../more", "--crates", "widget,gadget>=2", "--yes"]);
    run.ok();
    let after = sandbox.read(config);
    let path = sandbox.dir().join("more");
    let section = format!(
        "[[plugin-source]]\nname = \"more\"\npath = {path:?}\ncrates = [\"widget\", \"gadget>=2\"]\n"
    );
    assert!(after.contains(&section), "{after}");
    assert_eq!(after.replace(&format!("\n{section}"), ""), before, "every other byte stays");
    assert!(sandbox.has("ws/.claude/skills/ways/SKILL.md"));
    let told = Told::in_ws(&sandbox).command("rm -rf /");
    let refused = send(&sandbox, "claude", Event::PreToolUse, &told).refused;
    assert_eq!(refused.as_deref(), Some("not here"));
    let again = sandbox.run(&["plugin", "add", "../more", "--yes"]).code(1);
    assert!(again.stderr.contains("`more` is this one already"), "{}", again.stderr);
    assert_eq!(sandbox.read(config), after);
}

#[test]
fn a_repository_and_an_index_are_added_by_their_places() {
    let sandbox = lab();
    sandbox.git_in("more", &["init", "-q"]);
    sandbox.git_in("more", &["add", "-A"]);
    sandbox.git_in("more", &["commit", "-qm", "x"]);
    let url = sandbox.file_url("more");
    let run = sandbox.run(&["plugin", "add", &url, "--name", "theirs", "--yes", "--json"]);
    let said = document(&run.ok());
    assert_eq!((&said["added"], &said["name"]), (&true.into(), &"theirs".into()), "{said:#}");
    let config = sandbox.read("home/.symposium/config.toml");
    assert!(config.contains(&format!("git = {url:?}")), "{config}");
    assert_eq!(listed(&sandbox, "guard")["source"], "theirs");
    sandbox.write(
        "index/.claude-plugin/marketplace.json",
        "{\"plugins\":[{\"name\":\"p\",\"source\":\"./p\",\"strict\":false}]}",
    );
    sandbox.write("index/p/skills/a/SKILL.md", skill("a", "d"));
    let file = "../index/.claude-plugin/marketplace.json";
    sandbox.run(&["plugin", "add", file, "--yes"]).ok();
    assert_eq!(listed(&sandbox, "p")["source"], "index");
}

#[test]
fn what_can_t_be_added_says_why_and_changes_nothing() {
    let sandbox = lab();
    sandbox.write("empty/README.md", "x");
    let before = sandbox.read("home/.symposium/config.toml");
    for (args, told) in [
        (&["../empty"][..], "there is no plugin and no skill"),
        (&["owner/repo"], "https://github.com/owner/repo"),
        (&["../none"], "a folder that is there"),
        (&["../more", "--crates", "a b"], "is no crate predicate"),
        (&["../more", "--name", "user-plugins"], "is taken"),
        (&["https://127.0.0.1:1/x/y"], "nothing can be added"),
    ] {
        let run = sandbox.run(&[&["plugin", "add", "--yes"], args].concat());
        assert_eq!(run.code, 1, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(told), "{args:?}: {}", run.stderr);
        assert_eq!(sandbox.read("home/.symposium/config.toml"), before, "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn on_a_terminal_it_asks_and_only_a_yes_adds() {
    let sandbox = lab();
    let before = sandbox.read("home/.symposium/config.toml");
    for (keys, code, is_added) in
        [("n", 0, false), ("\r", 0, false), ("\u{3}", 130, false), ("y", 0, true)]
    {
        let command = sandbox.command(&["plugin", "add", "../more", "--crates", "widget"]);
        let mut terminal = Terminal::start(&command, 100, 60);
        terminal.wait_for("/hooks/guard.sh");
        terminal.answer("Add more to your plugin sources?", keys);
        let ended = terminal.end();
        assert_eq!(ended.code, code, "{keys:?}: {}", ended.screen);
        assert!(ended.is_restored, "{keys:?}");
        let is_same = sandbox.read("home/.symposium/config.toml") == before;
        assert_eq!(is_same, !is_added, "{keys:?}: {}", ended.screen);
    }
}
