//! MCP servers in the agents' files (F283–F298 and the public reports B).

use serde_json::{Value, json};
use symposium_testlib::{Node, Sandbox};

use crate::registration::{AGENTS, outside, sandbox};

fn read_json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The servers that Claude Code keeps for the workspace alone.
fn local_servers(sandbox: &Sandbox) -> Value {
    let key = sandbox.ws().display().to_string();
    read_json(sandbox, "home/.claude.json")["projects"][&key]["mcpServers"].clone()
}

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
    sandbox.write("home/.config/goose/config.yaml", text);
    sandbox.run(&["init", "--add-agent", "goose"]).ok();
    let now = sandbox.read("home/.config/goose/config.yaml");
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
    let goose = "home/.config/goose/config.yaml";
    let yaml = sandbox.read(goose).replace("enabled: true", "enabled: false");
    sandbox.write(goose, &yaml);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    assert_eq!(sandbox.read(codex), off);
    assert_eq!(sandbox.read(goose), yaml);
    sandbox.run(&["init", "--remove-agent", "codex", "--remove-agent", "goose"]).ok();
    assert!(!sandbox.has(codex) && !sandbox.has(goose));
}

#[test]
fn f286_both_gates_must_hold() {
    let sandbox = sandbox();
    sandbox.user_plugin(
        "two/SYMPOSIUM.toml",
        "name = \"two\"\ncrates = [\"widget\"]\n\n[[mcp_servers]]\nname = \"needs-gadget\"\n\
         crates = [\"gadget\"]\ncommand = \"x\"\n",
    );
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert_eq!(local_servers(&sandbox)["needs-gadget"], Value::Null);
    sandbox.package(&[("gadget", "1.0.0"), ("widget", "1.2.3")]);
    sandbox.run(&["sync"]).ok();
    assert_eq!(local_servers(&sandbox)["needs-gadget"]["command"], "x");
    sandbox.package(&[("gadget", "1.0.0")]);
    sandbox.run(&["sync"]).ok();
    assert_eq!(local_servers(&sandbox), Value::Null, "the plugin's gate holds no more");
}

#[test]
fn a_gated_server_is_in_no_file_that_other_projects_read() {
    for agent in AGENTS {
        let sandbox = sandbox();
        sandbox.run(&["init", "--add-agent", agent]).ok();
        for (path, node) in &outside(&sandbox).0 {
            let Node::File(bytes, _) = node else { continue };
            let text = String::from_utf8_lossy(bytes);
            if path.starts_with("home/") && text.contains("widget-docs") {
                assert_eq!(path, "home/.claude.json", "{agent}");
                let file: Value = serde_json::from_str(&text).expect("parses");
                assert_eq!(file["mcpServers"]["widget-docs"], Value::Null);
                let projects = file["projects"].as_object().expect("projects");
                let keys: Vec<&String> = projects.keys().collect();
                assert_eq!(keys, [&sandbox.ws().display().to_string()]);
            }
            if path.starts_with("ws/") && agent != "claude" {
                assert!(!text.contains("anywhere-mcp"), "{agent}: {path}: user scope is enough");
            }
        }
    }
}

