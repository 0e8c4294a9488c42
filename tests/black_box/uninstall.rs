//! `cargo agents uninstall`: afterwards everything is as it was.

use symposium_testlib::readers::GOOSE_CONFIG;
use symposium_testlib::{AGENTS, Run, Sandbox, Tree, slashes};

use crate::{plugin_with_skill, sandbox};

fn says(run: &Run, text: &str) {
    assert!(slashes(&run.stderr).contains(text), "no `{text}` in:\n{}", run.stderr);
}

/// Everything but what is Symposium's own.
fn tree(sandbox: &Sandbox) -> Tree {
    Tree::of(&sandbox.dir()).without(&["home/.symposium"])
}

#[track_caller]
fn is_as_before(sandbox: &Sandbox, before: &Tree) {
    assert_eq!(tree(sandbox).changes_since(before), [""; 0]);
}

/// Plugins that have something of everything.
fn plugins(sandbox: &Sandbox) {
    plugin_with_skill(sandbox, "widget", "widget", "widget-basics");
    for (plugin, crates) in [("gated", "widget"), ("everywhere", "*")] {
        sandbox.user_plugin(
            &format!("{plugin}/SYMPOSIUM.toml"),
            &format!(
                "name = \"{plugin}\"\ncrates = [\"{crates}\"]\n\n[[mcp_servers]]\n\
                 name = \"{plugin}-docs\"\ntype = \"http\"\nurl = \"https://{plugin}.example/\"\n"
            ),
        );
    }
}

/// Files as users of all the agents have them.
fn lived_in_home(sandbox: &Sandbox) {
    let hook = r#"{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}"#;
    let files = [
        (
            ".claude/settings.json",
            format!("{{\n  \"model\": \"opus\",\n  \"hooks\": {{\n    \"PreToolUse\": [\n      {hook}\n    ]\n  }}\n}}"),
        ),
        (".claude.json", "{\"numStartups\":17,\"projects\":{\"/x\":{\"mcpServers\":{}}},\"n\":1.50}".into()),
        (".codex/hooks.json", format!("{{\"hooks\":{{\"PreToolUse\":[{hook}]}}}}\r\n")),
        (
            ".codex/config.toml",
            "# mine\nmodel = \"o\"\r\n\n[mcp_servers.own]\ncommand = \"own\" # kept\n".into(),
        ),
        (".copilot/mcp-config.json", "{\n\t\"mcpServers\": {}\n}\n".into()),
        (".copilot/hooks/mine.json", "{\"version\":1,\"hooks\":{}}\n".into()),
        (
            ".gemini/settings.json",
            "// Mine.\n{\n    \"theme\": \"dark\", // kept\n    \"hooks\": {},\n    \"mcpServers\": {}\n}\n".into(),
        ),
        (GOOSE_CONFIG.trim_start_matches("home/"), "# mine\nGOOSE_MODEL: x\nextensions:\n  own:\n    enabled: true\n    type: builtin\n    name: own\n".into()),
        (".config/opencode/opencode.jsonc", "{\n  // mine\n  \"theme\": \"x\",\n}\n".into()),
        (".kiro/settings/mcp.json", "{\"mcpServers\": {\"own\": {\"command\": \"own\"}}}".into()),
        (".kiro/agents/mine.json", "{\"name\":\"mine\"}\n".into()),
        (".agents/plugins/mine/plugin.json", "{}\n".into()),
    ];
    for (path, text) in files {
        sandbox.write(&format!("home/{path}"), text);
    }
}

/// A repository with agents' files of its own, all committed.
fn lived_in_workspace(sandbox: &Sandbox) {
    sandbox.package(&[("widget", "1.0.0")]);
    let files = [
        (".claude/settings.json", "{ \"permissions\": {} }\n"),
        (".claude/skills/own/SKILL.md", "---\nname: own\ndescription: Own.\n---\n"),
        (".mcp.json", "{\n  \"mcpServers\": {\n    \"own\": { \"command\": \"own\" }\n  }\n}\n"),
        (".codex/hooks.json", "{\"hooks\": {\"Stop\": []}}\n"),
        (".gemini/settings.json", "{ /* mine */ \"theme\": \"dark\" }\n"),
        (".kiro/steering/own.md", "Own.\n"),
        (".opencode/plugins/own.js", "export const own = async () => ({});\n"),
        (".github/hooks/own.json", "{\"version\":1,\"hooks\":{}}\n"),
        (".gitignore", "/target\n"),
    ];
    for (path, text) in files {
        sandbox.write(&format!("ws/{path}"), text);
    }
    sandbox.git(&["init"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "start"]);
}

