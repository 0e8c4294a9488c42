//! The workspace's own skills, for agents that do not read `.agents/skills` (F76–F83).

use crate::{configure, sandbox, skill};
use symposium_testlib::Sandbox;

fn with_agents(agents: &[&str], more: &str) -> Sandbox {
    let sandbox = sandbox();
    configure(&sandbox, agents, more);
    sandbox.package(&[]);
    sandbox.write("ws/.agents/skills/release/SKILL.md", skill("release", "How we release."));
    sandbox.write("ws/.agents/skills/release/scripts/go.sh", "echo go\n");
    sandbox
}

#[test]
fn f77_f78_they_are_copied_to_agents_that_do_not_read_the_neutral_folder() {
    let sandbox = with_agents(&["claude", "kiro", "codex"], "");
    sandbox.run(&["sync"]).ok();
    for dir in [".claude", ".kiro"] {
        let dir = format!("ws/{dir}/skills/release");
        assert_eq!(sandbox.read(&format!("{dir}/SKILL.md")), skill("release", "How we release."));
        assert_eq!(sandbox.read(&format!("{dir}/scripts/go.sh")), "echo go\n");
        assert!(sandbox.has(&format!("{dir}/.symposium")));
        assert_eq!(sandbox.read(&format!("{dir}/.gitignore")), "*\n");
    }
    assert!(!sandbox.has("ws/.agents/skills/release/.symposium"), "the source gets no marker");
}

#[test]
fn f79_changes_are_copied_and_removal_removes() {
    let sandbox = with_agents(&["claude"], "");
    sandbox.run(&["sync"]).ok();
    sandbox.write("ws/.agents/skills/release/SKILL.md", skill("release", "Otherwise."));
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.read("ws/.claude/skills/release/SKILL.md").contains("Otherwise."));
    std::fs::remove_dir_all(sandbox.ws().join(".agents/skills/release")).expect("removes");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has("ws/.claude/skills/release"));
}

#[test]
fn f80_switching_it_off_removes_the_copies() {
    let sandbox = with_agents(&["claude"], "");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("ws/.claude/skills/release"));
    let config = sandbox.read("home/.symposium/config.toml");
    sandbox.write("home/.symposium/config.toml", format!("agents-syncing = false\n{config}"));
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has("ws/.claude/skills/release"));
    assert!(sandbox.has("ws/.agents/skills/release/SKILL.md"));
}

#[test]
fn f81_a_hand_written_skill_of_that_name_stays_and_a_warning_says_so() {
    let sandbox = with_agents(&["claude"], "");
    sandbox.write("ws/.claude/skills/release/SKILL.md", "mine");
    let run = sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read("ws/.claude/skills/release/SKILL.md"), "mine");
    assert!(run.stderr.contains("release") && run.stderr.contains("your own"), "{}", run.stderr);
    assert_eq!(std::fs::read_dir(sandbox.ws().join(".claude/skills")).expect("reads").count(), 1);
}

#[test]
fn f82_nothing_is_copied_when_every_agent_reads_the_neutral_folder() {
    let sandbox = with_agents(&["codex", "gemini", "opencode"], "");
    let before = sandbox.ws_tree();
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.ws_tree(), before);
}

#[test]
fn what_we_installed_ourselves_is_not_mirrored() {
    let sandbox = with_agents(&["claude", "codex"], "");
    sandbox.package(&[("widget", "1.0.0")]);
    crate::plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["sync"]).ok();
    let claude = std::fs::read_dir(sandbox.ws().join(".claude/skills")).expect("reads").count();
    assert_eq!(claude, 2, "release and widget-basics, once each");
}

#[test]
fn decision_24_the_workspace_s_own_skill_keeps_its_name() {
    let sandbox = with_agents(&["claude", "codex"], "");
    sandbox.package(&[("widget", "1.0.0")]);
    crate::plugin_with_skill(&sandbox, "widget", "widget", "release");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.read("ws/.claude/skills/release/SKILL.md").contains("How we release."));
    assert!(sandbox.read("ws/.agents/skills/release/SKILL.md").contains("How we release."));
    let names = std::fs::read_dir(sandbox.ws().join(".agents/skills")).expect("reads").count();
    assert_eq!(names, 2, "the plugin's skill has another name");
}

#[test]
fn code_that_claude_would_run_is_not_copied() {
    let sandbox = with_agents(&["claude"], "");
    sandbox.write(
        "ws/.agents/skills/release/SKILL.md",
        "---\nname: release\ndescription: x\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: evil\n---\nbody\n",
    );
    sandbox.write("ws/.agents/skills/release/.claude-plugin/plugin.json", "{}");
    let run = sandbox.run(&["sync"]).ok();
    let copy = sandbox.read("ws/.claude/skills/release/SKILL.md");
    assert!(!copy.contains("hooks") && !copy.contains("evil"), "{copy}");
    assert!(copy.contains("body"));
    assert!(!sandbox.has("ws/.claude/skills/release/.claude-plugin"));
    assert!(run.stderr.contains("warning"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_claude_folder_that_is_a_link_to_the_neutral_one_needs_no_copy() {
    let sandbox = with_agents(&["claude"], "");
    std::fs::create_dir_all(sandbox.ws().join(".claude")).expect("creates");
    std::os::unix::fs::symlink("../.agents/skills", sandbox.ws().join(".claude/skills"))
        .expect("links");
    let before = sandbox.ws_tree();
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.ws_tree(), before);
}