#[test]
fn a_workspace_below_the_checkout_s_top_is_keyed_by_the_top() {
    let sandbox = sandbox();
    let (manifest, lock) = (sandbox.read("ws/Cargo.toml"), sandbox.read("ws/Cargo.lock"));
    sandbox.write("ws/deep/er/Cargo.toml", format!("{manifest}\n[workspace]\n"));
    sandbox.write("ws/deep/er/Cargo.lock", lock);
    sandbox.write("ws/deep/er/src/lib.rs", "");
    sandbox.run_in("ws/deep/er", &["init", "--add-agent", "claude"]).ok();
    assert_eq!(local_servers(&sandbox)["widget-docs"]["command"], "npx");
    // Without git the workspace's own root is the key.
    let plain = sandbox.dir().join("plain");
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("plain/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    sandbox.run_in("plain", &["sync"]).ok();
    let file = read_json(&sandbox, "home/.claude.json");
    let servers = &file["projects"][plain.display().to_string()]["mcpServers"];
    assert_eq!(servers["widget-docs"]["command"], "npx");
}

#[test]
fn f285_what_an_agent_can_not_do_is_said_once_and_not_faked() {
    for agent in ["codex", "goose"] {
        let sandbox = sandbox();
        let more = "\n[[mcp_servers]]\nname = \"other-sse\"\ntype = \"sse\"\nurl = \"https://mcp.example.com/2\"\n";
        let manifest = sandbox.read("home/.symposium/plugins/widget/SYMPOSIUM.toml");
        sandbox.user_plugin("widget/SYMPOSIUM.toml", &(manifest + more));
        let run = sandbox.run(&["init", "--add-agent", agent]).ok();
        assert_eq!(run.stderr.matches("server-sent events").count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("`widget-sse`, `other-sse`"), "{}", run.stderr);
        for (path, node) in &outside(&sandbox).0 {
            if let Node::File(bytes, _) = node {
                assert!(!String::from_utf8_lossy(bytes).contains("-sse"), "{path}");
            }
        }
    }
}

#[test]
fn a_server_of_that_name_which_is_not_ours_is_left_and_said() {
    let sandbox = sandbox();
    let mine = "{\"mcpServers\":{\"anywhere\":{\"command\":\"mine\"}}}";
    sandbox.write("home/.claude.json", mine);
    let run = sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(run.stderr.contains("`anywhere` that is not Symposium's"), "{}", run.stderr);
    let servers = read_json(&sandbox, "home/.claude.json")["mcpServers"].clone();
    assert_eq!(servers, json!({"anywhere": {"command": "mine"}}));
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(sandbox.read("home/.claude.json"), mine);
}

#[test]
fn a_server_that_says_the_same_but_was_there_before_us_is_the_user_s() {
    let sandbox = sandbox();
    let mine = r#"{"mcpServers":{"anywhere":{"type":"stdio","command":"anywhere-mcp","args":[],"env":{}}}}"#;
    sandbox.write("home/.claude.json", mine);
    let run = sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(!run.stderr.contains("not Symposium's"), "{}", run.stderr);
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(sandbox.read("home/.claude.json"), mine);
}

#[test]
fn f296_what_the_user_changed_of_ours_is_left_and_said() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let changed = sandbox.read("home/.claude.json").replace("widget-mcp", "my-fork");
    sandbox.write("home/.claude.json", &changed);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("`widget-docs` was changed by you"), "{}", run.stderr);
    assert_eq!(sandbox.read("home/.claude.json"), changed);
    let run = sandbox.run(&["uninstall"]).ok();
    assert!(run.stderr.contains("`widget-docs` was changed by you"), "{}", run.stderr);
    let left = local_servers(&sandbox);
    assert_eq!(left.as_object().map(serde_json::Map::len), Some(1), "{left}");
}

#[test]
fn a_stale_entry_is_updated_where_it_stands() {
    let sandbox = sandbox();
    sandbox.write("home/.claude.json", "{\"mcpServers\":{},\"last\":1}");
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    sandbox.user_plugin(
        "anywhere/SYMPOSIUM.toml",
        "name = \"anywhere\"\ncrates = [\"*\"]\n\n[[mcp_servers]]\nname = \"anywhere\"\n\
         type = \"http\"\nurl = \"https://mcp.example.com\"\n",
    );
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("Updated anywhere"), "{}", run.stderr);
    let file = read_json(&sandbox, "home/.claude.json");
    assert_eq!(
        file["mcpServers"]["anywhere"],
        json!({"type": "http", "url": "https://mcp.example.com", "headers": {}})
    );
    let keys: Vec<_> = file.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(keys[..2], ["mcpServers", "last"]);
}

#[test]
fn claude_and_copilot_share_one_entry_in_mcp_json() {
    let sandbox = sandbox();
    let before = outside(&sandbox);
    sandbox
        .run(&[
            "init",
            "--add-agent",
            "claude",
            "--add-agent",
            "copilot",
            "--hook-scope",
            "project",
        ])
        .ok();
    let both = sandbox.read("ws/.mcp.json");
    sandbox.run(&["sync"]).ok();
    for (gone, left) in [("claude", "copilot"), ("copilot", "claude")] {
        sandbox.run(&["init", "--remove-agent", gone]).ok();
        assert_eq!(sandbox.read("ws/.mcp.json"), both, "{left} has it still");
        let run = sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
        sandbox.run(&["init", "--add-agent", gone]).ok();
    }
    sandbox.run(&["init", "--remove-agent", "claude", "--remove-agent", "copilot"]).ok();
    assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
}

