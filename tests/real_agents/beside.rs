//! What the user has of their own works beside ours, and goes on when ours is gone.

use std::path::PathBuf;

use symposium_testlib::clients::EVENTS;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, Turn, World, mcp};

use crate::plugins::Everything;

pub(crate) const POINT: Point = Point {
    name: "beside",
    checks: &[Check {
        name: "the_user_s_own_things_keep_working",
        says: "The user's own hooks, server and skill work before `init`, after it, after a sync that \
               takes ours away and after `uninstall`: each hook once, the server answers, the skill \
               is offered once.",
        run: the_user_s_own_things_keep_working,
    }],
};

const SKILL: &str = "Feed the cat that lives in this house.";
const SERVER: &str = "mine1";

fn the_user_s_own_things_keep_working(bench: &Bench) -> Finding {
    let world = bench.world();
    let log = world.sandbox.dir().join("own-hooks");
    let has_hooks = world.add_hooks(&log);
    let (program, args) = mcp::stdio(SERVER, &world.sandbox.dir().join("own-asked"));
    let command: Vec<String> = std::iter::once(program).chain(args).collect();
    let has_server = world.add_server(SERVER, &command).is_some();
    assert!(has_hooks && has_server, "the test knows no way to give the user their own");
    let skill = format!("---\nname: cat-care\ndescription: {SKILL}\n---\n\nTwice a day.\n");
    let folder = world.client().skills_folder();
    world.sandbox.write(&format!("ws/{folder}/cat-care/SKILL.md"), skill);

    world.sandbox.package(&[]);
    works(&world, &log, "before `init`");
    let _everything = Everything::new(&world);
    world.init(&[]);
    let turn = works(&world, &log, "beside ours");
    for mark in Everything::marks() {
        assert!(turn.shows(&mark), "ours: no `{mark}`\n{}", turn.told());
    }
    world.sandbox.package(&[]);
    world.sync();
    works(&world, &log, "after a sync that takes ours away");
    world.sandbox.run(&["uninstall"]).ok();
    let turn = works(&world, &log, "after `uninstall`");
    assert!(turn.trace.is_empty(), "{}", turn.told());
    Finding::Holds
}

/// A turn in which everything of the user's is used.
fn works(world: &World, log: &PathBuf, when: &str) -> Turn {
    let _ = std::fs::remove_file(log);
    let turn = world.turn(&[Step::ping(SERVER), Step::shell("echo hi"), Step::say("Done.")]);
    let told = turn.told();
    assert!(turn.results().concat().contains(&mcp::pong(SERVER)), "{when}: no answer\n{told}");
    assert_eq!(turn.count_in(0, SKILL), 1, "{when}: the skill\n{told}");
    let noted = std::fs::read_to_string(log).unwrap_or_default();
    let mut noted: Vec<&str> = noted.lines().collect();
    noted.sort_unstable();
    // Two tools were used.
    let mut expected = [EVENTS.as_slice(), &EVENTS[2..]].concat();
    if world.client().name() == "qwen" {
        // It tells of a prompt with each tool's result, too.
        expected.extend([EVENTS[1]; 2]);
    }
    expected.sort_unstable();
    assert_eq!(noted, expected, "{when}: the user's hooks\n{told}");
    turn
}
