//! Public reports about skills on disk: the numbered cases of section E, one test each.

use crate::{configure, plugin_with_skill, sandbox, skill};
use symposium_testlib::{Sandbox, slashes};

fn ready(agents: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    configure(&sandbox, agents, "");
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox
}

fn names(sandbox: &Sandbox, dir: &str) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(sandbox.dir().join(dir))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn case_69_case_70_the_ignore_files_can_be_switched_off_and_on() {
    let sandbox = ready(&["codex"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    let dir = "ws/.agents/skills/basics";
    assert!(sandbox.has(&format!("{dir}/.gitignore")) && sandbox.has(&format!("{dir}/.ignore")));
    configure(&sandbox, &["codex"], "skill-ignore = \"none\"");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has(&format!("{dir}/.gitignore")) && !sandbox.has(&format!("{dir}/.ignore")));
    configure(&sandbox, &["codex"], "skill-ignore = \"gitignore\"");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has(&format!("{dir}/.gitignore")));
}

#[test]
fn case_72_one_copy_serves_claude_and_its_neighbours() {
    let sandbox = ready(&["claude", "opencode", "copilot", "goose"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    assert_eq!(names(&sandbox, "ws/.claude/skills"), ["basics"]);
    assert!(!sandbox.has("ws/.agents"));
}

#[test]
fn case_72_who_sees_a_skill_twice_is_told() {
    let sandbox = ready(&["claude", "opencode", "codex"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    let run = sandbox.run(&["sync", "-v"]).ok();
    assert_eq!(names(&sandbox, "ws/.claude/skills"), ["basics"]);
    assert_eq!(names(&sandbox, "ws/.agents/skills"), ["basics"]);
    assert!(run.stderr.contains("opencode") && run.stderr.contains("twice"), "{}", run.stderr);
}

#[test]
fn case_73_no_symbolic_link_is_ever_created() {
    let sandbox = ready(&["claude", "codex", "kiro"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.write("ws/.agents/skills/own/SKILL.md", skill("own", "Own."));
    sandbox.run(&["sync"]).ok();
    for entry in walkdir::WalkDir::new(sandbox.ws()) {
        let entry = entry.expect("reads");
        assert!(!entry.path_is_symlink(), "{}", entry.path().display());
    }
}

#[test]
fn case_74_a_missing_agent_folder_is_created() {
    let sandbox = ready(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
}

#[test]
fn case_75_only_the_chosen_agents_folders_are_touched() {
    let sandbox = ready(&["kiro"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    let top: Vec<_> =
        names(&sandbox, "ws").into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(top, [".kiro"]);
}

#[cfg(unix)]
#[test]
fn case_47_decision_46_an_agents_folder_that_is_a_link_out_of_the_checkout_is_an_error() {
    let sandbox = ready(&["codex"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.write("elsewhere/keep", "");
    std::os::unix::fs::symlink(sandbox.dir().join("elsewhere"), sandbox.ws().join(".agents"))
        .expect("links");
    let run = sandbox.run(&["sync"]).code(1);
    assert!(run.stderr.contains("`.agents` is a link to"), "{}", run.stderr);
    assert!(sandbox.ws().join(".agents").is_symlink());
    assert_eq!(names(&sandbox, "elsewhere"), ["keep"]);
}

#[test]
fn case_77_line_endings_byte_order_mark_and_a_missing_last_newline_are_read() {
    let sandbox = ready(&["claude"]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \".\"\n",
    );
    let plain = skill("x", "D.");
    for (name, text) in [
        ("lf", plain.replace("name: x", "name: lf")),
        ("crlf", plain.replace("name: x", "name: crlf").replace('\n', "\r\n")),
        ("bom", format!("\u{feff}{}", plain.replace("name: x", "name: bom"))),
        ("no-newline", plain.replace("name: x", "name: no-newline").trim_end().to_owned()),
    ] {
        sandbox.user_plugin(&format!("p/{name}/SKILL.md"), &text);
    }
    sandbox.run(&["sync"]).ok();
    assert_eq!(names(&sandbox, "ws/.claude/skills"), ["bom", "crlf", "lf", "no-newline"]);
}

#[test]
fn case_78_rules_in_the_body_are_text_and_dashes_in_the_frontmatter_refused() {
    let sandbox = ready(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    let text =
        "---\nname: basics\ndescription: before - after\n---\n\nOne\n\n---\n\nTwo\n---\nThree: x\n";
    sandbox.user_plugin("widget/skills/basics/SKILL.md", text);
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read("ws/.claude/skills/basics/SKILL.md"), text);
    // Claude would take what follows for the body.
    sandbox.user_plugin("widget/skills/basics/SKILL.md", &text.replace(" - ", " --- "));
    let run = sandbox.run(&["sync"]).code(1);
    assert!(run.stderr.contains("`---` inside the frontmatter"), "{}", run.stderr);
    assert!(slashes(&run.stderr).contains("basics/SKILL.md:3:21"), "{}", run.stderr);
    assert_eq!(sandbox.read("ws/.claude/skills/basics/SKILL.md"), text, "the good copy stays");
}

#[test]
fn case_79_descriptions_beyond_an_agent_s_budget_are_a_warning() {
    let sandbox = ready(&["claude"]);
    for number in 0..40 {
        let name = format!("skill-{number}");
        plugin_with_skill(&sandbox, &format!("p{number}"), "widget", &name);
        sandbox.user_plugin(
            &format!("p{number}/skills/{name}/SKILL.md"),
            &skill(&name, &"d".repeat(500)),
        );
    }
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("descriptions") && run.stderr.contains("claude"), "{}", run.stderr);
    assert!(run.stderr.contains("disable"), "the remedy: {}", run.stderr);
    configure(&sandbox, &["claude"], "[plugins]\ndisable = [\"p0\"]");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has("ws/.claude/skills/skill-0"));
    assert!(sandbox.has("ws/.claude/skills/skill-1"));
}

#[test]
fn case_80_an_edited_copy_is_kept_and_reported_and_force_replaces_it() {
    let sandbox = ready(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.run(&["sync"]).ok();
    sandbox.write("ws/.claude/skills/basics/SKILL.md", "mine");
    let run = sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read("ws/.claude/skills/basics/SKILL.md"), "mine");
    assert!(run.stderr.contains("Kept basics") && run.stderr.contains("--force"), "{}", run.stderr);
    sandbox.run(&["sync", "--force"]).ok();
    assert!(sandbox.read("ws/.claude/skills/basics/SKILL.md").contains("name: basics"));
}

#[test]
fn decision_36_a_file_that_the_user_deleted_stays_away_until_force_restores_it() {
    let sandbox = ready(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.user_plugin("widget/skills/basics/references/a.md", "a");
    sandbox.run(&["sync"]).ok();
    std::fs::remove_file(sandbox.ws().join(".claude/skills/basics/references/a.md"))
        .expect("removes");
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("Kept basics") && run.stderr.contains("--force"), "{}", run.stderr);
    assert!(!sandbox.has("ws/.claude/skills/basics/references/a.md"));
    let run = sandbox.run(&["sync", "--force"]).ok();
    assert!(run.stderr.contains("Restored basics"), "{}", run.stderr);
    assert_eq!(sandbox.read("ws/.claude/skills/basics/references/a.md"), "a");
}

#[test]
fn case_83_skills_of_a_local_folder_are_refreshed() {
    let sandbox = ready(&["claude"]);
    sandbox.write(
        "mine/one/SYMPOSIUM.toml",
        "name = \"one\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"s\"\n",
    );
    sandbox.write("mine/one/s/a/SKILL.md", skill("a", "First."));
    let source = format!("[[plugin-source]]\nname = \"mine\"\npath = \"{}\"\n", sandbox.at("mine"));
    configure(&sandbox, &["claude"], &source);
    sandbox.run(&["sync"]).ok();
    sandbox.write("mine/one/s/a/SKILL.md", skill("a", "Second."));
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.read("ws/.claude/skills/a/SKILL.md").contains("Second."));
}

#[test]
fn case_84_hostile_names_write_nothing_outside() {
    for name in ["../../evil", "/tmp/evil-skill", "..", ".", "a/b", "a\\\\b", "C:evil", "\"\""] {
        let sandbox = ready(&["claude"]);
        plugin_with_skill(&sandbox, "widget", "widget", "basics");
        sandbox.user_plugin(
            "widget/skills/basics/SKILL.md",
            &format!("---\nname: {name}\ndescription: x\n---\nbody\n"),
        );
        let before = sandbox.ws_tree();
        let run = sandbox.run(&["sync"]).ok();
        assert_eq!(sandbox.ws_tree(), before, "{name}");
        assert!(run.stderr.contains("SKILL.md"), "{name}: {}", run.stderr);
        assert!(!sandbox.has("evil") && !sandbox.has("ws/evil"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn case_84_a_link_out_of_the_source_copies_nothing_from_elsewhere() {
    let sandbox = ready(&["claude"]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.write("secret/key", "top secret");
    let dir = sandbox.home().join(".symposium/plugins/widget/skills/basics");
    std::os::unix::fs::symlink(sandbox.dir().join("secret/key"), dir.join("key")).expect("links");
    std::os::unix::fs::symlink(sandbox.dir().join("secret"), dir.join("folder")).expect("links");
    sandbox.run(&["sync"]).ok();
    for entry in walkdir::WalkDir::new(sandbox.ws()) {
        let entry = entry.expect("reads");
        if entry.file_type().is_file() {
            let text = std::fs::read_to_string(entry.path()).expect("reads");
            assert!(!text.contains("top secret"), "{}", entry.path().display());
        }
    }
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
}

#[test]
fn case_85_invisible_characters_are_refused() {
    for hidden in ["\u{e0041}\u{e0042}", "\u{202e}", "a\u{200b}\u{200b}\u{200b}\u{200b}b"] {
        let sandbox = ready(&["claude"]);
        plugin_with_skill(&sandbox, "widget", "widget", "basics");
        let text = format!("{}\n{}{hidden}\n", skill("basics", "x"), "\n".repeat(10_000));
        sandbox.user_plugin("widget/skills/basics/SKILL.md", &text);
        let run = sandbox.run(&["sync"]).ok();
        assert!(!sandbox.has("ws/.claude/skills/basics"), "{hidden:?}");
        assert!(run.stderr.contains("invisible"), "{}", run.stderr);
    }
}

#[test]
fn case_86_crates_may_stand_under_metadata_and_installed_skills_keep_the_format_s_rules() {
    let sandbox = ready(&["claude"]);
    sandbox.package(&[("widget", "1.0.0"), ("gadget", "2.0.0")]);
    let text = |name: &str, crates: &str| {
        format!(
            "---\nname: {name}\ndescription: d\nmetadata:\n  crates: \"{crates}\"\n  n: 1\n---\nb\n"
        )
    };
    sandbox.user_plugin("one/SKILL.md", &text("one", "widget, tokio>=1"));
    sandbox.user_plugin("two/SKILL.md", &text("two", "tokio>=1"));
    sandbox.registry_crate("widget", "1.0.0", &[("skills/basics/SKILL.md", &skill("basics", "w"))]);
    sandbox.registry_crate("gadget", "2.0.0", &[("skills/basics/SKILL.md", &skill("basics", "g"))]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\", \"gadget\"]\n[[skills]]\nsource = \"crate\"\n",
    );
    sandbox.run(&["sync"]).ok();
    let installed = names(&sandbox, "ws/.claude/skills");
    assert_eq!(installed, ["basics-gadget-2-0-0", "basics-widget-1-0-0", "one"]);
    for name in installed {
        let text = sandbox.read(&format!("ws/.claude/skills/{name}/SKILL.md"));
        assert!(text.contains(&format!("\nname: {name}\n")), "{text}");
        let valid = name.len() <= 64
            && name.chars().all(|letter| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
            })
            && !name.contains("--");
        assert!(valid, "{name}");
    }
}

#[test]
fn case_92_a_wildcard_works_quoted_and_bare() {
    let sandbox = ready(&["claude"]);
    for (name, crates) in [("bare", "*"), ("quoted", "\"*\"")] {
        sandbox.user_plugin(
            &format!("{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: d\ncrates: {crates}\n---\nb\n"),
        );
    }
    sandbox.run(&["sync"]).ok();
    assert_eq!(names(&sandbox, "ws/.claude/skills"), ["bare", "quoted"]);
}
