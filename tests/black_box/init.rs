//! `cargo agents init` with flags.

use std::time::SystemTime;

use symposium_testlib::{AGENTS, Run, Sandbox, Tree, slashes};

use crate::{bare_sandbox, plugin_with_skill, sandbox};

fn modified(sandbox: &Sandbox) -> Vec<(String, SystemTime)> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(sandbox.dir()).sort_by_file_name() {
        let entry = entry.expect("reads");
        let path = slashes(&entry.path().to_string_lossy());
        // Logs, and what hooks need: nobody's but ours.
        let ours = ["/logs/", "/snapshots/"].iter().any(|folder| path.contains(folder));
        if entry.file_type().is_file() && !ours {
            let time = entry.metadata().expect("reads").modified().expect("a time");
            files.push((path, time));
        }
    }
    files
}

fn config(sandbox: &Sandbox) -> String {
    sandbox.read("home/.symposium/config.toml")
}

fn says(run: &Run, text: &str) {
    assert!(slashes(&run.stderr).contains(text), "no `{text}` in:\n{}", run.stderr);
}

#[test]
fn f10_f38_f41_f42_agents_are_added_and_their_hooks_registered() {
    let sandbox = bare_sandbox();
    let run = sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "gemini"]).ok();
    says(&run, "Updated ~/.symposium/config.toml");
    says(&run, "Registered claude   ~/.claude/settings.json (5 hooks added)");
    says(&run, "Registered gemini   ~/.gemini/settings.json (4 hooks added)");
    says(&run, "Finished start claude or gemini in a Rust project in ");
    assert_eq!(config(&sandbox), "[[agent]]\nname = \"claude\"\n\n[[agent]]\nname = \"gemini\"\n");
    for file in [".claude/settings.json", ".gemini/settings.json"] {
        assert!(sandbox.read(&format!("home/{file}")).contains("cargo-agents hook"), "{file}");
    }
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    assert!(
        config(&sandbox).ends_with("\n\n[[agent]]\nname = \"codex\"\n"),
        "{}",
        config(&sandbox)
    );
    assert!(config(&sandbox).contains("claude"), "adding takes nothing away");
}

#[test]
fn f42_hooks_stand_beside_those_of_the_user() {
    let sandbox = sandbox();
    let mine = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}"#;
    sandbox.write("home/.claude/settings.json", mine);
    let run = sandbox.run(&["init", "--add-agent", "claude"]).ok();
    says(&run, "claude   ~/.claude/settings.json (5 hooks added beside yours)");
    assert!(sandbox.read("home/.claude/settings.json").contains("\"command\":\"mine\""));
}

#[test]
fn f39_agents_are_removed_even_those_that_nobody_knows_any_more() {
    let sandbox = sandbox();
    sandbox.config("[[agent]]\nname = \"gone\"\n\n[[agent]]\nname = \"claude\"\n");
    let run = sandbox.run(&["init", "--add-agent", "goose"]).ok();
    says(&run, "there is no agent `gone`; the others go on");
    let place = sandbox.read("home/.symposium/config.toml");
    let line = 1 + place.lines().position(|line| line.contains("gone")).expect("stands there");
    says(&run, &format!("config.toml:{line}:8\n"));
    sandbox.run(&["init", "--remove-agent", "gone", "--remove-agent", "goose"]).ok();
    assert!(!config(&sandbox).contains("gone"), "{}", config(&sandbox));
    assert!(!sandbox.has("home/.agents"), "goose's files are gone with their folders");
    assert!(sandbox.read("home/.claude/settings.json").contains("hook claude"));
}

#[test]
fn f38_f39_an_unknown_name_is_an_error_that_tells_the_known_ones() {
    let sandbox = sandbox();
    let before = config(&sandbox);
    for flag in ["--add-agent", "--remove-agent"] {
        let run = sandbox.run(&["init", "--add-agent", "claude", flag, "clade"]).code(1);
        says(&run, "there is no agent `clade`");
        says(&run, &AGENTS.join(", "));
    }
    let run = sandbox.run(&["init", "--add-agent", "goose", "--remove-agent", "goose"]).code(1);
    says(&run, "`goose` can't be both added and removed");
    assert_eq!(config(&sandbox), before);
    assert!(!sandbox.has("home/.claude"));
}

