//! `cargo agents init` on a terminal.

use std::process::Command;

use expect_test::expect;
use symposium_testlib::readers::GOOSE_CONFIG;
use symposium_testlib::{Sandbox, Tree};

use crate::sandbox;
use crate::terminal::Terminal;

const AGENTS: &str = "Which agents do you use?";
const SCOPE: &str = "Where should hooks be registered?";
const UPDATE: &str = "When there is a newer Symposium?";
const TRUST: &str = "Trust Symposium's hooks now?";
const DOWN: &str = "\x1b[B";
const ESC: &str = "\x1b";
const CTRL_C: &str = "\x03";
const ENTER: &str = "\r";

/// A home with a `codex` on the `PATH` and a folder of Claude's, outside of any workspace.
fn machine() -> Sandbox {
    let mut sandbox = sandbox();
    program(&sandbox, "codex", "exit 0");
    sandbox.write("home/.claude/settings.json", "{}\n");
    sandbox.set("PATH", format!("{}:/usr/bin:/bin", sandbox.dir().join("bin").display()));
    sandbox
}

/// A program on the sandbox's own `PATH`.
pub(crate) fn program(sandbox: &Sandbox, name: &str, body: &str) {
    sandbox.program(&format!("bin/{name}"), &format!("#!/bin/sh\n{body}\n"));
}

fn start(command: &Command) -> Terminal {
    Terminal::start(command, 100, 30)
}

fn init(sandbox: &Sandbox) -> Terminal {
    start(&sandbox.command(&["init"]))
}

#[test]
fn f34_agents_are_chosen_with_space_and_enter_and_found_ones_are_marked_and_chosen() {
    let sandbox = machine();
    let mut terminal = init(&sandbox);
    terminal.wait_for("OpenCode");
    expect![[r#"
        ? Which agents do you use? (space to select, enter to confirm)
        > [x] Claude Code  found
          [x] Codex CLI  found
          [ ] GitHub Copilot
          [ ] Gemini CLI
          [ ] Antigravity CLI
          [ ] Qwen Code
          [ ] Goose
          [ ] Kiro
          [ ] OpenCode"#]]
    .assert_eq(&terminal.screen());
    // Not Claude, but Gemini.
    terminal.press(&format!(" {DOWN}{DOWN}{DOWN} "));
    terminal.answer("> [x] Gemini CLI", ENTER);
    terminal.answer(SCOPE, ENTER);
    terminal.answer(UPDATE, &format!("{DOWN}{ENTER}"));
    terminal.answer(TRUST, "n");
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.is_restored);
    expect![[r#"
        ? Which agents do you use? Codex CLI, Gemini CLI
        ? Where should hooks be registered? everywhere (recommended)
        ? When there is a newer Symposium? tell me
                Note Codex runs a hook only after you trust it.
        ? Trust Symposium's hooks now? no
             Updated ~/.symposium/config.toml
        warning: `cargo-agents` is not on the PATH that agents see, and it runs from a build folder
           = hooks do nothing until it is found by name
           = install it with `cargo install --path .`, and have cargo's `bin` folder on PATH
          Registered codex    ~/.codex/hooks.json (4 hooks added)
          Registered gemini   ~/.gemini/settings.json (4 hooks added)
                Note Codex runs a hook only after you trust it. To let it, open Codex and trust Symposium's
                     hooks in /hooks."#]]
    .assert_eq(ended.screen.rsplit_once('\n').expect("lines").0);
    assert!(ended.screen.contains("Finished start codex or gemini in a Rust project in "));
    let config = sandbox.read("home/.symposium/config.toml");
    for part in ["name = \"codex\"", "name = \"gemini\"", "auto-update = \"warn\"", "\"global\""] {
        assert!(config.contains(part), "{config}");
    }
    assert!(!config.contains("claude"), "{config}");
    assert_eq!(sandbox.read("home/.claude/settings.json"), "{}\n");
    assert!(!sandbox.has("home/.codex/config.toml"), "no trust was given");
}

#[test]
fn f34_existing_agents_are_chosen_and_confirming_them_does_nothing() {
    let sandbox = machine();
    sandbox.run(&["init", "--add-agent", "claude", "--hook-scope", "global"]).ok();
    let config = "home/.symposium/config.toml";
    sandbox.write(config, format!("auto-update = \"off\"\n{}", sandbox.read(config)));
    let home = || Tree::of(&sandbox.home()).without(&[".symposium/logs"]);
    let before = home();
    let mut terminal = init(&sandbox);
    terminal.answer("> [x] Claude Code  found\n  [ ] Codex CLI  found", ENTER);
    terminal.answer(SCOPE, ENTER);
    terminal.answer(UPDATE, ENTER);
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("nothing to do"), "{}", ended.screen);
    assert_eq!(home().changes_since(&before), [""; 0]);
}

#[test]
fn f36_hooks_can_be_registered_by_project() {
    let sandbox = machine();
    let mut terminal = init(&sandbox);
    terminal.answer("OpenCode", ENTER);
    terminal.answer(SCOPE, &format!("{DOWN}{ENTER}"));
    terminal.answer(UPDATE, ENTER);
    // Nothing is registered here, so there is nothing to trust.
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("run `cargo agents sync` in each project"), "{}", ended.screen);
    assert!(sandbox.read("home/.symposium/config.toml").contains("hook-scope = \"project\""));
    assert!(!sandbox.has("home/.codex"));
    assert_eq!(sandbox.read("home/.claude/settings.json"), "{}\n");
}

/// Presses `key` at each of the questions in turn.
fn get_out_with(key: &str, code: u32) {
    for count in 0..4 {
        let sandbox = machine();
        let before = Tree::of(&sandbox.dir());
        let mut terminal = init(&sandbox);
        for question in [AGENTS, SCOPE, UPDATE].iter().take(count) {
            terminal.answer(question, ENTER);
        }
        terminal.wait_for([AGENTS, SCOPE, UPDATE, TRUST][count]);
        // The list is drawn after its question.
        if count == 0 {
            terminal.wait_for("OpenCode");
        }
        terminal.press(key);
        let ended = terminal.end();
        assert_eq!(ended.code, code, "{}", ended.screen);
        assert!(ended.is_restored, "question {count}");
        assert!(ended.screen.contains("Cancelled nothing was changed"), "{}", ended.screen);
        assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), [""; 0], "question {count}");
    }
}

