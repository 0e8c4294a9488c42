use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, fixture, placement, registration,
    sample_transports, server_entry, servers, snapshot,
};
use symposium_hook::Input;

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&Copilot, emulator::take, event, &capability(name))
}

fn decode(event: Event, name: &str) -> Result<Decoded, WireError> {
    Copilot.decode(event, &fixture("copilot", name), &env(&[]))
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

/// What came before a tool passes as after it: the table shows it twice.
#[test]
fn f254_captured_payloads_in_canonical_words() {
    snapshot("copilot", "canonical.txt", &canonical_table(&Copilot, &env(&[])));
}

#[test]
fn decision_25_payloads_of_other_events_are_refused() {
    for (own, name) in CAPTURED {
        for event in Event::COMMON.into_iter().filter(|event| *event != own) {
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
        for event in Event::COMMON {
            decode(event, name).expect_err(name);
        }
    }
    for garbage in ["", "[1]", "null", "{}", "{\"tool\":\"Bash\"}", "\u{0}"] {
        for event in Event::COMMON {
            Copilot.decode(event, garbage.as_bytes(), &env(&[])).expect_err(garbage);
        }
    }
}

fn pre(json: &str) -> Decoded {
    Copilot.decode(Event::PreToolUse, json.as_bytes(), &env(&[])).expect("a payload")
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
fn a_rewritten_payload_has_its_arguments_where_and_as_they_were() {
    let input = json!({ "command": "ls" });
    for (before, after) in [
        (
            r#"{"toolName":"b","toolArgs":{"a":1}}"#,
            r#"{"toolName":"b","toolArgs":{"command":"ls"}}"#,
        ),
        (
            r#"{"toolName":"b","toolArgs":"{\"a\":1}"}"#,
            r#"{"toolName":"b","toolArgs":"{\"command\":\"ls\"}"}"#,
        ),
        (
            r#"{"tool_name":"B","tool_input":{}}"#,
            r#"{"tool_name":"B","tool_input":{"command":"ls"}}"#,
        ),
    ] {
        let input = input.as_object().expect("an object");
        let rewritten = Copilot.replace_input(before.as_bytes(), input).expect("an input");
        assert_eq!(String::from_utf8(rewritten).as_deref(), Ok(after));
    }
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
fn a_patch_comes_as_text_and_goes_back_as_text() {
    let text = "*** Begin Patch\n*** Add File: a.rs\n+x\n*** Delete File: b.rs\n*** End Patch\n";
    let payload = json!({ "toolName": "apply_patch", "toolArgs": text }).to_string();
    let patch = pre(&payload);
    let common = json!({ "command": text, "file_path": "a.rs", "file_paths": ["a.rs", "b.rs"] });
    assert_eq!(tool(&patch), ("Edit", &common));
    let Input::PreToolUse(input) = &patch.input else { panic!("another event") };
    assert_eq!(input.native_tool_input, Some(json!(text)));
    for (updated, expected) in [
        (json!({ "command": "new", "file_path": "a.rs" }), "new"),
        (json!({ "file_path": "c.rs" }), text),
        (common.clone(), text),
    ] {
        let native = Copilot.native_input(&patch, updated.as_object().expect("an object"));
        let outcome = Outcome { updated_input: Some(native.clone()), ..Outcome::default() };
        let answer = Copilot.encode(Event::PreToolUse, &outcome).stdout;
        assert_eq!(answer, json!({ "modifiedArgs": expected }).to_string());
        let again = said(Event::PreToolUse, &answer, "", Some(0));
        assert_eq!(again.updated_input.as_ref(), Some(&native), "a native handler says it so, too");
        let rewritten = Copilot.replace_input(payload.as_bytes(), &native).expect("an input");
        let rewritten: Value = serde_json::from_slice(&rewritten).expect("JSON");
        assert_eq!(rewritten["toolArgs"], expected);
    }
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

#[test]
fn f255_the_bytes_of_each_answer() {
    snapshot("copilot", "answers.txt", &answer_table(&Copilot, emulator::take));
}

#[test]
fn copilot_does_what_is_wished() {
    let pre = Event::PreToolUse;
    assert_eq!(effect(pre, "ask").asked.as_deref(), Some("too risky"));
    assert!(effect(pre, "allow").granted);
    assert_eq!(effect(pre, "stop").blocked.as_deref(), Some("enough"));
    let rewrite = effect(pre, "rewrite + context");
    assert_eq!(rewrite.input, Some(json!({ "command": "cargo check" })));
    for event in Event::COMMON {
        assert_eq!(effect(event, "context").context.as_deref(), Some("use cargo nextest"));
        for nothing in ["none", "message"] {
            assert_eq!(effect(event, nothing), Effect::default());
        }
        let blocked = effect(event, "deny").blocked;
        let start = event == Event::SessionStart;
        assert_eq!(blocked, (!start).then(|| "too risky".to_owned()));
    }
}

#[test]
fn f256_the_exit_code_is_always_0_and_the_text_json_without_nulls() {
    for event in Event::COMMON {
        for (capability, outcome) in testing::outcomes() {
            let answer = Copilot.encode(event, &outcome);
            assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""), "{capability}");
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
    snapshot("copilot", "registration.txt", &registration(&Copilot, &env(&[])));
    let env = env(&[("COPILOT_HOME", "/opt/copilot")]);
    let places = Copilot.hooks(&placement(&env, HookScope::Global));
    assert_eq!(places[0].path, PathBuf::from("/opt/copilot/hooks/symposium.json"));
    let nowhere = Placement {
        root: None,
        git_root: None,
        main_checkout: None,
        ..placement(&env, HookScope::Project)
    };
    assert_eq!(Copilot.hooks(&nowhere), []);
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
    let env = env(&[]);
    snapshot("copilot", "servers.txt", &servers(&Copilot, &env));
    for (transport, how) in sample_transports().iter().zip(["stdio", "stdio", "http", "sse"]) {
        for scope in [HookScope::Global, HookScope::Project] {
            for everywhere in [false, true] {
                let place = Copilot.server("docs", transport, everywhere, &placement(&env, scope));
                assert_eq!(connects(&server_entry(place).1), Ok(how));
            }
        }
    }
}

#[test]
fn a_private_server_goes_to_the_file_that_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let env = env(&[]);
    let at = Placement { root: Some(dir.path()), ..placement(&env, HookScope::Global) };
    let path = || server_entry(Copilot.server("docs", &sample_transports()[0], false, &at)).0;
    assert_eq!(path(), dir.path().join(".github").join("mcp.json"));
    std::fs::write(dir.path().join(".mcp.json"), "{}").expect("a file");
    assert_eq!(path(), dir.path().join(".mcp.json"));
}
