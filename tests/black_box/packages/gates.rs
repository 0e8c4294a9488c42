//! What a package is for: by its own word, else by the user's.

use symposium_testlib::Sandbox;

use super::*;

/// A source `more` with two packages and a skill by itself that say nothing, and one that does; the
/// configuration has `said` in its section.
fn lab(said: &str) -> Sandbox {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    configure(&sandbox, said);
    for name in ["one", "two"] {
        let manifest = format!("{{\"name\":\"{name}\"}}");
        sandbox.write(&format!("more/{name}/.claude-plugin/plugin.json"), manifest);
        let text = skill(&format!("of-{name}"), "d");
        sandbox.write(&format!("more/{name}/skills/of-{name}/SKILL.md"), text);
    }
    let own = portable("own", "").replace("widget", "gadget");
    sandbox.write("more/own/plugin.json", own);
    sandbox.write("more/own/skills/of-own/SKILL.md", skill("of-own", "d"));
    sandbox.write("more/alone/SKILL.md", skill("alone", "d"));
    sandbox
}

fn configure(sandbox: &Sandbox, said: &str) {
    let path = sandbox.dir().join("more");
    let source = format!("[[plugin-source]]\nname = \"more\"\npath = {path:?}\n{said}\n");
    sandbox.write("home/.symposium/config.toml", format!("{source}{NO_BUILTIN}"));
}

/// The skills that a sync places, and what it says.
fn placed(sandbox: &Sandbox) -> (Vec<&'static str>, String) {
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    let all = ["of-one", "of-two", "of-own", "alone"];
    let there = |name: &&str| sandbox.has(&format!("ws/.claude/skills/{name}/SKILL.md"));
    (all.into_iter().filter(there).collect(), run.stderr)
}

#[test]
fn without_a_gate_a_package_waits_without_a_word_until_it_is_asked_for() {
    let sandbox = lab("");
    std::fs::remove_dir_all(sandbox.dir().join("more/alone")).expect("removes");
    let (skills, said) = placed(&sandbox);
    assert!(skills.is_empty(), "{skills:?}");
    assert!(!said.contains("warning"), "{said}");
    let why = sandbox.run(&["why", "one"]);
    assert!(why.stdout.contains("cargo agents use"), "{}", why.stdout);
    assert_eq!(listed(&sandbox, "one")["verdict"], "skipped");
    sandbox.run(&["use", "one"]).ok();
    assert_eq!(placed(&sandbox).0, ["of-one"]);
    sandbox.run(&["use", "--remove", "one"]).ok();
    assert!(placed(&sandbox).0.is_empty());
}

#[test]
fn the_user_s_crates_are_for_everything_in_a_source_that_says_nothing_itself() {
    let (skills, said) = placed(&lab("crates = [\"widget\"]"));
    assert_eq!(skills, ["of-one", "of-two", "alone"], "{said}");
    let sandbox = lab("crates = [\"gadget\"]");
    let (skills, said) = placed(&sandbox);
    assert!(skills.is_empty(), "{skills:?}");
    assert!(!said.contains("warning"), "{said}");
    let why = sandbox.run(&["why", "one"]);
    assert!(why.stdout.contains("gadget"), "{}", why.stdout);
    // Who asks by name is heard all the same.
    sandbox.run(&["use", "two"]).ok();
    assert_eq!(placed(&sandbox).0, ["of-two"]);
    assert_eq!(placed(&lab("depends-on = \"widget>=2\"")).0, [""; 0]);
}

#[test]
fn the_user_s_word_on_one_package_comes_before_that_on_all() {
    let said = "crates = [\"gadget\"]\n[plugin-source.plugins.one]\ncrates = [\"widget>=1\"]\n\
                [plugin-source.plugins.alone]\ndepends-on = \"*\"";
    let (skills, told) = placed(&lab(said));
    assert_eq!(skills, ["of-one", "alone"], "{told}");
    assert!(!told.contains("warning"), "{told}");
}

#[test]
fn what_the_user_says_to_no_effect_or_can_t_be_read_is_told_with_its_place() {
    for (said, told) in [
        ("crates = [\"wid get\"]", "is no crate predicate"),
        ("[plugin-source.plugins.on]\ncrates = [\"widget\"]", "has no plugin `on`"),
        ("[plugin-source.plugins.own]\ncrates = [\"widget\"]", "says itself which"),
        ("[plugin-source.plugins.one]\ncrate = [\"widget\"]", "unknown key"),
    ] {
        let (skills, stderr) = placed(&lab(said));
        assert!(skills.is_empty(), "{said}: {skills:?}");
        assert!(stderr.contains(told) && stderr.contains("config.toml:"), "{said}: {stderr}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_of_a_package_in_a_dependency_runs_and_what_is_left_is_named() {
    let sandbox = with_agents(&["claude"]);
    let guard = format!("{{\"hooks\":{GUARD}}}");
    let text = skill("ways", "d");
    sandbox.registry_crate(
        "widget",
        "1.2.3",
        &[
            (".claude-plugin/plugin.json", "{\"name\":\"widget-plugin\"}"),
            ("hooks/hooks.json", &guard),
            ("hooks/guard.sh", GUARD_SCRIPT),
            (".mcp.json", "{\"mcpServers\":{\"db\":{\"command\":\"x\"}}}"),
            ("skills/ways/SKILL.md", &text),
        ],
    );
    sandbox.run(&["--offline", "sync"]).ok();
    assert!(!sandbox.has("ws/.claude/skills/ways"), "nobody said yes yet");
    sandbox.run(&["--offline", "use", "widget"]).ok();
    assert!(sandbox.has("ws/.claude/skills/ways/SKILL.md"));
    let told = Told::in_ws(&sandbox).command("rm -rf /");
    assert_eq!(send(&sandbox, "claude", Event::PreToolUse, &told).refused, None);
    let why = sandbox.run(&["--offline", "why", "widget"]);
    for part in ["1 hook", "server `db`", "only skills"] {
        assert!(why.stdout.contains(part), "no {part}: {}", why.stdout);
    }
}