#[test]
fn f40_f43_hooks_by_project_are_not_registered_at_home() {
    let sandbox = sandbox();
    let run = sandbox.run(&["init", "--add-agent", "claude", "--hook-scope", "project"]).ok();
    says(&run, "run `cargo agents sync` in each project, to register hooks there");
    assert!(config(&sandbox).contains("hook-scope = \"project\""), "{}", config(&sandbox));
    assert!(!sandbox.has("home/.claude"));
    sandbox.run(&["init", "--hook-scope", "nowhere"]).code(2);
}

#[test]
fn f40_switching_the_scope_takes_our_hooks_out_of_the_other() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    assert!(sandbox.has("home/.codex/hooks.json"));
    let run = sandbox.run(&["init", "--hook-scope", "project"]).ok();
    says(&run, "Unregistered codex    ~/.codex/hooks.json (4 hooks taken out)");
    assert!(sandbox.has("ws/.codex/hooks.json") && !sandbox.has("home/.codex"));
    sandbox.run(&["init", "--hook-scope", "global"]).ok();
    assert!(!sandbox.has("ws/.codex") && sandbox.has("home/.codex/hooks.json"));
}

#[test]
fn f47_a_second_run_writes_nothing_and_says_so() {
    for in_workspace in [false, true] {
        let sandbox = sandbox();
        if in_workspace {
            sandbox.package(&[("widget", "1.0.0")]);
        }
        let mut args = vec!["init", "--hook-scope", "global", "--trust-codex-hooks"];
        for agent in AGENTS {
            args.extend(["--add-agent", agent]);
        }
        let first = sandbox.run(&args).ok();
        assert!(!first.stderr.contains("nothing to do"), "{}", first.stderr);
        let before = modified(&sandbox);
        let run = sandbox.run(&args).ok();
        says(&run, "Finished nothing to do");
        assert!(!run.stderr.contains("egistered"), "{}", run.stderr);
        let written: Vec<_> =
            modified(&sandbox).into_iter().filter(|file| !before.contains(file)).collect();
        assert_eq!(written, []);
    }
}

#[test]
fn f30_settings_comments_and_unknown_keys_survive() {
    let sandbox = sandbox();
    let text = "# Mine.\nauto-update = \"off\" # never\nhook-scope = \"weird\"\nnovelty = [1, 2]\n\n\
                [[agent]]\nname = \"claude\" # the first\ncolour = \"blue\"\n\n\
                [defaults]\nsymposium-recommendations = false\n";
    sandbox.write("home/.symposium/config.toml", text);
    sandbox.run(&["init", "--add-agent", "gemini"]).ok();
    let added = config(&sandbox);
    assert_eq!(added.replace("[[agent]]\nname = \"gemini\"\n\n", ""), text);
    sandbox.run(&["init", "--remove-agent", "gemini"]).ok();
    assert_eq!(config(&sandbox), text);
}

#[test]
fn f31_a_broken_configuration_is_refused_and_stays_as_it_is() {
    let sandbox = bare_sandbox();
    for text in [&b"[[agent]\nname = \"claude\"\n"[..], b"\xff\xfe"] {
        sandbox.write("home/.symposium/config.toml", text);
        let run = sandbox.run(&["init", "--add-agent", "codex"]).code(1);
        says(&run, "config.toml");
        says(&run, "mend it");
        let now = std::fs::read(sandbox.home().join(".symposium/config.toml")).expect("reads");
        assert_eq!(now, text);
        assert!(!sandbox.has("home/.codex"));
    }
}

#[test]
fn a_configuration_that_can_not_be_read_or_written_is_a_clear_error() {
    let sandbox = bare_sandbox();
    std::fs::create_dir_all(sandbox.home().join(".symposium/config.toml")).expect("creates");
    let run = sandbox.run(&["init", "--add-agent", "claude"]).code(1);
    says(&run, "config.toml");
    assert!(!sandbox.has("home/.claude"));
    let sandbox = bare_sandbox();
    sandbox.write("home/.symposium", "a file in the way");
    let run = sandbox.run(&["init", "--add-agent", "claude"]).code(1);
    says(&run, ".symposium");
    assert!(!sandbox.has("home/.claude"), "{}", run.stderr);
}

