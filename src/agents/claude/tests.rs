use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, fixtures, placement,
    registration, servers, snapshot,
};

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Claude, emulator::take, event, &capability(name))
}

fn said(event: Event, stdout: &str, stderr: &str, exit: i32) -> Outcome {
    Claude.decode_answer(event, &ChildAnswer { stdout, stderr, exit: Some(exit) })
}

#[test]
fn f252_captured_payloads_in_canonical_words() {
    snapshot("claude", "canonical.txt", &canonical_table(&Claude, &env(&[])));
}

#[test]
fn f253_the_bytes_of_each_answer() {
    snapshot("claude", "answers.txt", &answer_table(&Claude, emulator::take));
}

#[test]
fn f268_registration_in_both_scopes() {
    snapshot("claude", "registration.txt", &registration(&Claude, &env(&[])));
    let env = env(&[("CLAUDE_CONFIG_DIR", "/opt/claude")]);
    let places = Claude.hooks(&placement(&env, HookScope::Global));
    assert_eq!(places[0].path, Path::new("/opt/claude/settings.json"));
    let nowhere = Placement { root: None, ..placement(&env, HookScope::Project) };
    assert!(Claude.hooks(&nowhere).is_empty());
}

#[test]
fn f287_servers_never_go_to_settings() {
    let text = servers(&Claude, &env(&[]));
    assert!(!text.contains("settings.json"));
    snapshot("claude", "servers.txt", &text);
}

#[test]
fn a_server_without_a_checkout_is_keyed_by_the_workspace() {
    let env = env(&[("CLAUDE_CONFIG_DIR", "/opt/claude")]);
    let at =
        Placement { git_root: None, main_checkout: None, ..placement(&env, HookScope::Global) };
    let transport = Transport::Http { url: "https://x".into(), headers: Vec::new() };
    match Claude.server("x", &transport, false, &at) {
        ServerPlace::Entry { path, table, .. } => {
            assert_eq!(path, Path::new("/opt/claude/.claude.json"));
            assert_eq!(table, ["projects", "/home/dev/shop/api", "mcpServers"]);
        }
        other => panic!("{other:?}"),
    }
    let nowhere = Placement { root: None, git_root: None, main_checkout: None, ..at };
    assert_eq!(Claude.server("x", &transport, false, &nowhere), ServerPlace::no_workspace());
    assert!(matches!(Claude.server("a.b", &transport, true, &at), ServerPlace::Unsupported { .. }));
}

#[test]
fn claude_does_what_is_wished() {
    let deny = effect(Event::PreToolUse, "deny");
    assert_eq!(deny.blocked.as_deref(), Some("too risky"));
    assert_eq!(effect(Event::PreToolUse, "ask").asked.as_deref(), Some("too risky"));
    assert!(effect(Event::PreToolUse, "allow").granted);
    let rewrite = effect(Event::PreToolUse, "rewrite + context");
    assert_eq!(rewrite.input, Some(json!({"command": "cargo check"})));
    assert_eq!(rewrite.context.as_deref(), Some("use cargo nextest"));
    for event in Event::COMMON {
        assert_eq!(effect(event, "context").context.as_deref(), Some("use cargo nextest"));
        assert_eq!(effect(event, "none"), Effect::default());
        assert_eq!(effect(event, "message"), Effect::default());
        let start = event == Event::SessionStart;
        assert_eq!(effect(event, "deny").blocked.is_none(), start);
        assert_eq!(effect(event, "stop").ended.is_none(), start);
    }
}

#[test]
fn after_a_failure_context_is_told_under_its_own_event() {
    let fixture = testing::fixture("claude", "PostToolUseFailure.Bash");
    let decoded = Claude.decode(Event::PostToolUse, &fixture, &env(&[])).expect("read");
    assert!(decoded.failed);
    let answer = Claude.encode_failure(&capability("context"));
    assert_eq!(
        answer.stdout,
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"use cargo nextest"}}"#
    );
    // The result is there, and nothing can be said of it but in words.
    for other in ["none", "deny", "stop", "rewrite"] {
        assert_eq!(Claude.encode_failure(&capability(other)), Answer::carry_on(), "{other}");
    }
}

#[test]
fn case_56_a_rewrite_grants_nothing() {
    let rewrite = effect(Event::PreToolUse, "rewrite");
    assert!(!rewrite.granted && rewrite.asked.is_none());
}

