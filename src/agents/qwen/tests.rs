use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, placement, servers, snapshot,
};
use crate::config::HookScope;
use symposium_hook::Input;

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Qwen, emulator::take, event, &capability(name))
}

fn decode(event: Event, payload: &Value) -> Decoded {
    Qwen.decode(event, payload.to_string().as_bytes(), &env(&[])).expect("a payload")
}

#[test]
fn captured_payloads_in_canonical_words() {
    snapshot("qwen", "canonical.txt", &canonical_table(&Qwen, &env(&[])));
}

#[test]
fn the_bytes_of_each_answer() {
    snapshot("qwen", "answers.txt", &answer_table(&Qwen, emulator::take));
}

#[cfg(not(windows))]
#[test]
fn registration_in_both_scopes() {
    snapshot("qwen", "registration.txt", &testing::registration(&Qwen, &env(&[])));
}

#[test]
fn servers_go_to_settings() {
    snapshot("qwen", "servers.txt", &servers(&Qwen, &env(&[])));
}

#[test]
fn qwen_home_replaces_its_folder() {
    let env = env(&[("QWEN_HOME", "/opt/q")]);
    let places = Qwen.hooks(&placement(&env, HookScope::Global));
    assert_eq!(places[0].path, Path::new("/opt/q/settings.json"));
}

#[test]
fn on_windows_the_shell_is_named() {
    let group = group(Event::PreToolUse, "cargo-agents", Qwen.shell(true));
    assert_eq!(group["hooks"][0]["shell"], "powershell");
    assert_eq!(group["hooks"][0]["command"], "& cargo-agents hook qwen pre-tool-use");
}

/// After a tool it tells of a prompt once more, as captured.
#[test]
fn a_prompt_that_nobody_wrote_is_no_event() {
    let told = |more: Value| {
        let mut payload = json!({
            "session_id": "s", "cwd": "/w", "hook_event_name": "UserPromptSubmit",
            "timestamp": "2026-11-29T21:50:55.657Z", "prompt_id": "s########0", "prompt": "",
        });
        payload.as_object_mut().expect("an object").extend(
            more.as_object().expect("an object").iter().map(|(k, v)| (k.clone(), v.clone())),
        );
        decode(Event::UserPromptSubmit, &payload).foreign
    };
    assert!(told(json!({})));
    assert!(!told(json!({ "prompt": "hi", "submitted_prompt": "hi" })));
    // An older version, and a screen with Vim's keys, say no more than this.
    assert!(!told(json!({ "prompt": "hi" })));
    assert!(!told(json!({ "submitted_prompt": "hi" })));
}

#[test]
fn a_tool_that_failed_is_told_of_by_an_event_of_its_own() {
    let bytes = testing::fixture("qwen", "PostToolUseFailure.run_shell_command");
    let decoded = Qwen.decode(Event::PostToolUse, &bytes, &env(&[])).expect("a payload");
    assert!(decoded.failed);
    let Input::PostToolUse(input) = decoded.input else { panic!("a tool's use") };
    assert!(input.tool_response.as_str().is_some_and(|text| text.contains("\noops\n")));
    let answer = Qwen.encode_failure(&capability("context"));
    assert!(answer.stdout.contains(r#""hookEventName":"PostToolUseFailure""#), "{answer:?}");
    assert_eq!(Qwen.encode_failure(&capability("deny")), Answer::carry_on());
}

#[test]
fn qwen_does_what_is_wished_as_far_as_it_can() {
    let pre = Event::PreToolUse;
    assert_eq!(effect(pre, "deny").blocked.as_deref(), Some("too risky"));
    assert!(effect(pre, "ask").asked.is_some_and(|reason| reason.contains("ask the user")));
    for nothing in ["allow", "rewrite", "context", "message"] {
        assert_eq!(Qwen.encode(pre, &capability(nothing)), Answer::carry_on(), "{nothing}");
    }
    assert_eq!(effect(Event::PostToolUse, "deny").blocked.as_deref(), Some("too risky"));
    // It would go on.
    assert_eq!(effect(Event::Stop, "stop"), Effect::default());
    assert_eq!(effect(Event::Stop, "deny").blocked.as_deref(), Some("too risky"));
}

#[test]
fn exit_codes_and_text_count_as_they_do_for_qwen() {
    let said = |event, stdout: &str, stderr: &str, exit| {
        Qwen.decode_answer(event, &ChildAnswer { stdout, stderr, exit })
    };
    let deny = r#"{"decision":"deny","reason":"json"}"#;
    let inner =
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"in"}}"#;
    for (stdout, stderr, exit, reason) in [
        ("", "stderr\n", 2, Some("stderr")),
        // Standard output does not count then.
        ("stdout\n", "", 2, Some("blocked by a Symposium plugin")),
        ("{}", deny, 2, Some("json")),
        (deny, "", 0, Some("json")),
        (deny, "", 1, Some("json")),
        ("", deny, 0, Some("json")),
        (inner, "", 0, Some("in")),
        ("", "stderr", 1, None),
        ("", "not found", 127, None),
    ] {
        let outcome = said(Event::PreToolUse, stdout, stderr, Some(exit));
        let found = (outcome.decision == Some(Decision::Deny)).then(|| outcome.reason());
        assert_eq!(found.as_deref(), reason, "{stdout} {stderr} {exit}");
    }
    assert!(said(Event::PreToolUse, deny, "", None).is_empty());
    // Plain text is context where a session or a prompt begins.
    for (event, takes) in
        [(Event::SessionStart, true), (Event::UserPromptSubmit, true), (Event::PostToolUse, false)]
    {
        let context: &[&str] = if takes { &["hello"] } else { &[] };
        assert_eq!(said(event, "hello\n", "", Some(0)).context, context, "{}", event.name());
        assert!(said(event, "{hello", "", Some(0)).is_empty());
        assert!(said(event, "hello", "", Some(1)).is_empty());
    }
}
