//! What holds for every agent.

use proptest::prelude::*;
use serde_json::{Value, json};
use symposium_hook::Decision;

use super::testkit::env;
use super::*;
use crate::agents::copilot::Copilot;
use crate::agents::goose::Goose;
use crate::agents::kiro::Kiro;
use crate::agents::opencode::OpenCode;

const AGENTS: [&dyn AgentSpec; 4] = [&Copilot, &Goose, &Kiro, &OpenCode];

#[test]
fn every_agent_is_found_by_its_name() {
    for agent in Agent::ALL {
        assert_eq!(Agent::from_name(agent.name()), Some(agent));
        assert_eq!(codec(agent.name()).map(AgentSpec::name), Some(agent.name()));
        assert_eq!(agent.name(), agent.name().to_lowercase());
    }
    assert_eq!(Agent::from_name("Claude"), None);
    assert_eq!(Agent::from_name("cursor"), None);
}

#[test]
fn decision_17_symposium_is_a_codec_and_no_agent() {
    assert_eq!(codec("symposium").map(AgentSpec::name), Some("symposium"));
    assert_eq!(Agent::from_name("symposium"), None);
}

#[test]
fn what_we_register_we_recognise_and_it_has_a_limit() {
    let env = Environment::with("/home/dev/shop", [("HOME", "/home/dev")]);
    let scopes = [crate::config::HookScope::Global, crate::config::HookScope::Project];
    for (agent, scope) in Agent::ALL.into_iter().flat_map(|a| scopes.map(|s| (a, s))) {
        let spec = agent.spec();
        for place in spec.hooks(&testing::placement(&env, scope)) {
            let places::HookShape::Shared { entries, .. } = place.shape else { continue };
            assert_eq!(entries.len(), Event::ALL.len());
            for entry in entries {
                let handler = &entry.group["hooks"][0];
                let command = handler["command"].as_str().expect("a command");
                assert_eq!(command::is_ours(command, spec.name()), Some(entry.event));
                assert_eq!(entry.array, ["hooks", spec.event_name(entry.event)]);
                let timeout = handler["timeout"].as_u64().expect("case 57: a time limit");
                let seconds = spec.registered_timeout(entry.event);
                assert!(timeout == seconds || timeout == seconds * 1000);
            }
        }
    }
}

#[test]
fn decision_24a_each_agent_reads_skills_somewhere_inside_the_project() {
    for agent in Agent::ALL {
        let dirs = agent.spec().skill_dirs().project;
        assert!(!dirs.is_empty(), "{}", agent.name());
        assert!(dirs.iter().all(|dir| dir.ends_with("skills") && !dir.starts_with('/')));
    }
}

/// A tool's use in the words of each agent.
fn payload(agent: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let payload = match agent {
        "copilot" => json!({ "toolName": tool, "toolArgs": arguments }),
        "goose" => json!({ "event": "PreToolUse", "tool_name": tool, "tool_input": arguments }),
        "kiro" => {
            json!({ "hook_event_name": "preToolUse", "tool_name": tool, "tool_input": arguments })
        }
        _ => {
            json!({ "hook_event_name": "pre-tool-use", "tool_name": tool, "tool_input": arguments })
        }
    };
    payload.to_string().into_bytes()
}

fn arguments() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "path",
        "filePath",
        "file_path",
        "file_text",
        "content",
        "old_str",
        "oldString",
        "before",
        "old_string",
        "new_str",
        "newString",
        "after",
        "new_string",
        "command",
        "operations",
    ]);
    let value = prop::sample::select(vec![
        json!("write"),
        json!(null),
        json!([]),
        json!([{ "path": "a" }]),
        json!([{ "mode": "Line" }]),
        json!({ "path": 1 }),
    ]);
    prop::collection::vec((key, value), 0..5).prop_map(|pairs| {
        Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let decision = prop::sample::select(vec![
        None,
        Some(Decision::Allow),
        Some(Decision::Ask),
        Some(Decision::Deny),
    ]);
    let texts = || prop::collection::vec(".{0,9}", 0..3);
    let stop = prop::option::of(".{0,9}");
    let input = prop::option::of(arguments());
    (decision, texts(), texts(), stop, input).prop_map(
        |(decision, reasons, context, stop, input)| Outcome {
            decision,
            reasons,
            context,
            stop,
            updated_input: input.and_then(|input| input.as_object().cloned()),
            ..Outcome::default()
        },
    )
}

proptest! {
    #[test]
    fn an_input_that_nobody_changed_goes_back_as_it_came(
        arguments in arguments(),
        tool in prop::sample::select(vec![
            "bash", "view", "create", "edit", "read", "write", "fs_write", "fs_read",
            "text_editor", "patch", "mystery", "a-b", "@a/b", "a__b",
        ]),
    ) {
        for agent in AGENTS {
            let bytes = payload(agent.name(), tool, &arguments);
            let decoded = agent.decode(Event::PreToolUse, &bytes, &env(&[])).expect("decodes");
            let Input::PreToolUse(input) = &decoded.input else { panic!("another event") };
            let updated = input.tool_input.as_object().expect("an object");
            let back = Value::Object(agent.native_input(&decoded, updated));
            prop_assert_eq!(&back, &arguments, "{} {}", agent.name(), input.tool_name);
        }
    }

    #[test]
    fn decision_2_only_a_wish_to_block_blocks(outcome in outcome()) {
        let wish = outcome.stop.is_some()
            || matches!(outcome.decision, Some(Decision::Deny | Decision::Ask));
        for agent in AGENTS {
            for event in Event::ALL {
                let answer = agent.encode(event, &outcome);
                let said: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
                let blocks = answer.exit != 0
                    || said["permissionDecision"] == "deny"
                    || said["decision"] == "block"
                    || said.get("deny").is_some()
                    || said.get("replace").is_some();
                prop_assert!(wish || !blocks, "{} {event:?} {answer:?}", agent.name());
                // Every one of them can refuse a tool, and an empty reason would not.
                if event == Event::PreToolUse && outcome.decision == Some(Decision::Deny) {
                    prop_assert!(blocks, "{} {answer:?}", agent.name());
                    let reason = [&said["permissionDecisionReason"], &said["deny"]]
                        .into_iter()
                        .find_map(Value::as_str)
                        .unwrap_or(&answer.stderr);
                    prop_assert!(!reason.trim().is_empty(), "{}", agent.name());
                }
                prop_assert!(answer.exit == 0 || answer.exit == 2 && answer.stdout.is_empty());
            }
        }
    }

    #[test]
    fn decision_25_no_bytes_and_no_answer_make_us_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        text in ".{0,40}",
        exit in prop::option::of(-1..130),
    ) {
        for agent in AGENTS {
            for event in Event::ALL {
                prop_assert!(agent.decode(event, &bytes, &env(&[])).is_err());
                let answer = ChildAnswer { stdout: &text, stderr: &text, exit };
                let _ = agent.decode_answer(event, &answer);
            }
        }
    }
}
