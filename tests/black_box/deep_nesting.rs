//! Texts that nest, repeat or go on without end: each reader says so at once, with file and line.

use std::time::{Duration, Instant};

use crate::{configure, sandbox};
use symposium_testlib::readers::GOOSE_CONFIG;
use symposium_testlib::{Run, Sandbox, slashes};

/// What a run of a debug build on a busy machine takes at most. Without limits these texts took minutes.
const AT_ONCE: Duration = Duration::from_secs(20);
const MANY: usize = 100_000;

fn ready(agent: &str) -> Sandbox {
    let sandbox = sandbox();
    configure(&sandbox, &[agent], "");
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox
}

fn at_once(what: &str, run: impl FnOnce() -> Run) -> Run {
    let start = Instant::now();
    let run = run();
    assert!(start.elapsed() < AT_ONCE, "{what} took {:?}", start.elapsed());
    run
}

#[test]
fn a_skill_s_frontmatter_that_nests_without_end_is_refused_at_once() {
    let sandbox = ready("claude");
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(MANY), close.repeat(MANY));
    let within = |text: String| text[..60_000].to_owned();
    let bomb = |names: &str, count| {
        format!("a: &x [{}]\nb: [{}]", "1,".repeat(count), names.repeat(count))
    };
    let levels =
        (1..40).map(|at| format!("a{at}: &a{at} [{}]\n", format!("*a{}, ", at - 1).repeat(9)));
    let yamls = [
        ("brackets", format!("a: {}", nested("[", "]"))),
        ("short-brackets", format!("a: {}", within(nested("[", "]")))),
        ("braces", format!("a: {}", within(nested("{a: ", "}")))),
        ("open", format!("a: {}", within("[".repeat(MANY)))),
        ("feigned", format!("a: {}", within("[\"]\",".repeat(MANY)))),
        ("commented", format!("a: {}", within("[ # ]\n ".repeat(MANY)))),
        ("dashes", format!("a:\n  {}x", within("- ".repeat(MANY)))),
        ("questions", within("? ".repeat(MANY))),
        ("long", format!("a: {}", "x".repeat(MANY))),
        ("aliases", bomb("*x, ", 9_000)),
        ("levels", format!("a0: &a0 x\n{}", levels.collect::<String>())),
    ];
    for (name, yaml) in &yamls {
        let text = format!("---\nname: {name}\ndescription: d\n{yaml}\n---\nBody.\n");
        sandbox.write(&format!("ws/.agents/skills/{name}/SKILL.md"), text);
    }
    let run = at_once("sync", || sandbox.run(&["sync", "--dry-run"]));
    for (name, _) in &yamls {
        assert!(
            slashes(&run.stderr).contains(&format!("{name}/SKILL.md:")),
            "{name}: {}",
            run.stderr
        );
    }
    for message in
        ["it is nested too deeply", "it is longer than 64 KiB", "it has too many aliases"]
    {
        assert!(run.stderr.contains(message), "{message}: {}", run.stderr);
    }
}

#[test]
fn a_manifest_that_nests_without_end_is_refused_at_once() {
    for value in [
        "[".repeat(MANY) + &"]".repeat(MANY),
        "{a=".repeat(MANY),
        format!("1\n{}a = 1", "a.".repeat(MANY)),
        format!("1\n[{}a]", "a.".repeat(MANY)),
    ] {
        let sandbox = ready("claude");
        let manifest = format!("name = \"p\"\ncrates = [\"widget\"]\nx = {value}\n");
        sandbox.user_plugin("p/SYMPOSIUM.toml", &manifest);
        let run = at_once("sync", || sandbox.run(&["sync"]));
        assert!(slashes(&run.stderr).contains("p/SYMPOSIUM.toml:"), "{}", run.stderr);
    }
}

#[test]
fn an_agent_s_file_that_nests_without_end_is_left_as_it_is() {
    for (agent, path, text) in [
        ("claude", "home/.claude/settings.json", "[".repeat(MANY)),
        ("claude", "home/.claude/settings.json", "{\"a\":".repeat(MANY)),
        ("goose", GOOSE_CONFIG, format!("a: {}\n", "[".repeat(MANY))),
        ("codex", "home/.codex/config.toml", format!("a = {}\n", "[".repeat(MANY))),
    ] {
        let sandbox = ready(agent);
        sandbox.user_plugin(
            "p/SYMPOSIUM.toml",
            "name = \"p\"\ncrates = [\"*\"]\n[[mcp_servers]]\nname = \"s\"\ncommand = \"s\"\n",
        );
        sandbox.write(path, &text);
        let run = at_once(path, || sandbox.run(&["init", "--add-agent", agent]));
        assert_eq!(sandbox.read(path), text);
        let name = path.rsplit('/').next().expect("has a name");
        assert!(run.stderr.contains(&format!("{name}:")), "{path}: {}", run.stderr);
    }
}

#[test]
fn an_event_that_nests_without_end_is_let_through_at_once() {
    let sandbox = ready("claude");
    let ws = sandbox.at("ws");
    for deep in ["[".repeat(MANY) + &"]".repeat(MANY), "{\"a\":".repeat(MANY)] {
        let event = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"{ws}","tool_name":"x","tool_use_id":"1","tool_input":{deep}}}"#
        );
        let run = at_once("the event", || {
            sandbox.feed(&["hook", "claude", "pre-tool-use"], event.as_bytes())
        });
        assert_eq!((run.code, run.stdout.trim()), (0, ""), "{}", run.stderr);
    }
}
