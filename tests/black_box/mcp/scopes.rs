//! Which servers are for everywhere, and which for one workspace alone.

use serde_json::Value;
use symposium_testlib::Node;

use super::{local_servers, read_json};
use crate::registration::{AGENTS, outside, sandbox};

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
                assert_eq!(keys, [&sandbox.at("ws")]);
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
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("plain/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    sandbox.run_in("plain", &["sync"]).ok();
    let file = read_json(&sandbox, "home/.claude.json");
    let servers = &file["projects"][sandbox.at("plain")]["mcpServers"];
    assert_eq!(servers["widget-docs"]["command"], "npx");
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
