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

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_can_not_be_written_is_a_failure() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    for args in [
        &["plugin", "list"][..],
        &["status"],
        &["--version"],
        &["--help"],
        &["sync", "--help"],
        &["sync", "--json"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("opens");
        let output = sandbox.command(args).stdout(full).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?} {said}");
        assert!(
            args.contains(&"--json") || said.contains("could not be written"),
            "{args:?} {said}"
        );
    }
}
