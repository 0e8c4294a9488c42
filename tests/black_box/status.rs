//! `cargo agents status`: one screen.

use crate::hook_kit::{Event, Told, send};
use crate::{plugin_with_skill, skill, with_agents};
use serde_json::Value;
use symposium_testlib::Sandbox;

fn status(sandbox: &Sandbox, more: &[&str]) -> String {
    let args: Vec<_> = ["status"].iter().chain(more).copied().collect();
    let run = sandbox.run(&args).ok();
    assert_eq!(run.stderr, "", "the screen is the answer");
    run.stdout
}

#[test]
fn each_agent_shows_what_is_registered_and_whether_it_is_healthy() {
    let mut sandbox = with_agents(&["claude", "codex"]);
    sandbox.install();
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let before = status(&sandbox, &[]);
    assert!(before.contains("never synced, 3 changes for `cargo agents sync`"), "{before}");
    assert!(before.contains("hooks global …"), "{before}");
    sandbox.run(&["sync"]).ok();
    let after = status(&sandbox, &[]);
    assert!(after.contains("nothing to do"), "{after}");
    let claude = after.lines().find(|line| line.starts_with("  claude")).expect("a line");
    assert!(claude.contains("hooks global ✓   skills 1   descriptions 0.0 of 8.0 kB ✓"), "{after}");
    let codex = after.lines().find(|line| line.starts_with("  codex")).expect("a line");
    assert!(codex.contains("hooks global !"), "{after}");
    assert!(after.contains("not trusted") && after.contains("/hooks"), "{after}");
    let verbose = symposium_testlib::slashes(&status(&sandbox, &["-v"]));
    assert!(verbose.contains("hooks in ~/.claude/settings.json"), "{verbose}");
}

#[test]
fn a_plugin_is_active_inactive_with_its_reason_shadowed_or_off() {
    let sandbox = with_agents(&["claude"]);
    let config = sandbox.read("home/.symposium/config.toml");
    sandbox.write(
        "home/.symposium/config.toml",
        format!(
            "{config}\n[[plugin-source]]\nname = \"team\"\npath = \"team\"\n\n\
             [plugins]\ndisable = [\"lint\"]\n"
        ),
    );
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    plugin_with_skill(&sandbox, "bevy", "bevy>=0.16", "bevy-ecs");
    plugin_with_skill(&sandbox, "lint", "widget", "lint-rules");
    sandbox.write(
        "home/.symposium/team/w/SYMPOSIUM.toml",
        "name = \"widget\"\ncrates = [\"widget\"]\n",
    );
    let screen = status(&sandbox, &[]);
    let line = |words: &[&str]| {
        let found = screen.lines().any(|line| {
            let found: Vec<_> = line.split_whitespace().collect();
            found.starts_with(words)
        });
        assert!(found, "{words:?} in\n{screen}");
    };
    line(&["widget", "active", "widget", "1.2.3;", "it", "delivers", "nothing:"]);
    line(&[
        "widget",
        "shadowed",
        "the",
        "one",
        "of",
        "source",
        "`user-plugins`:",
        "the",
        "source",
        "`team`",
    ]);
    line(&["bevy", "inactive", "bevy", "is", "not", "a", "dependency"]);
    line(&["lint", "off", "`[plugins]", "disable`"]);
}

