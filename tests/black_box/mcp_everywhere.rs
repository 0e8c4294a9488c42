//! Servers of every workspace, registered by an `init` that runs in none.

use symposium_testlib::readers::GOOSE_CONFIG;

use crate::registration::{AGENTS, outside, sandbox};

/// Where an agent's servers of every workspace are.
pub(crate) fn place(agent: &str) -> &'static str {
    match agent {
        "claude" => "home/.claude.json",
        "codex" => "home/.codex/config.toml",
        "copilot" => "home/.copilot/mcp-config.json",
        "gemini" => "home/.gemini/settings.json",
        "antigravity" => "home/.gemini/config/mcp_config.json",
        "qwen" => "home/.qwen/settings.json",
        "goose" => GOOSE_CONFIG,
        "kiro" => "home/.kiro/settings/mcp.json",
        "opencode" => "home/.config/opencode/opencode.json",
        _ => panic!("no such agent"),
    }
}

#[test]
fn init_outside_a_workspace_registers_the_servers_of_every_workspace() {
    for agent in AGENTS {
        let sandbox = sandbox();
        sandbox.write("elsewhere/notes.txt", "mine\n");
        let before = outside(&sandbox);
        sandbox.run_in("elsewhere", &["init", "--add-agent", agent]).ok();
        let text = sandbox.read(place(agent));
        assert!(text.contains("anywhere-mcp"), "{agent}: {text}");
        // Those of a workspace are seen in no other.
        let changed = outside(&sandbox).changes_since(&before);
        for path in changed.iter().filter_map(|change| change.split_once(' ')) {
            let node = outside(&sandbox).0.remove(path.1);
            let shown = format!("{node:?}");
            assert!(!shown.contains("widget"), "{agent}: {} {shown}", path.1);
        }
        // A second time nothing is written, and a sync finds what it wants.
        let now = outside(&sandbox);
        sandbox.run_in("elsewhere", &["init", "--add-agent", agent]).ok();
        assert_eq!(outside(&sandbox).changes_since(&now), [""; 0], "{agent}");
        sandbox.run(&["sync"]).ok();
        assert!(sandbox.read(place(agent)).contains("anywhere-mcp"), "{agent}");
        sandbox.run(&["uninstall", "--all-workspaces"]).ok();
        assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent}");
    }
}

#[test]
fn init_outside_a_workspace_takes_them_back_with_their_agent() {
    let sandbox = sandbox();
    sandbox.write("elsewhere/notes.txt", "mine\n");
    let agents = ["init", "--add-agent", "claude", "--add-agent", "gemini"];
    sandbox.run_in("elsewhere", &agents).ok();
    sandbox.run_in("elsewhere", &["init", "--remove-agent", "gemini"]).ok();
    assert!(!sandbox.has("home/.gemini"), "{}", sandbox.read(place("gemini")));
    assert!(sandbox.read(place("claude")).contains("anywhere-mcp"));
}

#[test]
fn with_hooks_in_the_projects_files_nothing_is_entered_at_home() {
    for agent in AGENTS {
        let sandbox = sandbox();
        sandbox.write("elsewhere/notes.txt", "mine\n");
        let before = outside(&sandbox);
        let args = ["init", "--add-agent", agent, "--hook-scope", "project"];
        sandbox.run_in("elsewhere", &args).ok();
        assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent}");
    }
}
