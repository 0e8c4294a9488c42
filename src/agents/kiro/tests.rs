//! Kiro's payloads, and our answers as its documentation says it takes them.

use expect_test::{expect, expect_file};
use semver::Version;
use symposium_hook::Decision;

use super::*;
use crate::agents::testkit::{self, Place};

fn decode(event: Event, json: &str) -> Result<Decoded, WireError> {
    Kiro.decode(event, json.as_bytes(), &testkit::env(&[]))
}

#[test]
fn f262_the_payload_we_have_is_understood() {
    let payload = testkit::fixture("kiro", "PostToolUse");
    let decoded = Kiro.decode(Event::PostToolUse, &payload, &testkit::env(&[])).expect("decodes");
    expect![[r#"
        {
          "PostToolUse": {
            "tool_name": "Bash",
            "tool_input": {},
            "tool_response": {},
            "session_id": "sess_01",
            "cwd": "/home/dev/shop",
            "native_tool_name": "execute_bash",
            "native_tool_input": {}
          }
        }
        tool use: None, foreign: false
    "#]]
    .assert_eq(&testkit::show(&decoded));
    for event in [Event::PreToolUse, Event::UserPromptSubmit, Event::SessionStart] {
        Kiro.decode(event, &payload, &testkit::env(&[])).expect_err("another event");
    }
}

#[test]
fn both_spellings_of_every_event_are_understood() {
    for event in Event::ALL {
        for name in [event.name(), Kiro.event_name(event)] {
            let json = format!(
                r#"{{"hook_event_name":"{name}","cwd":"/w","prompt":"hi","tool_name":"shell"}}"#
            );
            let decoded = decode(event, &json).expect(name);
            assert_eq!((decoded.input.event(), decoded.input.cwd()), (event, Some("/w")));
        }
    }
}

#[test]
fn decision_25_garbage_is_refused() {
    for garbage in ["", "[]", "{}", r#"{"hook_event_name":"stop","cwd":"/w"}"#] {
        for event in Event::ALL {
            decode(event, garbage).expect_err(garbage);
        }
    }
}

#[test]
fn the_ides_prompt_comes_in_a_variable() {
    let env = testkit::env(&[("USER_PROMPT", "from the IDE")]);
    let decoded = Kiro.decode(Event::UserPromptSubmit, b"{}", &env).expect("decodes");
    let Input::UserPromptSubmit(input) = decoded.input else { panic!("another event") };
    assert_eq!(input.prompt, "from the IDE");
}

#[test]
fn tools_and_fields_have_common_names() {
    let rows = [
        ("execute_bash", json!({ "command": "ls" }), "Bash", json!({ "command": "ls" })),
        ("shell", json!({ "command": "ls" }), "Bash", json!({ "command": "ls" })),
        ("fs_read", json!({ "path": "a" }), "Read", json!({ "file_path": "a" })),
        (
            "read",
            json!({ "operations": [{ "mode": "Line", "path": "a" }] }),
            "Read",
            json!({ "operations": [{ "mode": "Line", "path": "a" }], "file_path": "a" }),
        ),
        (
            "fs_write",
            json!({ "command": "str_replace", "path": "a", "old_str": "x", "new_str": "y" }),
            "Write",
            json!({ "command": "str_replace", "file_path": "a", "old_string": "x", "new_string": "y" }),
        ),
        (
            "write",
            json!({ "command": "create", "path": "a", "file_text": "x" }),
            "Write",
            json!({ "command": "create", "file_path": "a", "content": "x" }),
        ),
        ("@db/run", json!({ "path": "a" }), "mcp__db__run", json!({ "path": "a" })),
        ("@git", json!({}), "@git", json!({})),
        ("use_aws", json!({}), "use_aws", json!({})),
    ];
    for (native, arguments, tool, input) in rows {
        let json = json!({ "tool_name": native, "tool_input": arguments }).to_string();
        let decoded = decode(Event::PreToolUse, &json).expect(native);
        let Input::PreToolUse(found) = &decoded.input else { panic!("another event") };
        assert_eq!((found.tool_name.as_str(), &found.tool_input), (tool, &input));
        assert_eq!(found.native_tool_name.as_deref(), Some(native));
        if let Value::Object(updated) = &found.tool_input {
            assert_eq!(Value::Object(Kiro.native_input(&decoded, updated)), arguments);
        }
    }
}

/// What Kiro does with an answer: with hooks in an agent file, then with hooks in a file of theirs.
fn client(event: Event, answer: &Answer) -> Vec<String> {
    let with = |standalone: bool| {
        let blocks = event == Event::PreToolUse || (standalone && event == Event::UserPromptSubmit);
        match answer.exit {
            0 if answer.stdout.is_empty() => "carries on".to_owned(),
            0 => format!("the model reads: {}", answer.stdout),
            2 if blocks => format!("blocked: {}", answer.stderr),
            _ => format!("carries on, warning the user: {}", answer.stderr),
        }
    };
    let (legacy, standalone) = (with(false), with(true));
    if legacy == standalone { vec![legacy] } else { vec![legacy, format!("v3: {standalone}")] }
}

#[test]
fn f263_every_wish_in_kiros_words() {
    let answers = testkit::answers(&Kiro, client);
    expect_file!["../../../tests/fixtures/agents/kiro/expected/answers.txt"].assert_eq(&answers);
}

#[test]
fn f263_a_native_answer_is_an_exit_code_and_plain_text() {
    let said = |event, stdout, stderr, exit| {
        Kiro.decode_answer(event, &ChildAnswer { stdout, stderr, exit })
    };
    assert_eq!(said(Event::SessionStart, " hi\n", "", Some(0)).context, ["hi"]);
    assert_eq!(said(Event::PreToolUse, "\n", "x", Some(0)), Outcome::default());
    let blocked = said(Event::PreToolUse, "ignored", "no\n", Some(2));
    assert_eq!((blocked.decision, blocked.reason()), (Some(Decision::Deny), "no".to_owned()));
    assert_eq!(Kiro.encode(Event::PreToolUse, &blocked), Answer::block("no".to_owned()));
    for exit in [Some(1), Some(127), None] {
        assert_eq!(said(Event::PreToolUse, "text", "err", exit), Outcome::default());
    }
    assert_eq!(said(Event::SessionStart, "", "no", Some(2)), Outcome::default());
}

#[test]
fn f275_case_65_hooks_for_each_version() {
    let place = Place::new();
    let mut text = String::new();
    for version in [None, Some(Version::new(2, 14, 2)), Some(Version::new(3, 0, 0))] {
        let at = |scope| {
            let placement = Placement { version: version.as_ref(), ..place.scope(scope) };
            testkit::show_hooks(&Kiro.hooks(&placement))
        };
        let (global, project) = (at(HookScope::Global), at(HookScope::Project));
        let (path, same) = project.split_once('\n').expect("a path");
        assert_eq!(global.split_once('\n').expect("a path").1, same);
        text.push_str(&format!("version {version:?}\n{path}\n{global}"));
    }
    expect_file!["../../../tests/fixtures/agents/kiro/expected/hooks.txt"].assert_eq(&text);
    let nowhere = Placement { root: None, git_root: None, ..place.scope(HookScope::Project) };
    assert_eq!(Kiro.hooks(&nowhere), []);
}

#[test]
fn case_65_an_agent_files_entries_are_flat_and_match_tools_only() {
    let file = agent_file(&Place::new().scope(HookScope::Global));
    for (name, entries) in file["hooks"].as_object().expect("hooks") {
        let [entry] = entries.as_array().expect("a list").as_slice() else { panic!("one entry") };
        assert!(entry["command"].is_string() && entry.get("hooks").is_none(), "{name}");
        assert_eq!(entry.get("matcher").is_some(), name.ends_with("ToolUse"), "{name}");
        assert_eq!(entry["timeout_ms"], json!(30_000));
    }
}

#[test]
fn f291_servers_are_entered_in_the_settings() {
    let text = testkit::show_servers(&Kiro, &Place::new());
    expect_file!["../../../tests/fixtures/agents/kiro/expected/servers.txt"].assert_eq(&text);
}
