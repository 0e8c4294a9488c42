//! What each agent's file of servers looks like.

use serde_json::{Value, json};
use symposium_testlib::readers::GOOSE_CONFIG;

use super::{local_servers, read_json};
use crate::registration::{outside, sandbox};

/// Where an agent's stdio entry of `widget-docs` is at global scope, and the file's other server.
const PLACES: [(&str, &str, &str); 4] = [
    ("copilot", "ws/.github/mcp.json", "mcpServers"),
    ("gemini", "ws/.gemini/settings.json", "mcpServers"),
    ("kiro", "ws/.kiro/settings/mcp.json", "mcpServers"),
    ("opencode", "ws/opencode.json", "mcp"),
];

#[test]
fn case_29_the_user_s_other_servers_stay_valid_beside_ours() {
    for (agent, path, key) in PLACES {
        let sandbox = sandbox();
        let mine = json!({"type": "local", "command": ["mine"], "x-odd": [1]});
        sandbox.write(path, json!({key: {"mine": mine}, "other": 1}).to_string());
        sandbox.run(&["init", "--add-agent", agent]).ok();
        let now = read_json(&sandbox, path);
        assert_eq!(now[key]["mine"], mine, "{agent}");
        assert_eq!(now["other"], 1, "{agent}");
        assert!(now[key]["widget-docs"].is_object(), "{agent}");
    }
}

#[test]
fn case_30_claude_s_servers_are_never_in_its_settings() {
    for scope in ["global", "project"] {
        let sandbox = sandbox();
        sandbox.run(&["init", "--add-agent", "claude", "--hook-scope", scope]).ok();
        let settings = if scope == "global" { "home" } else { "ws" };
        let settings = read_json(&sandbox, &format!("{settings}/.claude/settings.json"));
        assert_eq!(settings["mcpServers"], Value::Null);
        let servers = if scope == "global" {
            local_servers(&sandbox)
        } else {
            read_json(&sandbox, "ws/.mcp.json")["mcpServers"].clone()
        };
        assert_eq!(servers["widget-docs"]["type"], "stdio");
        assert_eq!(servers["widget-http"]["type"], "http");
        assert_eq!(servers["widget-sse"]["type"], "sse");
    }
}

#[test]
fn case_31_copilot_s_files_and_keys_and_the_user_s_inputs() {
    let sandbox = sandbox();
    sandbox.write("ws/.vscode/mcp.json", "{\"inputs\": [], \"servers\": {}}\n");
    sandbox.run(&["init", "--add-agent", "copilot"]).ok();
    assert_eq!(sandbox.read("ws/.vscode/mcp.json"), "{\"inputs\": [], \"servers\": {}}\n");
    let own = read_json(&sandbox, "ws/.github/mcp.json");
    assert_eq!(own["mcpServers"]["widget-docs"]["tools"], json!(["*"]));
    let user = read_json(&sandbox, "home/.copilot/mcp-config.json");
    assert_eq!(user["mcpServers"]["anywhere"]["type"], "local");
    // Where there is a `.mcp.json`, Copilot reads nothing else.
    sandbox.write("ws/.mcp.json", "{\"mcpServers\": {}, \"inputs\": [1]}\n");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has("ws/.github"), "moved");
    let shared = read_json(&sandbox, "ws/.mcp.json");
    assert_eq!(shared["mcpServers"]["widget-docs"]["command"], "npx");
    assert_eq!(shared["inputs"], json!([1]));
}

#[test]
fn case_32_and_34_goose_entries_are_whole_and_its_own_extensions_stay() {
    let sandbox = sandbox();
    let text = "# keep\nextensions:\n  developer: # the shell\n    enabled: true\n    type: builtin\n    name: developer\n";
    sandbox.write(GOOSE_CONFIG, text);
    sandbox.run(&["init", "--add-agent", "goose"]).ok();
    let now = sandbox.read(GOOSE_CONFIG);
    assert!(now.starts_with(text), "{now}");
    let entry = now.strip_prefix(text).expect("appended");
    for line in [
        "enabled: true",
        "type: stdio",
        "name: anywhere",
        "cmd: anywhere-mcp",
        "args: []",
        "timeout:",
    ] {
        assert!(entry.contains(line), "{line} is not in {entry}");
    }
}

#[test]
fn case_35_opencode_s_shape() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "opencode"]).ok();
    let file = read_json(&sandbox, "ws/opencode.json");
    assert_eq!(
        file["mcp"]["widget-docs"],
        json!({
            "type": "local",
            "command": ["npx", "-y", "widget-mcp"],
            "environment": {"WIDGET_TOKEN": "s3cret"},
            "enabled": true,
        })
    );
    assert_eq!(file["mcp"]["widget-http"]["type"], "remote");
    assert_eq!(file["mcpServers"], Value::Null);
}

#[test]
fn case_37_a_comment_does_not_empty_the_list() {
    let sandbox = sandbox();
    let text = "{\n  // mine\n  \"mcp\": {\n    \"mine\": {\"type\": \"local\", \"command\": [\"m\"]} // x\n  }\n}\n";
    sandbox.write("ws/opencode.jsonc", text);
    sandbox.run(&["init", "--add-agent", "opencode"]).ok();
    assert!(!sandbox.has("ws/opencode.json"), "the file that exists is used");
    let now = sandbox.read("ws/opencode.jsonc");
    assert!(now.contains("// mine") && now.contains("\"mine\"") && now.contains("// x"), "{now}");
    assert!(now.contains("widget-docs"));
    sandbox.run(&["init", "--remove-agent", "opencode"]).ok();
    assert_eq!(sandbox.read("ws/opencode.jsonc"), text);
}