#[test]
fn esc_leaves_all_untouched() {
    get_out_with(ESC, 1);
}

#[test]
fn ctrl_c_leaves_all_untouched_and_gives_the_terminal_back() {
    get_out_with(CTRL_C, 130);
}

/// All at once, as somebody does who knows the questions: nothing is lost or echoed in between.
#[test]
fn keys_pressed_ahead_of_their_questions_count() {
    let sandbox = machine();
    let before = Tree::of(&sandbox.dir());
    let mut terminal = init(&sandbox);
    terminal.answer("OpenCode", &format!("{ENTER}{ENTER}{ENTER}{CTRL_C}"));
    let ended = terminal.end();
    assert_eq!(ended.code, 130, "{}", ended.screen);
    assert!(ended.is_restored && !ended.screen.contains("^C"), "{}", ended.screen);
    assert_eq!(ended.screen.matches("Where should hooks").count(), 1, "{}", ended.screen);
    assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), [""; 0]);
}

#[test]
fn a_signal_from_elsewhere_gives_the_terminal_back_too() {
    for signal in ["-INT", "-TERM"] {
        let sandbox = machine();
        let mut terminal = init(&sandbox);
        terminal.wait_for("OpenCode");
        // It draws first, and waits for a key then.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let id = terminal.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("runs").success());
        let ended = terminal.end();
        assert_eq!(ended.code, 130, "{}", ended.screen);
        assert!(ended.is_restored, "{signal}");
    }
}

