use super::*;
use crate::agents::testing::{
    self, Effect, answer_table, canonical_table, capability, env, placement, sample_transports,
    server_entry, servers, slashes, snapshot,
};
use crate::config::HookScope;
use symposium_hook::{Decision, Input};

fn effect(event: Event, name: &str) -> Effect {
    testing::effect(&OpenCode, emulator::take, event, &capability(name))
}

fn decode(event: Event, json: &str) -> Result<Decoded, WireError> {
    OpenCode.decode(event, json.as_bytes(), &env(&[]))
}

#[test]
fn captured_payloads_in_canonical_words() {
    snapshot("opencode", "canonical.txt", &canonical_table(&OpenCode, &env(&[])));
}

#[test]
fn decision_25_garbage_is_refused() {
    for garbage in ["", "[]", "{}", r#"{"tool_name":"bash"}"#] {
        for event in Event::COMMON {
            decode(event, garbage).expect_err(garbage);
        }
    }
}

fn pre(fields: &Value) -> Decoded {
    let mut payload = json!({ "hook_event_name": "pre-tool-use" });
    let object = payload.as_object_mut().expect("an object");
    object.extend(fields.as_object().cloned().expect("an object"));
    decode(Event::PreToolUse, &payload.to_string()).expect("decodes")
}

#[test]
fn tools_and_fields_have_common_names_and_go_back_to_opencodes() {
    let rows = [
        ("bash", json!({ "command": "ls" }), "Bash", json!({ "command": "ls" })),
        ("read", json!({ "filePath": "a" }), "Read", json!({ "file_path": "a" })),
        (
            "write",
            json!({ "content": "x", "filePath": "a" }),
            "Write",
            json!({ "content": "x", "file_path": "a" }),
        ),
        (
            "edit",
            json!({ "filePath": "a", "oldString": "x", "newString": "y", "replaceAll": true }),
            "Edit",
            json!({ "file_path": "a", "old_string": "x", "new_string": "y", "replaceAll": true }),
        ),
        ("patch", json!({ "patchText": "p" }), "Edit", json!({ "patchText": "p" })),
        (
            "apply_patch",
            json!({ "patchText": "*** Add File: a\n+x\n*** Delete File: b" }),
            "Edit",
            json!({
                "patchText": "*** Add File: a\n+x\n*** Delete File: b",
                "file_path": "a",
                "file_paths": ["a", "b"],
            }),
        ),
        (
            "glob",
            json!({ "pattern": "x", "path": "a" }),
            "Glob",
            json!({ "pattern": "x", "path": "a" }),
        ),
        (
            "grep",
            json!({ "pattern": "x", "include": "*.rs" }),
            "Grep",
            json!({ "pattern": "x", "glob": "*.rs" }),
        ),
        ("webfetch", json!({ "url": "u" }), "WebFetch", json!({ "url": "u" })),
        ("skill", json!({ "name": "s" }), "Skill", json!({ "skill": "s" })),
        ("todowrite", json!({ "todos": [] }), "todowrite", json!({ "todos": [] })),
    ];
    for (native, arguments, tool, input) in rows {
        let decoded = pre(&json!({ "tool_name": native, "tool_input": arguments }));
        let Input::PreToolUse(found) = &decoded.input else { panic!("another event") };
        assert_eq!((found.tool_name.as_str(), &found.tool_input), (tool, &input));
        let back = OpenCode.native_input(&decoded, input.as_object().expect("an object"));
        assert_eq!(Value::Object(back), arguments);
    }
}

#[test]
fn a_servers_tool_is_named_as_everywhere() {
    let name = |decoded: &Decoded| match &decoded.input {
        Input::PreToolUse(input) => input.tool_name.clone(),
        other => panic!("{other:?}"),
    };
    let told = json!({ "tool_name": "my_db_run", "mcp": { "server": "my.db", "tool": "run" } });
    assert_eq!(name(&pre(&told)), "mcp__my.db__run");
    let mut untold = pre(&json!({ "tool_name": "my_db_run" }));
    assert_eq!(name(&untold), "my_db_run");
    OpenCode.name_mcp_tool(&mut untold, &["my", "my.db"]);
    assert_eq!(name(&untold), "mcp__my_db__run");
    let mut built_in = pre(&json!({ "tool_name": "apply_patch" }));
    OpenCode.name_mcp_tool(&mut built_in, &["apply"]);
    assert_eq!(name(&built_in), "Edit");
}