fn init(sandbox: &Sandbox, folder: &str, more: &[&str]) -> Run {
    let mut args = vec!["init", "--trust-codex-hooks"];
    AGENTS.iter().for_each(|agent| args.extend(["--add-agent", agent]));
    args.extend(more);
    sandbox.run_in(folder, &args).ok()
}

#[test]
fn case_87_an_empty_home_and_workspace_are_empty_again() {
    let sandbox = sandbox();
    plugins(&sandbox);
    sandbox.package(&[("widget", "1.0.0")]);
    let before = tree(&sandbox);
    init(&sandbox, "ws", &[]);
    sandbox.run(&["sync"]).ok();
    for agent in AGENTS {
        let home = std::fs::read_dir(sandbox.home()).expect("reads").count();
        assert!(home > 4, "{agent}");
    }
    let run = sandbox.run(&["uninstall"]).ok();
    says(&run, "everything is taken back; your settings stay in ~/.symposium");
    is_as_before(&sandbox, &before);
    says(&sandbox.run(&["uninstall"]).ok(), "nothing of Symposium's is left");
}

/// A home and a workspace that their user has files in.
fn lived_in() -> Sandbox {
    let sandbox = sandbox();
    plugins(&sandbox);
    lived_in_home(&sandbox);
    lived_in_workspace(&sandbox);
    sandbox
}

#[test]
fn case_87_a_lived_in_home_and_workspace_are_as_they_were() {
    for scope in ["global", "project"] {
        let sandbox = lived_in();
        let before = tree(&sandbox);
        init(&sandbox, "ws", &["--hook-scope", scope]);
        sandbox.run(&["sync"]).ok();
        assert!(tree(&sandbox).changes_since(&before).len() > 12);
        if scope == "global" {
            assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "no repository is dirtied");
        }
        sandbox.run(&["uninstall"]).ok();
        is_as_before(&sandbox, &before);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        let ledgers = Tree::of(&sandbox.home().join(".symposium/ledgers"));
        assert_eq!(ledgers.files(), [""; 0], "nothing is left to remember");
    }
}

#[test]
fn case_87_after_switching_the_scope_back_and_forth_everything_is_as_it_was() {
    let sandbox = sandbox();
    plugins(&sandbox);
    lived_in_home(&sandbox);
    lived_in_workspace(&sandbox);
    let before = tree(&sandbox);
    init(&sandbox, "ws", &[]);
    let global = tree(&sandbox);
    for _ in 0..2 {
        sandbox.run(&["init", "--hook-scope", "project", "--trust-codex-hooks"]).ok();
        assert_ne!(tree(&sandbox), global);
        sandbox.run(&["init", "--hook-scope", "global", "--trust-codex-hooks"]).ok();
        is_as_before(&sandbox, &global);
    }
    sandbox.run(&["uninstall"]).ok();
    is_as_before(&sandbox, &before);
}

#[test]
fn case_87_two_workspaces_go_one_by_one_or_together() {
    for together in [true, false] {
        let sandbox = sandbox();
        plugins(&sandbox);
        lived_in_workspace(&sandbox);
        for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
            sandbox.write(&format!("two/{file}"), sandbox.read(&format!("ws/{file}")));
        }
        let before = tree(&sandbox);
        init(&sandbox, "ws", &[]);
        init(&sandbox, "two", &[]);
        let both = sandbox.read("home/.claude.json");
        for folder in ["ws", "two"] {
            assert!(both.contains(&sandbox.at(folder)), "{both}");
        }
        if together {
            let dry = sandbox.run(&["uninstall", "--all-workspaces", "--dry-run"]).ok();
            assert_eq!(
                slashes(&dry.stderr).matches("~/.claude/settings.json").count(),
                1,
                "{}",
                dry.stderr
            );
            sandbox.run(&["uninstall", "--all-workspaces"]).ok();
        } else {
            let run = sandbox.run(&["uninstall"]).ok();
            says(&run, "something is still installed in");
            says(&run, "--all-workspaces");
            assert!(sandbox.has("two/.claude/skills/widget-basics"));
            assert!(!sandbox.has("ws/.claude/skills/widget-basics"));
            sandbox.run_in("two", &["uninstall"]).ok();
        }
        is_as_before(&sandbox, &before);
    }
}