#[test]
fn secrets_are_in_the_agents_files_and_nowhere_else() {
    for agent in AGENTS {
        let sandbox = sandbox();
        sandbox.write(
            "home/.symposium/config.toml",
            format!("[logging]\nlevel = \"trace\"\n{}", crate::NO_BUILTIN),
        );
        let add = sandbox.run(&["--json", "init", "--add-agent", agent]).ok();
        let verbose = sandbox.run(&["-v", "sync"]).ok();
        let dry = sandbox.run(&["--json", "sync", "--dry-run"]).ok();
        // A broken file with a secret in the broken line, and an edited entry.
        let mut outputs = vec![add, verbose, dry];
        for (path, node) in outside(&sandbox).0 {
            if let Node::File(bytes, _) = node
                && path.ends_with(".json")
                && String::from_utf8_lossy(&bytes).contains("s3cret")
            {
                let text = String::from_utf8(bytes).expect("UTF-8");
                sandbox.write(&path, text.replace("s3cret\"", "s3cret\" s3cret"));
                outputs.push(sandbox.run(&["-v", "sync"]).code(1));
                outputs.push(sandbox.run(&["--json", "sync"]).code(1));
                sandbox.write(&path, text.replace("s3cret", "s3cret2"));
                outputs.push(sandbox.run(&["-v", "sync"]).ok());
                sandbox.write(&path, text);
            }
        }
        outputs.push(sandbox.run(&["-v", "init", "--remove-agent", agent]).ok());
        for run in outputs {
            assert!(
                !format!("{}{}", run.stdout, run.stderr).contains("s3cret"),
                "{agent}: {run:?}"
            );
        }
        let own = symposium_testlib::Tree::of(&sandbox.home().join(".symposium"));
        for (path, node) in own.without(&["plugins"]).0 {
            if let Node::File(bytes, _) = node {
                assert!(!String::from_utf8_lossy(&bytes).contains("s3cret"), "{agent}: {path}");
            }
        }
    }
}

#[test]
fn two_plugins_with_one_name_do_not_take_turns() {
    let sandbox = sandbox();
    sandbox.user_plugin(
        "zwei/SYMPOSIUM.toml",
        "name = \"zwei\"\ncrates = [\"*\"]\n\n[[mcp_servers]]\nname = \"anywhere\"\ncommand = \"second\"\n",
    );
    let run = sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(
        run.stderr.contains("more than one plugin offers the server `anywhere`"),
        "{}",
        run.stderr
    );
    let before = sandbox.read("home/.claude.json");
    for _ in 0..2 {
        sandbox.run(&["sync"]).ok();
        assert_eq!(sandbox.read("home/.claude.json"), before);
    }
}

#[test]
fn decision_26_a_command_is_found_in_the_plugin_s_folder_and_never_in_the_project() {
    let sandbox = sandbox();
    sandbox.user_plugin("tool/bin/serve.sh", "#!/bin/sh\n");
    sandbox.user_plugin(
        "tool/SYMPOSIUM.toml",
        r#"name = "tool"
crates = ["widget"]

[[installations]]
name = "runner"
script = "bin/serve.sh"
args = ["--installed"]

[[mcp_servers]]
name = "by-path"
command = "./bin/serve.sh"
args = ["a"]

[[mcp_servers]]
name = "by-installation"
command = "runner"
"#,
    );
    sandbox.write("ws/bin/serve.sh", "#!/bin/sh\necho from the checkout\n");
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let servers = local_servers(&sandbox);
    let script = sandbox.home().join(".symposium/plugins/tool/bin/serve.sh");
    assert_eq!(servers["by-path"]["command"], json!(script));
    assert_eq!(servers["by-path"]["args"], json!(["a"]));
    let args = servers["by-installation"]["args"].as_array().expect("arguments").clone();
    assert!(args.contains(&json!(script)), "{args:?}");
    assert!(args.contains(&json!("--installed")), "{args:?}");
}

/// A Claude event in the workspace.
fn event(sandbox: &Sandbox) -> symposium_testlib::Run {
    let payload = json!({
        "session_id": "s", "cwd": sandbox.ws(), "hook_event_name": "SessionStart",
        "source": "startup", "transcript_path": "/x",
    });
    sandbox.feed(&["hook", "claude", "session-start"], payload.to_string().as_bytes()).ok()
}

