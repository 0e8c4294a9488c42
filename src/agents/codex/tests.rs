use super::*;
use crate::agents::places::HookShape;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, placement, registration, servers,
    snapshot,
};
use symposium_hook::Input;

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Codex, emulator::take, event, &capability(name))
}

fn said(event: Event, stdout: &str, stderr: &str, exit: i32) -> Outcome {
    Codex.decode_answer(event, &ChildAnswer { stdout, stderr, exit: Some(exit) })
}

fn patch(text: &str) -> Decoded {
    let payload = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch",
        "tool_input": { "command": text },
    });
    Codex.decode(Event::PreToolUse, payload.to_string().as_bytes(), &env(&[])).expect("a payload")
}

#[test]
fn f260_captured_payloads_in_canonical_words() {
    snapshot("codex", "canonical.txt", &canonical_table(&Codex, &env(&[])));
}

#[test]
fn f261_the_bytes_of_each_answer() {
    snapshot("codex", "answers.txt", &answer_table(&Codex, emulator::take));
}

#[test]
fn f273_registration_in_both_scopes() {
    snapshot("codex", "registration.txt", &registration(&Codex, &env(&[])));
    let env = env(&[("CODEX_HOME", "/opt/codex")]);
    let places = Codex.hooks(&placement(&env, HookScope::Global));
    assert_eq!(places[0].path, Path::new("/opt/codex/hooks.json"));
}

#[test]
fn f290_servers_go_to_config_toml() {
    snapshot("codex", "servers.txt", &servers(&Codex, &env(&[])));
}

#[test]
fn codex_does_what_is_wished() {
    let pre = Event::PreToolUse;
    assert_eq!(effect(pre, "deny").blocked.as_deref(), Some("too risky"));
    assert!(effect(pre, "bare deny").blocked.is_some());
    assert!(effect(pre, "ask").blocked.is_some_and(|reason| reason.contains("ask the user")));
    assert_eq!(effect(pre, "allow"), Effect::default());
    assert_eq!(effect(pre, "stop"), Effect::default());
    let rewrite = effect(pre, "rewrite + context");
    assert_eq!(rewrite.input, Some(json!({"command": "cargo check"})));
    assert_eq!(rewrite.context.as_deref(), Some("use cargo nextest"));
    for event in Event::COMMON {
        assert_eq!(effect(event, "context").context.as_deref(), Some("use cargo nextest"));
        assert_eq!(effect(event, "none"), Effect::default());
        assert_eq!(effect(event, "message"), Effect::default());
        assert_eq!(effect(event, "deny").blocked.is_none(), event == Event::SessionStart);
        let stop = effect(event, "stop");
        let (after, ends) = (event == Event::PostToolUse, !event.is_tool_event());
        assert_eq!((stop.blocked.is_some(), stop.ended.is_some()), (after, ends));
    }
}

#[test]
fn case_55_a_rewrite_comes_with_allow() {
    let answer = Codex.encode(Event::PreToolUse, &capability("rewrite")).stdout;
    assert!(answer.contains(r#""permissionDecision":"allow","updatedInput""#), "{answer}");
}

#[test]
fn what_another_agent_would_know_is_not_carried_through() {
    let text = r#"{"odd":1,"suppressOutput":true,"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"x","additionalContext":"note"}}"#;
    let outcome = said(Event::PostToolUse, text, "", 0);
    assert_eq!(outcome, Outcome { context: vec!["note".into()], ..Outcome::default() });
    let mut odd = outcome;
    odd.extra.insert("odd".into(), json!(1));
    let answer = Codex.encode(Event::PostToolUse, &odd);
    assert_eq!(emulator::take(Event::PostToolUse, &answer).rejected, None);
}

#[test]
fn exit_codes_and_text_count_as_they_do_for_codex() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"json"}}"#;
    for (stdout, stderr, exit, reason) in [
        ("", "stderr\n", 2, Some("stderr")),
        (deny, "stderr", 2, Some("stderr")),
        (deny, "", 0, Some("json")),
        (r#"{"decision":"block","reason":"old"}"#, "", 0, Some("old")),
        (deny, "", 1, None),
        ("", "stderr", 1, None),
        ("deny", "", 0, None),
    ] {
        let outcome = said(Event::PreToolUse, stdout, stderr, exit);
        let found = (outcome.decision == Some(Decision::Deny)).then(|| outcome.reason());
        assert_eq!(found.as_deref(), reason, "{stdout} {stderr} {exit}");
    }
    let killed = ChildAnswer { stdout: deny, stderr: "", exit: None };
    assert!(Codex.decode_answer(Event::PreToolUse, &killed).is_empty());
}

#[test]
fn decision_7_exit_2_blocks_without_a_word_too() {
    let outcome = said(Event::PreToolUse, "", "", 2);
    let answer = Codex.encode(Event::PreToolUse, &outcome);
    assert!(emulator::take(Event::PreToolUse, &answer).blocked.is_some());
}

