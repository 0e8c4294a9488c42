//! Plugin sources on disk (F18, F21, F114–F123) and manifests.

use crate::hook_kit::{Event, Told, send};
use crate::{NO_BUILTIN, configure, plugin_with_skill, sandbox, skill};
use symposium_testlib::{Run, Sandbox, slashes};

fn ready(more: &str) -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", format!("{more}\n{NO_BUILTIN}"));
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox
}

fn sync(sandbox: &Sandbox) -> (Vec<String>, String) {
    let run = sandbox.run(&["sync", "--agent", "claude", "-v"]).ok();
    let mut names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    (names, slashes(&run.stderr))
}

fn standalone(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\ncrates: widget\n---\nb\n")
}

#[test]
fn f114_to_f118_plugins_and_skills_are_found_and_claimed_folders_are_not_searched() {
    let sandbox = ready("");
    sandbox.user_plugin("deep/er/alone/SKILL.md", &standalone("alone"));
    sandbox.user_plugin("alone-2/SKILL.md", &standalone("alone-2"));
    sandbox.user_plugin("alone-2/nested/SKILL.md", &standalone("nested"));
    plugin_with_skill(&sandbox, "mixed", "widget", "inside");
    sandbox.user_plugin("mixed/SKILL.md", &standalone("mixed"));
    sandbox.user_plugin("target/hidden/SKILL.md", &standalone("hidden"));
    sandbox.user_plugin("node_modules/hidden/SKILL.md", &standalone("hidden"));
    assert_eq!(sync(&sandbox).0, ["alone", "alone-2", "inside"]);
}

#[test]
fn f92_a_standalone_skill_needs_crates() {
    let sandbox = ready("");
    sandbox.user_plugin("nowhere/SKILL.md", &skill("nowhere", "d"));
    let (names, talk) = sync(&sandbox);
    assert!(names.is_empty());
    assert!(talk.contains("nowhere") && talk.contains("crates"), "{talk}");
}

#[test]
fn f119_decision_12_a_near_miss_is_reported() {
    let sandbox = ready("");
    sandbox.user_plugin("a/symposium.toml", "name = \"a\"\ncrates = [\"*\"]\n");
    sandbox
        .user_plugin("rtk/rtk.toml", "name = \"rtk\"\ncrates = [\"*\"]\n[[hooks]]\nname = \"x\"\n");
    let (_, talk) = sync(&sandbox);
    assert!(talk.contains("a/symposium.toml"), "{talk}");
    assert!(talk.contains("rtk/rtk.toml"), "{talk}");
}

#[test]
fn f123_one_broken_plugin_stops_no_other() {
    let sandbox = ready("");
    sandbox.user_plugin("broken/SYMPOSIUM.toml", "name = \"broken\"\ncrates = [\n");
    sandbox.user_plugin("nameless/SYMPOSIUM.toml", "crates = [\"*\"]\n");
    plugin_with_skill(&sandbox, "good", "widget", "fine");
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["fine"]);
    assert!(talk.contains("broken/SYMPOSIUM.toml:"), "{talk}");
    assert!(talk.contains("nameless/SYMPOSIUM.toml"), "{talk}");
}

#[test]
fn decision_27_an_unknown_key_is_a_warning_and_the_rest_loads() {
    let sandbox = ready("");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\nflavour = 1\n[[skills]]\nsource.path = \"s\"\n",
    );
    sandbox.user_plugin("p/s/a/SKILL.md", &skill("a", "a"));
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["a"]);
    assert!(talk.contains("SYMPOSIUM.toml:3:1") && talk.contains("flavour"), "{talk}");
}

#[test]
fn f21_a_relative_path_starts_at_the_configuration_and_a_missing_one_is_reported() {
    let sandbox = ready(
        "[[plugin-source]]\nname = \"near\"\npath = \"more\"\n[[plugin-source]]\nname = \"gone\"\npath = \"gone\"\n",
    );
    sandbox.write("home/.symposium/more/a/SKILL.md", standalone("a"));
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["a"]);
    assert!(talk.contains("gone"), "{talk}");
}

#[test]
fn f18_the_user_s_own_folder_can_be_switched_off() {
    let sandbox = ready("");
    sandbox.write(
        "home/.symposium/config.toml",
        "[defaults]\nsymposium-recommendations = false\nuser-plugins = false\nbuiltin = false\n",
    );
    plugin_with_skill(&sandbox, "p", "widget", "a");
    assert!(sync(&sandbox).0.is_empty());
}

#[test]
fn f135_of_two_plugins_of_one_name_the_first_source_s_counts() {
    let sandbox = ready("[[plugin-source]]\nname = \"first\"\npath = \"first\"\n");
    sandbox.write(
        "home/.symposium/first/p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"s\"\n",
    );
    sandbox.write("home/.symposium/first/p/s/one/SKILL.md", skill("one", "1"));
    plugin_with_skill(&sandbox, "p", "widget", "two");
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["one"]);
    assert!(talk.contains("Shadowed"), "{talk}");
}

