use super::*;
use crate::agents::places::HookShape;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, fixtures, placement, servers,
    snapshot,
};
use crate::config::HookScope;
use symposium_hook::Input;

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Gemini, emulator::take, event, &capability(name))
}

fn said(event: Event, stdout: &str, stderr: &str, exit: i32) -> Outcome {
    Gemini.decode_answer(event, &ChildAnswer { stdout, stderr, exit: Some(exit) })
}

fn tool(name: &str, input: Value) -> (Decoded, String, Value) {
    let payload = json!({ "tool_name": name, "tool_input": input }).to_string();
    let decoded =
        Gemini.decode(Event::PreToolUse, payload.as_bytes(), &env(&[])).expect("a payload");
    let Input::PreToolUse(input) = decoded.input.clone() else { panic!("a tool's use") };
    (decoded, input.tool_name, input.tool_input)
}

#[test]
fn f257_f259_captured_payloads_in_canonical_words() {
    snapshot("gemini", "canonical.txt", &canonical_table(&Gemini, &env(&[])));
}

#[test]
fn f258_the_bytes_of_each_answer() {
    snapshot("gemini", "answers.txt", &answer_table(&Gemini, emulator::take));
}

#[cfg(not(windows))]
#[test]
fn f272_registration_in_both_scopes() {
    snapshot("gemini", "registration.txt", &testing::registration(&Gemini, &env(&[])));
}

#[test]
fn gemini_cli_home_stands_for_the_home_folder() {
    let env = env(&[("GEMINI_CLI_HOME", "/opt/g")]);
    let places = Gemini.hooks(&placement(&env, HookScope::Global));
    assert_eq!(places[0].path, Path::new("/opt/g/.gemini/settings.json"));
}

/// A matcher of a session's start is compared as it stands, so that `.*` would never match; tool
/// matchers are regexes, and an invalid one never matches.
#[test]
fn case_52_the_hook_fires_at_every_event() {
    let env = env(&[]);
    for scope in [HookScope::Global, HookScope::Project] {
        for place in Gemini.hooks(&placement(&env, scope)) {
            let HookShape::Shared { entries, .. } = place.shape else { panic!("shared") };
            for entry in entries {
                let fires = match entry.group.get("matcher").and_then(Value::as_str) {
                    None | Some("" | "*") => true,
                    Some(matcher) if entry.event.is_tool_event() => {
                        regex::Regex::new(matcher).is_ok_and(|regex| regex.is_match("replace"))
                    }
                    Some(matcher) => matcher == "startup",
                };
                assert!(fires, "{:?}", entry.event);
            }
        }
    }
}

#[test]
fn on_windows_the_guard_is_powershells() {
    let shell = Gemini.shell(true);
    let group = group(Event::PreToolUse, "cargo-agents", shell);
    assert_eq!(
        group["hooks"][0]["command"],
        "if (Get-Command cargo-agents -ErrorAction SilentlyContinue) \
         { & cargo-agents hook gemini pre-tool-use }; exit 0"
    );
}

#[test]
fn f289_servers_go_to_settings() {
    snapshot("gemini", "servers.txt", &servers(&Gemini, &env(&[])));
}

#[test]
fn gemini_does_what_is_wished() {
    let pre = Event::PreToolUse;
    assert_eq!(effect(pre, "deny").blocked.as_deref(), Some("too risky"));
    assert!(effect(pre, "ask").blocked.is_some_and(|reason| reason.contains("ask the user")));
    assert_eq!(effect(pre, "allow"), Effect::default());
    assert_eq!(effect(pre, "rewrite").input, Some(json!({"command": "cargo check"})));
    for event in Event::COMMON {
        let context = Gemini.delivers_context(event).then(|| "use cargo nextest".to_owned());
        assert_eq!(effect(event, "context"), Effect { context, ..Effect::default() });
        assert_eq!(effect(event, "none"), Effect::default());
        let start = event == Event::SessionStart;
        assert_eq!(effect(event, "deny").blocked.is_none(), start);
        assert_eq!(effect(event, "stop").ended.is_none(), start);
    }
}