#[test]
fn a_skill_shows_origin_version_and_who_sees_it() {
    let sandbox = with_agents(&["claude", "kiro", "codex"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource = \"crate\"\n",
    );
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox.write("ws/.agents/skills/team-rules/SKILL.md", skill("team-rules", "Ours."));
    sandbox.run(&["sync"]).ok();
    let screen = status(&sandbox, &[]);
    assert!(screen.contains("basics      widget 1.2.3 → claude kiro codex"), "{screen}");
    assert!(screen.contains("team-rules  this workspace → claude kiro codex"), "{screen}");
    sandbox.write("ws/.claude/skills/basics/SKILL.md", skill("basics", "mine now"));
    let screen = status(&sandbox, &[]);
    assert!(screen.contains("! edited by you"), "{screen}");
}

#[test]
fn case_79_a_budget_that_is_exceeded_is_marked() {
    let sandbox = with_agents(&["claude"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    for number in 0..20 {
        let name = format!("skill-{number}");
        let text = skill(&name, &"d".repeat(500));
        sandbox.user_plugin(&format!("w/skills/{name}/SKILL.md"), &text);
    }
    let screen = status(&sandbox, &[]);
    assert!(screen.contains("descriptions 10.1 of 8.0 kB !"), "{screen}");
    assert!(screen.contains("and 8 more: `cargo agents status -v`"), "{screen}");
    assert!(status(&sandbox, &["-v"]).contains("skill-9"), "all of them");
}

#[test]
fn what_active_plugins_may_run_is_shown() {
    let sandbox = with_agents(&["claude"]);
    let manifest = |name: &str, crate_name: &str| {
        format!(
            "name = \"{name}\"\ncrates = [\"{crate_name}\"]\n\n[[installations]]\nname = \"tool\"\n\
             source = \"cargo\"\ncrate = \"{name}-tool\"\nversion = \"0.3.1\"\n\
             install_commands = [\"tool init\"]\n\n[[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\n\
             command = \"tool\"\n\n[[mcp_servers]]\nname = \"{name}-server\"\ncommand = \"npx\"\n\
             args = [\"-y\", \"{name}\"]\n"
        )
    };
    sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest("w", "widget"));
    sandbox.user_plugin("b/SYMPOSIUM.toml", &manifest("b", "bevy"));
    let screen = status(&sandbox, &[]);
    let wanted = "may run w-tool 0.3.1 (not on disk yet), installed with 1 shell";
    assert!(screen.contains(wanted), "{screen}");
    assert!(screen.contains("may run `npx -y w`"), "{screen}");
    assert!(!screen.contains("b-tool") && !screen.contains("npx -y b"), "{screen}");
}

#[test]
fn a_status_writes_nothing_and_does_not_need_a_workspace() {
    let sandbox = with_agents(&["claude", "gemini"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let before = sandbox.ws_tree();
    status(&sandbox, &[]);
    assert_eq!(sandbox.ws_tree(), before);
    assert!(!sandbox.has("home/.claude") && !sandbox.has("home/.gemini"));
    let outside = sandbox.run_in("home", &["status"]).ok();
    assert!(outside.stdout.contains("none: there is no Cargo.toml"), "{}", outside.stdout);
    assert!(outside.stdout.contains("hooks global …"), "{}", outside.stdout);
}

#[test]
fn forty_columns_hold_every_line() {
    let mut sandbox = with_agents(&["claude", "codex", "gemini"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.set("COLUMNS", "40");
    for run in [sandbox.run(&["status"]), sandbox.run(&["doctor", "--offline"])] {
        let wide: Vec<_> = run.stdout.lines().filter(|line| line.chars().count() > 40).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert!(run.stdout.lines().count() > 10, "{}", run.stdout);
    }
}

#[test]
fn what_was_only_looked_at_is_not_called_synced_and_errors_are_not_nothing_to_do() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let config = sandbox.read("home/.symposium/config.toml");
    sandbox.write("home/.symposium/config.toml", format!("auto-sync = false\n{config}"));
    send(&sandbox, "claude", Event::PostToolUse, &Told::in_ws(&sandbox));
    let screen = status(&sandbox, &[]);
    assert!(screen.contains("never synced"), "{screen}");
    sandbox.run(&["sync"]).ok();
    send(&sandbox, "claude", Event::PostToolUse, &Told::in_ws(&sandbox).id("2"));
    let screen = status(&sandbox, &[]);
    assert!(!screen.contains("never synced") && screen.contains("nothing to do"), "{screen}");
    std::fs::remove_dir_all(sandbox.ws().join(".claude")).expect("removes");
    sandbox.write("ws/.claude", "no folder\n");
    sandbox.run(&["sync"]).code(1);
    let screen = status(&sandbox, &[]);
    assert!(screen.contains(" with errors, a sync can't do more: see the errors"), "{screen}");
    let json = sandbox.run(&["status", "--json"]).ok();
    assert_eq!(json.json_lines()[0]["workspace"]["sync_failed"], true, "{}", json.stdout);
}

#[test]
fn hooks_that_find_no_program_are_not_called_fine() {
    // A build's own folder is no place to be called at.
    let mut sandbox = with_agents(&["claude"]);
    sandbox.run(&["sync"]).ok();
    let screen = status(&sandbox, &[]);
    let told = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("hooks global !"), "{screen}");
    assert!(told.contains("! `cargo-agents` is not on the PATH that agents see"), "{screen}");
    assert!(told.contains("hooks do nothing until it is found by name"), "{screen}");
    sandbox.install();
    sandbox.run(&["sync"]).ok();
    let screen = status(&sandbox, &[]);
    assert!(screen.contains("hooks global ✓") && !screen.contains("PATH"), "{screen}");
}

#[test]
fn case_19_a_hook_that_somebody_removed_is_seen_and_comes_back() {
    let mut sandbox = with_agents(&["claude"]);
    sandbox.install();
    sandbox.run(&["sync"]).ok();
    assert!(status(&sandbox, &[]).contains("hooks global ✓"));
    sandbox.write("home/.claude/settings.json", "{}\n");
    let screen = status(&sandbox, &[]);
    assert!(
        screen.contains("hooks global …") && screen.contains("Register  hooks → claude"),
        "{screen}"
    );
    sandbox.run(&["sync"]).ok();
    assert!(status(&sandbox, &[]).contains("hooks global ✓"));
}

#[test]
fn a_configuration_that_can_not_be_read_costs_nothing_that_is_there() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run(&["sync"]).ok();
    let settings = sandbox.read("home/.claude/settings.json");
    sandbox.write("home/.symposium/config.toml", "[[agent\n");
    let run = sandbox.run(&["--offline", "sync"]).code(1);
    assert!(run.stderr.contains("nothing is changed"), "{}", run.stderr);
    assert_eq!(sandbox.read("home/.claude/settings.json"), settings);
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
    let run = sandbox.run(&["status"]).ok();
    assert!(!run.stdout.contains("Next sync"), "{}", run.stdout);
}

#[test]
fn nothing_is_advised_that_depends_on_a_configuration_that_cant_be_read() {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    let candidates = || status(&sandbox, &[]).contains("`cargo agents use widget`");
    assert!(candidates());
    let config = sandbox.read("home/.symposium/config.toml");
    for broken in ["[[agent\n".to_owned(), format!("plugin-source = 1\n{config}")] {
        sandbox.write("home/.symposium/config.toml", broken);
        let screen = sandbox.run(&["status"]).ok().stdout;
        assert!(screen.contains("the configuration can't be read"), "{screen}");
        assert!(!screen.contains("cargo agents use"), "{screen}");
        assert!(!screen.contains("plugin sync"), "{screen}");
    }
    sandbox.write("home/.symposium/config.toml", config);
    assert!(candidates());
}

#[test]
fn a_workspace_that_can_not_be_read_is_not_none() {
    let sandbox = with_agents(&["claude"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"script\"\n\
         script = \"go.sh\"\n\n[subcommand.w-check]\ndescription = \"Checks\"\ncommand = \"script\"\n",
    );
    let manifest = sandbox.read("ws/Cargo.toml");
    let lock = sandbox.read("ws/Cargo.lock");
    for (file, text, place) in [
        ("ws/Cargo.toml", "[package\n".to_owned(), "Cargo.toml:1:"),
        ("ws/Cargo.lock", format!("<<<<<<< one\n{lock}=======\n>>>>>>> two\n"), "Cargo.lock:"),
    ] {
        sandbox.write("ws/Cargo.toml", &manifest);
        sandbox.write("ws/Cargo.lock", &lock);
        sandbox.write(file, text);
        let screen = status(&sandbox, &[]);
        assert!(screen.contains("it can't be read:") && screen.contains(place), "{screen}");
        assert!(screen.contains("remedy: "), "{screen}");
        assert!(!screen.contains("no Cargo.toml"), "{screen}");
        assert!(screen.contains("inactive  the workspace can't be read"), "{screen}");
        let json = sandbox.run(&["status", "--json"]).ok().stdout;
        let json: serde_json::Value = serde_json::from_str(&json).expect("one document");
        assert!(json["workspace_trouble"]["location"]["path"].is_string(), "{json:#}");
        let why = sandbox.run(&["why", "w"]).ok();
        assert!(why.stdout.contains("the workspace can't be read"), "{}", why.stdout);
        let why = sandbox.run(&["why", "nobody"]).code(1);
        assert!(why.stderr.contains("the workspace can't be read"), "{}", why.stderr);
        let run = sandbox.run(&["w-check"]).code(1);
        assert!(run.stderr.contains("the workspace can't be read"), "{}", run.stderr);
        assert!(!run.stderr.contains("no Rust workspace"), "{}", run.stderr);
    }
}

#[test]
fn active_plugins_are_cut_too_and_equal_lines_are_told_once() {
    let sandbox = with_agents(&["claude"]);
    for number in 10..25 {
        let name = format!("w{number}");
        let manifest = format!(
            "name = \"{name}\"\ncrates = [\"widget\"]\n\
             [[installations]]\nname = \"a\"\nscript = \"w.sh\"\nargs = [\"1\"]\n\
             [[installations]]\nname = \"b\"\nscript = \"w.sh\"\nargs = [\"2\"]\n\
             [[hooks]]\nname = \"one\"\nevent = \"PreToolUse\"\ncommand = \"a\"\n\
             [[hooks]]\nname = \"two\"\nevent = \"PreToolUse\"\ncommand = \"b\"\n"
        );
        sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
        sandbox.user_plugin(&format!("{name}/w.sh"), "exit 0\n");
    }
    let screen = status(&sandbox, &[]);
    assert_eq!(screen.matches("may run script w.sh").count(), 12, "{screen}");
    assert!(screen.contains("and 3 more: `cargo agents status -v`"), "{screen}");
    assert_eq!(status(&sandbox, &["-v"]).matches("may run script w.sh").count(), 15);
}

#[test]
fn hooks_that_were_edited_say_nothing_of_a_server_in_the_same_file() {
    let sandbox = with_agents(&["gemini"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"*\"]\n\
         [[mcp_servers]]\nname = \"server-of-hooks\"\ncommand = \"sh\"\nargs = []\nenv = []\n",
    );
    sandbox.run(&["init", "--add-agent", "gemini"]).ok();
    let file = "home/.gemini/settings.json";
    let mut settings: Value = serde_json::from_str(&sandbox.read(file)).expect("JSON");
    let events = settings["hooks"].as_object_mut().expect("hooks");
    for group in events.values_mut().flat_map(|groups| groups.as_array_mut().expect("groups")) {
        group["hooks"][0]["timeout"] = 77.into();
    }
    sandbox.write(file, settings.to_string());
    let told: Value = serde_json::from_str(&status(&sandbox, &["--json"])).expect("JSON");
    let agent = &told["agents"][0];
    assert_eq!(agent["hooks"]["state"], "left-alone", "{told}");
    let server = &agent["servers"][0];
    assert_eq!(server["file"], agent["hooks"]["files"][0], "{told}");
    assert_eq!(server["state"], "ok", "{told}");
}

#[test]
fn a_source_that_was_never_fetched_is_named_with_what_fetches_it() {
    let sandbox = with_agents(&["claude"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let source = "\n[[plugin-source]]\nname = \"far\"\ngit = \"file:///there/is/none\"\n";
    sandbox.write("home/.symposium/config.toml", config + source);
    let screen = status(&sandbox, &[]);
    let told = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("the plugin source far was not fetched yet"), "{screen}");
    assert!(told.contains("`cargo agents plugin sync far` fetches it"), "{screen}");
    let json: Value = serde_json::from_str(&status(&sandbox, &["--json"])).expect("JSON");
    assert_eq!(json["unfetched"], serde_json::json!(["far"]));
}

#[test]
fn the_skills_that_an_agent_finds_are_counted_where_the_workspace_cant_be_read() {
    let sandbox = with_agents(&["claude", "codex"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.write("ws/.agents/skills/team-rules/SKILL.md", skill("team-rules", "Ours."));
    sandbox.write("ws/.claude/skills/mine/SKILL.md", skill("mine", "Nobody else's."));
    sandbox.run(&["sync"]).ok();
    let agents = || {
        let told: Value = serde_json::from_str(&status(&sandbox, &["--json"])).expect("JSON");
        let told = told["agents"].as_array().expect("agents").clone();
        let of = |it: &Value| {
            [&it["skills"], &it["planned_skills"], &it["descriptions"]].map(Value::to_string)
        };
        told.iter().map(of).collect::<Vec<_>>()
    };
    let before = agents();
    assert_eq!(before[0][..2], ["2", "0"], "{before:?}");
    assert_eq!(before[1][..2], ["2", "0"], "{before:?}");
    sandbox.write("ws/Cargo.toml", "[package");
    assert_eq!(agents(), before, "they lie where they did");
    let line = "skills 2   descriptions";
    assert!(status(&sandbox, &[]).contains(line), "{}", status(&sandbox, &[]));
}

#[test]
fn a_skill_that_the_next_sync_removes_is_found_until_then() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run(&["sync"]).ok();
    let plugin = sandbox.path("home/.symposium/plugins/widget");
    std::fs::remove_dir_all(plugin).expect("the plugin goes");
    let screen = status(&sandbox, &[]);
    assert!(screen.contains("skills 1   descriptions 0.0"), "{screen}");
    assert!(screen.contains("Remove  widget-basics"), "{screen}");
    sandbox.run(&["sync"]).ok();
    assert!(status(&sandbox, &[]).contains("skills 0\n"), "{}", status(&sandbox, &[]));
}
