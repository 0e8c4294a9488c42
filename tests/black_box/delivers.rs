//! A plugin that is active and delivers nothing says so and why, on every screen; `plugin list` and
//! `status` agree on what applies.

use serde_json::Value;
use symposium_testlib::Sandbox;

use crate::{configure, skill, with_agents};

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json(sandbox: &Sandbox, folder: &str, args: &[&str]) -> Value {
    let run = sandbox.run_in(folder, &[args, &["--json"]].concat()).ok();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

/// Name, whether it is active, and why, of each plugin, by `status` and by `plugin list`.
fn both(sandbox: &Sandbox, folder: &str) -> [Vec<(String, bool, String)>; 2] {
    let of = |args: &[&str], key: &str, active: &str| {
        let told = json(sandbox, folder, args);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let plugins = told["plugins"].as_array().expect("a list").iter();
        plugins
            .map(|one| (text(&one["name"]), one[key] == active, text(&one["reason"])))
            .collect::<Vec<_>>()
    };
    [of(&["status"], "state", "active"), of(&["plugin", "list"], "verdict", "matched")]
}

#[test]
fn a_plugin_that_delivers_nothing_says_why_on_every_screen() {
    let folder = "[[skills]]\nsource.path = \"skills\"\n";
    let of_crate = "[[skills]]\nsource = \"crate\"\n";
    let named = "[[skills]]\nsource.cargo = \"widget\"\n";
    let broken = "no frontmatter";
    let elsewhere = "---\nname: a\ndescription: d\ncrates: bevy\n---\n";
    let away = "[[skills]]\nsource.cargo = \"not-here\"\n";
    for (groups, files, configuration, why) in [
        ("", vec![], "", "there is nothing in it"),
        (folder, vec![], "", "there is no folder `p/skills`"),
        (folder, vec![("skills/notes.txt", "x")], "", "there is no skill in its folder `skills`"),
        (folder, vec![("skills/a/SKILL.md", broken)], "", "p/skills/a: "),
        (folder, vec![("skills/a/SKILL.md", elsewhere)], "", "a: bevy is not a dependency"),
        (of_crate, vec![], "", "widget 1.2.3: no skills in its folder `skills`"),
        (named, vec![], "", "widget 1.2.3: no skills in its folder `skills`"),
        (named, vec![], "[plugins]\ndisable = [\"widget\"]\n", "widget: `[plugins] disable`"),
        (of_crate, vec![], "[plugins]\ndisable = [\"widget\"]\n", "widget: `[plugins] disable`"),
        (away, vec![], "", "not-here: "),
    ] {
        let sandbox = with_agents(&["claude"]);
        configure(&sandbox, &["claude"], configuration);
        sandbox.registry_crate("widget", "1.2.3", &[]);
        let manifest = format!("name = \"p\"\ncrates = [\"widget\"]\n{groups}");
        sandbox.user_plugin("p/SYMPOSIUM.toml", &manifest);
        for (path, text) in files {
            sandbox.user_plugin(&format!("p/{path}"), text);
        }
        let told = format!("it delivers nothing: {why}");
        for screen in
            [&["status"][..], &["plugin", "list"], &["plugin", "show", "p"], &["why", "p"]]
        {
            let run = sandbox.run(&[screen, &["--offline"]].concat());
            let shown = flat(&run.stdout);
            assert!(shown.contains(&told), "{screen:?}: {told:?} in {shown} {}", run.stderr);
        }
        let [status, list] = both(&sandbox, "ws");
        assert_eq!(status, list, "{groups}{why}");
    }
}

#[test]
fn a_plugin_with_anything_that_applies_does_not_say_that_it_delivers_nothing() {
    for more in [
        "[[skills]]\nsource.path = \"skills\"\n",
        "[[mcp_servers]]\nname = \"s\"\ncommand = \"npx\"\n",
        // What another plugin brought already.
        "[[skills]]\nsource = \"crate\"\n",
    ] {
        let sandbox = with_agents(&["claude"]);
        sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
        for name in ["p", "q"] {
            let manifest = format!(
                "name = \"{name}\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"none\"\n{more}"
            );
            sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
            sandbox.user_plugin(&format!("{name}/skills/a/SKILL.md"), &skill("own", "b"));
        }
        for screen in [&["status"][..], &["plugin", "list"]] {
            let shown = sandbox.run(screen).ok().stdout;
            assert!(!shown.contains("delivers nothing"), "{more}: {shown}");
        }
    }
}

#[test]
fn status_and_plugin_list_agree_in_a_workspace_outside_of_one_and_in_a_broken_one() {
    let sandbox = with_agents(&["claude"]);
    configure(&sandbox, &["claude"], "[plugins]\ndisable = [\"unwanted\"]\nuse = [\"sleeper\"]\n");
    let server = "[[mcp_servers]]\nname = \"s\"\ncommand = \"npx\"\n";
    for (name, gate) in [
        ("every", "crates = [\"*\"]"),
        ("widget", "crates = [\"widget\"]"),
        ("bevy", "crates = [\"bevy\"]"),
        ("sleeper", "crates = []"),
        ("dormant", "crates = []"),
        ("unwanted", "crates = [\"*\"]"),
    ] {
        let manifest = format!("name = \"{name}\"\n{gate}\n{server}");
        sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
    }
    let active = |folder: &str| {
        let [status, list] = both(&sandbox, folder);
        assert_eq!(status, list, "{folder}");
        let active = status.into_iter().filter(|(_, active, _)| *active).map(|(name, ..)| name);
        active.collect::<Vec<_>>()
    };
    assert_eq!(active("ws"), ["every", "sleeper", "widget"]);
    assert_eq!(active("home"), ["every", "sleeper"]);
    sandbox.write("ws/Cargo.toml", "[package\n");
    assert_eq!(active("ws"), ["every", "sleeper"]);
}
