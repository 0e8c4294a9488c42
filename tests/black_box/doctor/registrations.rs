//! Hooks and servers in the agents' files: switched off, twice, or waiting for approval.

use symposium_testlib::Sandbox;

use super::{codes, finding, findings, synced};
use crate::with_agents;

#[test]
fn a_switch_that_turns_hooks_off_is_found_for_each_agent() {
    let sandbox = synced(&["claude", "codex", "gemini", "copilot"]);
    sandbox.write("ws/.claude/settings.local.json", "{\"disableAllHooks\": true}");
    sandbox.write("home/.codex/config.toml", "[features]\nhooks = false\n");
    sandbox.write("ws/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}");
    sandbox.write("home/.copilot/settings.json", "{\"disableAllHooks\": true}");
    let found = codes(&sandbox, &[]);
    for code in
        ["claude", "codex", "gemini", "copilot"].map(|agent| format!("{agent}:hooks-disabled"))
    {
        assert!(found.contains(&code), "{code} in {found:?}");
    }
    assert!(found.contains(&"codex:hooks-untrusted".to_owned()), "{found:?}");
    assert!(found.contains(&"gemini:folder-untrusted".to_owned()), "{found:?}");
}

#[test]
fn hooks_in_both_scopes_are_found_and_the_other_scope_is_cleaned() {
    let sandbox = synced(&["copilot", "opencode"]);
    for (from, to) in [
        ("home/.copilot/hooks/symposium.json", "ws/.github/hooks/symposium.json"),
        ("home/.config/opencode/plugins/symposium.js", "ws/.opencode/plugins/symposium.js"),
    ] {
        sandbox.write(to, sandbox.read(from));
    }
    let found = codes(&sandbox, &[]);
    assert_eq!(found, ["copilot:registered-twice", "opencode:registered-twice"]);
    // A sync warns of them and leaves them, and so says the status.
    let status = sandbox.run(&["status"]).ok();
    assert!(status.stdout.contains("registered twice"), "{}", status.stdout);
    assert!(!status.stdout.contains("Next sync"), "{}", status.stdout);
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("ws/.github/hooks/symposium.json"));
    assert_eq!(codes(&sandbox, &["--fix"]), [""; 0]);
    assert!(!sandbox.has("ws/.github/hooks/symposium.json"));
    assert!(!sandbox.has("ws/.opencode/plugins/symposium.js"));
    assert!(sandbox.has("home/.copilot/hooks/symposium.json"));
}