#[test]
fn a_hook_registers_servers_too_when_the_dependencies_changed() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert_eq!(local_servers(&sandbox), Value::Null);
    sandbox.package(&[("widget", "1.2.3")]);
    event(&sandbox);
    assert_eq!(local_servers(&sandbox)["widget-docs"]["command"], "npx");
    sandbox.package(&[]);
    event(&sandbox);
    assert_eq!(local_servers(&sandbox), Value::Null);
}

#[test]
fn a_hook_runs_no_git_and_leaves_files_that_may_be_tracked() {
    let mut sandbox = sandbox();
    sandbox.package(&[]);
    sandbox
        .run(&["init", "--add-agent", "claude", "--add-agent", "gemini", "--add-agent", "kiro"])
        .ok();
    sandbox.write("ws/.gemini/settings.json", "{\n  \"mine\": 1\n}\n");
    sandbox.write("bin/git", "#!/bin/sh\ntouch \"$HOME/git-ran\"\nexit 1\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let git = sandbox.dir().join("bin/git");
        std::fs::set_permissions(git, std::fs::Permissions::from_mode(0o755)).expect("sets it");
    }
    sandbox.set("PATH", sandbox.dir().join("bin"));
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.package(&[("widget", "1.2.3")]);
    event(&sandbox);
    assert!(!sandbox.has("home/git-ran"));
    assert_eq!(sandbox.read("ws/.gemini/settings.json"), "{\n  \"mine\": 1\n}\n");
    // A file that is not there can't be tracked by anybody who has it.
    assert!(sandbox.read("ws/.kiro/settings/mcp.json").contains("widget-docs"));
    // What we made ourselves is brought up to date.
    let manifest = sandbox.read("home/.symposium/plugins/widget/SYMPOSIUM.toml");
    sandbox.user_plugin("widget/SYMPOSIUM.toml", &manifest.replace("widget-mcp", "newer-mcp"));
    event(&sandbox);
    assert!(sandbox.read("ws/.kiro/settings/mcp.json").contains("newer-mcp"));
}

#[test]
fn a_server_whose_program_is_not_there_yet_stays_as_it_is() {
    let sandbox = sandbox();
    let manifest = |file: &str| {
        format!(
            "name = \"tool\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"runner\"\n\
             script = \"{file}\"\n\n[[mcp_servers]]\nname = \"tool\"\ncommand = \"runner\"\n"
        )
    };
    sandbox.user_plugin("tool/serve.sh", "");
    sandbox.user_plugin("tool/SYMPOSIUM.toml", &manifest("serve.sh"));
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let before = local_servers(&sandbox);
    assert!(before["tool"].is_object(), "{before}");
    std::fs::remove_file(sandbox.home().join(".symposium/plugins/tool/serve.sh")).expect("removes");
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "1.0.0")]);
    event(&sandbox);
    assert_eq!(local_servers(&sandbox), before);
    sandbox.run(&["sync"]);
    assert_eq!(local_servers(&sandbox), before);
    // But not for an agent that is gone.
    sandbox.run(&["init", "--remove-agent", "claude"]);
    assert!(!sandbox.has("home/.claude.json"));
}

#[test]
fn a_lost_or_damaged_ledger_takes_nothing_of_the_user_s() {
    for damaged in [false, true] {
        let sandbox = sandbox();
        sandbox.write("home/.claude.json", "{\"mcpServers\":{\"mine\":{\"command\":\"m\"}}}");
        sandbox.run(&["init", "--add-agent", "claude"]).ok();
        let ledgers = sandbox.home().join(".symposium/ledgers");
        if damaged {
            for entry in std::fs::read_dir(&ledgers).expect("lists") {
                std::fs::write(entry.expect("reads").path(), "{ damaged").expect("writes");
            }
        } else {
            std::fs::remove_dir_all(&ledgers).expect("removes");
        }
        let run = sandbox.run(&["sync"]).ok();
        assert_eq!(run.stderr.contains("damaged"), damaged, "{}", run.stderr);
        let run = sandbox.run(&["sync"]).ok();
        assert!(!run.stderr.contains("damaged"), "told once, then moved aside: {}", run.stderr);
        if damaged {
            assert!(ledgers.join("home.json.bad").exists());
        }
        sandbox.run(&["uninstall"]).ok();
        let left = read_json(&sandbox, "home/.claude.json");
        assert_eq!(left["mcpServers"]["mine"], json!({"command": "m"}));
        let settings = sandbox.has("home/.claude/settings.json");
        assert!(!settings || !sandbox.read("home/.claude/settings.json").contains("cargo-agents"));
    }
}
