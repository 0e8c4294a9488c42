//! What a clone's own links can make us write, remove and read: nothing outside of it.
//!
//! Each test lays links as whoever wrote a checkout could have committed them, and looks at all that
//! lies outside of the checkout, and at what git tracks in it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use symposium_testlib::{Run, Sandbox, Tree};

use crate::hook_kit::*;
use crate::{plugin_with_skill, skill};

pub(crate) const SECRET: &str = "s3cr3t-of-the-user";

/// The agents, each with the folder of its own in a project and the one it has skills in.
pub(crate) const FOLDERS: [(&str, &str, &str); 7] = [
    ("claude", ".claude", ".claude/skills"),
    ("codex", ".codex", ".agents/skills"),
    ("copilot", ".github", ".agents/skills"),
    ("gemini", ".gemini", ".agents/skills"),
    ("goose", ".agents", ".agents/skills"),
    ("kiro", ".kiro", ".kiro/skills"),
    ("opencode", ".opencode", ".agents/skills"),
];

/// A workspace that uses `widget`, for which a plugin has a skill, and a server with a secret.
pub(crate) fn place(agents: &[&str], more: &str) -> Sandbox {
    let sandbox = with_agents(agents);
    configure(&sandbox, agents, more);
    plugin_with_skill(&sandbox, "p", "widget", "basics");
    let manifest = sandbox.read("home/.symposium/plugins/p/SYMPOSIUM.toml");
    let server = format!(
        "\n[[mcp_servers]]\nname = \"gated\"\ncommand = \"g\"\nenv = [{{ name = \"TOKEN\", value = \
         \"{SECRET}\" }}]\n"
    );
    sandbox.user_plugin("p/SYMPOSIUM.toml", &(manifest + &server));
    sandbox
}

/// Lays a link in the workspace, and makes the folder for it.
fn link(sandbox: &Sandbox, leads: &str, name: &str) {
    let path = sandbox.ws().join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
    symlink(leads, path).expect("links");
}

/// All but the workspace and our own files.
fn outside(sandbox: &Sandbox) -> Tree {
    Tree::of(&sandbox.dir()).without(&["ws", "home/.symposium", "home/.cache", "home/.cargo"])
}

/// Makes the workspace a checkout with everything in it committed.
fn commit(sandbox: &Sandbox) {
    sandbox.git(&["init", "-q", "."]);
    sandbox.git(&["add", "-Af"]);
    sandbox.git(&["commit", "-qm", "x"]);
}

pub(crate) fn event(sandbox: &Sandbox, agent: &str) {
    send(sandbox, agent, Event::SessionStart, &Told::in_ws(sandbox));
}

/// All that a user or an agent may do in a fresh clone; hands back what the sync said.
fn everything(sandbox: &Sandbox, agent: &str) -> Run {
    event(sandbox, agent);
    sandbox.run(&["sync", "--check"]);
    let run = sandbox.run(&["sync"]);
    for command in [
        &["sync", "--agent", agent, "--force"][..],
        &["status"],
        &["doctor"],
        &["init", "--add-agent", agent, "--hook-scope", "project"],
        &["sync"],
        &["init", "--add-agent", agent, "--hook-scope", "global"],
        &["uninstall"],
    ] {
        sandbox.run(command);
    }
    run
}

