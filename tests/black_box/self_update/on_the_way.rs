//! The look for a newer version that other commands make on their way.

use std::time::{Duration, Instant};

use symposium_testlib::Terminal;

use super::*;

#[test]
fn f216_a_look_in_vain_is_no_check() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, "echo 'error: no network' >&2; exit 101", "exit 1");
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("no network"), "{}", run.stderr);
    assert!(!state(&sandbox).contains("last-update-check"), "{}", state(&sandbox));
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("no network"), "{screen}");
    let count = asked(&sandbox).len();
    let_pass(&sandbox, 1);
    at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(asked(&sandbox).len(), 2 * count, "{:?}", asked(&sandbox));
}

#[test]
fn f213_f219_on_installs_and_runs_the_same_command_with_the_new_program() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), &install_99(&sandbox));
    let args = ["agents", "sync", "--agent", "cla ude", "--dry-run"];
    let (code, screen) = at_terminal(&sandbox, &args);
    let expected: String = args.iter().map(|arg| format!("new[{arg}]\n")).collect();
    assert!(screen.ends_with(&format!("{expected}from[{VERSION}]\n")), "{screen}");
    assert_eq!(code, 5, "{screen}");
    assert!(screen.contains(&format!("symposium {VERSION} → 99.0.0")), "{screen}");
}

#[test]
fn f213_once_a_day() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info(VERSION), "exit 1");
    for _ in 0..3 {
        let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
        assert_eq!(code, 0, "{screen}");
    }
    assert_eq!(asked(&sandbox).len(), 1);
    let_pass(&sandbox, 23);
    at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(asked(&sandbox).len(), 1);
    let_pass(&sandbox, 24);
    at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(asked(&sandbox).len(), 2);
    // F217: asked for, it always looks.
    sandbox.run(&["self-update"]).ok();
    assert_eq!(asked(&sandbox).len(), 3);
}

#[test]
fn a_failed_update_does_not_stop_the_command_and_is_tried_again_tomorrow() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 101");
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("99.0.0 could not be installed"), "{screen}");
    assert!(screen.contains("Finished"), "{screen}");
    at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(asked(&sandbox).len(), 2);
}

#[test]
fn the_new_program_looks_for_no_other_one() {
    let mut sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 1");
    sandbox.set("SYMPOSIUM_UPDATED_FROM", "0.0.1");
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(asked(&sandbox), Vec::<String>::new());
}

#[test]
fn f214_warn_tells_and_installs_nothing() {
    let sandbox = installed(CRATES_IO);
    sandbox.config("auto-update = \"warn\"\n");
    fake_cargo(&sandbox, &info_99(), "exit 1");
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("symposium 99.0.0 is available"), "{screen}");
    assert!(screen.contains("cargo agents self-update"), "{screen}");
    assert_eq!(asked(&sandbox).len(), 1);
    assert!(state(&sandbox).contains("newest-version = \"99.0.0\""), "{}", state(&sandbox));
}

#[test]
fn f215_off_never_looks() {
    let sandbox = installed(CRATES_IO);
    sandbox.config("auto-update = \"off\"\n");
    fake_cargo(&sandbox, &info_99(), "exit 1");
    at_terminal(&sandbox, &["sync", "--dry-run"]);
    sandbox.run(&["sync", "--background"]);
    assert_eq!(asked(&sandbox), Vec::<String>::new());
}

#[test]
fn decision_1_never_without_a_terminal_never_in_a_hook_never_for_help() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), &install_99(&sandbox));
    sandbox.run(&["sync", "--dry-run"]).ok();
    for args in [
        &["hook", "claude", "session-start"][..],
        &["--help"],
        &["--version"],
        &["completions", "bash"],
        &["-q", "sync", "--dry-run"],
        &["--offline", "sync", "--dry-run"],
        &["--json", "sync", "--dry-run"],
        &["uninstall", "--dry-run"],
    ] {
        let (code, screen) = at_terminal(&sandbox, args);
        assert_eq!(code, 0, "{args:?}: {screen}");
    }
    let mut in_ci = sandbox.command(&["sync", "--dry-run"]);
    in_ci.env("CI", "true");
    Terminal::start(in_ci, 80).finish();
    assert_eq!(asked(&sandbox), Vec::<String>::new());
}

#[test]
fn a_background_sync_looks_and_installs_nothing() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 1");
    sandbox.run(&["sync", "--background"]).ok();
    assert_eq!(asked(&sandbox), ["info symposium --registry crates-io"]);
    assert!(state(&sandbox).contains("newest-version = \"99.0.0\""), "{}", state(&sandbox));
    sandbox.run(&["--offline", "sync", "--background"]).ok();
    assert_eq!(asked(&sandbox).len(), 1);
}

/// Sends a session's start to the installed program; its answer.
fn start_session(sandbox: &Sandbox, id: &str) -> String {
    let event = format!(
        "{{\"session_id\":\"{id}\",\"transcript_path\":\"/t\",\"cwd\":\"{}\",\
         \"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}}",
        sandbox.ws().display()
    );
    sandbox.feed(&["hook", "claude", "session-start"], event.as_bytes()).ok().stdout
}