#[test]
fn two_servers_of_one_name_are_found() {
    let sandbox = synced(&["claude"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n\
         args = []\n",
    );
    sandbox.write("home/.claude.json", "{\"mcpServers\": {\"tools\": {\"type\": \"http\"}}}\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(codes(&sandbox, &[]), ["claude:server-twice"]);
}

fn commit_all(sandbox: &Sandbox) {
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-Af"]);
    sandbox.git(&["commit", "-qm", "all"]);
}

#[test]
fn hooks_that_are_committed_for_the_other_scope_are_found_and_left_alone() {
    let sandbox = synced(&["codex", "claude"]);
    for (from, to) in [
        ("home/.codex/hooks.json", "ws/.codex/hooks.json"),
        ("home/.claude/settings.json", "ws/.claude/settings.json"),
    ] {
        sandbox.write(to, sandbox.read(from));
    }
    commit_all(&sandbox);
    for args in [&[][..], &["--fix"]] {
        let found = findings(&sandbox, args);
        let twice: Vec<_> =
            found.iter().filter(|finding| finding["code"] == "registered-twice").collect();
        assert_eq!(twice.len(), 2, "{found:#?}");
        for finding in twice {
            assert_eq!(finding["fixable"], false, "{finding:#}");
            assert!(finding["location"]["path"].is_string(), "{finding:#}");
            assert!(finding["remedy"].as_str().is_some_and(|text| text.contains("take them out")));
        }
    }
    assert!(sandbox.read("ws/.codex/hooks.json").contains("cargo-agents"));
    let status = sandbox.run(&["status"]).ok();
    assert!(status.stdout.contains("registered twice"), "{}", status.stdout);
}

#[test]
fn our_hooks_in_settings_of_the_user_s_own_are_found() {
    let sandbox = synced(&["claude"]);
    let hooks = sandbox.read("home/.claude/settings.json");
    sandbox.write("ws/.claude/settings.local.json", hooks);
    let twice = finding(&findings(&sandbox, &[]), "registered-twice");
    let path = twice["location"]["path"].as_str().expect("a path").to_owned();
    assert!(path.ends_with("settings.local.json"), "{twice:#}");
    assert_eq!(twice["fixable"], false);
}

#[test]
fn a_server_of_one_name_in_the_project_s_own_file_is_found() {
    let sandbox = synced(&["claude"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n\
         args = []\n",
    );
    sandbox.run(&["sync"]).ok();
    assert_eq!(codes(&sandbox, &[]), [""; 0]);
    sandbox.write("ws/.mcp.json", "{\"mcpServers\": {\"tools\": {\"command\": \"other\"}}}\n");
    let twice = finding(&findings(&sandbox, &[]), "server-twice");
    assert!(twice["location"]["path"].as_str().is_some_and(|path| path.ends_with(".mcp.json")));
}

#[test]
fn servers_that_an_agent_does_not_start_are_found_with_what_to_press() {
    let sandbox = with_agents(&["claude", "codex"]);
    let config = sandbox.read("home/.symposium/config.toml");
    sandbox.write("home/.symposium/config.toml", format!("hook-scope = \"project\"\n{config}"));
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n\
         args = []\n",
    );
    sandbox.run(&["sync"]).ok();
    let waits = finding(&findings(&sandbox, &[]), "server-unapproved");
    assert_eq!(waits["agent"], "claude");
    assert!(waits["remedy"].as_str().is_some_and(|text| text.contains("approve it")), "{waits:#}");
    let status = sandbox.run(&["status"]).ok();
    assert!(status.stdout.contains("servers 1 !"), "{}", status.stdout);
    assert!(status.stdout.contains("waits for you to approve"), "{}", status.stdout);
    let local = "{\"enabledMcpjsonServers\": [\"tools\"]}";
    sandbox.write("ws/.claude/settings.local.json", local);
    let codex = sandbox.read("ws/.codex/config.toml");
    let off = codex.replace("[mcp_servers.tools]\n", "[mcp_servers.tools]\nenabled = false\n");
    assert_ne!(off, codex);
    sandbox.write("ws/.codex/config.toml", off);
    let found = findings(&sandbox, &[]);
    assert!(!found.iter().any(|finding| finding["code"] == "server-unapproved"), "{found:#?}");
    assert_eq!(finding(&found, "server-disabled")["agent"], "codex");
}

#[test]
fn fewer_agents_are_advised_only_where_one_folder_is_left_then() {
    let remedy = |sandbox: &Sandbox| {
        let found = findings(sandbox, &[]);
        let found = found.iter().find(|it| it["code"] == "skills-twice").expect("a finding");
        assert_eq!(found["agent"], "copilot");
        found["remedy"].as_str().expect("a remedy").to_owned()
    };
    for agent in ["claude", "codex"] {
        let sandbox = synced(&["claude", "codex", "copilot"]);
        let command = format!("init --remove-agent {agent}");
        let told = remedy(&sandbox);
        assert!(told.contains(&format!("without {agent} (`cargo agents {command}`)")), "{told}");
        assert!(!told.contains("--remove-agent copilot"), "{told}");
        sandbox.run(&command.split(' ').collect::<Vec<_>>()).ok();
        let skill = |folder: &str| sandbox.has(&format!("ws/{folder}/skills/widget-basics"));
        assert_ne!(skill(".claude"), skill(".agents"), "one folder");
    }
    let sandbox = synced(&["claude", "codex", "copilot", "kiro"]);
    assert_eq!(remedy(&sandbox), "nothing to do: the copies are the same");
}