#[test]
fn no_home_is_a_clear_error() {
    let sandbox = sandbox();
    for command in [&["init", "--add-agent", "claude"][..], &["init"]] {
        let mut command = sandbox.command(command);
        // Should the program not look at the home first, it must still stay in here.
        for name in ["SYMPOSIUM_HOME", "CLAUDE_CONFIG_DIR"] {
            command.env(name, sandbox.dir().join("elsewhere"));
        }
        command.env_remove("HOME").env_remove("USERPROFILE");
        let output = command.stdin(std::process::Stdio::null()).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        assert!(stderr.contains(&format!("{variable} is not set")), "{stderr}");
        assert!(!sandbox.has("elsewhere/settings.json"));
    }
}

#[test]
fn case_90_without_a_terminal_it_fails_at_once_and_names_the_flags() {
    let mut sandbox = sandbox();
    let before = Tree::of(&sandbox.dir()).without(&["home/.symposium/logs"]);
    for ci in ["", "1"] {
        sandbox.set("CI", ci);
        let run = sandbox.run(&["init"]).code(1);
        for flag in ["--add-agent", "--remove-agent", "--hook-scope", "--trust-codex-hooks"] {
            says(&run, flag);
        }
        let run = sandbox.run(&["init", "--json"]).code(1);
        assert_eq!(run.json_lines().last().expect("a line")["event"], "diagnostic");
    }
    let after = Tree::of(&sandbox.dir()).without(&["home/.symposium/logs"]);
    assert_eq!(after.changes_since(&before), [""; 0]);
}

#[test]
fn decision_28_inside_a_workspace_it_syncs_at_once() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let run = sandbox.run(&["init", "--add-agent", "claude"]).ok();
    says(&run, "Installed widget-basics");
    says(&run, "Next start claude here; `cargo agents status` shows what it gets");
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
    assert!(sandbox.has("home/.claude/settings.json"));
}

#[test]
fn a_workspace_that_can_not_be_read_does_not_keep_hooks_from_being_registered() {
    let sandbox = sandbox();
    sandbox.write("ws/Cargo.toml", "[workspace]\nmembers = [1]\n");
    let run = sandbox.run(&["init", "--add-agent", "claude"]).code(1);
    says(&run, "Cargo.toml");
    says(&run, "Registered claude");
}

#[test]
fn one_agent_s_broken_file_does_not_keep_the_others_from_being_registered() {
    let sandbox = sandbox();
    sandbox.write("home/.claude/settings.json", "{ \"hooks\": ");
    let run = sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "gemini"]).code(1);
    says(&run, "settings.json");
    says(&run, "Registered gemini");
    assert_eq!(sandbox.read("home/.claude/settings.json"), "{ \"hooks\": ");
}

#[test]
fn decision_19b_a_program_in_a_build_folder_is_registered_by_name_with_a_warning() {
    let sandbox = sandbox();
    let run = sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "codex"]).ok();
    assert_eq!(run.stderr.matches("is not on the PATH that agents see").count(), 1);
    says(&run, "cargo install --path .");
    for file in ["home/.claude/settings.json", "home/.codex/hooks.json"] {
        let text = sandbox.read(file);
        assert!(text.contains("\"cargo-agents hook ") && !text.contains("target"), "{text}");
    }
}

#[test]
fn removing_an_agent_takes_its_part_and_leaves_that_of_others() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.git(&["init"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let server =
        "[[mcp_servers]]\nname = \"docs\"\ntype = \"http\"\nurl = \"https://docs.example/\"\n";
    for (plugin, crates) in [("one", "widget"), ("all", "*")] {
        sandbox.user_plugin(
            &format!("{plugin}/SYMPOSIUM.toml"),
            &format!(
                "name = \"{plugin}\"\ncrates = [\"{crates}\"]\n{}",
                server.replace("docs\"", &format!("docs-{plugin}\""))
            ),
        );
    }
    let tree = || Tree::of(&sandbox.dir()).without(&["home/.symposium"]);
    for agent in ["kiro", "claude", "codex"] {
        sandbox.run(&["init", "--add-agent", "gemini"]).ok();
        let before = tree();
        sandbox.run(&["init", "--add-agent", agent, "--trust-codex-hooks"]).ok();
        assert_ne!(tree(), before);
        sandbox.run(&["init", "--remove-agent", agent]).ok();
        assert_eq!(tree().changes_since(&before), [""; 0], "{agent}");
    }
}

#[test]
fn removing_an_agent_outside_a_workspace_takes_its_servers_too() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    std::fs::create_dir(sandbox.dir().join("else")).expect("creates");
    sandbox.user_plugin(
        "all/SYMPOSIUM.toml",
        "name = \"all\"\ncrates = [\"*\"]\n\n[[mcp_servers]]\nname = \"docs\"\ntype = \"http\"\n\
         url = \"https://docs.example/\"\n",
    );
    sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "gemini"]).ok();
    assert!(sandbox.read("home/.claude.json").contains("docs.example"));
    sandbox.run_in("else", &["init", "--remove-agent", "claude"]).ok();
    assert!(!sandbox.has("home/.claude.json") && !sandbox.has("home/.claude"));
    assert!(sandbox.read("home/.gemini/settings.json").contains("docs.example"));
}

