//! `cargo agents sync`, from dependencies to skill folders.

use crate::{NO_BUILTIN, configure, plugin_with_skill, sandbox, skill};
use symposium_testlib::{Sandbox, Tree};

fn quiet_sandbox() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox
}

#[test]
fn f54_f55_a_matching_plugin_s_skill_is_installed_with_marker_and_ignore_files() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("Installed widget-basics"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    let dir = "ws/.claude/skills/widget-basics";
    assert_eq!(sandbox.read(&format!("{dir}/SKILL.md")), skill("widget-basics", "What it is for."));
    assert_eq!(sandbox.read(&format!("{dir}/.gitignore")), "*\n");
    assert_eq!(sandbox.read(&format!("{dir}/.ignore")), "!*\n");
    assert!(sandbox.has(&format!("{dir}/.symposium")));
    // Decision 18: nothing above the skill's own folder.
    assert!(!sandbox.has("ws/.claude/skills/.gitignore"));
    assert!(!sandbox.has("ws/.claude/.gitignore"));
}

#[test]
fn a_second_run_writes_nothing() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    let times = |sandbox: &Sandbox| {
        walkdir::WalkDir::new(sandbox.ws())
            .into_iter()
            .map(|entry| entry.expect("reads"))
            .map(|entry| {
                (entry.path().to_path_buf(), entry.metadata().expect("reads").modified().ok())
            })
            .collect::<Vec<_>>()
    };
    let before = times(&sandbox);
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(times(&sandbox), before);
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
}

#[test]
fn f75_git_status_stays_clean_and_the_lock_file_is_not_touched() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "start"]);
    for agent in ["claude", "codex", "kiro", "gemini"] {
        sandbox.run(&["sync", "--agent", agent]).ok();
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{agent}");
    }
}

#[test]
fn f75_a_missing_lock_file_works_and_is_not_created() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("removes");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
    assert!(!sandbox.has("ws/Cargo.lock"));
}

#[test]
fn f299_each_agent_s_skills_go_where_it_reads_them() {
    for (agent, dir) in [
        ("claude", ".claude/skills"),
        ("codex", ".agents/skills"),
        ("copilot", ".agents/skills"),
        ("gemini", ".agents/skills"),
        ("goose", ".agents/skills"),
        ("opencode", ".agents/skills"),
        ("kiro", ".kiro/skills"),
    ] {
        let sandbox = quiet_sandbox();
        plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
        sandbox.run(&["sync", "--agent", agent]).ok();
        let tree = sandbox.ws_tree();
        let installed: Vec<_> =
            tree.files().into_iter().filter(|path| path.ends_with("SKILL.md")).collect();
        assert_eq!(installed, [format!("{dir}/widget-basics/SKILL.md")], "{agent}");
    }
}

#[test]
fn f58_what_is_no_longer_needed_goes_and_hand_written_skills_stay() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.write("ws/.claude/skills/mine/SKILL.md", skill("mine", "Mine."));
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    sandbox.package(&[]);
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("Removed widget-basics"), "{}", run.stderr);
    assert!(!sandbox.has("ws/.claude/skills/widget-basics"));
    assert!(sandbox.has("ws/.claude/skills/mine/SKILL.md"));
}

#[test]
fn f58_copies_for_agents_that_are_gone_are_reaped() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let config = |agents: &str| {
        sandbox.write("home/.symposium/config.toml", format!("{agents}\n{NO_BUILTIN}"));
    };
    config("[[agent]]\nname = \"claude\"\n[[agent]]\nname = \"kiro\"");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("ws/.kiro/skills/widget-basics"));
    config("[[agent]]\nname = \"claude\"");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has("ws/.kiro/skills/widget-basics"));
    assert!(sandbox.has("ws/.claude/skills/widget-basics"));
}

#[test]
fn decision_19_another_agent_named_for_one_run_leaves_the_configured_ones_alone() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    configure(&sandbox, &["codex"], "");
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(sandbox.has("ws/.agents/skills/widget-basics"));
    assert!(sandbox.has("ws/.claude/skills/widget-basics"));
}

#[test]
fn f48_outside_a_workspace_is_an_error_that_says_so() {
    let sandbox = sandbox();
    let run = sandbox.run(&["sync", "--agent", "claude"]).code(1);
    assert!(run.stderr.contains("no Rust workspace"), "{}", run.stderr);
    assert!(run.stderr.contains("Cargo.toml"), "{}", run.stderr);
}

#[test]
fn f50_any_folder_of_the_workspace_will_do() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run_in("ws/src", &["sync", "--agent", "claude"]).ok();
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
}

#[test]
fn f72_no_agents_is_a_message_and_exit_0() {
    let sandbox = quiet_sandbox();
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("no agents"), "{}", run.stderr);
    assert!(run.stderr.contains("--agent"), "{}", run.stderr);
}

#[test]
fn f73_no_applicable_skills_is_said() {
    let sandbox = quiet_sandbox();
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("no skills"), "{}", run.stderr);
}

