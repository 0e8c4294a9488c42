use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, placement, registration_with,
    servers, snapshot,
};
use crate::config::HookScope;
use semver::Version;
use symposium_hook::{Decision, Input};

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Kiro, emulator::take, event, &capability(name))
}

fn decode(event: Event, json: &str) -> Result<Decoded, WireError> {
    Kiro.decode(event, json.as_bytes(), &env(&[]))
}

#[test]
fn f262_the_payload_we_have_in_canonical_words() {
    snapshot("kiro", "canonical.txt", &canonical_table(&Kiro, &env(&[])));
}

#[test]
fn both_spellings_of_every_event_are_understood() {
    for event in Event::COMMON {
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
        for event in Event::COMMON {
            decode(event, garbage).expect_err(garbage);
        }
    }
}

#[test]
fn the_ides_prompt_comes_in_a_variable() {
    let env = env(&[("USER_PROMPT", "from the IDE")]);
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

#[test]
fn f263_the_bytes_of_each_answer() {
    snapshot("kiro", "answers.txt", &answer_table(&Kiro, emulator::take));
}

#[test]
fn kiro_does_what_is_wished_as_far_as_it_can() {
    let legacy =
        |event, name| testing::effect(&Kiro, emulator::take_legacy, event, &capability(name));
    for event in Event::COMMON {
        let (pre, prompt) = (event == Event::PreToolUse, event == Event::UserPromptSubmit);
        let blocked = |can: bool| can.then(|| "too risky".to_owned());
        assert_eq!(effect(event, "deny").blocked, blocked(pre || prompt));
        assert_eq!(legacy(event, "deny").blocked, blocked(pre));
        let asked = effect(event, "ask").blocked;
        assert_eq!(asked.is_some_and(|reason| reason.contains("ask the user")), pre);
        assert_eq!(effect(event, "context").context.as_deref(), Some("use cargo nextest"));
        for nothing in ["none", "allow", "rewrite", "message"] {
            assert_eq!(effect(event, nothing), Effect::default());
        }
    }
    // Beside a refusal the context goes with its reason, which is all that the model reads then.
    for take in [emulator::take, emulator::take_legacy] {
        let refused =
            testing::effect(&Kiro, take, Event::PreToolUse, &capability("deny + rest")).blocked;
        assert_eq!(refused.as_deref(), Some("too risky\n\nuse cargo nextest"));
    }
    // A prompt that is blocked reaches no model, so its context is for nobody.
    let prompt = effect(Event::UserPromptSubmit, "deny + rest").blocked;
    assert_eq!(prompt.as_deref(), Some("too risky"));
    // A result can't be hidden; what is wrong with it is said.
    let said = effect(Event::PostToolUse, "deny + rest").context;
    assert_eq!(said.as_deref(), Some("too risky\n\nuse cargo nextest"));
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
    let env = env(&[]);
    let at = |version: Option<Version>| registration_with(&Kiro, &env, version.as_ref());
    let (legacy, hooks) = (at(None), at(Some(Version::new(3, 0, 0))));
    assert_eq!(at(Some(Version::new(2, 14, 2))), legacy);
    snapshot("kiro", "registration.txt", &legacy);
    snapshot("kiro", "registration-v3.txt", &hooks);
    let nowhere = Placement {
        root: None,
        git_root: None,
        main_checkout: None,
        ..placement(&env, HookScope::Project)
    };
    assert_eq!(Kiro.hooks(&nowhere), []);
}

#[test]
fn case_65_an_agent_files_entries_are_flat_and_match_tools_only() {
    let file = agent_file(&placement(&env(&[]), HookScope::Global));
    for (name, entries) in file["hooks"].as_object().expect("hooks") {
        let [entry] = entries.as_array().expect("a list").as_slice() else { panic!("one entry") };
        assert!(entry["command"].is_string() && entry.get("hooks").is_none(), "{name}");
        assert_eq!(entry.get("matcher").is_some(), name.ends_with("ToolUse"), "{name}");
        assert_eq!(entry["timeout_ms"], json!(30_000));
    }
}

#[test]
fn f291_servers_are_entered_in_the_settings() {
    snapshot("kiro", "servers.txt", &servers(&Kiro, &env(&[])));
}

#[test]
fn plain_http_to_another_machine_is_told() {
    for (url, is_told) in [
        ("http://example.com/mcp", true),
        ("HTTP://example.com/mcp", true),
        ("http://b\u{fc}cher.example/mcp", true),
        ("http://localhost.example.com", true),
        ("http://localhost:8080/mcp", false),
        ("http://127.0.0.1", false),
        ("http://[::1]:80/mcp", false),
        ("https://b\u{fc}cher.example/mcp", false),
        ("https://example.com/mcp", false),
    ] {
        let transport = Transport::Http { url: url.into(), headers: Vec::new() };
        assert_eq!(plain_http(&transport), is_told, "{url}");
    }
}