#[test]
fn the_bytes_of_each_answer() {
    snapshot("opencode", "answers.txt", &answer_table(&OpenCode, emulator::take));
}

#[test]
fn the_plugin_does_what_is_wished() {
    let pre = Event::PreToolUse;
    assert_eq!(effect(pre, "deny").blocked.as_deref(), Some("too risky"));
    assert!(effect(pre, "ask").blocked.is_some_and(|reason| reason.contains("ask the user")));
    assert_eq!(effect(pre, "allow"), Effect::default());
    let rewrite = effect(pre, "rewrite + context");
    assert_eq!(rewrite.input, Some(json!({ "command": "cargo check" })));
    let prompt = effect(Event::UserPromptSubmit, "deny").blocked;
    assert!(
        prompt.is_some_and(|text| text.contains("too risky") && text.contains("Tell the user"))
    );
    assert_eq!(effect(Event::PostToolUse, "deny").blocked.as_deref(), Some("too risky"));
    for event in Event::COMMON {
        assert_eq!(effect(event, "context").context.as_deref(), Some("use cargo nextest"));
        assert_eq!(effect(event, "none"), Effect::default());
        assert_eq!(OpenCode.delivers_context(event), event != pre);
    }
}

#[test]
fn decision_10_a_native_answer_is_understood_and_said_again() {
    let said = |event, stdout, stderr, exit| {
        OpenCode.decode_answer(event, &ChildAnswer { stdout, stderr, exit })
    };
    let stdout = r#"{"args":{"command":"ls"},"context":"c","mystery":1.50}"#;
    let outcome = said(Event::PreToolUse, stdout, "", Some(0));
    assert_eq!(outcome.decision, None);
    assert_eq!(OpenCode.encode(Event::PreToolUse, &outcome).stdout, stdout);
    let denied = said(Event::PreToolUse, r#"{"deny":"no"}"#, "", Some(0));
    assert_eq!((denied.decision, denied.reason()), (Some(Decision::Deny), "no".to_owned()));
    let hidden = r#"{"replace":"hidden"}"#;
    let outcome = said(Event::PostToolUse, hidden, "", Some(0));
    assert_eq!(OpenCode.encode(Event::PostToolUse, &outcome).stdout, hidden);
    assert_eq!(said(Event::PreToolUse, "", "no\n", Some(2)), Outcome::denied("no"));
    for (stdout, exit) in [("", Some(0)), ("x", Some(0)), (hidden, Some(1)), (hidden, None)] {
        assert_eq!(said(Event::PostToolUse, stdout, "no", exit), Outcome::default());
    }
    assert_eq!(said(Event::SessionStart, "", "no", Some(2)), Outcome::default());
}

#[test]
fn the_plugin_is_a_file_of_our_own_at_one_scope() {
    let path = |vars: &[(&str, &str)], scope| {
        let env = env(vars);
        let hooks = OpenCode.hooks(&placement(&env, scope));
        let [hook] = hooks.as_slice() else { panic!("one file") };
        slashes(&hook.path)
    };
    let global = path(&[], HookScope::Global);
    assert_eq!(global, "/home/dev/.config/opencode/plugins/symposium.js");
    let project = path(&[], HookScope::Project);
    assert_eq!(project, "/home/dev/shop/api/.opencode/plugins/symposium.js");
    let absolute = if cfg!(windows) { "C:/cfg" } else { "/cfg" };
    let elsewhere = path(&[("XDG_CONFIG_HOME", absolute)], HookScope::Global);
    assert_eq!(elsewhere, format!("{absolute}/opencode/plugins/symposium.js"));
    let relative = path(&[("XDG_CONFIG_HOME", "cfg")], HookScope::Global);
    assert_eq!(relative, global);
    let env = env(&[]);
    let nowhere = Placement {
        root: None,
        git_root: None,
        main_checkout: None,
        ..placement(&env, HookScope::Project)
    };
    assert_eq!(OpenCode.hooks(&nowhere), []);
}

#[test]
fn the_program_is_put_into_the_plugin_as_data() {
    let first_program = |program: &str| {
        let text = plugin(program);
        assert!(!text.contains("__PROGRAM__"));
        let line = text.lines().find(|line| line.starts_with("const PROGRAM = ")).expect("a line");
        line.trim_start_matches("const PROGRAM = ").to_owned()
    };
    assert_eq!(first_program("cargo-agents"), r#""cargo-agents""#);
    assert_eq!(
        first_program("'/home/with space/cargo-agents'"),
        r#""/home/with space/cargo-agents""#
    );
    let hostile = r#"'/tmp/"; process.exit(1); "\n'"#;
    assert_eq!(first_program(hostile), r#""/tmp/\"; process.exit(1); \"\\n""#);
}

#[test]
fn the_plugins_limit_is_the_registered_one() {
    assert_eq!(PLUGIN.matches(PROGRAM_MARK).count(), 1);
    let limit = format!("const LIMIT_MS = {}_000\n", IDENTITY.hook_timeout);
    assert!(PLUGIN.contains(&limit));
    assert!(
        Event::COMMON
            .into_iter()
            .all(|event| OpenCode.registered_timeout(event) == IDENTITY.hook_timeout)
    );
    // Anything but a function among the exports makes OpenCode drop the plugin.
    let exports: Vec<&str> = PLUGIN.lines().filter(|line| line.starts_with("export")).collect();
    assert_eq!(exports, ["export const Symposium = async (host) => {"]);
}

/// OpenCode's rules for an entry; it does not start with one that breaks them.
fn starts(entry: &Value) -> Result<(), String> {
    match entry["type"].as_str() {
        Some("local") => {
            let words = entry["command"].as_array().ok_or("`command` is no list")?;
            if words.is_empty() || !words.iter().all(Value::is_string) {
                return Err("`command` is no list of texts".to_owned());
            }
            // Ignored in silence, so it would be lost.
            if entry.get("env").is_some() || entry.get("args").is_some() {
                return Err("`env` or `args` are not read".to_owned());
            }
            Ok(())
        }
        Some("remote") => entry["url"].as_str().map(|_| ()).ok_or("no `url`".to_owned()),
        other => Err(format!("type {other:?}")),
    }
}

#[test]
fn f292_case_35_no_server_keeps_opencode_from_starting() {
    let env = env(&[]);
    snapshot("opencode", "servers.txt", &servers(&OpenCode, &env));
    for transport in sample_transports() {
        for everywhere in [false, true] {
            let place = OpenCode.server(
                "docs",
                &transport,
                everywhere,
                &placement(&env, HookScope::Global),
            );
            assert_eq!(starts(&server_entry(place).1), Ok(()));
        }
    }
    for wrong in [
        json!({ "command": ["x"] }),
        json!({ "type": "local", "command": "x" }),
        json!({ "type": "http", "url": "u" }),
        json!({ "command": "x", "args": [] }),
    ] {
        starts(&wrong).expect_err("OpenCode would not start");
    }
}

#[test]
fn the_configuration_that_counts_is_the_one_to_edit() {
    let dir = tempfile::tempdir().expect("a folder");
    let env = env(&[]);
    let at = Placement { root: Some(dir.path()), ..placement(&env, HookScope::Global) };
    let name = || {
        let (path, _) = server_entry(OpenCode.server("docs", &sample_transports()[0], false, &at));
        path.file_name().and_then(|name| name.to_str().map(str::to_owned)).expect("a name")
    };
    assert_eq!(name(), "opencode.json");
    std::fs::write(dir.path().join("opencode.jsonc"), "{}").expect("a file");
    assert_eq!(name(), "opencode.jsonc");
    std::fs::write(dir.path().join("opencode.json"), "{}").expect("a file");
    assert_eq!(name(), "opencode.jsonc", "of the two it counts more");
}