/// Sends a session's start, and waits until the process in the background has looked.
fn have_looked(sandbox: &Sandbox) {
    start_session(sandbox, "s1");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !state(sandbox).contains("newest-version = \"99.0.0\"") {
        assert!(Instant::now() < deadline, "{}", state(sandbox));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_sessions_start_has_a_newer_version_looked_for_and_the_next_one_tells_the_user_not_the_model() {
    let sandbox = installed(CRATES_IO);
    sandbox.config("auto-update = \"warn\"\n");
    fake_cargo(&sandbox, &info_99(), "exit 1");
    sandbox.run(&["sync"]).ok();
    have_looked(&sandbox);
    let said = start_session(&sandbox, "s2");
    let answer: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    // What Claude Code shows to the user, and gives to no model.
    let line = answer["systemMessage"].as_str().expect("a line for the user");
    assert!(line.contains("symposium 99.0.0 is available"), "{said}");
    assert_eq!(said.matches("99.0.0").count(), 1, "{said}");
    assert_eq!(said.matches("self-update").count(), 1, "{said}");
    assert!(!start_session(&sandbox, "s3").contains("99.0.0"), "once a day");
    assert_eq!(asked(&sandbox), ["info symposium --registry crates-io"], "once a day");
}

#[test]
fn what_the_background_found_is_told_at_the_terminal_too_once_a_day() {
    let sandbox = installed(CRATES_IO);
    sandbox.config("auto-update = \"warn\"\n");
    fake_cargo(&sandbox, &info_99(), "exit 1");
    sandbox.run(&["sync"]).ok();
    have_looked(&sandbox);
    for (told, looks) in [(true, 2), (false, 2)] {
        let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
        assert_eq!(code, 0, "{screen}");
        assert_eq!(screen.contains("symposium 99.0.0 is available"), told, "{screen}");
        assert_eq!(asked(&sandbox).len(), looks);
    }
}

#[test]
fn no_agent_is_told_of_a_newer_version_when_the_program_is_not_from_a_registry() {
    for (source, told) in [(CRATES_IO, true), ("path+file:///src/symposium", false)] {
        let sandbox = installed(source);
        sandbox.config("auto-update = \"warn\"\n");
        fake_cargo(&sandbox, &info_99(), "exit 1");
        sandbox.run(&["sync"]).ok();
        sandbox.write("home/.symposium/state.toml", "newest-version = \"99.0.0\"\nfuture = 1\n");
        assert_eq!(start_session(&sandbox, "s1").contains("99.0.0"), told, "{source}");
        assert!(state(&sandbox).contains("future = 1"), "{}", state(&sandbox));
    }
}

#[test]
fn a_checkout_s_build_is_never_looked_at_on_the_way() {
    let mut sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.set("SYMPOSIUM_CARGO", sandbox.dir().join("fake/cargo"));
    fake_cargo(&sandbox, &info_99(), "exit 1");
    Terminal::start(sandbox.command(&["sync", "--dry-run"]), 80).finish();
    assert_eq!(asked(&sandbox), Vec::<String>::new());
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("was built in a checkout"), "{}", run.stderr);
}

#[test]
fn a_registry_that_does_not_answer_costs_five_seconds_once() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, "sleep 60", "exit 1");
    let start = std::time::Instant::now();
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(start.elapsed() >= Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert!(screen.contains("Finished"), "{screen}");
    at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(asked(&sandbox).len(), 1);
}

#[test]
fn where_nothing_can_be_remembered_nobody_looks() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 1");
    // A folder in the file's place: not even root can write it.
    std::fs::create_dir_all(sandbox.home().join(".symposium/state.toml")).expect("creates");
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(asked(&sandbox), Vec::<String>::new());
}

#[test]
fn ctrl_c_stops_the_update_and_the_command() {
    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "echo compiling; exec sleep 60");
    let mut terminal = Terminal::start(sandbox.command(&["sync", "--dry-run"]), 100);
    terminal.wait_for("compiling");
    terminal.press("\u{3}");
    let (code, screen) = terminal.finish();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("interrupted"), "{screen}");
    assert!(!screen.contains("Finished"), "{screen}");
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Finished"), "{screen}");
}

#[test]
fn another_update_under_way_holds_no_command_up() {
    let sandbox = installed(CRATES_IO);
    // It goes on until the other command has ended, a minute at most.
    let install = format!(
        "cd '{}'; touch begun; for n in $(seq 600); do [ -e ended ] && exit 1; sleep 0.1; done",
        sandbox.dir().display()
    );
    fake_cargo(&sandbox, &info_99(), &install);
    let mut first = sandbox.command(&["self-update"]);
    first.stderr(std::process::Stdio::null());
    let mut first = first.spawn().expect("it starts");
    while !sandbox.has("begun") {
        std::thread::sleep(Duration::from_millis(10));
    }
    let_pass(&sandbox, 24);
    let (code, screen) = at_terminal(&sandbox, &["sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(first.try_wait().expect("waits").is_none(), "it was waited for: {screen}");
    sandbox.write("ended", "");
    assert!(!screen.contains("99.0.0"), "{screen}");
    first.wait().expect("it ends");
}
