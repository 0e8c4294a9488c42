//! What is fed: arguments, garbage, huge events, and an agent that closes its end.

use std::io::Write as _;
use std::process::Stdio;

use super::{CARRY_ON, guarded_lab, said};
use crate::hook_kit::*;

#[test]
fn wrong_arguments_never_stop_the_agent() {
    let sandbox = lab();
    let payload = Told::in_ws(&sandbox).payload("claude", Event::PreToolUse);
    let mut all: Vec<Vec<&str>> =
        vec![vec![], vec!["-v"], vec!["no-agent"], vec!["no-agent", "pre-tool-use"]];
    for agent in AGENTS {
        for event in ["", "no-event", "later", "--version", "PRETOOLUSE", "\u{fffd}"] {
            all.push(vec![agent, event]);
        }
        all.push(vec![agent]);
    }
    for args in all {
        let args: Vec<&str> = std::iter::once("hook").chain(args).collect();
        let run = sandbox.feed(&args, &payload);
        assert_eq!(said(&run), CARRY_ON, "{args:?}");
    }
    // Only so many log files are kept, so here is one of each.
    let sandbox = lab();
    sandbox.feed(&["hook", "no-agent", "pre-tool-use"], &payload);
    sandbox.feed(&["hook", "kiro", "later"], &payload);
    let log = logs(&sandbox);
    assert!(log.contains("there is no agent `no-agent`"), "{log}");
    assert!(log.contains("there is no event `later`"), "{log}");
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_unicode_never_stop_the_agent() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = lab();
    let mut command = sandbox.command(&["hook"]);
    command.arg(std::ffi::OsStr::from_bytes(b"\xff\xfe")).arg("pre-tool-use");
    let output = command.stdin(Stdio::null()).output().expect("runs");
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
}

#[test]
fn f223_events_have_our_names_the_manifests_and_the_agents_own() {
    let sandbox = guarded_lab();
    for agent in AGENTS {
        for name in ["pre-tool-use", "PreToolUse", native_event(agent, Event::PreToolUse)] {
            let payload = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
            // `cargo agents …` is `cargo-agents agents …`; words behind the event are for later.
            for args in [vec!["hook"], vec!["agents", "hook"]] {
                let args: Vec<&str> = args.into_iter().chain([agent, name, "--new-flag"]).collect();
                let run = sandbox.feed(&args, &payload);
                let effect = effect(agent, Event::PreToolUse, &run);
                assert!(effect.refused.is_some(), "{agent} {name}");
            }
        }
    }
}

#[test]
fn case_49_decision_25_garbage_on_standard_input_never_stops_the_agent() {
    let sandbox = guarded_lab();
    let deep = "[".repeat(200_000);
    let garbage: [&[u8]; 8] = [
        b"",
        b"{",
        b"null",
        br#"{"tool": "Bash"}"#,
        b"\xff\xfe\x00",
        br#"{"hook_event_name": 7, "tool_name": ["x"], "session_id": {}}"#,
        br#"{"PreToolUse": null}"#,
        deep.as_bytes(),
    ];
    in_parallel(&AGENTS, |agent| {
        for event in Event::COMMON {
            for bytes in garbage {
                let run = sandbox.feed(&["hook", agent, event.cli_name()], bytes);
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned();
                assert_eq!(said(&run), CARRY_ON, "{agent} {} {start}", event.name());
            }
        }
    });
    let sandbox = lab();
    sandbox.feed(&["hook", "claude", "pre-tool-use"], b"{");
    assert!(logs(&sandbox).contains("claude never sends this for pre-tool-use: not JSON"));
}

#[test]
fn a_huge_event_is_read_and_answered() {
    let sandbox = guarded_lab();
    let told = Told { command: "PLACE", ..Told::in_ws(&sandbox) };
    let huge = "x".repeat(10_000_000);
    for agent in AGENTS {
        let payload = String::from_utf8(told.payload(agent, Event::PreToolUse)).expect("UTF-8");
        let run = sandbox
            .feed(&["hook", agent, "pre-tool-use"], payload.replace("PLACE", &huge).as_bytes());
        assert!(effect(agent, Event::PreToolUse, &run).refused.is_some(), "{agent}");
    }
    for agent in AGENTS {
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], huge.as_bytes());
        assert_eq!(said(&run), CARRY_ON, "{agent}: garbage of that size");
    }
}

#[test]
fn an_agent_that_closes_its_end_is_no_trouble() {
    let sandbox = guarded_lab();
    for agent in AGENTS {
        let mut child = sandbox
            .command(&["hook", agent, "pre-tool-use"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        drop(child.stderr.take());
        let payload = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
        child.stdin.take().expect("a pipe").write_all(&payload).expect("is read");
        let denied = if matches!(agent, "goose" | "kiro") { 2 } else { 0 };
        assert_eq!(child.wait().expect("ends").code(), Some(denied), "{agent}");
    }
}