#[test]
fn an_unknown_agent_is_an_error_that_names_the_known_ones() {
    let sandbox = quiet_sandbox();
    let run = sandbox.run(&["sync", "--agent", "cloude"]);
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("cloude") && run.stderr.contains("claude"), "{}", run.stderr);
}

#[test]
fn decision_27_an_unknown_agent_in_the_configuration_is_a_warning_and_the_others_go_on() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    configure(&sandbox, &["hal", "claude"], "");
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("warning") && run.stderr.contains("`hal`"), "{}", run.stderr);
    assert!(sandbox.has("ws/.claude/skills/widget-basics"));
}

#[test]
fn dry_run_shows_the_plan_and_changes_nothing_and_check_exits_1() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let before = sandbox.ws_tree();
    let run = sandbox.run(&["sync", "--agent", "claude", "--dry-run"]).ok();
    assert!(run.stderr.contains("Install widget-basics"), "{}", run.stderr);
    assert!(run.stderr.contains("1 change; run without --dry-run to make it"), "{}", run.stderr);
    let run = sandbox.run(&["sync", "--agent", "claude", "--check"]).code(1);
    assert!(run.stderr.contains("Install widget-basics"), "{}", run.stderr);
    assert_eq!(sandbox.ws_tree(), before);
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    sandbox.run(&["sync", "--agent", "claude", "--check"]).ok();
}

#[test]
fn verbose_says_why_each_thing_was_taken_or_not() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    plugin_with_skill(&sandbox, "bevy", "bevy>=0.16", "bevy-ecs");
    let run = sandbox.run(&["sync", "--agent", "claude", "-v"]).ok();
    assert!(run.stderr.contains("Matched widget"), "{}", run.stderr);
    assert!(run.stderr.contains("Skipped bevy"), "{}", run.stderr);
}

#[test]
fn json_is_lines_of_objects_and_nothing_else_is_on_standard_output() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let run = sandbox.run(&["--json", "sync", "--agent", "claude"]).ok();
    let lines = run.json_lines();
    let events: Vec<_> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert!(events.contains(&"workspace") && events.contains(&"change"), "{events:?}");
    assert_eq!(events.last(), Some(&"finished"));
    assert_eq!(run.stderr, "");
}

#[test]
fn f60_f61_decision_24_contested_names_get_suffixes_and_heal_again() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "one", "widget", "basics");
    plugin_with_skill(&sandbox, "two", "widget", "basics");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    let installed = |sandbox: &Sandbox| {
        let mut names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
            .expect("reads")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    };
    let names = installed(&sandbox);
    assert_eq!(names.len(), 2, "{names:?}");
    for name in &names {
        assert!(name.starts_with("basics-") && name.len() == "basics-".len() + 8, "{name}");
        let text = sandbox.read(&format!("ws/.claude/skills/{name}/SKILL.md"));
        assert!(text.contains(&format!("name: {name}\n")), "{text}");
    }
    std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins/two")).expect("removes");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["basics"]);
}

#[test]
fn f61_a_name_that_the_user_holds_is_left_to_the_user() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "one", "widget", "basics");
    sandbox.write("ws/.claude/skills/basics/SKILL.md", "mine");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(sandbox.read("ws/.claude/skills/basics/SKILL.md"), "mine");
    let count = std::fs::read_dir(sandbox.ws().join(".claude/skills")).expect("reads").count();
    assert_eq!(count, 2);
}

