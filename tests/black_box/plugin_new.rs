//! `plugin new`: what it writes is whole, passes `plugin validate`, and works as it is.

use serde_json::json;
use symposium_testlib::{Sandbox, slashes};

use crate::sandbox;

/// `plugin validate` finds nothing, not even to warn of.
fn assert_valid(sandbox: &Sandbox, path: &str) {
    let run = sandbox.run(&["plugin", "validate", path, "--no-check-crates"]).ok();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn a_new_plugin_is_valid_with_each_part_and_with_all_and_each_key_is_explained() {
    let sandbox = sandbox();
    let all = ["skills", "hook", "server", "subcommand"];
    for parts in all.iter().map(|part| (*part).to_owned()).chain([all.join(",")]) {
        let dir = format!("out/{}", parts.replace(',', "-"));
        let args = ["plugin", "new", "my-plugin", "--with", &parts, "--dir", &dir];
        sandbox.run(&args).ok();
        assert_valid(&sandbox, &dir);
    }
    let manifest = sandbox.read("ws/out/skills-hook-server-subcommand/SYMPOSIUM.toml");
    let mut commented = false;
    for line in manifest.lines() {
        let is_key = line.contains(" = ");
        assert!(commented || !is_key || line.starts_with('#'), "no comment: {line}");
        commented = line.starts_with('#') || (commented && line.starts_with('['));
        assert!(line.chars().count() <= 110, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_new_plugin_works_at_once() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let dir = sandbox.home().join(".symposium/plugins/my-plugin");
    let dir = dir.to_str().expect("Unicode");
    let parts = "skills,hook,server,subcommand";
    let new = ["plugin", "new", "my-plugin", "--with", parts, "--crates", "*", "--dir", dir];
    sandbox.run(&new).ok();
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(sandbox.has("ws/.claude/skills/my-plugin/SKILL.md"));
    let event = |command: &str| {
        let input = json!({ "command": command });
        json!({ "PreToolUse": { "tool_name": "Bash", "tool_input": input, "cwd": sandbox.ws() } })
    };
    let answer = |command: &str| {
        let event = event(command).to_string();
        sandbox.feed(&["hook", "symposium", "pre-tool-use"], event.as_bytes()).ok().stdout
    };
    assert!(answer("git push --force").contains("force-with-lease"));
    assert!(answer("git push --force origin").contains(r#""decision":"deny""#));
    assert_eq!(answer("git push --force-with-lease"), "");
    let run = sandbox.run(&["my-plugin", "one two"]).ok();
    let root = sandbox.ws();
    assert_eq!(run.stdout, format!("workspace: {}\nargument: one two\n", root.display()));
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": "two", "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "hello" } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "resources/list" }),
    ];
    let requests: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let run = sandbox.feed(&["run-server", "my-plugin"], requests.as_bytes()).ok();
    let answers = run.json_lines();
    assert_eq!(answers.len(), 4, "{}", run.stdout);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "my-plugin");
    assert_eq!(
        (&answers[1]["id"], &answers[1]["result"]["tools"][0]["name"]),
        (&json!("two"), &json!("hello"))
    );
    assert_eq!(answers[2]["result"]["content"][0]["text"], "Hello from my-plugin");
    assert_eq!(answers[3]["error"]["code"], -32601);
}

#[test]
fn what_it_is_for_is_said_or_is_the_crate_around_or_every_workspace() {
    let sandbox = sandbox();
    sandbox.run(&["plugin", "new", "free"]).ok();
    assert!(sandbox.read("ws/free/SYMPOSIUM.toml").contains("\ncrates = [\"*\"]\n"));
    sandbox.package(&[]);
    sandbox.run(&["plugin", "new", "around"]).ok();
    assert!(sandbox.read("ws/around/SYMPOSIUM.toml").contains("\ncrates = [\"shop\"]\n"));
    sandbox.run(&["plugin", "new", "said", "--crates", "serde,tokio>=1.40"]).ok();
    let said = sandbox.read("ws/said/SYMPOSIUM.toml");
    assert!(said.contains("\ncrates = [\"serde\", \"tokio>=1.40\"]\n"), "{said}");
    let args = ["plugin", "new", "vouches", "--with", "crate-skills", "--crates", "serde"];
    sandbox.run(&args).ok();
    assert_valid(&sandbox, "vouches");
    let refused = sandbox.run(&["plugin", "new", "x", "--with", "crate-skills", "--crates", "*"]);
    assert!(refused.code(1).stderr.contains("no crate is named"));
    let refused = sandbox.run(&["plugin", "new", "x", "--crates", "tokio 1"]).code(1);
    assert!(refused.stderr.contains("is no crate predicate"), "{}", refused.stderr);
}

