//! Public reports about agents' hooks, each as a test named by its number.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// A home in which `init` registered hooks for `agent`.
fn initialised(agent: &str) -> Sandbox {
    let sandbox = lab();
    sandbox.run(&["init", "--add-agent", agent]).ok();
    sandbox
}

fn read_json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A lab with a hook on `Bash` that denies.
fn denying(matcher: &str) -> Sandbox {
    let sandbox = lab();
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    let matcher = format!("matcher = \"{matcher}\"");
    hook_plugin(&sandbox, "p", Event::PreToolUse, &matcher, &deny);
    sandbox
}

#[test]
fn case_49_no_internal_error_is_a_denial_for_copilot() {
    let mut sandbox = lab();
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", "exit 1");
    sandbox.user_plugin("broken/SYMPOSIUM.toml", "name = ");
    let told = Told::in_ws(&sandbox);
    let carry_on = |sandbox: &Sandbox, stdin: &[u8]| {
        let run = sandbox.feed(&["hook", "copilot", "pre-tool-use"], stdin);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    };
    let payload = told.payload("copilot", Event::PreToolUse);
    carry_on(&sandbox, &payload);
    carry_on(&sandbox, b"garbage");
    carry_on(&sandbox, &payload[..payload.len() / 2]);
    let unknown = String::from_utf8(payload.clone()).expect("UTF-8").replace("bash", "brand-new");
    carry_on(&sandbox, unknown.as_bytes());
    std::fs::remove_file(sandbox.home().join(".symposium/config.toml")).expect("removes");
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", sandbox.dir().join("none").display().to_string());
    carry_on(&sandbox, &payload);
}

#[test]
fn case_50_copilots_arguments_may_be_an_object_or_text_and_its_shell_has_many_names() {
    let sandbox = denying("Bash");
    for (agent, name) in [
        ("copilot", "bash"),
        ("copilot", "powershell"),
        ("copilot", "shell"),
        ("gemini", "run_shell_command"),
        ("kiro", "execute_bash"),
        ("kiro", "shell"),
        ("opencode", "bash"),
        ("goose", "developer__shell"),
        ("goose", "shell"),
        ("codex", "Bash"),
        ("claude", "Bash"),
    ] {
        let payload = Told::in_ws(&sandbox).session(name).payload(agent, Event::PreToolUse);
        let mut payload: Value = serde_json::from_slice(&payload).expect("JSON");
        let field = if agent == "copilot" { "toolName" } else { "tool_name" };
        payload[field] = name.into();
        let mut forms = vec![payload.clone()];
        if agent == "copilot" {
            payload["toolArgs"] = payload["toolArgs"].to_string().into();
            forms.push(payload);
        }
        for form in forms {
            let stdin = form.to_string();
            let run = sandbox.feed(&["hook", agent, "pre-tool-use"], stdin.as_bytes());
            let effect = effect(agent, Event::PreToolUse, &run);
            assert!(effect.refused.is_some(), "{agent} {form}");
        }
    }
}

#[test]
fn case_50_a_rewrite_of_arguments_that_came_as_text_is_seen_by_the_next_hook() {
    let sandbox = lab();
    let input = json!({"updatedInput": {"command": "ls"}});
    hook_plugin(&sandbox, "a", Event::PreToolUse, "", &says(Event::PreToolUse, input));
    let look = format!("cat >{}", in_script("seen"));
    hook_plugin(&sandbox, "b", Event::PreToolUse, "format = \"copilot\"", &look);
    let payload = Told::in_ws(&sandbox).payload("copilot", Event::PreToolUse);
    let mut payload: Value = serde_json::from_slice(&payload).expect("JSON");
    payload["toolArgs"] = payload["toolArgs"].to_string().into();
    let run = sandbox.feed(&["hook", "copilot", "pre-tool-use"], payload.to_string().as_bytes());
    let effect = effect("copilot", Event::PreToolUse, &run);
    assert_eq!(effect.input, Some(json!({"command": "ls"})));
    assert_eq!(read_json(&sandbox, "seen")["toolArgs"], r#"{"command":"ls"}"#);
}

#[test]
fn case_51_copilot_is_denied_by_json_and_its_folder_may_be_relative() {
    let sandbox = denying("Bash");
    let told = Told { cwd: "src".to_owned(), ..Told::in_ws(&sandbox) };
    let run = sandbox
        .feed(&["hook", "copilot", "pre-tool-use"], &told.payload("copilot", Event::PreToolUse));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(answer, json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}));
}

