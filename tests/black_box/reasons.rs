//! Why something goes, or nothing comes: each reason in its own words, in every screen.

use symposium_testlib::Sandbox;

use crate::{NO_BUILTIN, bare_sandbox, configure, plugin_with_skill, skill, with_agents};

const PLACED: &str = "ws/.claude/skills/basics/SKILL.md";

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the screens say of what goes.
#[track_caller]
fn goes(sandbox: &Sandbox, words: &str) {
    assert!(sandbox.has(PLACED));
    let dry = flat(&sandbox.run(&["sync", "--dry-run"]).ok().stderr);
    assert!(dry.contains(words), "{words:?} in {dry}");
    for args in [vec!["status"], vec!["why", "basics"], vec!["doctor", "--offline"]] {
        let screen = flat(&sandbox.run(&args).stdout);
        assert!(screen.contains(words), "{words:?} in {screen}");
        assert!(!screen.contains("no longer needed"), "{screen}");
    }
    let told = flat(&sandbox.run(&["sync"]).stderr);
    assert!(told.contains(words), "{words:?} in {told}");
    assert!(!sandbox.has(PLACED));
}

/// A workspace with one skill, which comes through the plugin `w` of `widget`.
fn with_skill() -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "w", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    sandbox
}

/// A workspace with the skill of a crate.
fn with_crate_skill(plugin: bool) -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    if plugin {
        sandbox.user_plugin(
            "w/SYMPOSIUM.toml",
            "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource = \"crate\"\n",
        );
        sandbox.run(&["sync"]).ok();
    } else {
        sandbox.run(&["use", "widget"]).ok();
    }
    sandbox
}

fn reconfigure(sandbox: &Sandbox, from: &str, to: &str) {
    let config = sandbox.read("home/.symposium/config.toml");
    assert!(config.contains(from), "{config}");
    sandbox.write("home/.symposium/config.toml", config.replace(from, to));
}

#[test]
fn a_dependency_that_is_gone() {
    let sandbox = with_skill();
    sandbox.package(&[]);
    goes(&sandbox, "widget is not a dependency of this workspace");
    for plugin in [true, false] {
        let sandbox = with_crate_skill(plugin);
        sandbox.package(&[]);
        goes(&sandbox, "widget is no longer a dependency");
    }
}

#[test]
fn a_plugin_or_a_crate_that_the_user_does_not_want() {
    let sandbox = with_skill();
    reconfigure(&sandbox, "[defaults]", "[plugins]\ndisable = [\"w\"]\n[defaults]");
    goes(&sandbox, "plugin w is off: `[plugins] disable`");
    let sandbox = with_crate_skill(true);
    reconfigure(&sandbox, "[defaults]", "[plugins]\ndisable = [\"widget\"]\n[defaults]");
    goes(&sandbox, "you declined the skills of widget");
    let sandbox = with_crate_skill(false);
    let config = sandbox.read("home/.symposium/config.toml");
    let line = config.lines().find(|line| line.contains("use")).expect("a line").to_owned();
    reconfigure(&sandbox, &line, "");
    goes(&sandbox, "you no longer ask for the skills of widget");
}

#[test]
fn a_plugin_or_a_source_that_is_gone_or_another_version_without_the_skill() {
    let sandbox = with_skill();
    std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins/w")).expect("removes");
    goes(&sandbox, "no plugin of `user-plugins` brings it any more");
    let sandbox = with_skill();
    std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins/w/skills/basics"))
        .expect("removes");
    goes(&sandbox, "w has no skill of this name any more");
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "w", "widget", "basics");
    std::fs::rename(
        sandbox.home().join(".symposium/plugins"),
        sandbox.home().join(".symposium/team"),
    )
    .expect("moves");
    let source = "[[plugin-source]]\nname = \"team\"\npath = \"team\"\n";
    reconfigure(&sandbox, "[defaults]", &format!("{source}[defaults]"));
    sandbox.run(&["sync"]).ok();
    reconfigure(&sandbox, source, "");
    goes(&sandbox, "`team` is no longer one of your plugin sources");
    let sandbox = with_crate_skill(true);
    sandbox.registry_crate("widget", "2.0.0", &[]);
    sandbox.package(&[("widget", "2.0.0")]);
    goes(&sandbox, "widget 2.0.0 has no skill of this name");
}

