//! Names there and back, the registered command, and what holds for all of these agents.

use proptest::prelude::*;

use super::testkit::env;
use super::*;
use crate::agents::AgentSpec;
use crate::agents::copilot::Copilot;
use crate::agents::goose::Goose;
use crate::agents::kiro::Kiro;
use crate::agents::opencode::OpenCode;

const AGENTS: [&dyn AgentSpec; 4] = [&Copilot, &Goose, &Kiro, &OpenCode];

const DIALECT: Dialect = Dialect {
    tools: &[("view", "Read")],
    fields: &[("Read", &[("path", "file_path"), ("file", "file_path")])],
};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

#[test]
fn only_mapped_names_change_and_the_way_back_is_the_way_there() {
    let text = r#"{"path":"a.rs","view_range":[1,2.50],"n":12345678901234567890123}"#;
    let native: Value = serde_json::from_str(text).expect("it is JSON");
    let canonical = DIALECT.canonical_input("Read", &native);
    assert_eq!(canonical.to_string(), text.replace("path", "file_path"));
    assert_eq!(Value::Object(DIALECT.native_input("Read", &native, &map(canonical))), native);
    let other = json!({ "file": "a.rs" });
    let canonical = DIALECT.canonical_input("Read", &other);
    assert_eq!(canonical, json!({ "file_path": "a.rs" }));
    assert_eq!(Value::Object(DIALECT.native_input("Read", &other, &map(canonical))), other);
}

#[test]
fn a_field_that_has_the_common_name_already_is_left_alone() {
    let native = json!({ "path": "a.rs", "file_path": "b.rs" });
    assert_eq!(DIALECT.canonical_input("Read", &native), native);
    let back = DIALECT.native_input("Read", &native, &map(native.clone()));
    assert_eq!(Value::Object(back), native);
}

#[test]
fn a_field_the_event_did_not_have_gets_the_agents_name() {
    let updated = map(json!({ "file_path": "b.rs" }));
    let back = DIALECT.native_input("Read", &json!({ "limit": 3 }), &updated);
    assert_eq!(Value::Object(back), json!({ "path": "b.rs" }));
}

#[test]
fn a_server_is_split_off_after_the_longest_name_that_fits() {
    let servers = || ["git", "git-hub", ""].into_iter().map(str::to_owned);
    assert_eq!(split_after_server("git-hub-open", '-', servers()), Some(("git-hub", "open")));
    assert_eq!(split_after_server("git-log", '-', servers()), Some(("git", "log")));
    assert_eq!(split_after_server("git-", '-', servers()), None);
    assert_eq!(split_after_server("other-log", '-', servers()), None);
}

#[cfg(unix)]
#[test]
#[allow(clippy::disallowed_methods, reason = "runs what an agent would run")]
fn decision_2_the_guarded_command_survives_absence_and_crashes() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let crashing = dir.path().join("it's crashing");
    std::fs::write(&crashing, "#!/bin/sh\nexit 101\n").expect("a script");
    std::fs::set_permissions(&crashing, std::fs::Permissions::from_mode(0o755)).expect("mode");
    let crashing = crashing.to_str().expect("UTF-8");
    let quoted = shlex::try_quote(crashing).expect("no NUL").into_owned();
    assert_eq!(program_path(&quoted), crashing);
    for program in [quoted.as_str(), "no-such-program-anywhere", "'/no/such/program'"] {
        let command = hook_command("copilot", Event::PreToolUse, program, true);
        let status = std::process::Command::new("sh")
            .args(["-c", &command])
            .status()
            .expect("there is a shell");
        assert!(status.success(), "{command}");
    }
}

#[test]
fn case_41_powershell_gets_its_own_quotes() {
    assert_eq!(
        powershell_command("copilot", Event::PreToolUse, "'C:/Users/With Space/c.exe'"),
        "if (Get-Command 'C:/Users/With Space/c.exe' -ErrorAction SilentlyContinue) \
         { & 'C:/Users/With Space/c.exe' hook copilot pre-tool-use }; exit 0"
    );
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
