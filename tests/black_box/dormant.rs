//! Plugins that only the user can wake: how far their servers reach, and why what they brought goes.

use symposium_testlib::Sandbox;

use crate::mcp_everywhere::place;
use crate::{skill, with_agents};

const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];
const SERVER: &str = "[[mcp_servers]]\nname = \"sleeper-server\"\ncommand = \"npx\"\n";

/// Two workspaces, `ws` and `other`, and the plugin `sleeper` with a server.
fn with_sleeper(agent: &str) -> Sandbox {
    let sandbox = with_agents(&[agent]);
    sandbox.write("other/Cargo.toml", "[package]\nname = \"other\"\nversion = \"1.0.0\"\n");
    sandbox.write("other/src/lib.rs", "");
    let manifest = format!("name = \"sleeper\"\ncrates = []\n{SERVER}");
    sandbox.user_plugin("sleeper/SYMPOSIUM.toml", &manifest);
    sandbox
}

/// Files that name the server, below `folder`.
fn holders(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let root = sandbox.home().parent().expect("a folder").join(folder);
    let entries = walkdir::WalkDir::new(&root).into_iter().map(|entry| entry.expect("reads"));
    let files = entries.filter(|entry| entry.file_type().is_file());
    let ours =
        |path: &std::path::Path| path.components().any(|part| part.as_os_str() == ".symposium");
    files
        .filter(|entry| !ours(entry.path()))
        .filter(|entry| {
            let bytes = std::fs::read(entry.path()).expect("reads");
            String::from_utf8_lossy(&bytes).contains("sleeper-server")
        })
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// Whether the agent's own file in the home folder, which counts everywhere, has the server for all.
fn is_everywhere(sandbox: &Sandbox, agent: &str) -> bool {
    let path = place(agent);
    if !sandbox.has(path) {
        return false;
    }
    let text = sandbox.read(path);
    if agent != "claude" {
        return text.contains("sleeper-server");
    }
    // Claude keeps servers of one project in the same file.
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["mcpServers"].get("sleeper-server").is_some()
}

#[test]
fn a_server_that_is_woken_for_one_workspace_is_in_no_other_and_goes_with_the_reason() {
    for agent in AGENTS {
        let sandbox = with_sleeper(agent);
        sandbox.run(&["use", "sleeper"]).ok();
        sandbox.run_in("other", &["sync"]).ok();
        let there = [holders(&sandbox, "ws"), holders(&sandbox, "home")].concat();
        assert!(!there.is_empty(), "{agent}");
        assert_eq!(holders(&sandbox, "other"), [""; 0], "{agent}");
        assert!(!is_everywhere(&sandbox, agent), "{agent}: {there:?}");
        let shown = sandbox.run_in("other", &["status"]).ok().stdout;
        assert!(!shown.contains("server sleeper-server"), "{agent}: {shown}");
        // Nobody asks for it any more.
        let config = sandbox.read("home/.symposium/config.toml");
        sandbox.write("home/.symposium/config.toml", config.replace("\"sleeper\"", ""));
        let run = sandbox.run(&["sync"]).ok();
        let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let why = "it names no crate that it could be for: `cargo agents use sleeper` takes it";
        assert!(told.contains(why), "{agent}: {told}");
        assert_eq!([holders(&sandbox, "ws"), holders(&sandbox, "home")].concat(), [""; 0]);
    }
}

#[test]
fn a_server_that_is_woken_everywhere_comes_to_each_workspace_and_a_no_takes_it_back() {
    for agent in AGENTS {
        let sandbox = with_sleeper(agent);
        sandbox.run(&["use", "sleeper", "--global"]).ok();
        sandbox.run_in("other", &["sync"]).ok();
        for folder in ["ws", "other"] {
            let shown = sandbox.run_in(folder, &["status"]).ok().stdout;
            assert!(shown.contains("server sleeper-server"), "{agent}: {shown}");
        }
        sandbox.run(&["use", "sleeper", "--remove", "--global"]).ok();
        let run = sandbox.run_in("other", &["sync"]).ok();
        assert!(run.stderr.contains("`[plugins] disable`"), "{agent}: {}", run.stderr);
        let left = ["ws", "other", "home"].map(|folder| holders(&sandbox, folder)).concat();
        assert_eq!(left, [""; 0], "{agent}");
    }
}

#[test]
fn what_a_woken_plugin_brought_goes_for_its_crate_and_not_for_want_of_a_word() {
    let sandbox = with_agents(&["claude"]);
    let manifest = "name = \"sleeper\"\nactivation = \"off\"\ncrates = [\"widget\"]\n\
                    [[skills]]\nsource.path = \"skills\"\n";
    sandbox.user_plugin("sleeper/SYMPOSIUM.toml", manifest);
    sandbox.user_plugin("sleeper/skills/basics/SKILL.md", &skill("basics", "b"));
    sandbox.run(&["use", "sleeper"]).ok();
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
    sandbox.package(&[]);
    let run = sandbox.run(&["sync"]).ok();
    let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("Removed basics sleeper (user-plugins) → .claude: widget is not a"),
        "{told}"
    );
    assert!(!sandbox.has("ws/.claude/skills/basics/SKILL.md"));
}
