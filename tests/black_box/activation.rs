//! Plugins that do not apply by themselves: `activation = "suggested"` and `"off"`.

use symposium_testlib::Sandbox;

use crate::candidates::start_session;
use crate::{skill, with_agents};

const INSTALLED: &str = "ws/.claude/skills/basics/SKILL.md";

/// A workspace that depends on `widget`, and a plugin for it with a skill and a hook.
fn with_plugin(activation: &str) -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    write_plugin(&sandbox, activation, "widget");
    sandbox.user_plugin("helper/skills/basics/SKILL.md", &skill("basics", "b"));
    sandbox
}

fn write_plugin(sandbox: &Sandbox, activation: &str, crates: &str) {
    let hook = "[[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\n\
                command = { script = \"guard.sh\" }\n";
    sandbox.user_plugin(
        "helper/SYMPOSIUM.toml",
        &format!(
            "name = \"helper\"\nactivation = {activation}\ncrates = [\"{crates}\"]\n\
             [[skills]]\nsource.path = \"skills\"\n{hook}"
        ),
    );
    sandbox.user_plugin("helper/guard.sh", "exit 0\n");
}

/// What a command prints, with each run of white space as one space.
fn told(sandbox: &Sandbox, args: &[&str]) -> String {
    let printed = sandbox.run(args).ok().stdout;
    printed.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_suggested_plugin_waits_for_a_word_and_every_screen_says_how_to_give_it() {
    let mut sandbox = with_plugin("\"suggested\"");
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has(INSTALLED));
    let status = told(&sandbox, &["status"]);
    let offer = "helper a plugin that user-plugins suggests: skills, 1 hook `cargo agents use helper` \
                 to take, `--remove` to decline";
    assert!(status.contains(offer), "{status}");
    for screen in [vec!["status"], vec!["why", "helper"], vec!["plugin", "list"]] {
        let text = told(&sandbox, &screen);
        let waits = "it is suggested and waits for your word: `cargo agents use helper` takes it";
        assert!(text.contains(waits), "{screen:?}: {text}");
    }
    let shown = told(&sandbox, &["plugin", "show", "helper"]);
    assert!(shown.contains("needs widget and your word"), "{shown}");
    assert!(shown.contains("hook guard: sh guard.sh"), "what could run is told before: {shown}");
    let document = sandbox.run(&["status", "--json"]).ok().stdout;
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["suggestions"][0]["name"], "helper");
    let answer = start_session(&sandbox);
    assert!(answer.contains("neither taken nor declined: helper. "), "{answer}");
}

#[test]
fn a_yes_activates_all_of_a_suggested_plugin_and_a_no_ends_the_matter() {
    let mut sandbox = with_plugin("\"suggested\"");
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.run(&["use", "helper"]).ok();
    assert!(sandbox.has(INSTALLED));
    let status = told(&sandbox, &["status"]);
    let reason = "active widget 1.2.3; `use` in the configuration asks for it 1 skill, hook guard";
    assert!(status.contains(reason) && !status.contains("Candidates"), "{status}");
    sandbox.run(&["use", "helper", "--remove"]).ok();
    assert!(!sandbox.has(INSTALLED));
    let status = told(&sandbox, &["status"]);
    assert!(status.contains("helper off") && !status.contains("Candidates"), "{status}");
    assert!(!start_session(&sandbox).contains("helper"));
}

#[test]
fn a_plugin_that_waits_keeps_its_other_conditions_when_it_is_woken() {
    for activation in ["\"suggested\"", "\"off\""] {
        let sandbox = with_plugin(activation);
        write_plugin(&sandbox, activation, "gadget");
        let status = told(&sandbox, &["status"]);
        assert!(!status.contains("Candidates"), "it is of no use here: {status}");
        sandbox.run(&["use", "helper", "--global"]).ok();
        assert!(!sandbox.has(INSTALLED));
        let why = told(&sandbox, &["why", "helper"]);
        assert!(why.contains("gadget is not a dependency of this workspace"), "{why}");
        write_plugin(&sandbox, activation, "widget");
        sandbox.run(&["sync"]).ok();
        assert!(sandbox.has(INSTALLED), "{activation}");
    }
}

#[test]
fn a_plugin_that_is_off_is_offered_to_nobody_and_woken_by_use() {
    let mut sandbox = with_plugin("\"off\"");
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has(INSTALLED));
    let status = told(&sandbox, &["status"]);
    let reason = "it is off until you ask for it: `cargo agents use helper` takes it";
    assert!(status.contains(reason) && !status.contains("Candidates"), "{status}");
    assert!(!start_session(&sandbox).contains("helper"));
    sandbox.run(&["use", "helper"]).ok();
    assert!(sandbox.has(INSTALLED));
}

#[test]
fn always_is_what_a_plugin_is_that_says_nothing() {
    let sandbox = with_plugin("\"always\"");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has(INSTALLED));
}

#[test]
fn a_plugin_with_an_activation_that_means_nothing_is_never_active_and_the_mistake_has_its_place() {
    for (value, mistake) in [
        ("\"suggest\"", "did you mean `suggested`?"),
        ("\"Off\"", "accepted: always, suggested, off"),
        ("false", "`activation`"),
    ] {
        let sandbox = with_plugin(value);
        let folder = sandbox.dir().join("home/.symposium/plugins/helper");
        let run = sandbox.run(&["plugin", "validate", &folder.display().to_string()]).code(1);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("SYMPOSIUM.toml:2:14") && said.contains(mistake), "{said}");
        for args in [vec!["sync"], vec!["use", "helper"]] {
            let run = sandbox.run(&args);
            assert!(!sandbox.has(INSTALLED), "{args:?}: {}", run.stderr);
        }
        let why = told(&sandbox, &["why", "helper"]);
        assert!(why.contains("is not active") && why.contains("SYMPOSIUM.toml:2:14"), "{why}");
    }
}

#[test]
fn one_name_for_a_suggested_plugin_and_a_crate_is_asked_about_once() {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox.user_plugin(
        "widget/SYMPOSIUM.toml",
        "name = \"widget\"\nactivation = \"suggested\"\ncrates = [\"widget\"]\n\
         [[skills]]\nsource = \"crate\"\n",
    );
    let status = told(&sandbox, &["status"]);
    assert_eq!(status.matches("use widget` to take").count(), 1, "{status}");
    sandbox.run(&["use", "widget"]).ok();
    assert!(sandbox.has(INSTALLED));
}

#[cfg(unix)]
#[test]
fn sync_and_init_ask_on_a_terminal_and_a_yes_brings_it() {
    use symposium_testlib::Terminal;

    for (args, first) in [(["sync"].as_slice(), false), (&["init"], true)] {
        let sandbox = with_plugin("\"suggested\"");
        let mut terminal = Terminal::start(sandbox.command(args), 100);
        if first {
            for question in ["Which agents", "Where should hooks", "When there is a newer"] {
                terminal.wait_for(question);
                terminal.press("\r");
            }
        }
        terminal.wait_for("not now");
        terminal.press("\u{1b}[B\r");
        let (code, shown) = terminal.finish();
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("Use the plugin helper (skills, 1 hook)?"), "{shown}");
        assert!(shown.contains("guard (PreToolUse)"), "{shown}");
        assert!(sandbox.has(INSTALLED), "{args:?}: {shown}");
    }
}
