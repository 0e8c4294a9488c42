//! Reports from the public about settings files (A).

mod commands;
mod leaving;

use serde_json::Value;
use symposium_testlib::Sandbox;
use symposium_testlib::readers::GOOSE_CONFIG;

use crate::registration::{AGENTS, sandbox};

const CLAUDE: &str = "home/.claude/settings.json";

/// Adds `agent`, which must fail for the file at `path` with `text`, and leave it.
fn is_refused(agent: &str, path: &str, text: &str) -> String {
    let sandbox = sandbox();
    sandbox.write(path, text);
    let run = sandbox.run(&["init", "--add-agent", agent]).code(1);
    assert_eq!(sandbox.read(path), text, "{agent}");
    let (_, error) = run.stderr.split_once("error").unwrap_or_else(|| panic!("{}", run.stderr));
    assert!(error.contains(path.rsplit('/').next().expect("a name")), "{error}");
    assert!(error.contains("left as it is") || error.contains("was left"), "a remedy: {error}");
    sandbox.redact(error)
}

fn json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn case_1_a_trailing_comma_is_refused_with_its_place_and_all_else_goes_on() {
    let text =
        "{\"model\":\"opus\",\"permissions\":{\"deny\":[\"Bash(rm -rf *)\"]},\n\"hooks\":{},}";
    let error = is_refused("claude", CLAUDE, text);
    assert!(error.contains("settings.json:2:"), "{error}");

    let sandbox = sandbox();
    sandbox.write(CLAUDE, text);
    crate::plugin_with_skill(&sandbox, "skilled", "widget", "widget-basics");
    let run = sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "gemini"]).code(1);
    assert_eq!(sandbox.read(CLAUDE), text);
    assert!(sandbox.has("home/.gemini/settings.json"), "the other agent: {}", run.stderr);
    assert!(sandbox.has("home/.claude.json"), "the same agent's other file");
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"), "skills");
    sandbox.run(&["sync"]).code(1);
    // A file of an agent that is not configured is not our business.
    let run = sandbox.run(&["init", "--remove-agent", "claude"]).ok();
    assert!(!run.stderr.contains("settings.json"), "{}", run.stderr);
    assert_eq!(sandbox.read(CLAUDE), text);
}

#[test]
fn case_2_comments_stay_where_the_agent_takes_them_and_refuse_where_not() {
    let text = "{\n  // mine\n  \"a\": 1 /* b */\n}\n";
    let sandbox = sandbox();
    for path in ["home/.gemini/settings.json", "home/.config/opencode/opencode.jsonc"] {
        sandbox.write(path, text);
    }
    sandbox.run(&["init", "--add-agent", "gemini", "--add-agent", "opencode"]).ok();
    for (path, key) in [
        ("home/.gemini/settings.json", "hooks"),
        ("home/.config/opencode/opencode.jsonc", "anywhere"),
    ] {
        let now = sandbox.read(path);
        assert!(now.starts_with("{\n  // mine\n  \"a\": 1, /* b */\n"), "{now}");
        assert!(now.contains(key), "{now}");
    }
    assert!(!sandbox.has("home/.config/opencode/opencode.json"));
    for (agent, path) in [("claude", CLAUDE), ("codex", "home/.codex/hooks.json")] {
        let error = is_refused(agent, path, text);
        assert!(error.contains(":2:3"), "{error}");
    }
}

/// A file with all that people have in it.
const FULL: &str = r#"{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "outputStyle": "Explanatory",
  "enabledPlugins": {"a@b": true},
  "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
  "statusLine": {"type": "command", "command": "~/line.sh"},
  "env": {"N": "1e400"},
  "cost": 0.10000000000000000001,
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/guard.sh", "timeout": 5}]}
    ]
  }
}
"#;

#[test]
fn case_4_and_6_all_that_is_not_ours_is_identical() {
    let sandbox = sandbox();
    sandbox.write(CLAUDE, FULL);
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let now = sandbox.read(CLAUDE);
    for line in FULL.lines().filter(|line| line.len() > 4) {
        let kept = line.trim().trim_end_matches([',', '}', ']']);
        assert!(now.contains(kept), "{kept} is not in {now}");
    }
    let (mut before, mut after) = (json_of(FULL), json_of(&now));
    for value in [&mut before, &mut after] {
        value.as_object_mut().expect("an object").shift_remove("hooks");
    }
    assert_eq!(before, after);
    sandbox.run(&["init", "--remove-agent", "claude"]).ok();
    assert_eq!(sandbox.read(CLAUDE), FULL);
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("parses")
}

