//! Reports from the public about leaving (F).

use symposium_testlib::readers::GOOSE_CONFIG;

use super::{CLAUDE, FULL};
use crate::registration::{AGENTS, outside, sandbox};

#[test]
fn case_23_what_we_did_not_create_is_never_deleted() {
    for (agent, path) in [
        ("claude", CLAUDE),
        ("gemini", "home/.gemini/settings.json"),
        ("codex", "home/.codex/config.toml"),
        ("goose", GOOSE_CONFIG),
        ("opencode", "home/.config/opencode/opencode.json"),
    ] {
        let sandbox = sandbox();
        sandbox.write(path, "");
        sandbox.run(&["init", "--add-agent", agent]).ok();
        sandbox.run(&["init", "--remove-agent", agent]).ok();
        assert!(sandbox.has(path), "{agent}");
        assert_eq!(sandbox.read(path), "", "{agent}");
    }
}

#[test]
fn case_25_leaving_gives_git_s_exclude_file_back() {
    let sandbox = sandbox();
    sandbox.write("ws/.git/info/exclude", "# mine\n/scratch");
    for agent in AGENTS {
        sandbox.run(&["init", "--add-agent", agent]).ok();
    }
    assert_ne!(sandbox.read("ws/.git/info/exclude"), "# mine\n/scratch");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(sandbox.read("ws/.git/info/exclude"), "# mine\n/scratch");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[cfg(unix)]
#[test]
fn case_47_decision_46_agents_folders_that_are_links_work_in_the_home_and_not_in_a_project() {
    let sandbox = sandbox();
    let link = |folder: &str| {
        let target = sandbox.dir().join("drive").join(folder);
        std::fs::create_dir_all(&target).expect("creates");
        std::os::unix::fs::symlink(&target, sandbox.dir().join(folder)).expect("links");
    };
    ["home/.agents", "home/.claude"].into_iter().for_each(link);
    let before = outside(&sandbox);
    for agent in ["goose", "claude", "gemini", "codex"] {
        sandbox.run(&["init", "--add-agent", agent]).ok();
    }
    assert!(sandbox.has("drive/home/.agents/plugins/symposium/plugin.json"));
    assert!(sandbox.has("drive/home/.claude/settings.json"));
    assert!(sandbox.has("ws/.gemini/settings.json"));
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
    ["ws/.agents", "ws/.gemini"].into_iter().for_each(link);
    let before = outside(&sandbox);
    for (agent, folder) in [("gemini", ".gemini"), ("goose", ".agents")] {
        let run = sandbox.run(&["init", "--add-agent", agent]).code(1);
        assert!(run.stderr.contains(&format!("`{folder}` is a link to")), "{}", run.stderr);
    }
    for folder in ["drive/ws/.gemini", "drive/ws/.agents"] {
        assert_eq!(std::fs::read_dir(sandbox.dir().join(folder)).expect("lists").count(), 0);
    }
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
}

#[test]
fn case_87_after_leaving_everything_is_as_it_was() {
    for scope in ["global", "project"] {
        let sandbox = sandbox();
        sandbox.write(CLAUDE, FULL);
        sandbox.write("home/.codex/config.toml", "model = \"x\" # mine\n");
        sandbox.write(GOOSE_CONFIG, "extensions:\n  developer: {}\n");
        sandbox.write("home/.claude.json", "{\"numStartups\": 7, \"projects\": {}}");
        let before = outside(&sandbox);
        for agent in AGENTS {
            sandbox.run(&["init", "--add-agent", agent, "--hook-scope", scope]).ok();
        }
        assert!(outside(&sandbox).changes_since(&before).len() > 10);
        sandbox.run(&["uninstall"]).ok();
        assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{scope}");
    }
}