#[test]
fn two_at_once_end_like_one() {
    let sandbox = quiet_sandbox();
    for number in 0..20 {
        plugin_with_skill(&sandbox, &format!("p{number}"), "widget", &format!("skill-{number}"));
    }
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = sandbox.command(&["sync", "--agent", "claude"]);
            command.stderr(std::process::Stdio::piped()).spawn().expect("starts")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    let names = std::fs::read_dir(sandbox.ws().join(".claude/skills")).expect("reads").count();
    assert_eq!(names, 20);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_killed_is_repaired_by_the_next() {
    let sandbox = quiet_sandbox();
    for number in 0..30 {
        plugin_with_skill(&sandbox, &format!("p{number}"), "widget", &format!("skill-{number}"));
    }
    for delay in [1, 2, 3, 5, 8, 13, 21] {
        let mut child = sandbox
            .command(&["sync", "--agent", "claude", "--force"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(std::time::Duration::from_millis(delay));
        let _ = child.kill();
        let _ = child.wait();
        for entry in std::fs::read_dir(sandbox.ws().join(".claude/skills")).into_iter().flatten() {
            let dir = entry.expect("an entry").path();
            let name = dir.file_name().expect("a name").to_string_lossy().into_owned();
            if !name.starts_with(".symposium-") {
                let text = std::fs::read_to_string(dir.join("SKILL.md")).expect("a whole skill");
                assert!(text.contains("What it is for."));
                assert!(dir.join(".symposium").exists(), "{name} has no marker");
            }
        }
    }
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    let names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
        .expect("reads")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    assert_eq!(names.len(), 30, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("skill-")), "{names:?}");
}

#[test]
fn a_source_that_changes_is_copied_again() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    sandbox.user_plugin("widget/skills/widget-basics/SKILL.md", &skill("widget-basics", "Newer."));
    sandbox.user_plugin("widget/skills/widget-basics/references/more.md", "more\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("Updated widget-basics"), "{}", run.stderr);
    assert!(sandbox.read("ws/.claude/skills/widget-basics/SKILL.md").contains("Newer."));
    assert_eq!(sandbox.read("ws/.claude/skills/widget-basics/references/more.md"), "more\n");
}

#[test]
fn an_agent_list_that_can_not_be_read_takes_nothing_away() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "p", "widget", "basics");
    let good = sandbox.read("home/.symposium/config.toml");
    let with = |agents: &str| {
        sandbox.write("home/.symposium/config.toml", format!("{agents}\n{good}"));
    };
    sandbox.write(
        "home/.symposium/config.toml",
        format!("{good}\n[[agent]]\nname = \"claude\"\n[[agent]]\nname = \"gemini\"\n"),
    );
    sandbox.run(&["sync"]).ok();
    let before = (sandbox.ws_tree(), Tree::of(&sandbox.home().join(".claude")));
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
    for agents in
        ["agent = [\"claude\", \"gemini\"]", "agent = \"claude\"", "agents = [\"claude\"]"]
    {
        with(agents);
        let run = sandbox.run(&["sync"]).code(1);
        assert!(run.stderr.contains("nothing is changed"), "{}", run.stderr);
        assert!(run.stderr.contains("name = \"claude\""), "{}", run.stderr);
        let hook = format!("{{\"session_id\":\"s\",\"cwd\":{:?}}}", sandbox.ws());
        sandbox.feed(&["hook", "claude", "session-start"], hook.as_bytes()).ok();
        let after = (sandbox.ws_tree(), Tree::of(&sandbox.home().join(".claude")));
        assert!(after == before, "{agents}");
    }
    for entry in ["[[agent]]\nname = 3", "[[agent]]\nnam = \"claude\""] {
        sandbox.write("home/.symposium/config.toml", format!("{good}\n{entry}\n"));
        let run = sandbox.run(&["sync"]).code(1);
        assert!(run.stderr.contains("nothing is changed"), "{}", run.stderr);
        assert!(sandbox.ws_tree() == before.0, "{entry}");
    }
}

#[test]
fn a_crate_whose_sources_are_away_keeps_its_skills() {
    let sandbox = quiet_sandbox();
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource = \"crate\"\n",
    );
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    let installed = "ws/.claude/skills/basics/SKILL.md";
    assert!(sandbox.has(installed));
    std::fs::remove_dir_all(sandbox.home().join(".cargo/registry")).expect("removes");
    let run = sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("the sources of widget can't be had now"), "{}", run.stderr);
    assert!(sandbox.has(installed));
    sandbox.package(&[]);
    sandbox.run(&["--offline", "sync", "--agent", "claude"]).ok();
    assert!(!sandbox.has(installed));
}

#[test]
fn what_stands_in_a_skill_folder_s_way_is_an_error() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "p", "widget", "basics");
    sandbox.write("ws/.claude", "mine\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]).code(1);
    assert!(run.stderr.contains("`.claude/skills` can't hold skills"), "{}", run.stderr);
    assert!(run.stderr.contains("Finished with errors: nothing changed"), "{}", run.stderr);
    assert_eq!(sandbox.read("ws/.claude"), "mine\n");
}

#[test]
fn a_fresh_checkout_shows_what_can_not_be_read_and_never_has_copies() {
    let sandbox = quiet_sandbox();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let look = ["sync", "--agent", "claude", "--dry-run"];
    sandbox.run(&["sync", "--agent", "claude", "--check"]).code(1);
    sandbox.run(&look).ok();
    let plugin = "home/.symposium/plugins/widget/SYMPOSIUM.toml";
    for (file, broken) in [
        (plugin, "name = "),
        ("ws/Cargo.lock", "version = 4\n[[package"),
        ("ws/Cargo.toml", "[package"),
    ] {
        let whole = sandbox.read(file);
        sandbox.write(file, broken);
        let run = sandbox.run(&look).code(1);
        let name = file.rsplit('/').next().expect("a name");
        assert!(run.stderr.contains(&format!("{name}:")), "{}", run.stderr);
        sandbox.write(file, whole);
        sandbox.run(&look).ok();
    }
    sandbox.write("ws/.agents/skills/ours/SKILL.md", "---\nname: [\n---\n");
    let run = sandbox.run(&["plugin", "validate", ".agents/skills"]).code(1);
    assert!(run.stderr.contains("SKILL.md:"), "{}", run.stderr);
}
