//! Events register servers, too.

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use super::local_servers;
use crate::registration::sandbox;

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
    sandbox.program("bin/git", "#!/bin/sh\ntouch \"$HOME/git-ran\"\nexit 1\n");
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
