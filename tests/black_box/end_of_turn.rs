//! The event `Stop`: registered where a plugin wants it, honoured, and bounded.

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::with_agents;

/// The agents that tell of a turn's end, with the file of their hooks.
const TELLING: [(&str, &str); 7] = [
    ("claude", "home/.claude/settings.json"),
    ("codex", "home/.codex/hooks.json"),
    ("copilot", "home/.copilot/hooks/symposium.json"),
    ("gemini", "home/.gemini/settings.json"),
    ("qwen", "home/.qwen/settings.json"),
    ("goose", "home/.agents/plugins/symposium/hooks/hooks.json"),
    ("kiro", "home/.kiro/agents/symposium.json"),
];

/// A plugin for `crates` whose hook says `script` at the end of a turn.
fn plugin(sandbox: &Sandbox, crates: &str, script: &str) {
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!(
            "name = \"p\"\ncrates = [\"{crates}\"]\n[[hooks]]\nname = \"done\"\nevent = \"Stop\"\n\
             command = {{ script = \"stop.sh\" }}\n"
        ),
    );
    sandbox.user_plugin("p/stop.sh", script);
}

const GO_ON: &str = "cat >> \"$HOME/seen\"\n\
                     echo '{\"Stop\":{\"decision\":\"deny\",\"reason\":\"the tests fail\"}}'\n";

/// The event of `agent`, whether a hook keeps it going already.
fn event(sandbox: &Sandbox, agent: &str, active: bool) -> Value {
    let cwd = sandbox.ws().display().to_string();
    match agent {
        "gemini" => json!({"hook_event_name": "AfterAgent", "session_id": "s", "cwd": cwd,
            "prompt": "p", "prompt_response": "done", "stop_hook_active": active}),
        "copilot" => json!({"sessionId": "s", "cwd": cwd, "stopReason": "end_turn",
            "stop_hook_active": active}),
        _ => json!({"hook_event_name": "Stop", "session_id": "s", "cwd": cwd,
            "last_assistant_message": "done", "stop_hook_active": active}),
    }
}

fn stop(sandbox: &Sandbox, agent: &str, active: bool) -> Value {
    let event = event(sandbox, agent, active).to_string();
    let run = sandbox.feed(&["hook", agent, "stop"], event.as_bytes()).ok();
    serde_json::from_str(&run.stdout).unwrap_or_default()
}

#[test]
fn a_turn_s_end_is_registered_while_some_plugin_wants_it_and_no_longer() {
    let sandbox = with_agents(&TELLING.map(|(agent, _)| agent));
    let registered = |wanted: bool| {
        sandbox.run(&["sync"]).ok();
        for (agent, file) in TELLING {
            let text = sandbox.read(file);
            assert!(text.contains(&format!("hook {agent} pre-tool-use")), "{agent}: {text}");
            assert_eq!(text.contains(&format!("hook {agent} stop")), wanted, "{agent}: {text}");
        }
        let again = sandbox.run(&["sync"]).ok();
        assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    };
    registered(false);
    // Whatever its crate is: what stands in the user's own files is for every workspace.
    plugin(&sandbox, "elsewhere", GO_ON);
    registered(true);
    std::fs::remove_dir_all(sandbox.dir().join("home/.symposium/plugins/p")).expect("removes");
    registered(false);
    plugin(&sandbox, "widget", GO_ON);
    registered(true);
    sandbox.run(&["uninstall"]).ok();
    for (agent, file) in TELLING {
        let left = sandbox.has(file) && sandbox.read(file).contains("cargo-agents");
        assert!(!left, "{agent}: {}", sandbox.read(file));
    }
}

/// The files of hooks that a team shares.
const SHARED: [(&str, &str); 7] = [
    ("claude", "ws/.claude/settings.json"),
    ("codex", "ws/.codex/hooks.json"),
    ("copilot", "ws/.github/hooks/symposium.json"),
    ("gemini", "ws/.gemini/settings.json"),
    ("qwen", "ws/.qwen/settings.json"),
    ("goose", "ws/.agents/plugins/symposium/hooks/hooks.json"),
    ("kiro", "ws/.kiro/agents/symposium.json"),
];

