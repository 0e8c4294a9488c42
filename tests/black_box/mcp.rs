//! MCP servers in the agents' files (F283–F298 and the public reports B).

mod by_hooks;
mod formats;
mod scopes;

use serde_json::{Value, json};
use symposium_testlib::{Node, Sandbox};

use crate::registration::{AGENTS, outside, sandbox};

fn read_json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The servers that Claude Code keeps for the workspace alone.
fn local_servers(sandbox: &Sandbox) -> Value {
    let key = sandbox.at("ws");
    read_json(sandbox, "home/.claude.json")["projects"][&key]["mcpServers"].clone()
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
    let script = sandbox.path("home/.symposium/plugins/tool/bin/serve.sh");
    assert_eq!(servers["by-path"]["command"], json!(script));
    assert_eq!(servers["by-path"]["args"], json!(["a"]));
    let args = servers["by-installation"]["args"].as_array().expect("arguments").clone();
    assert!(args.contains(&json!(script)), "{args:?}");
    assert!(args.contains(&json!("--installed")), "{args:?}");
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