#[test]
fn case_38_a_server_that_the_user_switched_off_stays_off() {
    for (agent, path, key) in PLACES {
        let switch = if agent == "opencode" { ("enabled", false) } else { ("disabled", true) };
        let sandbox = sandbox();
        sandbox.run(&["init", "--add-agent", agent]).ok();
        let mut file = read_json(&sandbox, path);
        file[key]["widget-docs"][switch.0] = json!(switch.1);
        file[key]["widget-docs"]["x-mine"] = json!("added");
        sandbox.write(path, format!("{file:#}\n"));
        let run = sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("nothing to do"), "{agent}: {}", run.stderr);
        // Also when the plugin's entry changes.
        let manifest = sandbox.read("home/.symposium/plugins/widget/SYMPOSIUM.toml");
        sandbox.user_plugin("widget/SYMPOSIUM.toml", &manifest.replace("widget-mcp", "newer-mcp"));
        sandbox.run(&["sync"]).ok();
        let entry = &read_json(&sandbox, path)[key]["widget-docs"];
        assert!(entry.to_string().contains("newer-mcp"), "{agent}: {entry}");
        assert_eq!(entry[switch.0], json!(switch.1), "{agent}");
        assert_eq!(entry["x-mine"], "added", "{agent}");
        // And one that nobody needs goes, switched off or not.
        sandbox.user_plugin("widget/SYMPOSIUM.toml", "name = \"widget\"\ncrates = [\"widget\"]\n");
        sandbox.run(&["sync"]).ok();
        let gone = outside(&sandbox);
        assert!(!gone.0.contains_key(path), "{agent}: {path} was made for it");
    }
}

#[test]
fn case_38_codex_and_goose_switches_stay_too() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "codex", "--add-agent", "goose"]).ok();
    let codex = "ws/.codex/config.toml";
    let text = sandbox.read(codex);
    let off = text.replacen(
        "[mcp_servers.widget-docs]\n",
        "[mcp_servers.widget-docs]\nenabled = false\n",
        1,
    );
    assert_ne!(text, off);
    sandbox.write(codex, &off);
    let goose = GOOSE_CONFIG;
    let yaml = sandbox.read(goose).replace("enabled: true", "enabled: false");
    sandbox.write(goose, &yaml);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    assert_eq!(sandbox.read(codex), off);
    assert_eq!(sandbox.read(goose), yaml);
    sandbox.run(&["init", "--remove-agent", "codex", "--remove-agent", "goose"]).ok();
    assert!(!sandbox.has(codex) && !sandbox.has(goose));
}

/// Each agent's file, what it makes of `${TOK}` in it, and of `${TOK:-d}`; `None`: the note that it
/// takes it as it stands.
const REFERENCES: [(&str, &str, Option<&str>, Option<&str>); 9] = [
    ("claude", "home/.claude.json", Some("${TOK}"), Some("${TOK:-d}")),
    ("codex", "ws/.codex/config.toml", None, None),
    ("copilot", "ws/.github/mcp.json", Some("${TOK}"), None),
    ("gemini", "ws/.gemini/settings.json", Some("${TOK}"), Some("${TOK:-d}")),
    ("antigravity", "ws/.agents/mcp_config.json", None, None),
    ("qwen", "ws/.qwen/settings.json", Some("${TOK}"), None),
    ("goose", "ws/.agents/plugins/symposium-servers/.mcp.json", None, None),
    ("kiro", "ws/.kiro/settings/mcp.json", Some("${TOK}"), None),
    ("opencode", "ws/opencode.json", Some("{env:TOK}"), None),
];

#[test]
fn references_to_variables_are_in_each_agent_s_own_form_or_a_note_says_that_it_has_none() {
    for (agent, path, reference, default) in REFERENCES {
        let sandbox = sandbox();
        sandbox.user_plugin(
            "refs/SYMPOSIUM.toml",
            r#"name = "refs"
crates = ["widget"]

[[mcp_servers]]
name = "refs-docs"
command = "npx"
env = { T = "${TOK}", U = "pre-${TOK}-post", V = "$TOK", W = "${TOK:-d}", X = "5$ $5" }

[[mcp_servers]]
name = "refs-http"
type = "http"
url = "https://mcp.example.com/refs"
headers = { Authorization = "Bearer ${TOK}" }
"#,
        );
        let run = sandbox.run(&["init", "--add-agent", agent]).ok();
        let text = sandbox.read(path);
        let has = |value: &str| {
            let value = format!("\"{value}\"");
            assert!(text.contains(&value), "{agent}: no {value} in\n{text}");
        };
        let written = reference.unwrap_or("${TOK}");
        has(written);
        has(&format!("pre-{written}-post"));
        has(&format!("Bearer {written}"));
        has(reference.unwrap_or("$TOK"));
        has("${TOK:-d}");
        has("5$ $5");
        let notes = |kind: &str| run.stderr.contains(&format!("takes `{kind}` as it stands"));
        assert_eq!(notes("${…}"), reference.is_none(), "{agent}: {}", run.stderr);
        assert_eq!(notes("${…:-…}"), default.is_none(), "{agent}: {}", run.stderr);
        sandbox.run(&["sync", "--check"]).ok();
    }
}