#[test]
fn forty_columns_are_enough() {
    let sandbox = machine();
    let mut terminal = Terminal::start(&sandbox.command(&["init"]), 40, 30);
    terminal.wait_for("OpenCode");
    expect![[r#"
        ? Which agents do you use?
          (space to select, enter to confirm)
        > [x] Claude Code  found
          [x] Codex CLI  found
          [ ] GitHub Copilot
          [ ] Gemini CLI
          [ ] Antigravity CLI
          [ ] Qwen Code
          [ ] Goose
          [ ] Kiro
          [ ] OpenCode"#]]
    .assert_eq(&terminal.screen());
    assert!(!terminal.is_wrapped());
    // Moving draws the list anew, in its place.
    terminal.press(&format!("{DOWN}{DOWN} "));
    terminal.wait_for("> [x] GitHub Copilot");
    assert_eq!(terminal.screen().matches("Claude Code").count(), 1, "{}", terminal.screen());
    terminal.press(&format!(" {ENTER}"));
    terminal.wait_for("in each project you sync");
    expect![[r#"
        ? Which agents do you use?
          Claude Code, Codex CLI
        ? Where should hooks be registered?
          > everywhere (recommended)
            in each project you sync"#]]
    .assert_eq(&terminal.screen());
    terminal.press(ENTER);
    terminal.answer(UPDATE, ENTER);
    terminal.answer("[Y/n]", ENTER);
    assert_eq!(terminal.end().code, 0);
    assert!(sandbox.read("home/.codex/config.toml").contains("trusted_hash"));
}

#[test]
fn colours_are_there_and_no_color_takes_them_away() {
    let run = |no_color: bool| {
        let mut sandbox = machine();
        if no_color {
            sandbox.set("NO_COLOR", "1");
        }
        let mut terminal = init(&sandbox);
        terminal.answer("OpenCode", ENTER);
        terminal.answer(SCOPE, ENTER);
        terminal.answer(UPDATE, ENTER);
        terminal.answer(TRUST, ENTER);
        terminal.end().raw
    };
    let styles = regex::Regex::new("\x1b\\[[0-9;]+m").expect("a valid expression");
    assert!(styles.is_match(&run(false)));
    let plain = run(true);
    assert!(!styles.is_match(&plain), "{plain:?}");
}

#[test]
fn case_90_ci_on_a_terminal_fails_at_once_and_names_the_flags() {
    for value in ["1", "true", "false"] {
        let mut sandbox = machine();
        sandbox.set("CI", value);
        let before = Tree::of(&sandbox.dir()).without(&["home/.symposium/logs"]);
        let ended = init(&sandbox).end();
        assert_eq!(ended.code, 1);
        assert!(ended.screen.contains("--add-agent"), "{}", ended.screen);
        let after = Tree::of(&sandbox.dir()).without(&["home/.symposium/logs"]);
        assert_eq!(after.changes_since(&before), [""; 0]);
    }
    let mut sandbox = machine();
    sandbox.set("CI", "");
    let mut terminal = init(&sandbox);
    terminal.answer("OpenCode", ESC);
    assert_eq!(terminal.end().code, 1);
}

#[test]
fn a_terminal_that_can_not_show_the_questions_is_told_the_flags() {
    let sandbox = machine();
    let ended = Terminal::start(&sandbox.command(&["init"]), 100, 2).end();
    assert_eq!(ended.code, 1, "{}", ended.screen);
    assert!(ended.raw.contains("--add-agent"), "{}", ended.raw);
    let mut sandbox = machine();
    sandbox.set("TERM", "dumb");
    let ended = init(&sandbox).end();
    assert_eq!(ended.code, 1, "{}", ended.screen);
    assert!(ended.screen.contains("--add-agent"), "{}", ended.screen);
}

#[test]
fn deselecting_the_last_agent_asks_nothing_further_and_takes_everything_back() {
    let sandbox = machine();
    let before = Tree::of(&sandbox.home()).without(&[".symposium"]);
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let mut terminal = init(&sandbox);
    terminal.answer("OpenCode", &format!(" {ENTER}"));
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("no agents are left"), "{}", ended.screen);
    assert!(ended.screen.contains("your settings\n"), "{}", ended.screen);
    let after = Tree::of(&sandbox.home()).without(&[".symposium"]);
    assert_eq!(after.changes_since(&before), [""; 0]);
}

#[test]
fn an_empty_choice_asks_nothing_further_and_changes_nothing() {
    let sandbox = sandbox();
    let ours = [".symposium/logs", ".symposium/state.toml", ".symposium/cache"];
    let before = Tree::of(&sandbox.home()).without(&ours);
    let mut terminal = init(&sandbox);
    terminal.answer("OpenCode", ENTER);
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.contains("nothing was changed"), "{}", ended.screen);
    let after = Tree::of(&sandbox.home()).without(&ours);
    assert_eq!(after.changes_since(&before), [""; 0]);
}

/// Our own files, an empty folder and another agent's folder say nothing of an agent.
#[test]
fn an_agent_is_found_by_its_program_or_by_files_that_are_not_ours() {
    let sandbox = sandbox();
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    assert!(sandbox.has("home/.codex/hooks.json"));
    std::fs::create_dir_all(sandbox.home().join(".kiro/settings")).expect("creates");
    sandbox.write("home/.gemini/antigravity-cli/settings.json", "{}\n");
    sandbox.write(GOOSE_CONFIG, "GOOSE_MODE: auto\n");
    let mut terminal = init(&sandbox);
    terminal.wait_for("OpenCode");
    let screen = terminal.screen();
    let found: Vec<_> = screen.lines().filter(|line| line.ends_with("  found")).collect();
    assert_eq!(found, ["  [ ] Antigravity CLI  found", "  [ ] Goose  found"], "{screen}");
    terminal.press(ESC);
    terminal.end();
}