#[test]
fn context_before_a_tool_is_left_to_the_next_event() {
    assert!(!Gemini.delivers_context(Event::PreToolUse));
    let answer = Gemini.encode(Event::PreToolUse, &capability("context"));
    assert_eq!(answer, Answer::carry_on());
}

#[test]
fn exit_codes_and_text_count_as_they_do_for_gemini() {
    let deny = r#"{"decision":"deny","reason":"json"}"#;
    for (stdout, stderr, exit, reason) in [
        ("", "stderr\n", 2, Some("stderr")),
        ("stdout\n", "stderr", 2, Some("stdout")),
        ("", "", 2, Some("blocked by a Symposium plugin")),
        (deny, "", 2, Some("json")),
        (deny, "", 0, Some("json")),
        (deny, "", 1, Some("json")),
        ("", deny, 0, Some("json")),
        ("", deny, 2, Some("json")),
        ("{}", "stderr", 2, Some("stderr")),
        (r#"{"decision":"block","reason":"b"}"#, "", 0, Some("b")),
        (r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#, "", 0, None),
        ("", "stderr", 1, None),
        // A crash is no block, though Gemini itself would take it for one.
        ("", "panicked", 101, None),
        ("", "not found", 127, None),
    ] {
        let outcome = said(Event::PreToolUse, stdout, stderr, exit);
        let found = (outcome.decision == Some(Decision::Deny)).then(|| outcome.reason());
        assert_eq!(found.as_deref(), reason, "{stdout} {stderr} {exit}");
    }
    let killed = ChildAnswer { stdout: deny, stderr: "", exit: None };
    assert!(Gemini.decode_answer(Event::PreToolUse, &killed).is_empty());
}

#[test]
fn case_53_plain_text_is_for_the_user() {
    let outcome = said(Event::SessionStart, "hello\n", "", 0);
    assert_eq!(outcome, Outcome { user_message: Some("hello".into()), ..Outcome::default() });
    assert!(said(Event::SessionStart, "hello", "", 1).is_empty());
}

#[test]
fn decision_10_unknown_fields_are_kept() {
    let text = r#"{"suppressOutput":true,"hookSpecificOutput":{"hookEventName":"AfterTool","tailToolCallRequest":{"name":"x","args":{}}}}"#;
    let outcome = said(Event::PostToolUse, text, "", 0);
    assert_eq!(Gemini.encode(Event::PostToolUse, &outcome).stdout, text);
}

#[test]
fn tools_have_canonical_names_and_fields() {
    for (native, canonical, input, expected) in [
        ("run_shell_command", "Bash", json!({"command": "ls"}), json!({"command": "ls"})),
        (
            "glob",
            "Glob",
            json!({"pattern": "*", "dir_path": "d"}),
            json!({"pattern": "*", "path": "d"}),
        ),
        (
            "search_file_content",
            "Grep",
            json!({"pattern": "x", "include_pattern": "*.rs"}),
            json!({"pattern": "x", "glob": "*.rs"}),
        ),
        ("activate_skill", "Skill", json!({"name": "s"}), json!({"skill": "s"})),
        ("write_todos", "write_todos", json!({"todos": []}), json!({"todos": []})),
    ] {
        let (decoded, name, found) = tool(native, input.clone());
        assert_eq!((name.as_str(), &found), (canonical, &expected));
        let updated = found.as_object().expect("an object");
        assert_eq!(Value::Object(Gemini.native_input(&decoded, updated)), input);
    }
}

#[test]
fn a_servers_tool_is_named_by_its_context_else_by_the_joined_name() {
    let (_, name, _) = tool("mcp_docs_find_page", json!({}));
    assert_eq!(name, "mcp__docs__find_page");
    let (_, bytes) =
        fixtures("gemini").into_iter().find(|(name, _)| name == "mcp-tool-BeforeTool").expect("it");
    let decoded = Gemini.decode(Event::PreToolUse, &bytes, &env(&[])).expect("a payload");
    let Input::PreToolUse(input) = decoded.input else { panic!("a tool's use") };
    assert_eq!(input.tool_name, "mcp__ustdio__ping_ustdio");
}
