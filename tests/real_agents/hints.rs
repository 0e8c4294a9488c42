//! What the locked version of a dependency says, where a build fails on it.

use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, Turn};

pub(crate) const POINT: Point = Point {
    name: "hints",
    checks: &[
        Check {
            name: "a_build_that_fails_is_explained",
            says: "A shell command fails with rustc's errors about a dependency: the next request to \
                   the model has what the locked version says of the item, once in the session.",
            run: a_build_that_fails_is_explained,
        },
        Check {
            name: "errors_of_a_command_that_ends_well_are_explained",
            says: "So it is where the command that prints the errors ends well.",
            run: errors_of_a_command_that_ends_well_are_explained,
        },
    ],
};

const CHANGELOG: &str = "# Changelog\n\n## 1.0.0\n\n- Renamed `widget::turn` to `widget::rotate`\n";
/// The changelog's line in the answer, which some clients escape.
const REPLACEMENT: &str = "Renamed `widget::turn` to `widget::rotate`";
/// What we say of it.
const WHERE: &str = "CHANGELOG.md:5 (1.0.0)";
const ERRORS: &str = "error[E0425]: cannot find function `turn` in crate `widget`\n --> src/main.rs:2:13\n  \
                      |\n2 |     widget::turn();\n  |             ^^^^ not found in `widget`\n\n\
                      error: could not compile `shop` (bin \"shop\") due to 1 previous error\n";

fn a_build_that_fails_is_explained(bench: &Bench) -> Finding {
    explained(bench, "cat errors.txt >&2; exit 101")
}

fn errors_of_a_command_that_ends_well_are_explained(bench: &Bench) -> Finding {
    explained(bench, "cat errors.txt")
}

fn explained(bench: &Bench, build: &str) -> Finding {
    let mut world = bench.world();
    // On a busy machine the client and its model take their time, too.
    world.sandbox.switch("patience", "20");
    let files = [("CHANGELOG.md", CHANGELOG), ("src/lib.rs", "pub fn rotate() {}\n")];
    world.sandbox.registry_crate("widget", "1.0.0", &files);
    world.sandbox.package(&[("widget", "1.0.0")]);
    world.sandbox.write("ws/errors.txt", ERRORS);
    world.init(&[]);
    let twice = format!("{build} # again");
    let turn = world.turn(&[Step::shell(build), Step::shell(twice), Step::say("Done.")]);
    let said = |request| (turn.count_in(request, WHERE), turn.count_in(request, REPLACEMENT));
    let told = Turn::told;
    assert_eq!(said(0), (0, 0), "{}", told(&turn));
    assert_eq!(said(1), (1, 1), "{}\n{}", turn.around("widget 1.0.0"), told(&turn));
    assert_eq!(said(2), (1, 1), "it is told again\n{}", told(&turn));
    Finding::Holds
}