/// Linked checkouts share git's exclude file, and the lines in it.
#[test]
fn a_linked_checkout_keeps_its_lines_when_the_other_leaves() {
    let files = [".codex/config.toml", ".kiro/settings/mcp.json", "opencode.json"];
    for (first, second) in [("ws", "two"), ("two", "ws")] {
        let sandbox = sandbox();
        plugins(&sandbox);
        lived_in_workspace(&sandbox);
        sandbox.git(&["worktree", "add", "-q", "../two"]);
        std::fs::remove_dir_all(sandbox.dir().join("ws/.git/info")).expect("removes");
        let before = tree(&sandbox).without(&["ws/.git/index", "ws/.git/worktrees"]);
        init(&sandbox, "ws", &[]);
        init(&sandbox, "two", &[]);
        let status = |folder: &str| {
            let run = sandbox.git_in(folder, &["status", "--porcelain"]);
            (folder.to_owned(), run)
        };
        for folder in ["ws", "two"] {
            assert_eq!(status(folder).1, "", "{folder}");
            assert!(files.iter().all(|file| sandbox.has(&format!("{folder}/{file}"))));
        }
        sandbox.run_in(first, &["uninstall"]).ok();
        assert_eq!(status(second).1, "", "{second} is still as clean as it was");
        assert!(files.iter().all(|file| sandbox.has(&format!("{second}/{file}"))));
        sandbox.run_in(second, &["uninstall"]).ok();
        let after = tree(&sandbox).without(&["ws/.git/index", "ws/.git/worktrees"]);
        assert_eq!(after.changes_since(&before), [""; 0], "{first} first");
    }
}

/// An agent reads its hooks when it starts, and calls them until it ends.
#[test]
fn case_87_events_of_an_agent_that_still_runs_bring_nothing_back() {
    for scope in ["global", "project"] {
        let sandbox = lived_in();
        let before = tree(&sandbox);
        init(&sandbox, "ws", &["--hook-scope", scope]);
        let there = tree(&sandbox);
        sandbox.run(&["uninstall"]).ok();
        for event in ["session-start", "user-prompt-submit", "pre-tool-use"] {
            let run = sandbox.run(&["hook", "claude", event]).ok();
            assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""), "{event}");
        }
        sandbox.run(&["sync", "--background"]);
        is_as_before(&sandbox, &before);
        // It comes back when its user says so; from then on by itself, too.
        sandbox.run(&["sync"]).ok();
        let changes = tree(&sandbox).changes_since(&there);
        assert_eq!(changes, ["~ home/.codex/config.toml"], "trust is for its user to give anew");
        sandbox.user_plugin(
            "late/SYMPOSIUM.toml",
            "name = \"late\"\ncrates = [\"*\"]\n\n[[skills]]\nsource.path = \"skills\"\n",
        );
        sandbox
            .user_plugin("late/skills/late/SKILL.md", "---\nname: late\ndescription: Late.\n---\n");
        sandbox.run(&["hook", "claude", "session-start"]).ok();
        assert!(sandbox.has("ws/.claude/skills/late/SKILL.md"), "{scope}");
        sandbox.run(&["uninstall"]).ok();
        is_as_before(&sandbox, &before);
    }
}

