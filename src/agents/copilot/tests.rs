//! Copilot's payloads, and our answers as the client takes them.

use expect_test::expect_file;
use symposium_hook::Input;

use super::*;
use crate::agents::testkit::{self, Place};

fn decode(event: Event, name: &str) -> Result<Decoded, WireError> {
    Copilot.decode(event, &testkit::fixture("copilot", name), &testkit::env(&[]))
}

const CAPTURED: [(Event, &str); 9] = [
    (Event::SessionStart, "camel-sessionStart"),
    (Event::UserPromptSubmit, "camel-userPromptSubmitted"),
    (Event::PreToolUse, "camel-preToolUse"),
    (Event::PostToolUse, "camel-postToolUse"),
    (Event::PostToolUse, "camel-postToolUse-failing"),
    (Event::SessionStart, "pascal-SessionStart"),
    (Event::UserPromptSubmit, "pascal-UserPromptSubmit"),
    (Event::PreToolUse, "pascal-PreToolUse"),
    (Event::PostToolUse, "pascal-PostToolUse"),
];

#[test]
fn f254_captured_payloads_are_understood() {
    let mut text = String::new();
    for (event, name) in CAPTURED {
        let decoded = decode(event, name).expect(name);
        text.push_str(&format!("{name}: {}", testkit::show(&decoded)));
    }
    expect_file!["../../../tests/fixtures/agents/copilot/expected/payloads.txt"].assert_eq(&text);
}

#[test]
fn decision_25_payloads_of_other_events_are_refused() {
    for (own, name) in CAPTURED {
        for event in Event::ALL.into_iter().filter(|event| *event != own) {
            // A tool's result is optional, so what came before a tool may pass as after it.
            let tolerated = name == "camel-preToolUse" && event == Event::PostToolUse;
            assert_eq!(decode(event, name).is_err(), !tolerated, "{name} as {event:?}");
        }
    }
    for name in [
        "camel-agentStop",
        "camel-permissionRequest",
        "camel-sessionEnd",
        "pascal-PermissionRequest",
        "pascal-SessionEnd",
        "pascal-Stop",
    ] {
        for event in Event::ALL {
            decode(event, name).expect_err(name);
        }
    }
    for garbage in ["", "[1]", "null", "{}", "{\"tool\":\"Bash\"}", "\u{0}"] {
        for event in Event::ALL {
            let env = testkit::env(&[]);
            Copilot.decode(event, garbage.as_bytes(), &env).expect_err(garbage);
        }
    }
}

fn pre(json: &str) -> Decoded {
    let env = testkit::env(&[]);
    Copilot.decode(Event::PreToolUse, json.as_bytes(), &env).expect("a payload")
}

fn tool(decoded: &Decoded) -> (&str, &Value) {
    match &decoded.input {
        Input::PreToolUse(input) => (&input.tool_name, &input.tool_input),
        other => panic!("{other:?}"),
    }
}

