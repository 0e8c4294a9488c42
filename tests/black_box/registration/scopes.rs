//! One entry at one scope; project files and git.

use symposium_testlib::Sandbox;

use super::{AGENTS, outside, sandbox};

/// How often our command for `agent` stands in all files of a tree.
fn count(sandbox: &Sandbox, folder: &str, agent: &str) -> usize {
    let tree = outside(sandbox);
    let needle = format!("cargo-agents hook {agent} pre-tool-use");
    // OpenCode's plugin puts its command together.
    let texts =
        tree.0.iter().filter(|(path, _)| path.starts_with(folder)).filter_map(|(path, node)| {
            match node {
                symposium_testlib::Node::File(bytes, _) => {
                    Some((path.as_str(), String::from_utf8_lossy(bytes).into_owned()))
                }
                _ => None,
            }
        });
    texts
        .map(
            |(path, text)| {
                if path.ends_with("plugins/symposium.js") {
                    1
                } else {
                    text.matches(&needle).count()
                }
            },
        )
        .sum()
}

/// How many a scope has where an agent is registered; Copilot's are for two shells.
fn expected(agent: &str) -> usize {
    if agent == "copilot" { 2 } else { 1 }
}

#[test]
fn f43_case_14_switching_the_scope_takes_ours_out_of_the_other() {
    for agent in AGENTS {
        let sandbox = sandbox();
        let before = outside(&sandbox);
        sandbox.run(&["init", "--add-agent", agent, "--hook-scope", "global"]).ok();
        assert_eq!(count(&sandbox, "home", agent), expected(agent), "{agent}");
        assert_eq!(count(&sandbox, "ws", agent), 0, "{agent}");
        sandbox.run(&["init", "--hook-scope", "project"]).ok();
        assert_eq!(count(&sandbox, "home", agent), 0, "{agent}");
        assert_eq!(count(&sandbox, "ws", agent), expected(agent), "{agent}");
        sandbox.run(&["init", "--hook-scope", "global"]).ok();
        assert_eq!(count(&sandbox, "home", agent), expected(agent), "{agent}");
        assert_eq!(count(&sandbox, "ws", agent), 0, "{agent}");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{agent}");
        sandbox.run(&["uninstall"]).ok();
        assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent}");
    }
}

#[test]
fn case_14_hooks_that_somebody_committed_are_told_and_left() {
    for (agent, file) in [
        ("claude", "ws/.claude/settings.json"),
        ("copilot", "ws/.github/hooks/symposium.json"),
        ("opencode", "ws/.opencode/plugins/symposium.js"),
    ] {
        let sandbox = sandbox();
        // The teammate's Symposium.
        sandbox.run(&["init", "--add-agent", agent, "--hook-scope", "project"]).ok();
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-qm", "share"]);
        let committed = sandbox.read(file);
        std::fs::remove_dir_all(sandbox.home().join(".symposium/ledgers")).expect("is there");
        sandbox.write(
            "home/.symposium/config.toml",
            format!("[[agent]]\nname = \"{agent}\"\n{}", crate::NO_BUILTIN),
        );
        let run = sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("registered twice"), "{agent}: {}", run.stderr);
        assert!(run.stderr.contains("--hook-scope project"), "{}", run.stderr);
        assert_eq!(sandbox.read(file), committed);
        // Choosing the scope does not change what git tracks, either.
        let run = sandbox.run(&["init", "--hook-scope", "global"]).ok();
        assert!(run.stderr.contains("git tracks this file"), "{agent}: {}", run.stderr);
        assert_eq!(sandbox.read(file), committed);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn case_22_project_scope_touches_nothing_at_home() {
    for agent in AGENTS {
        let sandbox = sandbox();
        let home = |sandbox: &Sandbox| {
            symposium_testlib::Tree::of(&sandbox.home()).without(&[".symposium", ".cargo"])
        };
        sandbox.write("home/.claude/settings.json", "{ broken");
        sandbox.write("home/.gemini/settings.json", "{ broken");
        let before = home(&sandbox);
        sandbox.run(&["init", "--add-agent", agent, "--hook-scope", "project"]).ok();
        sandbox.run(&["sync"]).ok();
        assert_eq!(home(&sandbox), before, "{agent}");
        sandbox.run(&["init", "--remove-agent", agent]).ok();
        assert_eq!(home(&sandbox), before, "{agent}");
    }
}

#[cfg(unix)]
#[test]
fn case_22_project_scope_works_with_a_home_that_can_not_be_written() {
    let mut sandbox = sandbox();
    sandbox.write(
        "home/.symposium/config.toml",
        format!("hook-scope = \"project\"\n[[agent]]\nname = \"claude\"\n{}", crate::NO_BUILTIN),
    );
    // Root writes anywhere, so what must be written has a file in its way.
    let config = sandbox.dir().join("config");
    std::fs::create_dir_all(&config).expect("creates");
    std::fs::copy(sandbox.home().join(".symposium/config.toml"), config.join("config.toml"))
        .expect("copies");
    for folder in ["ledgers", "locks", "snapshots", "cache"] {
        std::fs::write(config.join(folder), "").expect("writes");
    }
    sandbox.set("SYMPOSIUM_HOME", &config);
    let run = sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("ws/.claude/settings.json"), "{}", run.stderr);
}