#[test]
fn a_skill_by_itself_says_what_it_is_for() {
    let sandbox = sandbox();
    sandbox.run(&["plugin", "new", "house-style", "--skill"]).ok();
    assert_valid(&sandbox, "house-style");
    sandbox.run(&["plugin", "new", "serde-use", "--skill", "--crates", "serde>=1"]).ok();
    assert_valid(&sandbox, "serde-use/SKILL.md");
    let text = sandbox.read("ws/serde-use/SKILL.md");
    assert!(text.contains("\n  crates: \"serde>=1\"\n"), "{text}");
    assert!(text.contains("crate-info serde`"), "{text}");
    let refused = sandbox.run(&["plugin", "new", "a-skill", "--skill", "--dir", "b"]).code(1);
    assert!(refused.stderr.contains("has the skill's name"), "{}", refused.stderr);
    assert!(!sandbox.has("ws/b"));
}

#[test]
fn a_crate_s_skill_lies_where_the_crate_says_and_is_named_after_it() {
    let sandbox = sandbox();
    let refused = sandbox.run(&["plugin", "new", "--crate"]).code(1);
    assert!(refused.stderr.contains("there is no package here"), "{}", refused.stderr);
    sandbox.package(&[]);
    let made = sandbox.run_in("ws/src", &["plugin", "new", "--crate"]).ok();
    assert!(slashes(&made.stderr).contains("skills/shop-basics/SKILL.md"), "{}", made.stderr);
    assert_valid(&sandbox, "skills/shop-basics");
    sandbox.run(&["plugin", "validate", ".", "--no-check-crates"]).ok();
    let manifest = sandbox.read("ws/Cargo.toml");
    let elsewhere = "\n[[package.metadata.symposium.skills]]\npath = \"docs/skills\"\n";
    sandbox.write("ws/Cargo.toml", format!("{manifest}{elsewhere}"));
    sandbox.run(&["plugin", "new", "shop-tests", "--crate"]).ok();
    assert!(sandbox.has("ws/docs/skills/shop-tests/SKILL.md"));
    let none = "\n[package.metadata.symposium]\nskills = []\n";
    sandbox.write("ws/Cargo.toml", format!("{manifest}{none}"));
    let refused = sandbox.run(&["plugin", "new", "--crate"]).code(1);
    assert!(refused.stderr.contains("no folder of skills"), "{}", refused.stderr);
}

#[test]
fn nothing_that_is_there_is_touched() {
    let sandbox = sandbox();
    sandbox.write("ws/mine/note.txt", "mine\n");
    sandbox.write("ws/file", "mine\n");
    let before = sandbox.ws_tree();
    for name in ["mine", "file"] {
        let refused = sandbox.run(&["plugin", "new", name]).code(1);
        assert!(refused.stderr.contains("nothing was written"), "{}", refused.stderr);
    }
    assert_eq!(sandbox.ws_tree(), before);
}

#[test]
fn a_name_that_can_t_be_is_refused_with_one_that_can() {
    let sandbox = sandbox();
    let cases = [
        (vec!["My Plugin"], "for example `my-plugin`"),
        (vec!["../up"], "for example `up`"),
        (vec!["sync", "--with", "subcommand"], "`cargo agents sync` is ours"),
        (vec![], "it has no name yet"),
    ];
    for (args, said) in cases {
        let all = [&["plugin", "new"][..], &args].concat();
        let refused = sandbox.run(&all).code(1);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    sandbox.run(&["plugin", "new", "x", "--skill", "--with", "hook"]).code(2);
    sandbox.run(&["plugin", "new", "x", "--skill", "--crate"]).code(2);
    assert_eq!(sandbox.ws_tree().files(), Vec::<&str>::new());
}

#[cfg(unix)]
#[test]
fn on_a_terminal_it_asks_for_what_was_not_said() {
    use crate::terminal::Terminal;

    let sandbox = sandbox();
    sandbox.package(&[]);
    let start = || Terminal::start(&sandbox.command(&["plugin", "new", "asked"]), 100, 30);
    let mut terminal = start();
    terminal.answer("a skill that the crate shop ships", "\r");
    // A hook besides the skills.
    terminal.answer("a subcommand of `cargo agents`", "\u{1b}[B \r");
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.is_restored);
    assert!(
        sandbox.has("ws/asked/hooks/no-force-push.sh")
            && sandbox.has("ws/asked/skills/asked/SKILL.md")
    );
    std::fs::remove_dir_all(sandbox.ws().join("asked")).expect("removes");
    let mut terminal = start();
    terminal.answer("a skill that the crate shop ships", "\u{3}");
    assert_eq!(terminal.end().code, 130);
    assert!(!sandbox.has("ws/asked"));
}