#[test]
fn a_skill_folder_that_leads_out_gets_no_skill_by_a_command_or_an_event_and_is_named() {
    in_parallel(&FOLDERS, |(agent, _, skills)| {
        let leads_to =
            ["../../home/.config", "/", "../../other/.claude/skills", "../docs", "skills"];
        for leads in leads_to {
            let sandbox = place(&[agent], "");
            std::fs::create_dir_all(sandbox.home().join(".config")).expect("creates");
            sandbox.write("ws/docs/basics/SKILL.md", "tracked\n");
            sandbox.write("other/.claude/skills/theirs/SKILL.md", skill("theirs", "T."));
            sandbox.write("other/.claude/skills/theirs/.symposium", "");
            link(&sandbox, leads, skills);
            commit(&sandbox);
            // Global hooks of the agent come and go with the agent.
            sandbox.run(&["init", "--add-agent", agent]);
            let before = outside(&sandbox);
            event(&sandbox, agent);
            for command in [&["sync"][..], &["sync", "--force"], &["sync", "--agent", agent]] {
                let run = sandbox.run(command).code(1);
                assert!(
                    run.stderr.contains(&format!("`{skills}` is a link to `{leads}`")),
                    "{run:?}"
                );
                assert!(
                    run.stderr.contains(&format!("rm {}", sandbox.ws().join(skills).display()))
                );
            }
            assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent} {leads}");
            assert!(!Path::new("/basics").exists());
            sandbox.run(&["uninstall"]);
            assert!(sandbox.has("other/.claude/skills/theirs/.symposium"), "{agent}");
            assert_eq!(sandbox.git(&["status", "--short", "docs"]), "", "{agent} {leads}");
            assert!(sandbox.ws().join(skills).is_symlink());
        }
    });
}

#[test]
fn a_clones_own_skill_is_not_copied_through_a_link() {
    for (dir, leads) in [(".claude/skills", "../../home/.config"), (".claude", "../home/.config")] {
        let sandbox = place(&["claude"], "");
        sandbox.write("ws/.agents/skills/autostart/SKILL.md", skill("autostart", "x"));
        sandbox.write("ws/.agents/skills/autostart/evil.desktop", "[Desktop Entry]\n");
        sandbox.write("home/.config/mine", "");
        link(&sandbox, leads, dir);
        let run = sandbox.run(&["sync", "--agent", "claude"]).code(1);
        assert!(run.stderr.contains(&format!("`{dir}` is a link to `{leads}`")), "{run:?}");
        event(&sandbox, "claude");
        let config = Tree::of(&sandbox.home().join(".config"));
        assert_eq!(config.files(), ["mine"], "{dir}");
    }
}

#[test]
fn skills_elsewhere_are_not_read_through_a_link() {
    let sandbox = place(&["claude"], "");
    sandbox.write("home/private/diary/SKILL.md", skill("diary", "Dear diary."));
    link(&sandbox, "../../home/private", ".agents/skills");
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("`.agents/skills` is a link to `../../home/private`"), "{run:?}");
    assert!(sandbox.has("ws/.claude/skills/basics") && !sandbox.has("ws/.claude/skills/diary"));
}

#[test]
fn an_agent_folder_that_leads_elsewhere_gets_no_server_and_no_hook() {
    in_parallel(&FOLDERS, |(agent, folder, _)| {
        for leads in ["../home/theirs", "docs", "../home", ".", folder] {
            let sandbox = place(&[agent], "");
            sandbox.write("home/theirs/mcp.json", "{}");
            for file in ["settings.json", "mcp.json", "settings/mcp.json"] {
                sandbox.write(&format!("ws/docs/{file}"), "{}");
            }
            link(&sandbox, leads, folder);
            commit(&sandbox);
            sandbox.run(&["init", "--add-agent", agent]);
            let before = outside(&sandbox);
            event(&sandbox, agent);
            sandbox.run(&["sync"]);
            sandbox.run(&["sync", "--agent", agent]);
            assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent} {leads}");
            assert_eq!(sandbox.git(&["status", "--short"]), "", "{agent} {leads}");
            let docs = Tree::of(&sandbox.ws().join("docs"));
            assert_eq!(docs.files(), ["mcp.json", "settings.json", "settings/mcp.json"], "{agent}");
            everything(&sandbox, agent);
            assert_eq!(sandbox.git(&["status", "--short"]), "", "{agent} {leads}");
            let files = Tree::of(&sandbox.home().join("theirs"));
            assert_eq!(files.files(), ["mcp.json"], "{agent} {leads}");
        }
    });
}