#[test]
fn global_scope_leaves_tracked_files_alone_and_names_the_remedy() {
    for (agent, file, text) in [
        ("gemini", "ws/.gemini/settings.json", "{\n  \"ui\": {}\n}\n"),
        ("codex", "ws/.codex/config.toml", "model = \"x\"\n"),
        ("opencode", "ws/opencode.json", "{}\n"),
        ("copilot", "ws/.mcp.json", "{\"mcpServers\":{}}\n"),
        ("kiro", "ws/.kiro/settings/mcp.json", "{}\n"),
    ] {
        let sandbox = sandbox();
        sandbox.write(file, text);
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-qm", "settings"]);
        let run = sandbox.run(&["init", "--add-agent", agent]).ok();
        assert!(run.stderr.contains("git tracks this file"), "{agent}: {}", run.stderr);
        assert!(run.stderr.contains("--hook-scope project"), "{agent}: {}", run.stderr);
        assert_eq!(sandbox.read(file), text);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{agent}");
        // Shared on purpose, it is edited.
        sandbox.run(&["init", "--hook-scope", "project"]).ok();
        assert!(sandbox.read(file).contains("widget"), "{agent}");
    }
}

#[test]
fn files_that_become_shared_are_hidden_from_git_no_more() {
    let sandbox = sandbox();
    let exclude = sandbox.read("ws/.git/info/exclude");
    sandbox.run(&["init", "--add-agent", "gemini"]).ok();
    assert!(sandbox.read("ws/.git/info/exclude").ends_with("/.gemini/settings.json\n"));
    sandbox.run(&["init", "--hook-scope", "project"]).ok();
    assert_eq!(sandbox.read("ws/.git/info/exclude"), exclude);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? .gemini/\n");
    sandbox.run(&["init", "--hook-scope", "global"]).ok();
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_linked_checkout_keeps_our_files_out_of_git_too() {
    let sandbox = sandbox();
    let exclude = sandbox.read("ws/.git/info/exclude");
    sandbox.git(&["worktree", "add", "-q", "../linked", "-b", "other"]);
    sandbox.run_in("linked", &["init", "--add-agent", "gemini"]).ok();
    assert!(sandbox.has("linked/.gemini/settings.json"));
    assert_eq!(sandbox.git_in("linked", &["status", "--porcelain"]), "");
    sandbox.run_in("linked", &["init", "--remove-agent", "gemini"]).ok();
    assert!(!sandbox.has("linked/.gemini"));
    assert_eq!(sandbox.read("ws/.git/info/exclude"), exclude);
}

#[test]
fn two_workspaces_of_one_checkout_share_a_server_until_neither_needs_it() {
    let sandbox = sandbox();
    let manifest = sandbox.read("ws/Cargo.toml");
    let lock = sandbox.read("ws/Cargo.lock");
    for name in ["one", "two"] {
        sandbox.write(&format!("ws/{name}/Cargo.toml"), format!("{manifest}\n[workspace]\n"));
        sandbox.write(&format!("ws/{name}/Cargo.lock"), &lock);
        sandbox.write(&format!("ws/{name}/src/lib.rs"), "");
    }
    sandbox.run_in("ws/one", &["init", "--add-agent", "claude"]).ok();
    sandbox.run_in("ws/two", &["sync"]).ok();
    let key = sandbox.at("ws");
    let servers = |sandbox: &Sandbox| {
        let file: serde_json::Value =
            serde_json::from_str(&sandbox.read("home/.claude.json")).expect("parses");
        file["projects"][&key]["mcpServers"]["widget-docs"].clone()
    };
    assert_eq!(servers(&sandbox)["command"], "npx");
    let without = |name: &str| {
        sandbox.write(
            &format!("ws/{name}/Cargo.toml"),
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[workspace]\n",
        );
        sandbox.run_in(&format!("ws/{name}"), &["sync"]).ok();
    };
    without("one");
    assert_eq!(servers(&sandbox)["command"], "npx", "the other one needs it");
    without("two");
    assert_eq!(servers(&sandbox), serde_json::Value::Null);
}

#[test]
fn what_another_terminal_s_variables_registered_is_not_taken_back_by_this_one() {
    let mut sandbox = sandbox();
    let before = outside(&sandbox);
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let first = sandbox.read("home/.claude/settings.json");
    sandbox.set("CLAUDE_CONFIG_DIR", sandbox.dir().join("home/elsewhere"));
    sandbox.run(&["sync"]).ok();
    assert!(
        sandbox.has("home/elsewhere/settings.json") && sandbox.has("home/elsewhere/.claude.json")
    );
    assert_eq!(sandbox.read("home/.claude/settings.json"), first);
    sandbox.set("CLAUDE_CONFIG_DIR", "");
    let run = sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("home/elsewhere/settings.json"), "{}", run.stderr);
    // Leaving takes all of it, wherever it is.
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
}
