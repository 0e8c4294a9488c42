//! Too few descriptors, too little memory, no programs, and a clock that goes back.

use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{Machine, check_its_end, figure, rounds};

/// The sync under a shell's limit.
fn limited(machine: &Machine, limit: &str) -> symposium_testlib::Run {
    machine.lay();
    let shell = format!("ulimit {limit} && exec \"$0\" \"$@\"");
    let own = machine.sandbox.command(&["sync"]);
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(shell).arg(own.get_program()).args(own.get_args());
    command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(own.get_current_dir().expect("has one"));
    symposium_testlib::Run::of(&mut command, b"")
}

#[test]
fn too_few_descriptors_lose_nothing_and_the_next_sync_heals() {
    let machine = Machine::new();
    let (mut failed, mut tried) = (0, 0);
    for count in (4..24).step_by(24 / rounds(6, 24)) {
        let when = format!("{count} descriptors");
        let run = limited(&machine, &format!("-n {count}"));
        // With fewer than these the system's loader does not start the program.
        if count > 5 {
            check_its_end(&run, &when);
        }
        machine.check_nothing_is_lost(&when);
        machine.check_it_heals(&when);
        (failed, tried) = (failed + usize::from(run.code != 0), tried + 1);
    }
    figure("4 to 23 descriptors", tried, &format!("{failed} were too few, and said so"));
}

#[test]
fn too_little_memory_loses_nothing_and_the_next_sync_heals() {
    let machine = Machine::new();
    let (mut failed, mut tried) = (0, 0);
    // Where memory runs out Rust ends the program: nothing can be told then.
    for megabytes in (8..160).step_by(152 / rounds(5, 76)) {
        let when = format!("{megabytes} MB");
        let run = limited(&machine, &format!("-v {}", megabytes * 1024));
        machine.check_nothing_is_lost(&when);
        machine.check_it_heals(&when);
        (failed, tried) = (failed + usize::from(run.code != 0), tried + 1);
    }
    figure("8 to 160 MB of address space", tried, &format!("{failed} were too little"));
}

#[test]
fn without_any_program_on_the_path_a_sync_does_what_needs_none() {
    let machine = Machine::new();
    machine.lay();
    let empty = tempfile::tempdir().expect("a folder");
    let mut command = machine.sandbox.command(&["sync"]);
    let run = symposium_testlib::Run::of(command.env("PATH", empty.path()), b"");
    check_its_end(&run, "no programs");
    assert!(machine.is_done(), "{}", run.stderr);
    figure("no git, no cargo, no shell", 1, "all was done");
}

#[test]
fn a_clock_that_goes_back_or_forth_changes_nothing() {
    let machine = Machine::new();
    let year = Duration::from_secs(365 * 24 * 3600);
    let now = SystemTime::now();
    let times = [now + year, now - 20 * year, SystemTime::UNIX_EPOCH, now + 50 * year];
    for time in times {
        machine.lay();
        machine.sandbox.run(&["sync"]).ok();
        set_times(&machine.sandbox.dir(), time);
        machine.check_it_heals(&format!("{time:?}"));
        // What is written after that is seen, though it may be older than what it replaces.
        let skill = "home/.symposium/plugins/skilled/skills/widget-basics/SKILL.md";
        let newer = machine.sandbox.read(skill).replace("Turn it.", "Turn it once more.");
        machine.sandbox.write(skill, newer);
        set_times(&machine.sandbox.dir().join(skill), time);
        machine.sandbox.run(&["sync"]).ok();
        let copy = machine.sandbox.read("ws/.claude/skills/widget-basics/SKILL.md");
        assert!(copy.contains("once more"), "{time:?}");
    }
    figure("a clock years ahead or behind", times.len(), "edits were seen all the same");
}

/// Gives a file, or all in a folder, one time.
fn set_times(path: &std::path::Path, time: SystemTime) {
    for entry in walkdir::WalkDir::new(path).contents_first(true).into_iter().flatten() {
        if !entry.path_is_symlink() {
            let file = std::fs::File::open(entry.path()).expect("opens");
            let times = std::fs::FileTimes::new().set_modified(time).set_accessed(time);
            file.set_times(times).expect("sets");
        }
    }
}