#[test]
fn a_project_s_files_are_equal_whichever_member_s_plugins_want_a_turn_s_end() {
    let member = |wants: bool| {
        let sandbox = crate::sandbox();
        let agents = SHARED.map(|(agent, _)| format!("[[agent]]\nname = \"{agent}\"\n")).concat();
        let config = format!("hook-scope = \"project\"\n{agents}\n{}", crate::NO_BUILTIN);
        sandbox.write("home/.symposium/config.toml", config);
        sandbox.package(&[("widget", "1.2.3")]);
        if wants {
            plugin(&sandbox, "widget", GO_ON);
        }
        sandbox.run(&["sync"]).ok();
        sandbox
    };
    let (with, without) = (member(true), member(false));
    for (agent, file) in SHARED {
        let text = without.read(file);
        assert!(text.contains(&format!("hook {agent} stop")), "{agent}: {text}");
        assert_eq!(with.read(file), text, "{agent}");
    }
    assert_eq!(stop(&without, "claude", false), Value::Null);
    assert_eq!(stop(&with, "claude", false)["decision"], "block");
    // Nor does a member's next sync undo what another's left.
    std::fs::remove_dir_all(with.dir().join("home/.symposium/plugins/p")).expect("removes");
    let run = with.run(&["sync"]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
}

#[test]
fn a_hook_s_no_makes_each_agent_go_on_that_can_and_the_others_carry_on() {
    for (agent, answer) in [
        ("claude", json!({"decision": "block", "reason": "the tests fail"})),
        ("codex", json!({"decision": "block", "reason": "the tests fail"})),
        ("copilot", json!({"decision": "block", "reason": "the tests fail"})),
        ("gemini", json!({"decision": "deny", "reason": "the tests fail"})),
        ("qwen", json!({"decision": "block", "reason": "the tests fail"})),
        ("kiro", Value::Null),
    ] {
        let sandbox = with_agents(&[agent]);
        plugin(&sandbox, "widget", GO_ON);
        sandbox.run(&["sync"]).ok();
        assert_eq!(stop(&sandbox, agent, false), answer, "{agent}");
        let seen: Value = serde_json::from_str(&sandbox.read("home/seen")).expect("an event");
        assert_eq!(seen["Stop"]["stop_hook_active"], json!(false), "{agent}: {seen}");
        if agent != "copilot" && agent != "kiro" {
            assert_eq!(seen["Stop"]["last_assistant_message"], "done", "{agent}: {seen}");
        }
    }
}

#[test]
fn a_hook_that_always_says_no_keeps_an_agent_going_five_times_a_turn() {
    let sandbox = with_agents(&["claude"]);
    plugin(&sandbox, "widget", GO_ON);
    sandbox.run(&["sync"]).ok();
    for turn in 0..2 {
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s",
            "cwd": sandbox.ws(), "prompt": "p", "prompt_id": turn.to_string()});
        sandbox.feed(&["hook", "claude", "user-prompt-submit"], prompt.to_string().as_bytes()).ok();
        for count in 0..7 {
            let answer = stop(&sandbox, "claude", count > 0);
            assert_eq!(answer["decision"] == "block", count < 5, "{turn} {count}: {answer}");
            let told = answer["systemMessage"].as_str().unwrap_or_default();
            assert_eq!(told.contains("the tests fail"), count >= 5, "{turn} {count}: {answer}");
        }
    }
}

#[test]
fn exit_2_says_no_and_nothing_else_does() {
    for (script, blocks) in [
        ("echo 'run clippy' >&2; exit 2", true),
        ("echo 'odd' >&2; exit 1", false),
        ("echo '{\"Stop\":{\"decision\":\"ask\"}}'", false),
        ("echo '{\"Stop\":{}}'", false),
    ] {
        let sandbox = with_agents(&["claude"]);
        plugin(&sandbox, "widget", script);
        sandbox.run(&["sync"]).ok();
        let answer = stop(&sandbox, "claude", false);
        assert_eq!(answer["decision"] == "block", blocks, "{script}: {answer}");
    }
}
