//! Events that are odd in themselves: nothing in them gets a command past a guard, and nothing in a
//! tool's input is lost on the way to a hook and back.

use serde_json::json;
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// A lab whose guard denies every tool whose input, in common words, holds `words`.
fn guarding(words: &str) -> Sandbox {
    let sandbox = lab();
    let deny = json!({"PreToolUse": {"decision": "deny", "reason": "no"}});
    // What the agent itself says of its tool stands behind it and does not count.
    let script = format!(
        "input=$(sed 's/\"native_tool_name\".*//')\ncase $input in\n*'{words}'*) echo '{deny}' ;;\nesac\n"
    );
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &script);
    sandbox
}

/// The payload with this in the place of the command.
fn with_command(sandbox: &Sandbox, agent: &'static str, command: &[u8]) -> Vec<u8> {
    let told = Told { command: "PLACE", ..Told::in_ws(sandbox).session(agent) };
    let payload = told.payload(agent, Event::PreToolUse);
    let at = payload.windows(5).position(|part| part == b"PLACE").expect("it is there");
    [&payload[..at], command, &payload[at + 5..]].concat()
}

fn is_refused(sandbox: &Sandbox, agent: &str, payload: &[u8]) -> bool {
    let run = sandbox.feed(&["hook", agent, "pre-tool-use"], payload);
    effect(agent, Event::PreToolUse, &run).refused.is_some()
}

#[test]
fn nothing_odd_in_an_event_gets_a_command_past_a_guard() {
    let sandbox = guarding("rm -rf");
    let deep =
        format!("x\",\"more\":{}1{},\"last\":\"rm -rf /", "[".repeat(3000), "]".repeat(3000));
    let objects = "{\"a\":".repeat(500);
    let objects = format!("x\",\"more\":{objects}1{},\"last\":\"rm -rf /", "}".repeat(500));
    let odd: [(&str, &[u8]); 8] = [
        ("bytes that are no text", b"rm -rf /\xff\xfe"),
        ("half an emoji", br"rm -rf \ud83d"),
        ("a zero byte", br"rm -rf /\u0000"),
        ("escapes", br"rm\u0020-r\u0066"),
        (
            "a number that fits nowhere",
            br#"x","n":123456789012345678901234567890e9999,"l":"rm -rf"#,
        ),
        ("a key twice", br#"ls","command":"rm -rf /"#),
        ("arrays in arrays", deep.as_bytes()),
        ("objects in objects", objects.as_bytes()),
    ];
    in_parallel(&AGENTS, |agent| {
        for (what, command) in odd {
            let payload = with_command(&sandbox, agent, command);
            assert!(is_refused(&sandbox, agent, &payload), "{agent}: {what}");
        }
        let harmless = with_command(&sandbox, agent, b"ls");
        assert!(!is_refused(&sandbox, agent, &harmless), "{agent}");
    });
}

#[test]
fn a_tool_s_input_comes_back_as_it_went_but_for_what_a_hook_changed() {
    let sandbox = lab();
    // Says the input again, with another command.
    let script = "sed 's/.*\"tool_input\":\\({[^}]*}\\).*native_tool_name.*/\\1/' | \
                  sed 's/\"command\":\"ls\"/\"command\":\"ls -l\"/; s/.*/{\"PreToolUse\":{\"updatedInput\":&}}/'\n";
    hook_plugin(&sandbox, "p", Event::PreToolUse, "matcher = \"Bash\"", script);
    let rewrites = |agent: &&str| !matches!(*agent, "qwen" | "goose" | "kiro");
    for agent in AGENTS.into_iter().filter(rewrites) {
        if agent == "symposium" {
            continue;
        }
        let more = br#"ls","big":123456789012345678901234567890,"small":1.50e-7,"zz":[1,null,"\u0000\\ \/"],"aa":"x"#;
        let payload = with_command(&sandbox, agent, more);
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], &payload).ok();
        // Order and digits are the agent's own.
        let expected = r#""command":"ls -l","big":123456789012345678901234567890,"small":1.50e-7,"zz":[1,null,"\u0000\\ /"],"aa":"x","description":"d""#;
        assert!(run.stdout.contains(expected), "{agent}: {}", run.stdout);
    }
}

