//! Folders and files of a workspace that an agent reads in every workspace: they get nothing that is
//! for one.

use std::os::unix::fs::symlink;

use symposium_testlib::{Sandbox, Tree};

use crate::checkout_links::{FOLDERS, SECRET, event, place};
use crate::hook_kit::*;

#[test]
fn a_workspace_that_is_the_home_folder_gets_nothing_that_is_for_everywhere() {
    in_parallel(&FOLDERS, |(agent, _, skills)| {
        let mut sandbox = place(&[agent], "");
        let ws = sandbox.ws();
        std::fs::rename(sandbox.home().join(".symposium"), ws.join(".symposium")).expect("moves");
        for name in ["HOME", "USERPROFILE"] {
            sandbox.set(name, &ws);
        }
        sandbox.run(&["init", "--add-agent", agent]);
        event(&sandbox, agent);
        let run = sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("this workspace is your home folder"), "{run:?}");
        assert!(!run.stderr.contains("1 server"), "it is entered nowhere: {run:?}");
        let run = sandbox.run(&["sync", "--agent", agent]).ok();
        assert!(run.stderr.contains("this workspace is your home folder"), "{run:?}");
        let doctor = sandbox.run(&["doctor"]).stdout;
        assert!(flat(&doctor).contains("this workspace is your home folder"), "{doctor}");
        let why = "it would be the workspace's own, and the workspace is your home folder";
        assert!(flat(&doctor).contains(why), "{doctor}");
        assert!(!doctor.contains("other agents can use it"), "{doctor}");
        assert!(!sandbox.has(&format!("ws/{skills}/basics")), "{agent}");
        for (path, node) in sandbox.ws_tree().without(&[".symposium"]).0 {
            let symposium_testlib::Node::File(bytes, _) = node else { continue };
            assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{agent}: {path}");
        }
    });
}

/// Without the breaks of lines that a screen has.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_agents_folder_that_is_the_users_own_gets_nothing_that_is_for_one_workspace() {
    in_parallel(&FOLDERS, |(agent, own, skills)| {
        if [".github", ".opencode"].contains(own) {
            return;
        }
        let sandbox = place(&[agent], "");
        // The workspace is the user's dotfiles, and the home folder has links to it.
        for folder in [own, ".agents"] {
            let (home, ws) = (sandbox.home().join(folder), sandbox.ws().join(folder));
            if home.is_symlink() {
                continue;
            }
            if std::fs::rename(&home, &ws).is_err() {
                std::fs::create_dir_all(&ws).expect("creates");
            }
            symlink(&ws, &home).expect("links");
        }
        event(&sandbox, agent);
        let told = format!("`{skills}` of this workspace is your own");
        for arguments in [&["sync"][..], &["sync", "--agent", agent]] {
            let run = sandbox.run(arguments);
            assert!(run.stderr.contains(&told), "{agent}: {run:?}");
        }
        let doctor = sandbox.run(&["doctor"]).stdout;
        assert!(flat(&doctor).contains(&told), "{agent}: {doctor}");
        assert!(!sandbox.has(&format!("ws/{skills}/basics")), "{agent}");
        for (path, node) in Tree::of(&sandbox.ws().join(own)).0 {
            let symposium_testlib::Node::File(bytes, _) = node else { continue };
            assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{agent}: {path}");
        }
    });
}

/// Looks whether the skill stays out of `skills`, which an agent reads everywhere for `why`.
fn assert_gets_no_skills(sandbox: &Sandbox, agent: &str, (skills, why): (&str, &str)) {
    event(sandbox, agent);
    let told = format!("`{skills}` of this workspace is your own {why}");
    for arguments in [&["sync"][..], &["sync", "--agent", agent]] {
        let run = sandbox.run(arguments);
        assert!(flat(&run.stderr).contains(&told), "{agent}: {run:?}");
    }
    let doctor = sandbox.run(&["doctor"]).stdout;
    assert!(flat(&doctor).contains(&told), "{agent}: {doctor}");
    assert!(!sandbox.has(&format!("ws/{skills}/basics")), "{agent} {why}");
}

#[test]
fn a_variable_that_makes_a_projects_skill_folder_the_users_own_keeps_skills_out_of_it() {
    for (agent, skills, (variable, value), why) in [
        ("claude", ".claude/skills", ("CLAUDE_CONFIG_DIR", ".claude"), "Claude Code"),
        // Each agent counts, whichever it is for that they go there.
        ("codex", ".agents/skills", ("CODEX_HOME", ".agents"), "Codex CLI"),
        ("opencode", ".agents/skills", ("CLAUDE_CONFIG_DIR", ".agents"), "Claude Code"),
        ("copilot", ".agents/skills", ("COPILOT_HOME", ".agents"), "GitHub Copilot"),
        ("gemini", ".agents/skills", ("GEMINI_CLI_HOME", ""), "Gemini CLI"),
    ] {
        let mut sandbox = place(&[agent], "");
        sandbox.set(variable, sandbox.ws().join(value));
        sandbox.run(&["init", "--add-agent", agent]);
        let why = format!("folder of skills of {why}, by `{variable}`");
        assert_gets_no_skills(&sandbox, agent, (skills, &why));
    }
}

#[test]
fn a_users_link_to_a_folder_of_another_name_keeps_skills_out_of_it() {
    for (agent, link, leads, skills, why) in [
        ("copilot", ".copilot", ".agents", ".agents/skills", "`~/.copilot/skills` of GitHub"),
        ("claude", ".copilot/skills", ".claude/skills", ".claude/skills", "`~/.copilot/skills`"),
        ("kiro", ".config/opencode", ".kiro", ".kiro/skills", "`~/.config/opencode/skills`"),
        ("claude", ".config/goose/skills", ".claude", ".claude/skills", "`~/.config/goose/"),
    ] {
        let sandbox = place(&[agent], "");
        let (at, target) = (sandbox.home().join(link), sandbox.ws().join(leads));
        std::fs::create_dir_all(&target).expect("creates");
        std::fs::create_dir_all(at.parent().expect("a parent")).expect("creates");
        let _ = std::fs::remove_dir_all(&at);
        symlink(target, at).expect("links");
        assert_gets_no_skills(&sandbox, agent, (skills, why));
    }
}

#[test]
fn a_variable_that_makes_a_projects_file_the_users_own_keeps_gated_servers_out_of_it() {
    for (agent, variable, folder, file) in [
        ("codex", "CODEX_HOME", ".codex", ".codex/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "", ".gemini/settings.json"),
    ] {
        let mut sandbox = place(&[agent], "");
        let own = sandbox.ws().join(folder);
        std::fs::create_dir_all(&own).expect("creates");
        sandbox.set(variable, &own);
        sandbox.run(&["init", "--add-agent", agent]);
        let run = sandbox.run(&["sync"]);
        assert!(run.stderr.contains("is your own file for everywhere"), "{agent}: {run:?}");
        let text = if sandbox.has(&format!("ws/{file}")) {
            sandbox.read(&format!("ws/{file}"))
        } else {
            String::new()
        };
        assert!(!text.contains(SECRET), "{agent}: {text}");
    }
}