/// Whether Gemini fires a hook at a life-cycle event: the matcher is compared, not matched.
fn gemini_fires(group: &Value, trigger: &str) -> bool {
    match group.get("matcher").and_then(Value::as_str) {
        None | Some("" | "*") => true,
        Some(matcher) => matcher == trigger,
    }
}

#[test]
fn case_52_gemini_fires_our_hooks_at_life_cycle_events() {
    let sandbox = initialised("gemini");
    let settings = read_json(&sandbox, "home/.gemini/settings.json");
    for (event, trigger) in
        [("SessionStart", "startup"), ("SessionStart", "resume"), ("BeforeAgent", "")]
    {
        let groups = settings["hooks"][event].as_array().expect("groups");
        assert_eq!(groups.len(), 1, "{event}");
        assert!(gemini_fires(&groups[0], trigger), "{event}: {}", groups[0]);
    }
    assert!(!gemini_fires(&json!({"matcher": ".*"}), "startup"), "the report");
}

#[test]
fn case_53_standard_output_is_one_object_or_nothing() {
    let sandbox = lab();
    // A hook that chats on both streams.
    let answer = json!({"BeforeTool": 0, "PreToolUse": {"additionalContext": "c"}});
    let script = format!("echo loading; echo hm >&2; echo '{answer}'; echo done");
    for event in [Event::SessionStart, Event::UserPromptSubmit, Event::PostToolUse] {
        let chat = script.replace("PreToolUse", event.name());
        hook_plugin(&sandbox, event.cli_name(), event, "", &chat);
    }
    for agent in ["claude", "codex", "copilot", "gemini", "opencode", "symposium"] {
        for event in [Event::SessionStart, Event::UserPromptSubmit, Event::PostToolUse] {
            let effect = send(&sandbox, agent, event, &Told::in_ws(&sandbox).session(agent));
            assert_eq!(effect.context.as_deref(), Some("c"), "{agent} {}", event.name());
        }
    }
    let settings = {
        sandbox.run(&["init", "--add-agent", "gemini"]).ok();
        read_json(&sandbox, "home/.gemini/settings.json")
    };
    for (event, groups) in settings["hooks"].as_object().expect("events") {
        assert!(groups[0]["hooks"][0]["command"].is_string(), "{event}: a flat entry is dropped");
    }
}

#[test]
fn case_55_codex_takes_a_new_input_only_beside_allow() {
    let sandbox = lab();
    let input = json!({"updatedInput": {"command": "ls"}});
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", &says(Event::PreToolUse, input));
    let payload = Told::in_ws(&sandbox).payload("codex", Event::PreToolUse);
    let run = sandbox.feed(&["hook", "codex", "pre-tool-use"], &payload).ok();
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let expected = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "ls"},
    }});
    assert_eq!(answer, expected);
}

#[test]
fn case_56_nobody_but_a_plugin_grants_anything() {
    for fields in [
        json!({"additionalContext": "c"}),
        json!({"updatedInput": {"command": "ls"}}),
        json!({"decision": null, "reason": "because"}),
    ] {
        let sandbox = lab();
        hook_plugin(&sandbox, "p", Event::PreToolUse, "", &says(Event::PreToolUse, fields));
        for agent in AGENTS.into_iter().filter(|agent| *agent != "codex") {
            let payload = Told::in_ws(&sandbox).session(agent).payload(agent, Event::PreToolUse);
            let run = sandbox.feed(&["hook", agent, "pre-tool-use"], &payload).ok();
            for word in ["permissionDecision", "allow", "approve"] {
                assert!(!run.stdout.contains(word), "{agent}: {}", run.stdout);
            }
        }
    }
}

