//! Each call that changes a file fails: once, or from then on.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Machine, check_its_end, figure, rounds};

/// What fails, from which call on.
struct Fault {
    what: &'static str,
    errno: i32,
    /// Only this call fails, not those after it.
    once: bool,
    /// Calls that need no space go on working.
    space: bool,
}

/// The library that makes calls fail. It is C, for the loader takes nothing else in front of the system's.
fn library(folder: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/failing_calls.c");
    let made = folder.join("failing_calls.so");
    let compiler = ["-shared", "-fPIC", "-O1", "-o"];
    let done = Command::new("cc").args(compiler).arg(&made).args([source, "-ldl"]).status();
    assert!(done.expect("cc, with which Rust links, starts").success());
    made
}

fn at_each_call(fault: &Fault, args: &[&str]) {
    let machine = Machine::new();
    let folder = tempfile::tempdir().expect("a folder");
    let (library, counted) = (library(folder.path()), folder.path().join("count"));
    let run = |at: usize| {
        machine.lay();
        let mut command = machine.sandbox.command(args);
        command
            .env("LD_PRELOAD", &library)
            .env("FAIL_AT", at.to_string())
            .env("FAIL_ERRNO", fault.errno.to_string())
            .env("FAIL_COUNT", &counted);
        if fault.once {
            command.env("FAIL_ONCE", "1");
        }
        if fault.space {
            command.env("FAIL_SPACE", "1");
        }
        symposium_testlib::Run::of(&mut command, b"")
    };
    run(0).ok();
    let count = std::fs::read_to_string(&counted).expect("was counted");
    let count: usize = count.parse().expect("a number");
    assert!(count > 40, "only {count} calls were seen");
    let step = (count / rounds(14, count)).max(1);
    let (mut told, mut tried) = (0, 0);
    // An odd step meets each kind of call, however they take turns.
    for at in (1..=count).step_by(step | 1) {
        let when = format!("{}, from call {at} of {count} on", fault.what);
        let run = run(at);
        check_its_end(&run, &when);
        machine.check_nothing_is_lost(&when);
        // What calls itself done is done, whatever could not be remembered for the next time.
        assert!(run.code == 1 || machine.is_done(), "{when}: {}", run.stderr);
        machine.check_it_heals(&when);
        (told, tried) = (told + usize::from(run.code == 1), tried + 1);
    }
    let found = format!("{told} told what failed, the others were done all the same");
    figure(&format!("{} at each call of `{}`", fault.what, args.join(" ")), tried, &found);
}

#[test]
fn a_full_disk_at_any_call_loses_nothing_and_the_next_sync_heals() {
    let fault = Fault { what: "no space", errno: libc::ENOSPC, once: false, space: true };
    at_each_call(&fault, &["sync"]);
}

#[test]
fn a_permission_lost_half_way_loses_nothing_and_the_next_sync_heals() {
    let fault = Fault { what: "no permission", errno: libc::EACCES, once: false, space: false };
    at_each_call(&fault, &["sync"]);
}

#[test]
fn one_call_that_fails_loses_nothing_and_the_next_sync_heals() {
    let fault = Fault { what: "one failure", errno: libc::EIO, once: true, space: false };
    at_each_call(&fault, &["sync"]);
}
