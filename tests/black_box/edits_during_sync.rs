//! Files that are edited while a sync runs: it may have read them before or after, the next event
//! goes by what they say now.

use std::process::Stdio;
use std::time::{Duration, Instant};

use symposium_testlib::Sandbox;

use crate::hook_kit::*;
use crate::{plugin_with_skill, skill};

const PLUGIN: &str = "home/.symposium/plugins";

/// A workspace whose sync, once it has read everything, waits for the file `go` of a plugin.
fn slow() -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.user_plugin(
        "slow/SYMPOSIUM.toml",
        "name = \"slow\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"tool\"\n\
         install_commands = [\"touch begun; while [ ! -e go ]; do sleep 0.02; done\"]\n\
         script = \"tool.sh\"\n\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"tool\"\n",
    );
    sandbox.user_plugin("slow/tool.sh", "exit 0\n");
    sandbox.user_plugin(
        "gated/SYMPOSIUM.toml",
        "name = \"gated\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
         predicates = [\"path_exists(flag)\"]\n",
    );
    sandbox.user_plugin("gated/skills/by-plugin/SKILL.md", &skill("by-plugin", "In a manifest."));
    let gated = "---\nname: by-itself\ndescription: In its frontmatter.\n\
                 predicates: [\"path_exists(other)\"]\n---\n";
    sandbox.user_plugin("widget/skills/by-itself/SKILL.md", gated);
    sandbox.write("ws/.agents/skills/own/SKILL.md", skill("own", "Ours."));
    sandbox
}

/// Runs `cargo agents sync` and `edit` while it waits.
fn edit_during_sync(sandbox: &Sandbox, edit: impl FnOnce(&Sandbox)) {
    let mut sync = sandbox.command(&["sync"]);
    let sync = sync.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let sync = sync.spawn().expect("starts");
    let start = Instant::now();
    while !sandbox.has(&format!("{PLUGIN}/slow/begun")) {
        assert!(start.elapsed() < Duration::from_secs(60), "the installation never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    edit(sandbox);
    sandbox.write(&format!("{PLUGIN}/slow/go"), "");
    let done = sync.wait_with_output().expect("ends");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn an_edit_during_a_sync_is_picked_up_by_the_next_event() {
    type Edit = (&'static str, fn(&Sandbox), &'static str, &'static str);
    let cases: [Edit; 7] = [
        (
            "a skill's text",
            |sandbox| {
                let path = format!("{PLUGIN}/widget/skills/widget-basics/SKILL.md");
                sandbox.write(&path, skill("widget-basics", "Version four."));
            },
            "widget-basics/SKILL.md",
            "Version four.",
        ),
        (
            "a new file of a skill",
            |sandbox| {
                sandbox.write(&format!("{PLUGIN}/widget/skills/widget-basics/a/b.md"), "deep\n");
            },
            "widget-basics/a/b.md",
            "deep",
        ),
        (
            "a new skill",
            |sandbox| {
                let path = format!("{PLUGIN}/widget/skills/newer/SKILL.md");
                sandbox.write(&path, skill("newer", "It is new."));
            },
            "newer/SKILL.md",
            "It is new.",
        ),
        (
            "a path that a plugin's gate asks for",
            |sandbox| sandbox.write("ws/flag", ""),
            "by-plugin/SKILL.md",
            "In a manifest.",
        ),
        (
            "a path that a skill's gate asks for",
            |sandbox| sandbox.write("ws/other", ""),
            "by-itself/SKILL.md",
            "In its frontmatter.",
        ),
        (
            "a skill of the workspace's own",
            |sandbox| sandbox.write("ws/.agents/skills/own/SKILL.md", skill("own", "Edited.")),
            "own/SKILL.md",
            "Edited.",
        ),
        (
            "another skill of the workspace's own",
            |sandbox| sandbox.write("ws/.agents/skills/two/SKILL.md", skill("two", "Second.")),
            "two/SKILL.md",
            "Second.",
        ),
    ];
    in_parallel(&cases, |(what, edit, path, text)| {
        let sandbox = slow();
        edit_during_sync(&sandbox, edit);
        let told = Told::in_ws(&sandbox);
        send(&sandbox, "claude", Event::PreToolUse, &told);
        let installed = format!("ws/.claude/skills/{path}");
        assert!(sandbox.has(&installed), "{what}: {}", logs(&sandbox));
        assert!(sandbox.read(&installed).contains(text), "{what}: {}", sandbox.read(&installed));
    });
}

#[test]
fn a_sync_that_writes_beside_what_it_read_is_not_done_again_by_the_next_event() {
    // Codex reads `.agents/skills`, where the workspace's own skills are.
    in_parallel(&[&["codex"][..], &["claude", "codex"], &["claude"]], |agents| {
        for (own, before) in [(false, ""), (true, ""), (true, ".agents/rules/x.md")] {
            let sandbox = with_agents(agents);
            configure(&sandbox, agents, "[logging]\nlevel = \"debug\"\n");
            plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
            if own {
                sandbox.write("ws/.agents/skills/own/SKILL.md", skill("own", "Ours."));
            }
            if !before.is_empty() {
                sandbox.write(&format!("ws/{before}"), "");
            }
            let told = Told::in_ws(&sandbox);
            sandbox.run(&["sync"]).ok();
            send(&sandbox, agents[0], Event::PreToolUse, &told);
            // And what takes skills away again, with the folders that it empties.
            std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins/widget"))
                .expect("removes");
            sandbox.run(&["sync"]).ok();
            send(&sandbox, agents[0], Event::PreToolUse, &told.clone().id("2"));
            let log = logs(&sandbox);
            assert!(!log.contains("before this event"), "{agents:?}, {own}, {before}: {log}");
        }
    });
}