#[test]
fn a_workspace_that_is_gone_is_told_and_forgotten() {
    let sandbox = sandbox();
    plugins(&sandbox);
    sandbox.package(&[("widget", "1.0.0")]);
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("two/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    let before = tree(&sandbox).without(&["two"]);
    init(&sandbox, "two", &[]);
    init(&sandbox, "ws", &[]);
    std::fs::remove_dir_all(sandbox.dir().join("two")).expect("removes");
    let run = sandbox.run(&["uninstall", "--all-workspaces"]).ok();
    says(&run, "this workspace is gone");
    is_as_before(&sandbox, &before);
    let ledgers = Tree::of(&sandbox.home().join(".symposium/ledgers"));
    assert_eq!(ledgers.files(), [""; 0]);
}

#[test]
fn a_dry_run_tells_and_changes_nothing() {
    let sandbox = sandbox();
    plugins(&sandbox);
    sandbox.package(&[("widget", "1.0.0")]);
    init(&sandbox, "ws", &[]);
    let whole = || {
        Tree::of(&sandbox.dir()).without(&["home/.symposium/logs", "home/.symposium/cache/locks"])
    };
    let before = whole();
    let dry = sandbox.run(&["uninstall", "--dry-run"]).ok();
    assert_eq!(whole().changes_since(&before), [""; 0]);
    for line in [
        "Remove widget-basics",
        "Unregister claude   ~/.claude/settings.json (5 hooks taken out)",
        "Unregister codex    ~/.codex/config.toml (trust in 4 hooks taken back)",
        "run without --dry-run",
    ] {
        says(&dry, line);
    }
    // What is told is what is done.
    let done = sandbox.run(&["uninstall"]).ok();
    let lines = |text: &str, verbs: [&str; 2], to: [&str; 2]| {
        let mut lines: Vec<String> = text
            .lines()
            .map(|line| line.trim().replacen(verbs[0], to[0], 1).replacen(verbs[1], to[1], 1))
            .filter(|line| to.iter().any(|verb| line.starts_with(verb)))
            .collect();
        lines.sort();
        lines
    };
    let verbs = ["Removed ", "Unregistered "];
    assert_eq!(
        lines(&dry.stderr, ["Remove ", "Unregister "], verbs),
        lines(&done.stderr, verbs, verbs)
    );
}

#[test]
fn what_the_user_changed_since_is_kept_and_named() {
    let sandbox = sandbox();
    plugins(&sandbox);
    sandbox.package(&[("widget", "1.0.0")]);
    init(&sandbox, "ws", &[]);
    let skill = "ws/.claude/skills/widget-basics/SKILL.md";
    sandbox.write(skill, sandbox.read(skill) + "Mine.\n");
    let own = "home/.copilot/hooks/symposium.json";
    sandbox.write(own, sandbox.read(own).replace("cargo-agents", "my-wrapper cargo-agents"));
    let settings = "home/.claude/settings.json";
    let hook = r#"{"hooks":[{"type":"command","command":"mine"}]}"#;
    let text = sandbox.read(settings);
    let (head, tail) = text.rsplit_once(']').expect("an array");
    sandbox.write(settings, format!("{head}, {hook}]{tail}"));
    let run = sandbox.run(&["uninstall"]).ok();
    says(&run, "Kept widget-basics");
    says(&run, "you edited it, so it is yours now");
    says(&run, "symposium.json");
    assert!(sandbox.read(skill).ends_with("Mine.\n"));
    assert!(sandbox.read(own).contains("my-wrapper"));
    let left = sandbox.read(settings);
    assert!(left.contains("mine") && !left.contains("cargo-agents"), "{left}");
    assert!(!sandbox.has("ws/.agents/skills"), "copies that were not edited are gone");
}

#[test]
fn a_file_that_can_not_be_read_is_told_and_the_rest_goes() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    init(&sandbox, "ws", &[]);
    let settings = "home/.claude/settings.json";
    let good = sandbox.read(settings);
    sandbox.write(settings, good.trim_end().trim_end_matches('}'));
    let run = sandbox.run(&["uninstall"]).code(1);
    says(&run, "settings.json");
    assert!(!sandbox.has("home/.gemini"));
    sandbox.write(settings, good);
    sandbox.run(&["uninstall"]).ok();
    assert!(!sandbox.has("home/.claude"));
}

#[test]
fn a_broken_configuration_does_not_keep_it_from_its_work() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let before = tree(&sandbox);
    init(&sandbox, "ws", &["--hook-scope", "project"]);
    sandbox.write("home/.symposium/config.toml", "hook-scope = \n");
    sandbox.run(&["uninstall"]).ok();
    is_as_before(&sandbox, &before);
    assert_eq!(sandbox.read("home/.symposium/config.toml"), "hook-scope = \n");
}

#[test]
fn skills_without_any_agent_configured_are_known_too() {
    let sandbox = sandbox();
    plugins(&sandbox);
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.write("ws/.claude/skills/own/SKILL.md", "---\nname: own\ndescription: Own.\n---\n");
    let before = tree(&sandbox);
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    sandbox.run_in("home", &["uninstall", "--all-workspaces"]).ok();
    is_as_before(&sandbox, &before);
}