#[test]
fn a_guard_of_files_sees_them_in_every_agents_words_patches_too() {
    let sandbox = guarding("\"secrets.env\"");
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Delete File: secrets.env\n\
                 *** End Patch\n";
    let cases = [
        ("claude", "Write", json!({"file_path": "secrets.env", "content": "x"})),
        ("claude", "Read", json!({"file_path": "secrets.env"})),
        ("codex", "apply_patch", json!({"command": patch})),
        ("copilot", "apply_patch", json!(patch)),
        ("copilot", "create", json!({"path": "secrets.env", "file_text": "x"})),
        ("copilot", "edit", json!({"path": "secrets.env", "old_str": "x", "new_str": "y"})),
        ("copilot", "view", json!({"path": "secrets.env"})),
        ("copilot", "view", json!("{\"path\":\"secrets.env\"}")),
        ("gemini", "write_file", json!({"file_path": "secrets.env", "content": "x"})),
        ("gemini", "replace", json!({"file_path": "secrets.env", "old_string": "x"})),
        ("qwen", "write_file", json!({"file_path": "secrets.env", "content": "x"})),
        ("qwen", "edit", json!({"file_path": "secrets.env", "old_string": "x"})),
        ("qwen", "notebook_edit", json!({"notebook_path": "secrets.env"})),
        ("kiro", "fs_write", json!({"command": "create", "path": "secrets.env"})),
        ("kiro", "fs_read", json!({"operations": [{"mode": "Line", "path": "secrets.env"}]})),
        ("goose", "developer__text_editor", json!({"command": "write", "path": "secrets.env"})),
        ("opencode", "write", json!({"filePath": "secrets.env", "content": "x"})),
        ("opencode", "edit", json!({"filePath": "secrets.env", "oldString": "x"})),
        ("opencode", "apply_patch", json!({"patchText": patch})),
    ];
    for (number, (agent, tool, input)) in cases.into_iter().enumerate() {
        let session: &'static str = Box::leak(format!("s{number}").into_boxed_str());
        let stdin = use_of(&Told::in_ws(&sandbox).session(session), agent, tool, &input);
        assert!(is_refused(&sandbox, agent, stdin.as_bytes()), "{agent} {tool} {input}");
        let harmless = stdin.replace("secrets.env", "public.txt");
        assert!(!is_refused(&sandbox, agent, harmless.as_bytes()), "{agent} {tool}");
    }
}

#[test]
fn what_an_agent_can_not_do_is_in_the_log() {
    for (agent, event, fields, line) in [
        (
            "kiro",
            Event::PreToolUse,
            json!({"updatedInput": {"command": "ls"}}),
            "Kiro takes no other input at PreToolUse: dropped",
        ),
        (
            "codex",
            Event::PreToolUse,
            json!({"decision": "ask", "reason": "r"}),
            "Codex CLI takes no question to the user at PreToolUse: it becomes a denial that says so",
        ),
        (
            "gemini",
            Event::PreToolUse,
            json!({"decision": "allow"}),
            "Gemini CLI takes no leave to go ahead unasked at PreToolUse: dropped",
        ),
        (
            "goose",
            Event::SessionStart,
            json!({"additionalContext": "c"}),
            "Goose takes no words for the model at SessionStart: dropped",
        ),
        (
            "claude",
            Event::PostToolUse,
            json!({"decision": "deny", "reason": "r"}),
            "Claude Code takes no denial at PostToolUse: it becomes the reason beside the result",
        ),
    ] {
        let sandbox = lab();
        hook_plugin(&sandbox, "p", event, "", &says(event, fields));
        send(&sandbox, agent, event, &Told::in_ws(&sandbox));
        assert!(logs(&sandbox).contains(line), "{line}: {}", logs(&sandbox));
    }
}
