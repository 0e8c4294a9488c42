use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, placement, registration,
    sample_transports, server_entry, servers, snapshot,
};
use crate::config::HookScope;
use symposium_hook::Input;

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Goose, emulator::take, event, &capability(name))
}

fn decode(event: Event, json: &str) -> Result<Decoded, WireError> {
    Goose.decode(event, json.as_bytes(), &env(&[]))
}

#[test]
fn the_payload_we_have_in_canonical_words() {
    snapshot("goose", "canonical.txt", &canonical_table(&Goose, &env(&[])));
}

#[test]
fn the_other_events_are_understood() {
    let prompt =
        r#"{"event":"UserPromptSubmit","session_id":"1","message":"hi","working_dir":"/w"}"#;
    let decoded = decode(Event::UserPromptSubmit, prompt).expect("decodes");
    let Input::UserPromptSubmit(input) = decoded.input else { panic!("another event") };
    assert_eq!((input.prompt.as_str(), input.cwd.as_deref()), ("hi", Some("/w")));
    let start = r#"{"event":"SessionStart","session_id":"1","working_dir":"/w"}"#;
    let decoded = decode(Event::SessionStart, start).expect("decodes");
    assert_eq!(decoded.input.session_id(), Some("1"));
    let after = r#"{"event":"PostToolUse","tool_name":"shell","tool_input":{},"tool_output":"x"}"#;
    let decoded = decode(Event::PostToolUse, after).expect("decodes");
    let Input::PostToolUse(input) = decoded.input else { panic!("another event") };
    assert_eq!((input.tool_name.as_str(), input.tool_response), ("Bash", json!("x")));
}

#[test]
fn decision_25_garbage_is_refused() {
    for garbage in ["", "[]", "{}", r#"{"tool_name":"shell"}"#, r#"{"event":"Stop"}"#] {
        for event in Event::COMMON {
            decode(event, garbage).expect_err(garbage);
        }
    }
}

#[test]
fn tools_and_fields_have_common_names() {
    let rows = [
        ("developer__shell", json!({ "command": "ls" }), "Bash", json!({ "command": "ls" })),
        (
            "developer__text_editor",
            json!({ "command": "str_replace", "path": "a", "old_str": "x", "new_str": "y" }),
            "Edit",
            json!({ "command": "str_replace", "file_path": "a", "old_string": "x", "new_string": "y" }),
        ),
        (
            "text_editor",
            json!({ "command": "write", "path": "a", "file_text": "x" }),
            "Write",
            json!({ "command": "write", "file_path": "a", "content": "x" }),
        ),
        (
            "edit",
            json!({ "path": "a", "before": "x", "after": "y" }),
            "Edit",
            json!({ "file_path": "a", "old_string": "x", "new_string": "y" }),
        ),
        ("db__run_query", json!({ "path": "a" }), "mcp__db__run_query", json!({ "path": "a" })),
        ("developer__tree", json!({}), "developer__tree", json!({})),
        ("__odd", json!({}), "__odd", json!({})),
    ];
    for (native, arguments, tool, input) in rows {
        let payload =
            json!({ "event": "PreToolUse", "tool_name": native, "tool_input": arguments });
        let decoded = decode(Event::PreToolUse, &payload.to_string()).expect(native);
        let Input::PreToolUse(found) = &decoded.input else { panic!("another event") };
        assert_eq!((found.tool_name.as_str(), &found.tool_input), (tool, &input));
        let updated = found.tool_input.as_object().expect("an object");
        assert_eq!(Value::Object(Goose.native_input(&decoded, updated)), arguments);
    }
}

#[test]
fn the_bytes_of_each_answer() {
    snapshot("goose", "answers.txt", &answer_table(&Goose, emulator::take));
}

#[test]
fn goose_refuses_a_tool_and_does_nothing_else() {
    for event in Event::COMMON {
        let pre = event == Event::PreToolUse;
        assert_eq!(effect(event, "deny").blocked, pre.then(|| "too risky".to_owned()));
        assert_eq!(effect(event, "stop").blocked, pre.then(|| "enough".to_owned()));
        let asked = effect(event, "ask").blocked;
        assert_eq!(asked.is_some_and(|reason| reason.contains("ask the user")), pre);
        for nothing in ["none", "context", "allow", "rewrite", "message"] {
            assert_eq!(effect(event, nothing), Effect::default());
        }
        assert!(!Goose.delivers_context(event));
    }
}

#[test]
fn a_native_answer_blocks_by_exit_code_or_json() {
    let said = |stdout, stderr, exit| {
        Goose.decode_answer(Event::PreToolUse, &ChildAnswer { stdout, stderr, exit })
    };
    let block = r#"{"decision":"block","reason":"json"}"#;
    for exit in [0, 1, 2] {
        assert_eq!(said(block, "err", Some(exit)), Outcome::denied("json"));
    }
    assert_eq!(said("", "err", Some(2)), Outcome::denied("err"));
    assert_eq!(said(r#"{"decision":"block"}"#, "err", Some(0)), Outcome::denied("err"));
    let allowed = said(r#"{"decision":"allow"}"#, "", Some(0));
    assert_eq!(allowed.decision, Some(Decision::Allow));
    for (stdout, exit) in [("", Some(0)), ("text", Some(0)), ("", Some(1)), (block, None)] {
        assert_eq!(said(stdout, "err", exit), Outcome::default());
    }
}

#[test]
fn case_66_hooks_are_a_plugin_without_a_matcher() {
    let env = env(&[]);
    let text = registration(&Goose, &env);
    assert!(!text.contains("matcher"));
    snapshot("goose", "registration.txt", &text);
    let nowhere = Placement {
        root: None,
        git_root: None,
        main_checkout: None,
        ..placement(&env, HookScope::Project)
    };
    assert_eq!(Goose.hooks(&nowhere), []);
}

/// What Goose makes of an extension: a missing required key, or one it has no use for.
fn faults(entry: &Value) -> Vec<String> {
    let required: &[&str] = match entry["type"].as_str() {
        Some("stdio") => &["enabled", "type", "name", "cmd", "args"],
        Some("streamable_http") => &["enabled", "type", "name", "uri"],
        other => return vec![format!("type {other:?}")],
    };
    required.iter().filter(|key| entry[**key].is_null()).map(|key| (*key).to_owned()).collect()
}

#[test]
fn f293_case_32_servers_are_entered_where_goose_reads_them() {
    let env = env(&[]);
    let servers = servers(&Goose, &env);
    let on_windows = "AppData/Roaming/Block/goose/config/";
    snapshot("goose", "servers.txt", &servers.replace(on_windows, ".config/goose/"));
    for transport in &sample_transports()[..3] {
        let place = Goose.server("docs", transport, true, &placement(&env, HookScope::Global));
        assert_eq!(faults(&server_entry(place).1), Vec::<String>::new());
    }
}

#[test]
fn a_workspaces_servers_do_not_hide_the_users_hooks() {
    let env = env(&[]);
    let placement = placement(&env, HookScope::Global);
    let (path, _) = server_entry(Goose.server("docs", &sample_transports()[0], false, &placement));
    let plugin = path.parent().and_then(|dir| dir.file_name());
    let hooks = Goose.hooks(&placement);
    let hooks_plugin = hooks[0].path.parent().and_then(|dir| dir.file_name());
    assert!(plugin.is_some() && plugin != hooks_plugin);
}
