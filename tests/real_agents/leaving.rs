//! After `uninstall` the client is as if we had never been there.

use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, Turn};

use crate::plugins::Everything;

pub(crate) const POINT: Point = Point {
    name: "leaving",
    checks: &[
        Check {
            name: "nothing_is_left_after_uninstall",
            says: "`init`, a turn, `uninstall`, a turn: the second turn has nothing of ours, neither in \
                   what the model is shown nor on the screen, and our program is not called.",
            run: nothing_is_left_after_uninstall,
        },
        Check {
            name: "nothing_is_left_in_the_project_s_files",
            says: "So it is with `hook-scope = \"project\"`.",
            run: nothing_is_left_in_the_project_s_files,
        },
    ],
};

fn nothing_is_left_after_uninstall(bench: &Bench) -> Finding {
    comes_and_goes(bench, "global")
}

fn nothing_is_left_in_the_project_s_files(bench: &Bench) -> Finding {
    comes_and_goes(bench, "project")
}

fn comes_and_goes(bench: &Bench, scope: &str) -> Finding {
    let world = bench.world();
    let everything = Everything::new(&world);
    let script = [Step::shell("echo hi > ran.txt"), Step::say("Done.")];
    let before = world.turn(&script);
    world.init(&["--hook-scope", scope]);
    let with = world.turn(&script);
    for mark in Everything::marks() {
        assert!(with.shows(&mark), "no `{mark}` while we are there\n{}", with.told());
    }
    assert!(!with.trace.is_empty() && !everything.http.asked().is_empty());
    world.sandbox.run(&["uninstall"]).ok();
    let asked = everything.http.asked().len();
    let after = world.turn(&script);
    for mark in Everything::marks().iter().map(String::as_str).chain(["cargo-agents"]) {
        assert!(!after.shows(mark), "`{mark}` is left: {}\n{}", after.around(mark), after.told());
    }
    assert!(after.trace.is_empty(), "our program was called\n{}", after.told());
    assert_eq!(everything.http.asked().len(), asked, "our server was asked");
    for (before, after) in before.main().zip(after.main()) {
        assert_eq!(before.tools, after.tools);
    }
    assert_eq!(complaints(&after), complaints(&before), "{}", after.told());
    Finding::Holds
}

/// The lines of the screen that say that something is wrong.
fn complaints(turn: &Turn) -> Vec<String> {
    let screen = turn.screen();
    let lines = screen.lines().filter(|line| {
        let line = line.to_lowercase();
        ["error:", "warn", "fail", "not found", "cannot", "can't", "invalid", "cargo-agents"]
            .iter()
            .any(|words| line.contains(words))
    });
    lines.map(str::to_owned).collect()
}