#[test]
fn a_skill_that_got_another_name_says_which() {
    let sandbox = with_crate_skill(true);
    configure(&sandbox, &["claude", "codex"], "");
    sandbox.run(&["sync"]).ok();
    let marker = sandbox.path("ws/.claude/skills/basics/.symposium");
    std::fs::remove_file(marker).expect("the copy is the user's now");
    let status = flat(&sandbox.run(&["status"]).ok().stdout);
    let told = flat(&sandbox.run(&["sync"]).ok().stderr);
    for screen in [status, told] {
        assert!(screen.contains("basics-widget-1-2-3 now"), "{screen}");
        assert!(!screen.contains("no skill of this name"), "{screen}");
    }
    assert!(sandbox.has(PLACED) && !sandbox.has("ws/.agents/skills/basics"));
    assert!(sandbox.has("ws/.agents/skills/basics-widget-1-2-3/SKILL.md"));
}

#[test]
fn the_page_about_the_dependencies_goes_with_them() {
    for (config, words) in [
        ("", "the workspace depends on no crates but its own"),
        ("[defaults]\ndependencies = false\n", "`dependencies` is off in `[defaults]`"),
    ] {
        let sandbox = bare_sandbox();
        let defaults =
            "[[agent]]\nname = \"claude\"\n[defaults]\nsymposium-recommendations = false\n";
        sandbox.write("home/.symposium/config.toml", defaults);
        sandbox.package(&[("widget", "1.2.3")]);
        sandbox.run(&["sync"]).ok();
        if config.is_empty() {
            sandbox.package(&[]);
        } else {
            reconfigure(&sandbox, "[defaults]\n", config);
        }
        let told = flat(&sandbox.run(&["sync"]).ok().stderr);
        assert!(told.contains("Removed rust-dependencies") && told.contains(words), "{told}");
        assert!(!told.contains("no skill of this name"), "{told}");
    }
}

#[test]
#[cfg(unix)]
fn a_skill_behind_a_link_that_leads_out_of_its_source() {
    for moved in ["plugins/w", "plugins/w/skills/basics"] {
        let sandbox = with_skill();
        let (from, to) = (sandbox.path(&format!("home/.symposium/{moved}")), sandbox.path("away"));
        std::fs::rename(&from, &to).expect("moves");
        std::os::unix::fs::symlink(&to, &from).expect("links");
        goes(&sandbox, "a link in `w/skills/basics` leads out of its source `user-plugins`");
    }
}

#[test]
fn an_agent_that_is_gone_or_all_of_them() {
    let sandbox = with_skill();
    configure(&sandbox, &["codex"], "");
    goes(&sandbox, "none of your agents reads .claude/skills");
    let sandbox = with_skill();
    configure(&sandbox, &[], "");
    goes(&sandbox, "no agent is configured");
}

#[test]
fn another_manifest_of_the_source_that_is_broken_is_no_reason() {
    let broken = |sandbox: &Sandbox| {
        sandbox.user_plugin("broken/SYMPOSIUM.toml", "name = \"broken\"\ncrates = [\n");
    };
    let sandbox = with_skill();
    broken(&sandbox);
    configure(&sandbox, &[], "");
    goes(&sandbox, "no agent is configured");
    let sandbox = with_skill();
    broken(&sandbox);
    plugin_with_skill(&sandbox, "w", "widget>=2", "basics");
    goes(&sandbox, "widget 1.2.3 is not ≥ 2");
    // Where it may be the one that brings it, the copy stays, and that is the reason.
    let sandbox = with_skill();
    sandbox.user_plugin("w/SYMPOSIUM.toml", "name = \"v\"\ncrates = [\n");
    std::fs::remove_dir_all(sandbox.home().join(".symposium/last-good")).expect("removes");
    let told = flat(&sandbox.run(&["sync"]).stderr);
    assert!(told.contains("Kept basics") && sandbox.has(PLACED), "{told}");
    assert!(told.contains("not all of its source `user-plugins` can be read"), "{told}");
}

#[test]
fn a_predicate_that_holds_no_more() {
    let sandbox = with_skill();
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget>=3\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    goes(&sandbox, "widget 1.2.3 is not ≥ 3");
}

#[test]
fn a_server_that_goes_says_why() {
    let sandbox = with_agents(&["claude"]);
    let manifest = |gate: &str| {
        format!(
            "name = \"w\"\ncrates = [\"{gate}\"]\n[[mcp_servers]]\nname = \"tools\"\n\
             command = \"sh\"\nargs = []\nenv = []\n"
        )
    };
    for (gate, agents, words) in [
        ("widget>=2", vec!["claude"], "widget 1.2.3 is not ≥ 2"),
        ("widget", vec!["codex"], "the agent is not one of yours"),
    ] {
        configure(&sandbox, &["claude"], "");
        sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest("widget"));
        sandbox.run(&["sync"]).ok();
        configure(&sandbox, &agents, "");
        sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest(gate));
        let doctor = flat(&sandbox.run(&["doctor", "--offline"]).stdout);
        assert!(doctor.contains(&format!("the server `tools` (claude): {words}")), "{doctor}");
        let told = flat(&sandbox.run(&["sync"]).ok().stderr);
        assert!(told.contains("Unregistered tools") && told.contains(words), "{told}");
    }
}

