//! Two registrations of ours: the same event, delivered twice, is answered once.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// Whether the client may deliver the event twice: Goose runs one of two plugins of a name, and our
/// plugin for OpenCode tells of each prompt once.
fn may_come_twice(agent: &str, event: Event) -> bool {
    !(event == Event::UserPromptSubmit && matches!(agent, "goose" | "opencode"))
}

/// A plugin whose hook for `event` takes `seconds`, notes in `trace` that it ran, and answers.
fn traced(sandbox: &Sandbox, event: Event, seconds: &str, answer: serde_json::Value) {
    let trace = in_script("trace");
    let script = format!("echo x >>{trace}\nsleep {seconds}\n{}", says(event, answer));
    hook_plugin(sandbox, "p", event, "", &script);
}

/// How often the plugin was asked.
fn asked(sandbox: &Sandbox) -> usize {
    if sandbox.has("trace") { sandbox.read("trace").lines().count() } else { 0 }
}

/// Makes the answers that are remembered this many milliseconds older. How many there were.
fn let_pass(sandbox: &Sandbox, millis: u64) -> usize {
    let mut moved = 0;
    let locks = sandbox.home().join(".symposium/cache/locks");
    for entry in std::fs::read_dir(locks).expect("lists").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("reads");
        let first = text.lines().next().unwrap_or_default();
        let Ok(mut table) = serde_json::from_str::<Vec<serde_json::Value>>(first) else { continue };
        for record in &mut table {
            record["until"] = json!(record["until"].as_u64().expect("a time") - millis);
            moved += 1;
        }
        std::fs::write(entry.path(), format!("{}\n", json!(table))).expect("writes");
    }
    moved
}

/// Delivers the event twice at the same time.
fn twice(sandbox: &Sandbox, agent: &str, event: Event, told: &Told) -> [Effect; 2] {
    let barrier = Barrier::new(2);
    let deliver = || {
        barrier.wait();
        send(sandbox, agent, event, told)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(deliver);
        [deliver(), other.join().expect("no panic")]
    })
}

#[test]
fn every_event_that_two_registrations_deliver_at_once_is_answered_once() {
    in_parallel(&REAL_AGENTS, |agent| {
        for event in Event::COMMON.into_iter().filter(|event| may_come_twice(agent, *event)) {
            let sandbox = lab();
            traced(&sandbox, event, "0.3", json!({ "additionalContext": "from a plugin" }));
            // The snapshot is there before, so that both find it.
            send(&sandbox, agent, Event::SessionStart, &Told::in_ws(&sandbox).session("s0"));
            let before = asked(&sandbox);
            let effects = twice(&sandbox, agent, event, &Told::in_ws(&sandbox));
            let name = event.name();
            assert_eq!(asked(&sandbox) - before, 1, "{agent} {name}");
            let said = effects.iter().filter(|effect| effect.context.is_some()).count();
            let hears = match *agent {
                "goose" => false,
                // It goes with the result.
                "gemini" | "qwen" | "opencode" => event != Event::PreToolUse,
                _ => true,
            };
            assert_eq!(said, usize::from(hears), "{agent} {name}: {effects:?}");
        }
    });
}

#[test]
fn our_own_word_at_a_session_s_start_is_said_once() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = lab();
        sandbox.user_plugin(
            "p/SYMPOSIUM.toml",
            "name = \"p\"\ncrates = [\"widget\"]\n\n[subcommand.inspect]\ndescription = \"x\"\n\
             command = { script = \"w.sh\" }\n",
        );
        sandbox.user_plugin("p/w.sh", "");
        send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox));
        let effects = twice(&sandbox, agent, Event::SessionStart, &Told::in_ws(&sandbox));
        let said = effects.iter().filter(|effect| effect.context.is_some()).count();
        assert_eq!(said, usize::from(*agent != "goose"), "{agent}: {effects:?}");
    });
}

#[test]
fn a_denial_is_never_lost_to_a_second_delivery() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = lab();
        let deny = json!({ "decision": "deny", "reason": "no", "additionalContext": "c" });
        traced(&sandbox, Event::PreToolUse, "0.3", deny);
        let told = Told::in_ws(&sandbox);
        send(&sandbox, agent, Event::SessionStart, &told);
        let effects = twice(&sandbox, agent, Event::PreToolUse, &told);
        // They may be two uses that look the same, under the same name even: both are denied.
        let denied = effects.iter().filter(|effect| effect.refused.is_some()).count();
        assert_eq!(denied, 2, "{agent}: {effects:?}");
        // One registration after the other: an agent may listen to either.
        let again = send(&sandbox, agent, Event::PreToolUse, &told);
        assert!(again.refused.is_some() && again.context.is_none(), "{agent}: {again:?}");
        assert_eq!(asked(&sandbox), 1, "{agent}");
    });
}

