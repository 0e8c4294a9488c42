use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, placement, registration, servers,
    snapshot,
};
use crate::config::HookScope;

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Antigravity, emulator::take, event, &capability(name))
}

fn decode(event: Event, json: &str) -> Result<Decoded, WireError> {
    Antigravity.decode(event, json.as_bytes(), &env(&[]))
}

#[test]
fn the_payloads_of_the_reports_in_canonical_words() {
    snapshot("antigravity", "canonical.txt", &canonical_table(&Antigravity, &env(&[])));
}

#[test]
fn the_bytes_of_each_answer() {
    snapshot("antigravity", "answers.txt", &answer_table(&Antigravity, emulator::take));
}

#[test]
fn hooks_stand_in_a_named_object_and_the_start_in_a_flat_list() {
    let env = env(&[]);
    snapshot("antigravity", "registration.txt", &registration(&Antigravity, &env));
    let nowhere = Placement {
        root: None,
        git_root: None,
        main_checkout: None,
        ..placement(&env, HookScope::Project)
    };
    assert_eq!(Antigravity.hooks(&nowhere), []);
}

#[test]
fn servers_go_to_mcp_config() {
    snapshot("antigravity", "servers.txt", &servers(&Antigravity, &env(&[])));
}

#[test]
fn nothing_to_say_is_nothing_said_and_an_allow_is_never_said() {
    for event in Event::COMMON {
        for nothing in ["none", "allow", "rewrite", "message"] {
            let answer = Antigravity.encode(event, &capability(nothing));
            assert_eq!(answer, Answer::carry_on(), "{} {nothing}", event.name());
        }
    }
    assert_eq!(effect(Event::PreToolUse, "deny").blocked.as_deref(), Some("too risky"));
    assert_eq!(effect(Event::PreToolUse, "context"), Effect::default());
    assert!(effect(Event::SessionStart, "context").context.is_some());
}

#[test]
fn decision_25_garbage_is_refused() {
    for garbage in ["", "[]", "{}", r#"{"toolCall":null,"stepIdx":1}"#] {
        for event in Event::COMMON {
            decode(event, garbage).expect_err(garbage);
        }
    }
    // What has no session can't be told from a later call of the model.
    decode(Event::SessionStart, r#"{"workspacePaths":["/w"],"stepIdx":0}"#).expect_err("unnamed");
    decode(Event::UserPromptSubmit, r#"{"conversationId":"c","prompt":"x"}"#).expect_err("none");
}

#[test]
fn a_native_answer_is_read_in_both_spellings() {
    let said = |event, stdout, exit| {
        Antigravity.decode_answer(event, &ChildAnswer { stdout, stderr: "err", exit })
    };
    for denial in [
        r#"{"decision":"deny","reason":"no"}"#,
        r#"{"allow_tool":false,"deny_reason":"no"}"#,
        r#"{"decision":"deny","reason":"no","allow_tool":false,"deny_reason":"no"}"#,
        r#"{"decision":"allow","allow_tool":false,"deny_reason":"no"}"#,
    ] {
        assert_eq!(said(Event::PreToolUse, denial, Some(0)), Outcome::denied("no"), "{denial}");
    }
    assert_eq!(said(Event::PreToolUse, "", Some(2)), Outcome::denied("err"));
    let ask = said(Event::PreToolUse, r#"{"decision":"force_ask"}"#, Some(0));
    assert_eq!(ask.decision, Some(Decision::Ask));
    for (text, exit) in
        [("", Some(0)), ("{}", Some(0)), ("text", Some(0)), ("", Some(1)), ("", None)]
    {
        assert_eq!(said(Event::PreToolUse, text, exit), Outcome::default(), "{text}");
    }
    let told = said(Event::SessionStart, r#"{"injectSteps":[{"ephemeralMessage":"c"}]}"#, Some(0));
    assert_eq!(told.context, ["c"]);
}