#[test]
fn a_file_that_is_a_link_is_not_written_through_live_or_dangling() {
    let files = [
        ("codex", ".codex/config.toml"),
        ("copilot", ".github/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("goose", ".agents/plugins/symposium-servers/.mcp.json"),
        ("kiro", ".kiro/settings/mcp.json"),
        ("opencode", "opencode.json"),
    ];
    in_parallel(&files, |(agent, file)| {
        for live in [true, false] {
            let sandbox = place(&[agent], "");
            let target = sandbox.home().join("theirs");
            if live {
                let empty = if file.ends_with("toml") { "" } else { "{}" };
                sandbox.write("home/theirs", empty);
            }
            link(&sandbox, &target.display().to_string(), file);
            sandbox.run(&["init", "--add-agent", agent]);
            let before = outside(&sandbox);
            event(&sandbox, agent);
            let run = sandbox.run(&["sync"]).code(1);
            let named = format!("`{file}` is a link to `");
            assert!(run.stderr.contains(&named), "{agent}: {run:?}");
            assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent} {live}");
            assert!(!run.stderr.contains(SECRET));
        }
    });
}

#[test]
fn hooks_with_project_scope_go_through_no_link() {
    in_parallel(&FOLDERS, |(agent, folder, _)| {
        let sandbox = place(&[], "hook-scope = \"project\"");
        sandbox.write("home/theirs/mine", "");
        link(&sandbox, "../home/theirs", folder);
        let run = sandbox.run(&["init", "--add-agent", agent, "--hook-scope", "project"]);
        assert!(
            run.stderr.contains(&format!("`{folder}` is a link to `../home/theirs`")),
            "{run:?}"
        );
        event(&sandbox, agent);
        assert_eq!(Tree::of(&sandbox.home().join("theirs")).files(), ["mine"], "{agent}");
    });
}

#[test]
fn a_link_from_one_skill_folder_to_anothers_is_one_folder_counted_once() {
    let agents = ["claude", "codex", "opencode"];
    for leads in ["../.agents/skills", "../.agents/skills/"] {
        let sandbox = place(&agents, "");
        link(&sandbox, leads, ".claude/skills");
        commit(&sandbox);
        let before = sandbox.ws_tree().without(&[".git"]);
        // The neutral folder is not there yet.
        let run = sandbox.run(&["sync"]).ok();
        assert_eq!(run.stderr.matches("basics").count(), 1, "{run:?}");
        assert!(sandbox.has("ws/.agents/skills/basics/SKILL.md"));
        assert!(sandbox.ws().join(".claude/skills").is_symlink());
        let synced = sandbox.ws_tree();
        sandbox.run(&["sync"]).ok();
        sandbox.run(&["sync", "--check"]).ok();
        sandbox.run(&["sync", "--agent", "claude"]).ok();
        event(&sandbox, "claude");
        assert_eq!(sandbox.ws_tree().without(&[".git"]), synced.without(&[".git"]), "{leads}");
        sandbox.run(&["uninstall"]).ok();
        assert_eq!(sandbox.ws_tree().without(&[".git"]).changes_since(&before), [""; 0]);
    }
}

#[test]
fn a_link_to_the_skills_of_a_checkout_within_or_beside_this_one_is_another_checkouts() {
    for leads in ["../../mine/.claude/skills", "../nested/.claude/skills"] {
        let sandbox = place(&["claude"], "");
        let other = if leads.contains("nested") { "ws/nested" } else { "mine" };
        sandbox.write(&format!("{other}/src/lib.rs"), "");
        for file in ["Cargo.toml", "Cargo.lock"] {
            sandbox.write(&format!("{other}/{file}"), sandbox.read(&format!("ws/{file}")));
        }
        sandbox.git_in(other, &["init", "-q", "."]);
        sandbox.run_in(other, &["sync", "--agent", "claude"]).ok();
        assert!(sandbox.has(&format!("{other}/.claude/skills/basics/SKILL.md")));
        sandbox.git(&["init", "-q", "."]);
        sandbox.package(&[]);
        link(&sandbox, leads, ".claude/skills");
        everything(&sandbox, "claude");
        assert!(sandbox.has(&format!("{other}/.claude/skills/basics/SKILL.md")), "{leads}");
    }
}