#[test]
fn case_57_every_registration_has_a_time_limit_in_the_agents_unit() {
    let limits = |agent: &str, value: &Value, key: &str| -> Vec<u64> {
        let mut found = Vec::new();
        collect(value, key, &mut found);
        // Some have an event of its own for a tool that failed.
        let count = if matches!(agent, "claude" | "qwen") { 5 } else { 4 };
        assert_eq!(found.len(), count, "one an event: {value}");
        found
    };
    for (agent, path, key, from, to) in [
        ("claude", "home/.claude/settings.json", "timeout", 10, 60),
        ("codex", "home/.codex/hooks.json", "timeout", 10, 60),
        ("gemini", "home/.gemini/settings.json", "timeout", 10_000, 60_000),
        ("qwen", "home/.qwen/settings.json", "timeout", 10_000, 60_000),
        ("copilot", "home/.copilot/hooks/symposium.json", "timeoutSec", 10, 60),
        ("kiro", "home/.kiro/agents/symposium.json", "timeout_ms", 10_000, 60_000),
        ("goose", "home/.agents/plugins/symposium/hooks/hooks.json", "timeout", 10, 60),
    ] {
        let sandbox = initialised(agent);
        for limit in limits(agent, &read_json(&sandbox, path), key) {
            assert!((from..=to).contains(&limit), "{agent}: {limit}");
        }
    }
    let sandbox = initialised("opencode");
    let plugin = sandbox.read("home/.config/opencode/plugins/symposium.js");
    assert!(plugin.contains("LIMIT_MS = 30_000"));
}

fn collect(value: &Value, key: &str, found: &mut Vec<u64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == key {
                    found.push(value.as_u64().expect("a number"));
                }
                collect(value, key, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, found)),
        _ => {}
    }
}

#[test]
fn case_58_a_hook_that_sleeps_does_not_cost_the_others_their_say() {
    let sandbox = lab();
    hook_plugin(&sandbox, "a", Event::PreToolUse, "timeout = 1", "sleep 60");
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "b", Event::PreToolUse, "", &deny);
    let start = Instant::now();
    let effect = send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
    assert_eq!(effect.refused.as_deref(), Some("no"));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn case_59_a_warm_event_takes_no_time_to_speak_of() {
    let sandbox = lab();
    hook_plugin(&sandbox, "p", Event::PreToolUse, "matcher = \"Nothing\"", "exit 2");
    let told = Told::in_ws(&sandbox);
    send(&sandbox, "claude", Event::PreToolUse, &told);
    // Compared with a start of the program that does nothing, for the machine may be busy.
    let timed = |args: &[&str], stdin: &[u8]| {
        let mut all: Vec<Duration> = (0..15)
            .map(|_| {
                let start = Instant::now();
                sandbox.feed(args, stdin);
                start.elapsed()
            })
            .collect();
        all.sort();
        all[all.len() / 2]
    };
    let floor = timed(&["hook"], b"");
    let payload = told.payload("claude", Event::PreToolUse);
    let warm = timed(&["hook", "claude", "pre-tool-use"], &payload);
    assert!(warm < 4 * floor + Duration::from_millis(30), "{warm:?}, a start takes {floor:?}");
}