#[test]
fn case_7_a_neighbour_s_hook_on_the_same_event_survives_three_syncs() {
    let sandbox = sandbox();
    sandbox.write(CLAUDE, FULL);
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    for _ in 0..3 {
        sandbox.run(&["sync"]).ok();
    }
    let groups = json(&sandbox, CLAUDE)["hooks"]["PreToolUse"].clone();
    assert_eq!(groups[0], json_of(FULL)["hooks"]["PreToolUse"][0]);
    assert_eq!(groups.as_array().expect("an array").len(), 2);
}

#[test]
fn case_9_a_shared_group_loses_our_handler_only() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let ours = sandbox.read(CLAUDE);
    let mut value = json_of(&ours);
    let handlers = &mut value["hooks"]["PreToolUse"][0]["hooks"];
    handlers.as_array_mut().expect("handlers").push(serde_json::json!(
        {"type": "command", "command": "~/mine.sh"}
    ));
    sandbox.write(CLAUDE, format!("{value:#}\n"));
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("nothing to do"), "ours is still there: {}", run.stderr);
    sandbox.run(&["init", "--remove-agent", "claude"]).ok();
    let left = json(&sandbox, CLAUDE);
    assert_eq!(
        left["hooks"],
        serde_json::json!({"PreToolUse": [
            {"matcher": "*", "hooks": [{"type": "command", "command": "~/mine.sh"}]}
        ]})
    );
}

#[test]
fn case_10_commands_that_only_mention_us_survive() {
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[
  {"type":"command","command":"~/src/cargo-agents-demo/my.sh"},
  {"type":"command","command":"echo cargo-agents hook claude pre-tool-use >> log"},
  {"type":"command","command":"cargo-agents hook claude pre-tool-use | tee log"}
]}]}}"#;
    let sandbox = sandbox();
    sandbox.write(CLAUDE, text);
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    sandbox.run(&["init", "--remove-agent", "claude"]).ok();
    assert_eq!(sandbox.read(CLAUDE), text);
}

#[test]
fn case_11_and_21_a_second_and_third_sync_write_nothing() {
    for agent in AGENTS {
        let sandbox = sandbox();
        sandbox.run(&["init", "--add-agent", agent]).ok();
        let times = |sandbox: &Sandbox| -> Vec<_> {
            walkdir::WalkDir::new(sandbox.dir())
                .into_iter()
                .map(|entry| entry.expect("reads"))
                .filter(|entry| !entry.path().starts_with(sandbox.home().join(".symposium")))
                .map(|entry| {
                    let found = entry.metadata().expect("reads");
                    (entry.path().to_path_buf(), found.modified().ok(), found.len())
                })
                .collect()
        };
        let before = times(&sandbox);
        for _ in 0..2 {
            let run = sandbox.run(&["sync"]).ok();
            assert!(run.stderr.contains("nothing to do"), "{agent}: {}", run.stderr);
        }
        sandbox.run(&["init", "--add-agent", agent]).ok();
        assert_eq!(times(&sandbox), before, "{agent}");
    }
}

#[test]
fn case_13_older_spellings_and_duplicates_become_one() {
    let ours = |matcher: &str, command: &str, timeout: &str| {
        format!(
            r#"{{"matcher":{matcher},"hooks":[{{"type":"command","command":"{command}"{timeout}}}]}}"#
        )
    };
    let command = "cargo-agents hook claude pre-tool-use";
    let old = [
        ours("\"*\"", command, ""),
        ours("\"\"", command, ",\"timeout\":10"),
        ours("\".*\"", "cargo agents hook claude pre-tool-use", ""),
        ours("\"Bash\"", "/opt/old/cargo-agents hook claude pre-tool-use", ""),
    ];
    let text = format!("{{\"hooks\":{{\"PreToolUse\":[{}]}}}}", old.join(","));
    // With and without a ledger that knows of an earlier registration.
    for known in [false, true] {
        let sandbox = sandbox();
        if known {
            sandbox.run(&["init", "--add-agent", "claude"]).ok();
            let right = json(&sandbox, CLAUDE)["hooks"]["PreToolUse"][0].to_string();
            let text = format!("{{\"hooks\":{{\"PreToolUse\":[{},{right}]}}}}", old.join(","));
            sandbox.write(CLAUDE, text);
        } else {
            sandbox.write(CLAUDE, &text);
        }
        sandbox.run(&["init", "--add-agent", "claude"]).ok();
        let groups = json(&sandbox, CLAUDE)["hooks"]["PreToolUse"].clone();
        assert_eq!(
            groups,
            serde_json::json!([{"matcher": "*", "hooks": [
                {"type": "command", "command": command, "timeout": 60}
            ]}]),
            "{known}"
        );
    }
}