#[test]
fn f265_plain_text_is_context_where_codex_takes_it() {
    for event in Event::COMMON {
        let takes = matches!(event, Event::SessionStart | Event::UserPromptSubmit);
        let context = if takes { vec!["hello".to_owned()] } else { Vec::new() };
        assert_eq!(said(event, "hello\n", "", 0).context, context);
        assert!(said(event, r#"{"broken": "#, "", 0).is_empty());
        assert!(said(event, "hello", "", 1).is_empty());
    }
}

#[test]
fn continue_false_counts_where_codex_honours_it() {
    let text = r#"{"continue":false,"stopReason":"enough"}"#;
    for event in Event::COMMON {
        let stop = (event != Event::PreToolUse).then(|| "enough".to_owned());
        assert_eq!(said(event, text, "", 0).stop, stop);
    }
}

#[test]
fn a_patch_is_an_edit_of_its_first_file() {
    for (text, path) in [
        (
            "*** Begin Patch\n*** Update File: src/a b.rs\n@@\n-x\n+y\n*** End Patch",
            Some("src/a b.rs"),
        ),
        ("*** Begin Patch\r\n*** Add File: new.rs\r\n+*** Update File: no\r\n", Some("new.rs")),
        ("*** Delete File: old.rs\n*** Update File: b.rs", Some("old.rs")),
        ("*** Begin Patch\n*** End Patch", None),
        ("", None),
    ] {
        let Input::PreToolUse(input) = patch(text).input else { panic!("a tool's use") };
        assert_eq!(input.tool_name, "Edit");
        assert_eq!(input.tool_input["command"], text);
        assert_eq!(input.tool_input.get("file_path").and_then(Value::as_str), path, "{text}");
        assert_eq!(input.native_tool_name.as_deref(), Some("apply_patch"));
    }
}

#[test]
fn a_patch_of_several_files_names_them_all() {
    for (text, paths) in [
        ("*** Update File: a.rs\n@@\n-x\n+*** Add File: no\n", None),
        ("*** Update File: a.rs\n*** Update File: a.rs", None),
        (
            "*** Add File: a.rs\n+x\n *** Delete File: b.rs\n*** Update File: c.rs\n*** Move to: d.rs",
            Some(json!(["a.rs", "b.rs", "c.rs", "d.rs"])),
        ),
    ] {
        let Input::PreToolUse(input) = patch(text).input else { panic!("a tool's use") };
        assert_eq!(input.tool_input["file_path"], "a.rs");
        assert_eq!(input.tool_input.get("file_paths"), paths.as_ref(), "{text}");
        assert_eq!(input.native_tool_input, Some(json!({ "command": text })));
    }
}

#[test]
fn a_rewritten_patch_is_one_that_codex_takes() {
    let decoded = patch("*** Update File: a.rs");
    for (updated, native) in [
        (
            json!({"command": "new", "file_path": "b.rs", "file_paths": ["b.rs", "c.rs"]}),
            json!({"command": "new"}),
        ),
        (json!({"command": "new", "file_path": "b.rs"}), json!({"command": "new"})),
        (json!({"file_path": "b.rs"}), json!({"command": "*** Update File: a.rs"})),
    ] {
        let updated = updated.as_object().expect("an object");
        assert_eq!(Value::Object(Codex.native_input(&decoded, updated)), native);
    }
}

/// The hashes were computed with another implementation of the same recipe, which agreed with the
/// client's own for all hooks tried.
#[test]
fn case_62_the_trust_of_our_hooks_is_what_codex_computes() {
    let env = env(&[]);
    let places = Codex.hooks(&placement(&env, HookScope::Global));
    let [HookPlace { path, shape: HookShape::Shared { entries, .. } }] = places.as_slice() else {
        panic!("one shared file")
    };
    let hooks: Vec<_> = entries
        .iter()
        .map(|entry| TrustedHook {
            event: entry.event,
            group: &entry.group,
            group_index: 2,
            handler_index: 0,
        })
        .collect();
    let trust = trust_entries(path, &hooks);
    let text: Vec<_> =
        trust.iter().map(|(key, hash)| format!("{} {hash}\n", key.replace('\\', "/"))).collect();
    snapshot("codex", "trust.txt", &text.concat());
}

#[test]
fn a_trust_hash_covers_what_the_client_looks_at() {
    let hash = |event, group: Value| {
        let hook = TrustedHook { event, group: &group, group_index: 0, handler_index: 0 };
        trust_entries(Path::new("/h"), &[hook]).pop().map(|(_, hash)| hash)
    };
    let plain = json!({"hooks": [{"type": "command", "command": "é \"x\""}]});
    let unknown = json!({"odd": 1, "hooks": [{"command": "é \"x\"", "timeout": 600, "odd": 1}]});
    let matched = json!({"matcher": "", "hooks": [{"command": "é \"x\"", "statusMessage": "s"}]});
    let base = hash(Event::PreToolUse, plain.clone());
    assert_eq!(base.as_deref(), Some(PLAIN));
    assert_eq!(base, hash(Event::PreToolUse, unknown));
    assert_eq!(hash(Event::SessionStart, matched.clone()).as_deref(), Some(MATCHED));
    assert_ne!(base, hash(Event::PostToolUse, plain));
    let prompt = hash(Event::UserPromptSubmit, matched);
    let bare = json!({"hooks": [{"command": "é \"x\"", "statusMessage": "s"}]});
    assert_eq!(prompt, hash(Event::UserPromptSubmit, bare));
    assert_eq!(hash(Event::PreToolUse, json!({"hooks": [{"type": "command"}]})), None);
    assert_eq!(hash(Event::PreToolUse, json!({})), None);
}

const PLAIN: &str = "sha256:cd926503bedb83e407025d84e1ab8dd4918f04a330224c9fc551cbea01e058d2";
const MATCHED: &str = "sha256:b392a4c66854e14296904222b607c9f13bcbe489a16f7f154ee32d0d95389e51";
