//! Antigravity CLI, which tells of no prompt and of a session's start before each call of its model.

use serde_json::{Value, json};
use symposium_hook::Event;
use symposium_testlib::{Run, Sandbox};

use crate::hook_kit::{hook_plugin, lab, logs, says, with_agents};

fn tell(sandbox: &Sandbox, event: Event, conversation: &str, step: u64) -> Run {
    let mut payload = json!({
        "conversationId": conversation,
        "workspacePaths": [sandbox.ws()],
        "stepIdx": step,
    });
    if event.is_tool_event() {
        payload["toolCall"] =
            json!({ "name": "run_command", "args": { "CommandLine": "cargo test" } });
    }
    let run =
        sandbox.feed(&["hook", "antigravity", event.cli_name()], payload.to_string().as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run
}

#[test]
fn the_first_invocation_of_a_conversation_is_its_start_and_to_later_ones_nothing_is_said() {
    let sandbox = lab();
    hook_plugin(
        &sandbox,
        "p",
        Event::SessionStart,
        "",
        &says(Event::SessionStart, json!({ "additionalContext": "hello" })),
    );
    for conversation in ["one", "two"] {
        let first = tell(&sandbox, Event::SessionStart, conversation, 1);
        let answer: Value = serde_json::from_str(&first.stdout).expect("JSON");
        let told = answer["injectSteps"][0]["ephemeralMessage"].as_str().expect("a message");
        assert!(told.contains("hello"), "{told}");
        for step in [1, 3, 9] {
            let later = tell(&sandbox, Event::SessionStart, conversation, step);
            assert_eq!(later.stdout, "", "{conversation} {step}");
        }
    }
}

#[test]
fn a_denial_has_both_spellings_and_everything_else_is_no_output_at_all() {
    let sandbox = lab();
    let cases = [
        (json!({ "decision": "deny", "reason": "no" }), true),
        (json!({ "decision": "allow" }), false),
        (json!({ "updatedInput": { "command": "ls" } }), false),
        (json!({}), false),
    ];
    for (step, (answer, denied)) in (0..).step_by(2).zip(cases) {
        hook_plugin(&sandbox, "p", Event::PreToolUse, "", &says(Event::PreToolUse, answer));
        let run = tell(&sandbox, Event::PreToolUse, "one", step);
        let both = r#"{"decision":"deny","reason":"no","allow_tool":false,"deny_reason":"no"}"#;
        assert_eq!(run.stdout, if denied { both } else { "" });
        assert_eq!(tell(&sandbox, Event::PostToolUse, "one", step + 1).stdout, "");
    }
    assert!(logs(&sandbox).contains("Antigravity CLI takes no other input at PreToolUse"));
}

#[test]
fn what_is_no_event_of_its_is_answered_with_nothing() {
    let sandbox = lab();
    for (event, payload) in [
        ("pre-tool-use", r#"{"conversationId":"one","toolCall":null}"#),
        ("post-tool-use", r#"{"conversationId":"one","toolCall":null,"error":""}"#),
        ("session-start", r#"{"stepIdx":0}"#),
        ("user-prompt-submit", r#"{"conversationId":"one","prompt":"x"}"#),
        ("pre-tool-use", "not JSON"),
        ("stop", "{}"),
    ] {
        let run = sandbox.feed(&["hook", "antigravity", event], payload.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{event} {payload}");
    }
}

#[test]
#[cfg(unix)]
fn its_tools_run_without_our_program_and_when_it_crashes() {
    let sandbox = with_agents(&[]);
    sandbox.run(&["init", "--add-agent", "antigravity"]).ok();
    let hooks: Value =
        serde_json::from_str(&sandbox.read("home/.gemini/config/hooks.json")).expect("JSON");
    let command = hooks["symposium"]["PreToolUse"][0]["hooks"][0]["command"].as_str();
    let command = command.expect("a command");
    assert!(command.starts_with("command -v "), "{command}");
    let program = command.split(' ').nth(2).expect("a program");
    for stand_in in ["/gone/cargo-agents", "false"] {
        let line = command.replace(program, stand_in);
        let output = std::process::Command::new("sh").arg("-c").arg(&line).output().expect("runs");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{line}");
    }
}