#[test]
fn an_entry_of_ours_that_the_user_changed_is_left_and_said() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let ours = sandbox.read(CLAUDE);
    let changed = ours.replacen("\"*\"", "\"Bash\"", 1);
    assert_ne!(ours, changed);
    sandbox.write(CLAUDE, &changed);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("changed by you"), "{}", run.stderr);
    assert_eq!(sandbox.read(CLAUDE), changed);
    for _ in 0..2 {
        let run = sandbox.run(&["init", "--remove-agent", "claude"]).ok();
        assert!(run.stderr.contains("changed by you"), "{}", run.stderr);
        let left = json(&sandbox, CLAUDE);
        assert_eq!(left["hooks"].as_object().expect("hooks").len(), 1, "the others are gone");
        assert!(sandbox.read(CLAUDE).contains("\"Bash\""));
    }
}

#[cfg(unix)]
#[test]
fn case_16_and_18_links_and_modes_survive() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let sandbox = sandbox();
    sandbox.write("dotfiles/settings.json", "{}\n");
    let real = sandbox.dir().join("dotfiles/settings.json");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).expect("sets the mode");
    std::fs::create_dir_all(sandbox.home().join(".claude")).expect("creates");
    symlink("../../dotfiles/settings.json", sandbox.home().join(".claude/settings.json"))
        .expect("links");
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(sandbox.home().join(".claude/settings.json").is_symlink());
    assert!(sandbox.read("dotfiles/settings.json").contains("cargo-agents hook"));
    let mode = std::fs::metadata(&real).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    sandbox.run(&["init", "--remove-agent", "claude"]).ok();
    assert_eq!(sandbox.read("dotfiles/settings.json"), "{}\n");
}

#[test]
fn case_19_an_entry_that_the_agent_lost_comes_back() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let ours = sandbox.read(CLAUDE);
    sandbox.write(CLAUDE, "{}\n");
    let run = sandbox.run(&["sync", "--check"]).code(1);
    assert!(run.stderr.contains("Register claude"), "{}", run.stderr);
    assert_eq!(sandbox.read(CLAUDE), "{}\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(json(&sandbox, CLAUDE), json_of(&ours));
}

#[test]
fn case_27_what_the_agent_rejects_is_refused_and_the_path_is_named() {
    for text in
        ["{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "[]", "\"x\"", "{\"a\":01}", "{\"a\":NaN}"]
    {
        is_refused("claude", CLAUDE, text);
        is_refused("gemini", "home/.gemini/settings.json", text);
    }
    for (text, place) in [
        ("{\"hooks\":[]}", "`$.hooks`"),
        ("{\"hooks\":\"x\"}", "`$.hooks`"),
        ("{\"hooks\":{\"PreToolUse\":{}}}", "`$.hooks.PreToolUse`"),
    ] {
        let error = is_refused("claude", CLAUDE, text);
        assert!(error.contains(place), "{error}");
    }
}

#[test]
fn twice_the_same_key_too_large_and_not_utf_8_are_refused() {
    let error = is_refused("claude", CLAUDE, "{\n\"hooks\":{},\n\"hooks\":{}}");
    assert!(error.contains("hooks") && error.contains(":3:"), "{error}");
    let error = is_refused("codex", "home/.codex/hooks.json", "\u{feff}{}");
    assert!(error.contains("byte order mark") && error.contains("hooks.json:1:1"), "{error}");
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(10 * 1024 * 1024));
    let error = is_refused("claude", CLAUDE, &large);
    assert!(error.contains("10 MB"), "{error}");
    let error = is_refused("codex", "home/.codex/config.toml", "a = 1\nb = = 2\n");
    assert!(error.contains("config.toml:2:"), "{error}");
    let error = is_refused("goose", GOOSE_CONFIG, "a: 1\nb: [\n");
    assert!(error.contains("config.yaml:"), "{error}");

    let sandbox = sandbox();
    let bytes = b"{\"a\":\n\"\xff\"}";
    sandbox.write(CLAUDE, bytes);
    let run = sandbox.run(&["init", "--add-agent", "claude"]).code(1);
    assert!(run.stderr.contains("settings.json:2:2"), "{}", run.stderr);
    assert_eq!(std::fs::read(sandbox.dir().join(CLAUDE)).expect("reads"), bytes);
    // And none of it is anybody's business but the agent's own.
    sandbox.run(&["init", "--remove-agent", "claude"]).ok();
}

#[test]
fn case_28_crlf_in_toml_stays_and_only_our_lines_are_new() {
    let sandbox = sandbox();
    let text = "\u{feff}# top\r\nmodel = \"x\"\r\n\r\n[mcp_servers.mine]\r\ncommand = \"m\"\r\n";
    sandbox.write("ws/.codex/config.toml", text);
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    let now = sandbox.read("ws/.codex/config.toml");
    assert!(now.starts_with(text), "{now:?}");
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count());
    sandbox.run(&["init", "--remove-agent", "codex"]).ok();
    assert_eq!(sandbox.read("ws/.codex/config.toml"), text);
}