#[test]
fn f71_an_invalid_skill_is_skipped_with_a_warning_and_sync_goes_on() {
    let sandbox = ready("");
    plugin_with_skill(&sandbox, "p", "widget", "good");
    sandbox.user_plugin("p/skills/bad/SKILL.md", "---\nname: bad\n---\nno description\n");
    sandbox.user_plugin("p/skills/worse/SKILL.md", "no frontmatter at all\n");
    let (names, talk) = sync(&sandbox);
    assert_eq!(names, ["good"]);
    assert!(talk.contains("bad/SKILL.md") && talk.contains("worse/SKILL.md"), "{talk}");
}

#[test]
fn decision_3_an_empty_list_never_matches_and_a_wildcard_always_does() {
    let sandbox = ready("");
    sandbox.package(&[]);
    for (name, crates) in [("never", "[]"), ("always", "[\"*\"]"), ("string", "\"*\"")] {
        sandbox.user_plugin(
            &format!("{name}/SYMPOSIUM.toml"),
            &format!("name = \"{name}\"\ncrates = {crates}\n[[skills]]\nsource.path = \"s\"\n"),
        );
        sandbox.user_plugin(&format!("{name}/s/{name}/SKILL.md"), &skill(name, "d"));
    }
    assert_eq!(sync(&sandbox).0, ["always", "string"]);
}

#[test]
fn decision_26_a_path_that_leads_out_of_the_source_is_refused() {
    let sandbox = ready("");
    sandbox.write("outside/a/SKILL.md", skill("a", "a"));
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"../../../../outside\"\n",
    );
    let (names, talk) = sync(&sandbox);
    assert!(names.is_empty());
    assert!(talk.contains("SYMPOSIUM.toml:4:"), "{talk}");
}