#[test]
fn f45_removing_the_last_agent_takes_everything_back() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let tree = || Tree::of(&sandbox.dir()).without(&["home/.symposium"]);
    let before = tree();
    sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "kiro"]).ok();
    let run = sandbox.run(&["init", "--remove-agent", "claude", "--remove-agent", "kiro"]).ok();
    says(&run, "no agents are left");
    assert_eq!(tree().changes_since(&before), [""; 0]);
}

#[cfg(unix)]
mod kiro {
    use super::*;
    use crate::init_terminal::program;

    const AGENT_FILE: &str = "home/.kiro/agents/symposium.json";
    const HOOKS_FILE: &str = "home/.kiro/hooks/symposium.json";

    fn with(programs: &[(&str, &str)]) -> Sandbox {
        let mut sandbox = sandbox();
        sandbox.package(&[]);
        for (name, body) in programs {
            program(&sandbox, name, body);
        }
        sandbox.set("PATH", format!("{}:/usr/bin:/bin", sandbox.dir().join("bin").display()));
        sandbox
    }

    #[test]
    fn case_65_the_cli_s_version_decides_which_file_is_written() {
        for (said, file, other) in [
            ("echo kiro-cli 3.1.0", HOOKS_FILE, AGENT_FILE),
            ("echo v3.0", HOOKS_FILE, AGENT_FILE),
            ("echo kiro-cli 2.4.1", AGENT_FILE, HOOKS_FILE),
            ("exit 3", AGENT_FILE, HOOKS_FILE),
        ] {
            let sandbox = with(&[("kiro-cli", said)]);
            sandbox.run(&["init", "--add-agent", "kiro"]).ok();
            assert!(sandbox.has(file) && !sandbox.has(other), "{said}");
        }
    }

    #[test]
    fn without_the_cli_it_is_the_agent_file_and_the_ide_is_not_started() {
        let sandbox = with(&[("kiro", "echo 5.0.0; : > started")]);
        sandbox.run(&["init", "--add-agent", "kiro"]).ok();
        assert!(sandbox.has(AGENT_FILE) && !sandbox.has(HOOKS_FILE));
        assert!(!sandbox.has("ws/started"));
    }

    #[test]
    fn a_new_version_moves_the_hooks_and_a_hook_does_not_move_them_back() {
        let sandbox = with(&[("kiro-cli", "echo kiro-cli 2.0.0")]);
        sandbox.run(&["init", "--add-agent", "kiro"]).ok();
        program(&sandbox, "kiro-cli", "echo kiro-cli 3.0.0");
        sandbox.run(&["sync"]).ok();
        assert!(sandbox.has(HOOKS_FILE) && !sandbox.has("home/.kiro/agents"));
        // A changed dependency makes the hook sync, which asks no program for its version.
        plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
        sandbox.package(&[("widget", "1.0.0")]);
        let payload = format!(r#"{{"hook_event_name":"agentSpawn","cwd":{:?}}}"#, sandbox.ws());
        sandbox.feed(&["hook", "kiro", "session-start"], payload.as_bytes()).ok();
        assert!(sandbox.has("ws/.kiro/skills/widget-basics"), "the hook did not sync");
        assert!(sandbox.has(HOOKS_FILE) && !sandbox.has("home/.kiro/agents"));
        // Nor does a program that does not answer.
        program(&sandbox, "kiro-cli", "exit 1");
        sandbox.run(&["sync"]).ok();
        assert!(sandbox.has(HOOKS_FILE) && !sandbox.has("home/.kiro/agents"));
        sandbox.run(&["uninstall"]).ok();
        assert!(!sandbox.has("home/.kiro"));
    }
}
