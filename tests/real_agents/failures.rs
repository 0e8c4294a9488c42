//! Whatever goes wrong on our side, the agent carries on.

use std::time::Duration;

use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, World};

use crate::plugins::{EVENTS, registered, with_settings};

pub(crate) const POINT: Point = Point {
    name: "failures",
    checks: &[
        Check {
            name: "plugins_that_fail_block_nothing",
            says: "Plugins' hooks that crash, hang or print garbage at every event block nothing, and \
                   the model sees none of it.",
            run: plugins_that_fail_block_nothing,
        },
        Check {
            name: "a_missing_program_blocks_nothing",
            says: "With our own program gone the turn goes on, in both scopes.",
            run: a_missing_program_blocks_nothing,
        },
        Check {
            name: "a_crashing_program_blocks_nothing",
            says: "With our own program crashing at every event the turn goes on, in both scopes.",
            run: a_crashing_program_blocks_nothing,
        },
    ],
};

const CRASH: &str = "echo CRASH-OUT\necho CRASH-ERR >&2\nkill -9 $$\n";
const EXIT: &str = "cat >/dev/null\necho EXIT-ERR >&2\nexit 7\n";
const HANG: &str = "echo HANG-OUT\nsleep 600\n";
const GARBAGE: &str = "head -c 300000 /dev/zero | tr '\\0' 'x'\nprintf '{\"PreToolUse\": [GARBAGE'\n\
                       printf '\\377\\376\\0{}'\n";

fn plugins_that_fail_block_nothing(bench: &Bench) -> Finding {
    let world = bench.world();
    for (name, script) in [("crash", CRASH), ("exit", EXIT), ("hang", HANG), ("garbage", GARBAGE)] {
        let hooks = EVENTS.map(|event| (event, script));
        with_settings(&world.sandbox, name, "timeout = 1\n", &hooks);
    }
    registered(&world, &[]);
    let turn = goes_on(&world);
    for words in ["CRASH-OUT", "CRASH-ERR", "EXIT-ERR", "HANG-OUT", "GARBAGE", "xxxxxxxx"] {
        assert!(!turn.shows(words), "{words}\n{}", turn.told());
    }
    assert!(turn.finished.took < Duration::from_secs(60), "{}", turn.told());
    Finding::Holds
}

fn a_missing_program_blocks_nothing(bench: &Bench) -> Finding {
    in_both_scopes(bench, |world| {
        std::fs::remove_file(world.own_program()).expect("our program goes");
    })
}

fn a_crashing_program_blocks_nothing(bench: &Bench) -> Finding {
    // 101 is what a panic ends with, and the harshest of those that are no answer.
    let script = "#!/bin/sh\necho BOOM\necho BOOM >&2\nexit 101\n";
    in_both_scopes(bench, |world| {
        std::fs::remove_file(world.own_program()).expect("our program goes");
        std::fs::write(world.own_program(), script).expect("another comes");
        executable(world.own_program());
    })
}

fn in_both_scopes(bench: &Bench, spoil: impl Fn(&World)) -> Finding {
    for scope in ["global", "project"] {
        let world = bench.world();
        world.sandbox.package(&[]);
        world.init(&["--hook-scope", scope]);
        spoil(&world);
        let turn = goes_on(&world);
        for words in ["BOOM", "cargo-agents"] {
            let around = turn.around(words);
            assert!(!turn.shows(words), "{scope}: the model sees `{words}`: {around}");
        }
    }
    Finding::Holds
}

fn goes_on(world: &World) -> symposium_testlib::Turn {
    let turn = world.turn(&[Step::shell("echo hi > ran.txt; echo IT-RAN"), Step::say("Done.")]);
    assert!(world.sandbox.has("ws/ran.txt"), "the command did not run\n{}", turn.told());
    assert!(turn.results().concat().contains("IT-RAN"), "{}", turn.told());
    assert!(turn.count_in(0, "Please do as you think best.") > 0, "{}", turn.told());
    turn
}

#[cfg(unix)]
fn executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("the mode can be set");
}

#[cfg(not(unix))]
fn executable(_: &std::path::Path) {}