#[test]
fn decision_2b_the_later_spelling_installs_the_same() {
    let sandbox = ready("");
    sandbox.registry_crate("widget", "1.0.0", &[("skills/w/SKILL.md", &skill("w", "w"))]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ndepends-on = [\"widget\"]\n[[plugins]]\nsource.cargo = \"widget\"\n",
    );
    assert_eq!(sync(&sandbox).0, ["w"]);
}

#[test]
fn a_folder_that_is_away_takes_nothing_along() {
    let sandbox = sandbox();
    sandbox.write(
        "home/.symposium/config.toml",
        format!(
            "[[agent]]\nname = \"claude\"\n{NO_BUILTIN}\n[[plugin-source]]\nname = \"disk\"\n\
             path = \"{}\"\n",
            sandbox.at("disk")
        ),
    );
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.write(
        "disk/w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
         [[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n",
    );
    sandbox.write("disk/w/skills/basics/SKILL.md", skill("basics", "b"));
    sandbox.run(&["sync"]).ok();
    let installed = "ws/.claude/skills/basics/SKILL.md";
    assert!(sandbox.has(installed));
    let servers = sandbox.read("home/.claude.json");
    assert!(servers.contains("tools"), "{servers}");

    std::fs::rename(sandbox.dir().join("disk"), sandbox.dir().join("away")).expect("renames");
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("its source `disk` can't be read now"), "{}", run.stderr);
    assert!(sandbox.has(installed));
    assert_eq!(sandbox.read("home/.claude.json"), servers);

    // The user's word that it is gone for good.
    configure(&sandbox, &["claude"], "");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has(installed));
    assert!(
        !sandbox.has("home/.claude.json") || !sandbox.read("home/.claude.json").contains("tools")
    );
}

#[test]
fn a_source_whose_place_is_a_mistake_keeps_what_came_from_it_its_guards_too() {
    let sandbox = sandbox();
    let configure = |source: &str| {
        let text = format!("[[agent]]\nname = \"claude\"\n{NO_BUILTIN}\n{source}");
        sandbox.write("home/.symposium/config.toml", text);
    };
    let good = format!("[[plugin-source]]\nname = \"disk\"\npath = \"{}\"\n", sandbox.at("disk"));
    configure(&good);
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.write(
        "disk/w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
         [[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n\
         [[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\n\
         command = { script = \"guard.sh\" }\n",
    );
    sandbox.write("disk/w/guard.sh", "echo keep out >&2; exit 2\n");
    sandbox.write("disk/w/skills/basics/SKILL.md", skill("basics", "b"));
    sandbox.run(&["sync"]).ok();
    let installed = "ws/.claude/skills/basics/SKILL.md";
    let servers = sandbox.read("home/.claude.json");
    assert!(sandbox.has(installed) && servers.contains("tools"), "{servers}");
    for mistake in [
        "[[plugin-source]]\nname = \"disk\"\npath = \"\"\n",
        "[[plugin-source]]\nname = \"disk\"\n",
        "[[plugin-source]]\nname = \"disk\"\npath = \"disk\"\ngit = \"disk\"\n",
        "[[plugin-source]]\nname = \"disk\"\npath = [\"disk\"]\n",
        "[[plugin-source]]\nname = \"disk\"\ngit = \"ext::sh -c x\"\n",
        "[[plugin-source]]\npath = \"disk\"\n",
        "[plugin-source]\nname = \"disk\"\npath = \"disk\"\n",
    ] {
        configure(mistake);
        for _ in 0..2 {
            let run = sandbox.run(&["sync"]);
            assert_eq!(run.code, 1, "{mistake}: {}", run.stderr);
            assert!(run.stderr.contains("error: "), "{mistake}: {}", run.stderr);
            assert!(run.stderr.contains("config.toml:"), "{mistake}: {}", run.stderr);
            assert!(sandbox.has(installed), "{mistake}: {}", run.stderr);
            assert_eq!(sandbox.read("home/.claude.json"), servers, "{mistake}");
        }
        let run = send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox).id(mistake));
        assert!(format!("{run:?}").contains("keep out"), "{mistake}: {run:?}");
        for screen in [["status"].as_slice(), &["doctor", "--offline"]] {
            let mut command = sandbox.command(screen);
            let told = Run::of(command.env("COLUMNS", "400"), b"").stdout;
            assert!(told.contains("config.toml:"), "{mistake}: {told}");
        }
    }
    configure(&good);
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has(installed));
}

#[test]
fn f18_a_source_in_trouble_is_told_of_once_with_its_place() {
    let sandbox = ready("");
    let gone = format!("git = \"{}\"", sandbox.file_url("nowhere/x"));
    for (source, place, message) in [
        ("path = \"gone\"", "config.toml:3:8", "does not exist"),
        ("path = \"config.toml\"", "config.toml:3:8", "is not a folder"),
        ("path = \"\"", "config.toml:3:8", "its `path` is empty"),
        ("path = 1", "config.toml:3:8", "its `path` is no string"),
        ("git = \"a\"\npath = \"b\"", "config.toml:3:7", "both `git` and `path`"),
        ("", "config.toml:2:8", "it needs `git"),
        ("git = \"ext::sh -c x\"", "config.toml:3:7", "ext::"),
        (&*gone, "config.toml:3:7", "/nowhere/x"),
        ("git = \"https://example.com/a\"\nrev = \"-x\"", "config.toml:4:7", "-x"),
        ("git = \"https://example.com/a\"\nsubdir = \"../x\"", "config.toml:4:10", "../x"),
    ] {
        sandbox.write(
            "home/.symposium/config.toml",
            format!("[[plugin-source]]\nname = \"odd\"\n{source}\n{NO_BUILTIN}"),
        );
        let run = sandbox.run(&["sync", "--agent", "claude"]);
        // What is not there now may come; what can't be a place has to be mended.
        let is_mistake = !message.contains("does not") && !message.starts_with('/');
        let is_mistake = is_mistake && message != "is not a folder";
        assert_eq!(run.code, i32::from(is_mistake), "{source}: {}", run.stderr);
        assert_eq!(run.stderr.contains("error: "), is_mistake, "{source}: {}", run.stderr);
        let heads = run
            .stderr
            .lines()
            .filter(|line| !line.starts_with("   =") && !line.contains("Fetching"));
        let told: Vec<_> = heads.filter(|line| line.contains("odd")).collect();
        assert_eq!(told.len(), 1, "{source}: {}", run.stderr);
        assert!(run.stderr.contains(place), "{source}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{source}: {}", run.stderr);
        let _ = std::fs::remove_dir_all(sandbox.home().join(".symposium/cache"));
    }
}

#[test]
fn a_source_s_path_may_be_in_the_home_folder() {
    for path in ["~/mine", "~/mine/", "~/other/../mine"] {
        let source = format!("[[plugin-source]]\nname = \"mine\"\npath = \"{path}\"\n");
        let sandbox = ready(&source);
        sandbox.write("home/other/x", "");
        sandbox.write("home/mine/alone/SKILL.md", standalone("alone"));
        let (names, talk) = sync(&sandbox);
        assert_eq!(names, ["alone"], "{path}: {talk}");
        assert!(!talk.contains("warning"), "{talk}");
    }
}

#[test]
fn two_shadowed_plugins_are_told_apart_by_their_sources() {
    let sandbox = ready(
        "[[plugin-source]]\nname = \"a\"\npath = \"a\"\n[[plugin-source]]\nname = \"b\"\npath = \
         \"b\"\n[[plugin-source]]\nname = \"c\"\npath = \"c\"\n",
    );
    for source in ["a", "b", "c"] {
        let manifest = format!("home/.symposium/{source}/p/SYMPOSIUM.toml");
        sandbox.write(&manifest, "name = \"p\"\ncrates = [\"*\"]\n");
    }
    let (_, talk) = sync(&sandbox);
    let mut lines: Vec<&str> =
        talk.lines().filter(|line| line.trim_start().starts_with("Shadowed")).collect();
    assert_eq!(lines.len(), 2, "{talk}");
    lines.dedup();
    assert_eq!(lines.len(), 2, "{talk}");
    assert!(lines[0].contains("`b`") && lines[1].contains("`c`"), "{talk}");
}

#[test]
fn decision_33_no_source_has_a_plugin_of_the_built_in_one_s_name() {
    for name in ["cargo-agents", "cargo_agents"] {
        let sandbox = crate::with_agents(&["claude"]);
        let config = sandbox.read("home/.symposium/config.toml");
        let config = config.replace("builtin = false\n", "");
        sandbox.write("home/.symposium/config.toml", config);
        crate::plugin_with_skill(&sandbox, name, "widget", "foreign");
        let run = sandbox.run(&["sync"]);
        assert!(
            run.stderr.contains("`cargo-agents` is the name of the plugin inside the program"),
            "{}",
            run.stderr
        );
        assert!(!sandbox.has("ws/.claude/skills/foreign"), "{name}");
        assert!(sandbox.has("ws/.claude/skills/rust-crate-sources"), "{name}");
        // The name that it had once is anybody's.
        crate::plugin_with_skill(&sandbox, "symposium", "widget", "theirs");
        sandbox.run(&["sync"]);
        assert!(sandbox.has("ws/.claude/skills/theirs/SKILL.md"));
        assert!(sandbox.has("ws/.claude/skills/rust-crate-sources/SKILL.md"));
    }
}

#[test]
fn an_active_plugin_that_delivers_nothing_says_so_and_why_on_both_screens() {
    let sandbox = crate::with_agents(&["claude"]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
         crates = [\"gadget\"]\n",
    );
    for screen in [["status"].as_slice(), &["plugin", "list"]] {
        let told = sandbox.run(screen).ok().stdout;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("active"), "{told}");
        assert!(told.contains("it delivers nothing: gadget is not a dependency"), "{told}");
    }
}

#[test]
fn what_is_wrong_in_a_folder_that_two_sources_share_is_told_once() {
    let sandbox = ready(
        "[[plugin-source]]\nname = \"a\"\npath = \"shared\"\n[[plugin-source]]\nname = \"b\"\npath \
         = \"shared\"\n",
    );
    let shared =
        |path: &str, text: &str| sandbox.write(&format!("home/.symposium/shared/{path}"), text);
    shared("broken/SYMPOSIUM.toml", "name = \n");
    shared("p/SYMPOSIUM.toml", "name = \"p\"\ncrates = [\"widget\"]\nodd = 1\n");
    shared("alone/SKILL.md", &standalone("alone"));
    shared("alone/CLAUDE.md", "read by itself");
    shared("nowhere/SKILL.md", &skill("nowhere", "d"));
    let (_, talk) = sync(&sandbox);
    for file in ["broken/SYMPOSIUM.toml:", "p/SYMPOSIUM.toml:", "alone/CLAUDE.md", "nowhere/SKILL"]
    {
        assert_eq!(talk.matches(file).count(), 1, "{file} in {talk}");
    }
    let status = sandbox.run(&["status"]).stdout;
    let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status.contains("p shadowed the one of source `b`: the source `a` has"), "{status}");
    let doctor = sandbox.run(&["doctor"]).stdout;
    assert_eq!(doctor.matches("unknown key `odd`").count(), 1, "{doctor}");
}

#[test]
fn a_source_that_is_gone_is_told_once_and_its_plugins_name_it() {
    let sandbox = sandbox();
    let path = sandbox.dir().join("more");
    let source = format!("[[plugin-source]]\nname = \"more\"\npath = {path:?}\n");
    configure(&sandbox, &["claude"], &source);
    sandbox.package(&[("widget", "1.0.0")]);
    let manifest = "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n";
    sandbox.write("more/p/SYMPOSIUM.toml", manifest);
    sandbox.write("more/p/skills/basics/SKILL.md", skill("basics", "d"));
    sandbox.run(&["sync"]).ok();
    std::fs::rename(&path, sandbox.dir().join("gone")).expect("moves");
    let run = sandbox.run(&["sync"]);
    assert!(run.stderr.contains("the plugin source `more` is left out"), "{}", run.stderr);
    assert!(!run.stderr.contains("where skills should be"), "{}", run.stderr);
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"), "{}", run.stderr);
    let status = sandbox.run(&["status"]).ok().stdout;
    let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status.contains("delivers nothing: its source `more` can't be read now"), "{status}");
}
