//! What is remembered of a session, and what Symposium itself says in it.

use std::time::{Duration, SystemTime};

use serde_json::json;
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// A workspace with a subcommand for the agent.
fn with_subcommand() -> Sandbox {
    let sandbox = lab();
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[subcommand.widget-inspect]\n\
         description = \"Inspect widgets\"\ncommand = { script = \"w.sh\" }\n\n\
         [subcommand.other]\ndescription = \"x\"\ncrates = [\"other\"]\n\
         command = { script = \"w.sh\" }\n",
    );
    sandbox.user_plugin("p/w.sh", "");
    sandbox
}

const HINT: &str = "This Rust workspace has commands made for its crates (widget-inspect): run \
                    `cargo agents --help` to see what they do.";

#[test]
fn f227_a_session_begins_with_a_hint_where_there_is_something_to_discover() {
    for agent in AGENTS {
        let sandbox = with_subcommand();
        let told = Told::in_ws(&sandbox);
        // Not throttled: in each session.
        for session in ["s1", "s2"] {
            let told = told.clone().session(session);
            let effect = send(&sandbox, agent, Event::SessionStart, &told);
            let expected = (agent != "goose").then(|| HINT.to_owned());
            assert_eq!(effect, Effect { context: expected, ..Effect::default() }, "{agent}");
        }
        for event in [Event::UserPromptSubmit, Event::PreToolUse, Event::PostToolUse] {
            assert_eq!(send(&sandbox, agent, event, &told), Effect::default(), "{agent}");
        }
    }
    let sandbox = with_subcommand();
    sandbox.package(&[]);
    let told = Told::in_ws(&sandbox);
    assert_eq!(send(&sandbox, "claude", Event::SessionStart, &told), Effect::default());
}

#[test]
fn decision_37_no_agent_is_told_of_a_newer_version_of_us() {
    for agent in AGENTS {
        let sandbox = with_subcommand();
        configure(&sandbox, &[], "auto-update = \"warn\"\n");
        sandbox.write("home/.symposium/state.toml", "newest-version = \"999.0.0\"\n");
        let told = Told::in_ws(&sandbox);
        let effect = send(&sandbox, agent, Event::SessionStart, &told);
        let expected = (agent != "goose").then(|| HINT.to_owned());
        assert_eq!(effect, Effect { context: expected, ..Effect::default() }, "{agent}");
    }
}

#[test]
fn f224_our_own_word_comes_before_the_plugins() {
    let sandbox = with_subcommand();
    let context = json!({"additionalContext": "from a plugin"});
    let script = says(Event::SessionStart, context);
    hook_plugin(&sandbox, "q", Event::SessionStart, "", &script);
    let effect = send(&sandbox, "codex", Event::SessionStart, &Told::in_ws(&sandbox));
    assert_eq!(effect.context, Some(format!("{HINT}\n\nfrom a plugin")));
}

#[test]
fn decision_16_f220_what_a_session_remembers() {
    let sandbox = lab();
    let told = Told { prompt: "my secret plan", ..Told::in_ws(&sandbox) };
    let earliest = millis();
    send(&sandbox, "claude", Event::SessionStart, &told);
    for id in ["p1", "p2", "p3"] {
        send(&sandbox, "claude", Event::UserPromptSubmit, &told.clone().id(id));
    }
    send(&sandbox, "claude", Event::PreToolUse, &told);
    for _ in 0..2 {
        let skill = json!({
            "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": told.cwd,
            "transcript_path": "/t", "tool_name": "Skill", "tool_input": {"skill": "serde-help"},
            "tool_response": {"success": true}, "tool_use_id": "x",
        });
        sandbox.feed(&["hook", "claude", "post-tool-use"], skill.to_string().as_bytes()).ok();
    }
    let mut memory = session(&sandbox, "s1");
    let takes_time = |memory: &mut serde_json::Value, time: &str| {
        let at = memory[time].as_u64().expect("a time");
        assert!((earliest..=millis()).contains(&at), "{time}: {at}");
        memory.as_object_mut().expect("an object").remove(time);
    };
    ["started-at", "heard-of"].iter().for_each(|time| takes_time(&mut memory, time));
    takes_time(&mut memory["skill-reads"][0], "last-at");
    let expected = json!({
        "agent": "claude", "root": sandbox.ws(), "prompts": 3,
        "skill-reads": [{"name": "serde-help", "count": 1, "last-use": "x"}],
        "nudges": [], "announced": [], "pending": [],
    });
    assert_eq!(memory, expected);
    // The user's words are nowhere.
    for entry in walkdir::WalkDir::new(sandbox.home()) {
        let entry = entry.expect("reads");
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).expect("reads");
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains("secret"), "{}", entry.path().display());
        }
    }
}