#[test]
fn no_skills_says_why_there_are_none() {
    let sandbox = with_agents(&[]);
    plugin_with_skill(&sandbox, "w", "widget", "basics");
    let told = |sandbox: &Sandbox| flat(&sandbox.run(&["sync"]).stderr);
    let run = told(&sandbox);
    assert!(run.contains("1 skill applies, and no agent is configured"), "{run}");
    configure(&sandbox, &["claude"], "[plugins]\ndisable = [\"w\"]\n");
    let run = told(&sandbox);
    assert!(run.contains("no skills apply, with 1 declined or off for claude"), "{run}");
    configure(&sandbox, &["claude"], "");
    sandbox.write("ws/.claude", "no folder\n");
    let run = told(&sandbox);
    assert!(run.contains("`.claude/skills` can't hold skills"), "{run}");
}

/// The README's first command, without any configuration.
fn by_hand() -> Sandbox {
    let sandbox = bare_sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.package(&[("widget", "1.2.3")]);
    plugin_with_skill(&sandbox, "w", "widget", "basics");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(sandbox.has(PLACED));
    sandbox
}

#[test]
fn what_was_placed_by_hand_for_an_agent_is_known_as_that_and_stays() {
    let sandbox = by_hand();
    let words = "1 skill in .claude/skills was placed by hand for claude";
    let remedy =
        "syncs keep that up to date; `cargo agents sync --agent claude` also brings what is new";
    for args in [vec!["status"], vec!["doctor", "--offline"], vec!["sync"]] {
        let run = sandbox.run(&args);
        let text = flat(&format!("{}{}", run.stdout, run.stderr));
        assert!(text.contains(words) && text.contains(remedy), "{text}");
        assert!(!text.contains("stale") && !text.contains("emove"), "{text}");
        assert!(!text.contains("never synced"), "{text}");
        assert!(sandbox.has(PLACED), "{args:?}");
    }
    let why = flat(&sandbox.run(&["why", "basics"]).ok().stdout);
    assert!(why.contains("basics (skill) is placed by hand for claude"), "{why}");
    // So it is for another agent's sync, by hand or not.
    sandbox.run(&["sync", "--agent", "codex"]).ok();
    assert!(sandbox.has(PLACED) && sandbox.has("ws/.agents/skills/basics/SKILL.md"));
    configure(&sandbox, &["kiro"], "");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has(PLACED) && sandbox.has("ws/.kiro/skills/basics/SKILL.md"));
    // Once the agent is configured it is like any other.
    configure(&sandbox, &["claude"], "");
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("Updated basics"), "{}", run.stderr);
    configure(&sandbox, &["codex"], "");
    goes(&sandbox, "none of your agents reads .claude/skills");
}

#[test]
fn what_was_placed_by_hand_is_brought_up_to_date_by_every_sync_and_nothing_is_added_to_it() {
    let sandbox = by_hand();
    for (round, agents) in [&[][..], &["codex"]].into_iter().enumerate() {
        configure(&sandbox, agents, "");
        let text = format!("round {round}");
        let source = "home/.symposium/plugins/w/skills";
        sandbox.write(&format!("{source}/basics/SKILL.md"), skill("basics", &text));
        sandbox.write(&format!("{source}/more/SKILL.md"), skill("more", "b"));
        for args in [vec!["status"], vec!["doctor", "--offline"], vec!["sync", "--dry-run"]] {
            let run = sandbox.run(&args);
            let screen = flat(&format!("{}{}", run.stdout, run.stderr));
            assert!(screen.contains("basics"), "{args:?} says nothing of the change: {screen}");
            assert!(!sandbox.read(PLACED).contains(&text));
        }
        let told = sandbox.run(&["sync"]).ok().stderr;
        assert!(told.contains("Updated basics"), "{told}");
        assert!(sandbox.read(PLACED).contains(&text));
        assert!(sandbox.read("ws/.claude/skills/basics/.symposium").contains("by_hand_for"));
        assert!(!sandbox.has("ws/.claude/skills/more"));
        assert!(!sandbox.run(&["sync"]).ok().stderr.contains("Updated"));
    }
    // What a person edits stays, as everywhere.
    sandbox.write(PLACED, skill("basics", "mine"));
    let told = flat(&sandbox.run(&["sync"]).ok().stderr);
    assert!(told.contains("Kept basics") && told.contains("edited by you"), "{told}");
    assert!(sandbox.read(PLACED).contains("mine"));
}

#[test]
fn what_was_placed_by_hand_goes_with_its_skill_and_says_so() {
    let sandbox = by_hand();
    sandbox.package(&[]);
    goes(&sandbox, "widget is not a dependency of this workspace");
}
