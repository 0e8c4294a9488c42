//! The manners of the command line (F1, F5–F9).

use crate::sandbox;

#[test]
fn f1_cargo_s_extra_argument_is_stripped() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let one = sandbox.run(&["agents", "sync", "--agent", "claude", "--dry-run"]).ok();
    let two = sandbox.run(&["sync", "--agent", "claude", "--dry-run"]).ok();
    assert_eq!(one, two);
}

#[test]
fn f5_quiet_says_nothing() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let run = sandbox.run(&["-q", "sync", "--agent", "claude"]).ok();
    assert_eq!((run.stdout, run.stderr), (String::new(), String::new()));
}

#[test]
fn f7_global_options_stand_before_or_after_the_command() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let before = sandbox.run(&["--quiet", "sync", "--agent", "claude", "--dry-run"]).ok();
    let after = sandbox.run(&["sync", "--agent", "claude", "--dry-run", "--quiet"]).ok();
    assert_eq!(before, after);
    let one = sandbox.run(&["--help", "--quiet"]).ok();
    let two = sandbox.run(&["--quiet", "--help"]).ok();
    assert_eq!(one, two);
}

#[test]
fn f9_a_wrong_command_line_is_exit_code_2() {
    let sandbox = sandbox();
    let run = sandbox.run(&["sync", "--nonsense"]).code(2);
    assert!(run.stderr.contains("--nonsense"), "{}", run.stderr);
}

#[test]
fn colour_follows_no_color_and_cargo_term_color() {
    let mut sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.set("CARGO_TERM_COLOR", "always");
    let run = sandbox.run(&["sync", "--agent", "claude", "--dry-run"]).ok();
    assert!(run.stderr.contains("\u{1b}["), "{:?}", run.stderr);
    sandbox.set("NO_COLOR", "1");
    let run = sandbox.run(&["sync", "--agent", "claude", "--dry-run"]).ok();
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
}