#[test]
fn decision_16_a_session_is_written_only_when_something_changes() {
    let sandbox = lab();
    let told = Told::in_ws(&sandbox);
    send(&sandbox, "codex", Event::SessionStart, &told);
    let path = sandbox.home().join(".symposium/sessions/s1.json");
    let written = || std::fs::metadata(&path).and_then(|found| found.modified()).expect("a time");
    let before = written();
    for event in [Event::PreToolUse, Event::PostToolUse, Event::PreToolUse] {
        send(&sandbox, "codex", event, &told);
    }
    assert_eq!(written(), before);
    send(&sandbox, "codex", Event::UserPromptSubmit, &told);
    assert!(written() > before);
}

#[test]
fn decision_16_sessions_of_long_ago_are_forgotten_at_the_next_start() {
    let sandbox = lab();
    let told = Told::in_ws(&sandbox);
    for id in ["old", "new"] {
        send(&sandbox, "claude", Event::SessionStart, &told.clone().session(id));
    }
    let old = sandbox.home().join(".symposium/sessions/old.json");
    let file = std::fs::File::options().write(true).open(&old).expect("opens");
    file.set_modified(SystemTime::now() - Duration::from_secs(15 * 24 * 3600)).expect("sets");
    drop(file);
    send(&sandbox, "claude", Event::SessionStart, &told);
    assert!(!old.exists());
    assert!(sandbox.has("home/.symposium/sessions/new.json"));
}

#[test]
fn a_sessions_name_is_no_path() {
    let sandbox = lab();
    for id in ["../../evil", "/etc/evil", ".", "..", "a/b", "con:x", " "] {
        let told = Told::in_ws(&sandbox).session(id);
        send(&sandbox, "claude", Event::SessionStart, &told);
    }
    let sessions = sandbox.home().join(".symposium/sessions");
    assert_eq!(std::fs::read_dir(sessions).expect("reads").count(), 7);
    assert!(!sandbox.has("home/evil.json") && !sandbox.has("evil.json"));
}

#[test]
fn a_memory_that_can_not_be_read_is_begun_anew() {
    let sandbox = lab();
    sandbox.write("home/.symposium/sessions/s1.json", "{ half");
    let told = Told::in_ws(&sandbox);
    send(&sandbox, "claude", Event::UserPromptSubmit, &told);
    assert_eq!(session(&sandbox, "s1")["prompts"], 1);
    sandbox.write("home/.symposium/sessions/s1.json", r#"{"prompts": 41, "later-field": true}"#);
    send(&sandbox, "claude", Event::UserPromptSubmit, &Told { prompt: "other", ..told });
    assert_eq!(session(&sandbox, "s1")["prompts"], 42);
}

#[test]
fn a_prompt_that_is_delivered_twice_is_counted_once() {
    let sandbox = lab();
    for agent in ["claude", "codex", "copilot", "gemini", "kiro"] {
        let told = Told::in_ws(&sandbox).session(agent);
        for _ in 0..2 {
            send(&sandbox, agent, Event::UserPromptSubmit, &told);
        }
        assert_eq!(session(&sandbox, agent)["prompts"], 1, "{agent}");
    }
}