#[test]
fn case_50_arguments_come_as_an_object_or_as_a_string() {
    let string = pre(r#"{"toolName":"powershell","toolArgs":"{\"command\":\"ls\"}"}"#);
    assert_eq!(tool(&string), ("Bash", &json!({ "command": "ls" })));
    let object = pre(r#"{"toolName":"shell","toolArgs":{"command":"ls"}}"#);
    assert_eq!(tool(&object), ("Bash", &json!({ "command": "ls" })));
    let neither = pre(r#"{"toolName":"bash","toolArgs":"ls"}"#);
    assert_eq!(tool(&neither), ("Bash", &json!("ls")));
}

#[test]
fn fields_have_common_names_and_go_back_to_copilots() {
    let edit = pre(r#"{"toolName":"edit","toolArgs":{"path":"a.rs","old_str":"x","new_str":"y"}}"#);
    let common = json!({ "file_path": "a.rs", "old_string": "x", "new_string": "y" });
    assert_eq!(tool(&edit), ("Edit", &common));
    let updated = json!({ "file_path": "a.rs", "old_string": "x", "new_string": "z" });
    let native = Copilot.native_input(&edit, updated.as_object().expect("an object"));
    assert_eq!(Value::Object(native), json!({ "path": "a.rs", "old_str": "x", "new_str": "z" }));
    let create = pre(r#"{"toolName":"create","toolArgs":"{\"path\":\"a\",\"file_text\":\"b\"}"}"#);
    assert_eq!(tool(&create), ("Write", &json!({ "file_path": "a", "content": "b" })));
    let updated = json!({ "file_path": "a", "content": "c" });
    let native = Copilot.native_input(&create, updated.as_object().expect("an object"));
    assert_eq!(Value::Object(native), json!({ "path": "a", "file_text": "c" }));
}

#[test]
fn a_servers_tool_is_named_as_everywhere() {
    let own = pre(r#"{"toolName":"github-mcp-server-get_issue","toolArgs":{}}"#);
    assert_eq!(tool(&own).0, "mcp__github-mcp-server__get_issue");
    let guessed = pre(r#"{"toolName":"u_local-ping_u_local","toolArgs":{}}"#);
    assert_eq!(tool(&guessed).0, "mcp__u_local__ping_u_local");
    let mut corrected = pre(r#"{"toolName":"db-run-query","toolArgs":{}}"#);
    assert_eq!(tool(&corrected).0, "mcp__db-run__query");
    Copilot.name_mcp_tool(&mut corrected, &["db"]);
    assert_eq!(tool(&corrected).0, "mcp__db__run-query");
    let mut bash = pre(r#"{"toolName":"bash","toolArgs":{}}"#);
    Copilot.name_mcp_tool(&mut bash, &["db", "bash"]);
    assert_eq!(tool(&bash).0, "Bash");
}

/// What Copilot 1.0.102 does with an answer, as measured.
fn client(event: Event, answer: &Answer) -> Vec<String> {
    let object = serde_json::from_str::<Map<String, Value>>(&answer.stdout).unwrap_or_default();
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut effects = Vec::new();
    if event == Event::PreToolUse {
        let reason = text("permissionDecisionReason");
        match (answer.exit, text("permissionDecision").as_str()) {
            (0, "deny") => return vec![format!("denied: {reason}")],
            (0, "ask") => effects.push(format!("the user is asked: {reason}")),
            (0, "allow") => effects.push("allowed without asking".to_owned()),
            (0, _) => {}
            _ => return vec!["denied: hook errored".to_owned()],
        }
        if let Some(Value::Object(arguments)) = object.get("modifiedArgs") {
            effects.push(format!("runs with {}", Value::Object(arguments.clone())));
        }
    } else if text("decision") == "block" {
        match event {
            Event::PostToolUse => effects.push(format!("result blocked: {}", text("reason"))),
            Event::UserPromptSubmit => {
                return vec![format!("no model call: {}", text("reason"))];
            }
            _ => {}
        }
    }
    if !text("additionalContext").is_empty() {
        effects.push(format!("the model reads: {}", text("additionalContext")));
    }
    if effects.is_empty() {
        effects.push("carries on".to_owned());
    }
    effects
}

#[test]
fn f255_every_wish_in_copilots_words() {
    let answers = testkit::answers(&Copilot, client);
    expect_file!["../../../tests/fixtures/agents/copilot/expected/answers.txt"].assert_eq(&answers);
}

#[test]
fn f256_the_exit_code_is_always_0_and_the_text_json_without_nulls() {
    for event in Event::ALL {
        for (wish, outcome) in testkit::outcomes() {
            let answer = Copilot.encode(event, &outcome);
            assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""), "{wish}");
            if !answer.stdout.is_empty() {
                let object: Map<String, Value> =
                    serde_json::from_str(&answer.stdout).expect("an object");
                assert!(object.values().all(|value| !value.is_null()), "{object:?}");
            }
        }
    }
}

#[test]
fn f242_a_deny_wins_over_a_rewrite() {
    let outcome = Outcome {
        decision: Some(Decision::Deny),
        updated_input: Some(Map::new()),
        ..Outcome::default()
    };
    assert_eq!(
        Copilot.encode(Event::PreToolUse, &outcome).stdout,
        r#"{"permissionDecision":"deny","permissionDecisionReason":"blocked by a Symposium plugin"}"#
    );
}

fn said(event: Event, stdout: &str, stderr: &str, exit: Option<i32>) -> Outcome {
    Copilot.decode_answer(event, &ChildAnswer { stdout, stderr, exit })
}

#[test]
fn decision_10_a_native_answer_is_understood_and_said_again() {
    let stdout = r#"{"permissionDecision":"ask","permissionDecisionReason":"sure?","modifiedArgs":{"command":"ls"},"additionalContext":"c","mystery":[1.50],"gone":null}"#;
    let outcome = said(Event::PreToolUse, stdout, "", Some(0));
    assert_eq!(outcome.decision, Some(Decision::Ask));
    assert_eq!(outcome.extra.keys().collect::<Vec<_>>(), ["mystery"]);
    assert_eq!(
        Copilot.encode(Event::PreToolUse, &outcome).stdout,
        stdout.replace(r#","gone":null"#, "")
    );
    let stdout = r#"{"decision":"block","reason":"secret"}"#;
    for event in [Event::PostToolUse, Event::UserPromptSubmit] {
        let outcome = said(event, stdout, "", Some(0));
        assert_eq!(outcome.decision, Some(Decision::Deny));
        assert_eq!(Copilot.encode(event, &outcome).stdout, stdout);
    }
    let modified = r#"{"modifiedPrompt":"p"}"#;
    let outcome = said(Event::UserPromptSubmit, modified, "", Some(0));
    assert_eq!(Copilot.encode(Event::UserPromptSubmit, &outcome).stdout, modified);
}

#[test]
fn decision_7_exit_code_2_blocks_and_a_failure_does_not() {
    let blocked = said(Event::PreToolUse, "", " no \n", Some(2));
    assert_eq!((blocked.decision, blocked.reason()), (Some(Decision::Deny), "no".to_owned()));
    let stdout = r#"{"permissionDecision":"allow","permissionDecisionReason":"json"}"#;
    assert_eq!(said(Event::PreToolUse, stdout, "err", Some(2)).reason(), "json");
    assert_eq!(said(Event::PreToolUse, stdout, "", Some(1)), Outcome::default());
    let deny = r#"{"permissionDecision":"deny"}"#;
    assert_eq!(said(Event::PreToolUse, deny, "", Some(1)).decision, Some(Decision::Deny));
    assert_eq!(said(Event::PreToolUse, deny, "", None), Outcome::default());
    assert_eq!(said(Event::SessionStart, "", "no", Some(2)), Outcome::default());
    for stdout in ["", "text", "{", "[]", "{}"] {
        assert_eq!(said(Event::PreToolUse, stdout, "", Some(0)), Outcome::default());
    }
}

#[test]
fn f270_f271_hooks_are_a_file_of_our_own_at_one_scope() {
    let place = Place::new();
    let mut text = testkit::show_hooks(&Copilot.hooks(&place.scope(HookScope::Global)));
    let project = testkit::show_hooks(&Copilot.hooks(&place.scope(HookScope::Project)));
    let (path, same) = project.split_once('\n').expect("a path");
    assert_eq!(text.split_once('\n').expect("a path").1, same);
    text.push_str(&format!("the same in {path}\n"));
    expect_file!["../../../tests/fixtures/agents/copilot/expected/hooks.txt"].assert_eq(&text);
    let nowhere = Placement { root: None, git_root: None, ..place.scope(HookScope::Project) };
    assert_eq!(Copilot.hooks(&nowhere), []);
}

#[test]
fn copilot_home_stands_for_the_folder_at_home() {
    let place = Place { env: testkit::env(&[("COPILOT_HOME", "/cfg/copilot")]), ..Place::new() };
    let hooks = Copilot.hooks(&place.scope(HookScope::Global));
    assert_eq!(hooks[0].path, PathBuf::from("/cfg/copilot/hooks/symposium.json"));
}

/// What Copilot makes of an entry: how it connects, or why not.
fn connects(entry: &Value) -> Result<&'static str, String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    if entry.get("tools").is_some_and(|tools| tools == &json!([])) {
        return Err("no tool is offered".to_owned());
    }
    match (text("type"), text("command"), text("url")) {
        (Some("local" | "stdio") | None, Some(_), _) => Ok("stdio"),
        (Some("http") | None, _, Some(_)) => Ok("http"),
        (Some("sse"), _, Some(_)) => Ok("sse"),
        other => Err(format!("skipped: {other:?}")),
    }
}

#[test]
fn f288_servers_are_entered_where_copilot_reads_them() {
    let place = Place::new();
    expect_file!["../../../tests/fixtures/agents/copilot/expected/servers.txt"]
        .assert_eq(&testkit::show_servers(&Copilot, &place));
    for (server, how) in testkit::servers().iter().zip(["stdio", "http", "sse"]) {
        for scope in [HookScope::Global, HookScope::Project] {
            for everywhere in [false, true] {
                let found = Copilot.server(server, everywhere, &place.scope(scope));
                assert_eq!(connects(&testkit::entry(found).1), Ok(how));
            }
        }
    }
}

#[test]
fn a_private_server_goes_to_the_file_that_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = Place { root: dir.path().to_path_buf(), ..Place::new() };
    let [server, ..] = testkit::servers();
    let path = || testkit::entry(Copilot.server(&server, false, &place.scope(HookScope::Global))).0;
    assert_eq!(path(), dir.path().join(".github").join("mcp.json"));
    std::fs::write(dir.path().join(".mcp.json"), "{}").expect("a file");
    assert_eq!(path(), dir.path().join(".mcp.json"));
}