#[test]
fn a_folder_that_became_a_link_after_we_wrote_is_not_followed() {
    in_parallel(&FOLDERS, |(agent, folder, skills)| {
        let sandbox = place(&[agent], "");
        commit(&sandbox);
        sandbox.run(&["sync"]).ok();
        assert!(sandbox.has(&format!("ws/{skills}/basics")), "{agent}");
        // What is there now lies elsewhere, and folders of the names that we remember beside it.
        let moved = sandbox.home().join("theirs");
        std::fs::create_dir_all(sandbox.ws().join(folder)).expect("creates");
        std::fs::rename(sandbox.ws().join(folder), &moved).expect("moves");
        std::fs::create_dir_all(moved.join("skills")).expect("creates");
        link(&sandbox, "../home/theirs", folder);
        let before = Tree::of(&moved);
        sandbox.package(&[]);
        event(&sandbox, agent);
        sandbox.run(&["sync"]);
        sandbox.run(&["uninstall"]);
        assert_eq!(Tree::of(&moved).changes_since(&before), [""; 0], "{agent}");
    });
}

#[test]
fn links_above_the_checkout_and_the_users_own_in_the_home_are_followed() {
    let sandbox = place(&["claude", "codex"], "");
    for folder in [".claude", ".codex"] {
        std::fs::create_dir_all(sandbox.dir().join("dotfiles").join(folder)).expect("creates");
        symlink(sandbox.dir().join("dotfiles").join(folder), sandbox.home().join(folder))
            .expect("links");
    }
    symlink(sandbox.ws(), sandbox.dir().join("src")).expect("links");
    sandbox.run_in("src", &["init", "--add-agent", "claude"]).ok();
    sandbox.run_in("src", &["sync"]).ok();
    assert!(
        sandbox.has("dotfiles/.claude/settings.json") && sandbox.has("dotfiles/.codex/hooks.json")
    );
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
    assert!(sandbox.read("ws/.codex/config.toml").contains("gated"));
    sandbox.run_in("src", &["uninstall"]).ok();
    assert!(!sandbox.has("ws/.claude") && !sandbox.has("dotfiles/.codex/hooks.json"));
}

#[test]
fn two_home_folders_sync_one_checkout_at_once_and_every_skill_has_its_marker() {
    let sandbox = place(&["claude"], "");
    let homes = ["home", "second", "third", "fourth"];
    for home in &homes[1..] {
        for file in ["config.toml", "plugins/p/SYMPOSIUM.toml"] {
            let text = sandbox.read(&format!("home/.symposium/{file}"));
            sandbox.write(&format!("{home}/.symposium/{file}"), text);
        }
    }
    for round in 0..10 {
        let text = skill("basics", &format!("Round {round}."));
        for home in homes {
            let folder = format!("{home}/.symposium/plugins/p/skills/basics");
            sandbox.write(&format!("{folder}/SKILL.md"), &text);
            // Many, so that the folder takes a while.
            for number in 0..40 {
                sandbox.write(&format!("{folder}/{number}.md"), &text);
            }
        }
        let children = homes.map(|home| {
            let mut command = sandbox.command(&["sync", "--agent", "claude"]);
            command.env("HOME", sandbox.dir().join(home)).stderr(Stdio::piped());
            command.stdout(Stdio::null()).spawn().expect("starts")
        });
        for child in children {
            let output = child.wait_with_output().expect("ends");
            assert!(output.status.success(), "{round}: {output:?}");
        }
        let tree = Tree::of(&sandbox.ws().join(".claude/skills"));
        let files = tree.files();
        assert_eq!(files.len(), 44, "{round}: {files:?}");
        assert!(files.contains(&"basics/.symposium"), "{round}: {files:?}");
        assert_eq!(sandbox.read("ws/.claude/skills/basics/39.md"), text, "{round}");
    }
}