#[test]
fn exit_codes_and_text_count_as_they_do_for_claude() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"json"}}"#;
    let pre = Event::PreToolUse;
    for (stdout, stderr, exit, reason) in [
        ("", "stderr\n", 2, Some("stderr")),
        ("", "", 2, Some("blocked by a Symposium plugin")),
        (deny, "", 2, Some("json")),
        (deny, "stderr", 2, Some("stderr")),
        (deny, "", 0, Some("json")),
        (deny, "", 1, Some("json")),
        (r#"{"decision":"block","reason":"old"}"#, "", 0, Some("old")),
        ("", "stderr", 1, None),
        ("deny", "", 0, None),
        (r#"note: {"decision":"block"}"#, "", 0, None),
        (r#"{"decision":"deny"}"#, "", 0, None),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}"#,
            "",
            0,
            None,
        ),
    ] {
        let outcome = said(pre, stdout, stderr, exit);
        let found = (outcome.decision == Some(Decision::Deny)).then(|| outcome.reason());
        assert_eq!(found.as_deref(), reason, "{stdout} {stderr} {exit}");
    }
    let killed = ChildAnswer { stdout: deny, stderr: "", exit: None };
    assert!(Claude.decode_answer(pre, &killed).is_empty());
}

#[test]
fn f264_plain_text_is_context_where_claude_takes_it() {
    for event in Event::COMMON {
        let takes = matches!(event, Event::SessionStart | Event::UserPromptSubmit);
        let context = if takes { vec!["hello".to_owned()] } else { Vec::new() };
        assert_eq!(said(event, "hello\n", "", 0).context, context);
        assert!(said(event, "hello", "", 1).is_empty());
        assert!(said(event, " \n", "", 0).is_empty());
    }
}

#[test]
fn every_known_field_is_read() {
    let text = r#"{"continue":false,"stopReason":"enough","systemMessage":"hi","decision":"approve","reason":"fine",
        "hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?",
        "updatedInput":{"command":"ls"},"additionalContext":"note"}}"#;
    assert_eq!(
        said(Event::PreToolUse, text, "", 0),
        Outcome {
            decision: Some(Decision::Ask),
            reasons: vec!["sure?".into()],
            context: vec!["note".into()],
            updated_input: json!({"command": "ls"}).as_object().cloned(),
            user_message: Some("hi".into()),
            stop: Some("enough".into()),
            extra: Map::new(),
        }
    );
}

#[test]
fn decision_10_unknown_fields_are_kept_and_nulls_are_not() {
    let text = r#"{"suppressOutput":true,"odd":1,"async":true,"reason":null,"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"x"},"additionalContext":null}}"#;
    let outcome = said(Event::PostToolUse, text, "", 0);
    assert_eq!(
        Claude.encode(Event::PostToolUse, &outcome).stdout,
        r#"{"odd":1,"suppressOutput":true,"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"x"}}}"#
    );
    let defer =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#;
    let mut outcome = said(Event::PreToolUse, defer, "", 0);
    assert_eq!(Claude.encode(Event::PreToolUse, &outcome).stdout, defer);
    outcome.decision = Some(Decision::Deny);
    outcome.extra.insert("stopReason".to_owned(), json!(7));
    let answer = Claude.encode(Event::PreToolUse, &outcome);
    assert!(emulator::take(Event::PreToolUse, &answer).blocked.is_some());
}

#[test]
fn decision_25_what_claude_never_sends_is_refused() {
    let env = env(&[]);
    for text in [r#"{"tool": "Bash", "input": "cargo test"}"#, "", "[]", r#"{"tool_name": 1}"#] {
        for event in Event::COMMON {
            assert!(Claude.decode(event, text.as_bytes(), &env).is_err(), "{text} {event:?}");
        }
    }
    let error = Claude.decode(Event::PreToolUse, b"{}", &env).expect_err("no tool");
    assert_eq!(
        error.to_string(),
        "claude never sends this for pre-tool-use: no text in `tool_name`"
    );
}

#[test]
fn copilots_payloads_are_foreign_and_claudes_own_never_are() {
    let inside = env(&[("COPILOT_CLI", "1")]);
    for text in [
        r#"{"cwd":"/w","hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-05T10:15:30Z","tool_input":{},"tool_name":"Bash"}"#,
        r#"{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":{}}"#,
    ] {
        let decoded = Claude.decode(Event::PreToolUse, text.as_bytes(), &inside);
        assert!(decoded.expect("read").foreign, "{text}");
        let outside = Claude.decode(Event::PreToolUse, text.as_bytes(), &env(&[]));
        assert!(!outside.is_ok_and(|decoded| decoded.foreign), "{text}");
    }
    for (name, bytes) in fixtures("claude") {
        for event in Event::COMMON {
            let decoded = Claude.decode(event, &bytes, &inside);
            assert!(!decoded.is_ok_and(|decoded| decoded.foreign), "{name}");
        }
    }
}