#[test]
fn another_use_another_session_or_another_input_is_another_event() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = lab();
        traced(&sandbox, Event::PreToolUse, "0", json!({ "decision": "deny", "reason": "no" }));
        let told = Told::in_ws(&sandbox);
        let mut uses = vec![told.clone(), told.clone().session("s2"), told.clone().command("ls")];
        // Kiro gives a use of a tool neither a name nor a moment.
        if *agent != "kiro" {
            uses.push(told.id("call-2"));
        }
        for told in &uses {
            assert!(send(&sandbox, agent, Event::PreToolUse, told).refused.is_some(), "{agent}");
        }
        assert_eq!(asked(&sandbox), uses.len(), "{agent}");
    });
}

#[test]
fn the_same_again_later_is_answered_anew() {
    let clients = ["copilot", "gemini", "kiro"];
    in_parallel(&clients, |agent| {
        let sandbox = lab();
        traced(&sandbox, Event::UserPromptSubmit, "0", json!({ "additionalContext": "c" }));
        let told = Told::in_ws(&sandbox);
        let says = || send(&sandbox, agent, Event::UserPromptSubmit, &told).context;
        assert_eq!(says().as_deref().map(str::trim), Some("c"), "{agent}");
        // More than the two seconds, or five for a prompt with a name, that count as at once.
        let moved = let_pass(&sandbox, 5_200);
        assert!(moved > 0, "{agent}: an answer is remembered");
        assert_eq!(says().as_deref().map(str::trim), Some("c"), "{agent}");
        assert_eq!(asked(&sandbox), 2, "{agent}");
    });
}

#[test]
fn a_prompt_that_the_user_sends_twice_is_answered_twice_each_time_to_one_of_two_registrations() {
    in_parallel(&REAL_AGENTS, |agent| {
        if *agent == "kiro" {
            return;
        }
        let sandbox = lab();
        let event = Event::UserPromptSubmit;
        traced(&sandbox, event, "0", json!({ "additionalContext": "c" }));
        let deliveries = if may_come_twice(agent, event) { 2 } else { 1 };
        for moment in ["p1", "p2", "p3"] {
            let told = Told::in_ws(&sandbox).id(moment);
            let said: Vec<_> = (0..deliveries)
                .filter_map(|_| send(&sandbox, agent, event, &told).context)
                .collect();
            assert_eq!(said.len(), usize::from(*agent != "goose"), "{agent} {moment}");
        }
        assert_eq!(asked(&sandbox), 3, "{agent}");
        assert_eq!(session(&sandbox, "s1")["prompts"], 3, "{agent}");
    });
}

#[test]
fn a_rewrite_that_the_second_registration_is_shown_is_not_rewritten_again() {
    for agent in ["claude", "codex", "copilot", "gemini", "opencode"] {
        let sandbox = lab();
        traced(
            &sandbox,
            Event::PreToolUse,
            "0",
            json!({ "updatedInput": { "command": "cargo check", "description": "d" } }),
        );
        let told = Told::in_ws(&sandbox);
        let first = send(&sandbox, agent, Event::PreToolUse, &told);
        assert!(first.input.is_some(), "{agent}");
        let shown = told.command("cargo check");
        assert_eq!(send(&sandbox, agent, Event::PreToolUse, &shown), first, "{agent}");
        assert_eq!(asked(&sandbox), 1, "{agent}");
    }
}

#[test]
fn a_first_delivery_that_was_killed_leaves_the_event_to_the_second() {
    for agent in ["claude", "copilot"] {
        let sandbox = lab();
        traced(&sandbox, Event::PreToolUse, "8", json!({}));
        let told = Told::in_ws(&sandbox);
        let mut first = sandbox
            .command(&["hook", agent, "pre-tool-use"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("starts");
        let payload = told.payload(agent, Event::PreToolUse);
        first.stdin.take().expect("a pipe").write_all(&payload).expect("is read");
        appears(&sandbox, "trace");
        first.kill().expect("dies");
        first.wait().expect("is gone");
        traced(&sandbox, Event::PreToolUse, "0", json!({ "decision": "deny", "reason": "no" }));
        let begun = Instant::now();
        assert!(send(&sandbox, agent, Event::PreToolUse, &told).refused.is_some(), "{agent}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{agent}");
    }
}