/// The commands in a file of hooks, in order.
fn commands(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value.as_str() {
                        Some(text) if matches!(key.as_str(), "command" | "bash") => {
                            found.push(text.to_owned());
                        }
                        _ => walk(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    walk(value, &mut found);
    found
}

/// Trust hangs on these very words: a release that changes one makes every user trust us anew.
#[test]
fn case_62_case_64_the_text_of_our_entries_never_changes() {
    let sandbox = initialised("codex");
    let expected: Vec<String> =
        Event::COMMON.map(|event| format!("cargo-agents hook codex {}", event.cli_name())).to_vec();
    let hooks = read_json(&sandbox, "home/.codex/hooks.json");
    assert_eq!(sorted(commands(&hooks)), sorted(expected));
    let group = &hooks["hooks"]["PreToolUse"][0];
    let golden = json!({"hooks": [{
        "type": "command", "command": "cargo-agents hook codex pre-tool-use", "timeout": 60,
    }]});
    assert_eq!(group, &golden);
    let sandbox = initialised("gemini");
    let golden = json!({"hooks": [{
        "name": "symposium", "type": "command", "timeout": 60000,
        "command": "command -v cargo-agents >/dev/null 2>&1 || exit 0; cargo-agents hook gemini \
                    pre-tool-use || exit 0",
    }]});
    let settings = read_json(&sandbox, "home/.gemini/settings.json");
    assert_eq!(settings["hooks"]["BeforeTool"][0], golden);
    // A second run leaves both as they are.
    let before = sandbox.read("home/.gemini/settings.json");
    sandbox.run(&["init", "--add-agent", "gemini"]).ok();
    assert_eq!(sandbox.read("home/.gemini/settings.json"), before);
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

#[test]
fn case_63_codexs_feature_flags_are_left_alone() {
    let sandbox = lab();
    let config = "# mine\nmodel = \"x\"\n\n[features]\nhooks = false\n";
    sandbox.write("home/.codex/config.toml", config);
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    assert_eq!(sandbox.read("home/.codex/config.toml"), config);
}

#[test]
fn case_65_kiros_agent_file_has_flat_entries_and_all_that_an_agent_needs() {
    let sandbox = initialised("kiro");
    let file = read_json(&sandbox, "home/.kiro/agents/symposium.json");
    assert_eq!((&file["name"], &file["tools"]), (&json!("symposium"), &json!(["*"])));
    for (event, matcher) in [
        ("agentSpawn", None),
        ("userPromptSubmit", None),
        ("preToolUse", Some("*")),
        ("postToolUse", Some("*")),
    ] {
        let entry = &file["hooks"][event][0];
        assert!(entry["command"].is_string() && entry["hooks"].is_null(), "{event}: {entry}");
        assert_eq!(entry["matcher"].as_str(), matcher, "{event}");
    }
}

#[cfg(unix)]
#[test]
fn case_65_kiro_3_reads_a_file_of_hooks_instead() {
    let mut sandbox = lab();
    sandbox.program("bin/kiro-cli", "#!/bin/sh\necho 'kiro-cli 3.1.0'\n");
    sandbox.first_on_path("bin");
    sandbox.run(&["init", "--add-agent", "kiro"]).ok();
    let file = read_json(&sandbox, "home/.kiro/hooks/symposium.json");
    assert_eq!(file["version"], "v1");
    for hook in file["hooks"].as_array().expect("hooks") {
        assert!(hook["trigger"].is_string() && hook["action"]["command"].is_string(), "{hook}");
        assert!(hook.get("matcher").is_none(), "{hook}");
    }
    assert!(!sandbox.has("home/.kiro/agents/symposium.json"));
}

#[test]
fn case_66_gooses_hooks_have_no_matcher_for_a_star_is_no_expression() {
    let sandbox = initialised("goose");
    let file = read_json(&sandbox, "home/.agents/plugins/symposium/hooks/hooks.json");
    for event in Event::COMMON {
        let group = &file["hooks"][event.name()][0];
        assert!(group["hooks"][0]["command"].is_string(), "{group}");
        assert!(group.get("matcher").is_none(), "{group}");
    }
    assert!(sandbox.has("home/.agents/plugins/symposium/plugin.json"));
}

#[test]
fn case_68_copilots_hooks_are_a_file_of_their_own() {
    let sandbox = initialised("copilot");
    let file = read_json(&sandbox, "home/.copilot/hooks/symposium.json");
    assert_eq!(file["version"], 1);
    let entry = &file["hooks"]["preToolUse"][0];
    assert!(entry["bash"].is_string() && entry["powershell"].is_string(), "{entry}");
    assert!(!sandbox.has("home/.copilot/config.json"));
}
