//! Each event reaches us once, wherever we are registered.

use serde_json::json;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, Turn, World};

use crate::plugins::{EVENTS, answers, plugin};

pub(crate) const POINT: Point = Point {
    name: "events",
    checks: &[
        Check {
            name: "each_event_once_in_global_scope",
            says: "Registered in the user's own files, each event is answered once.",
            run: each_event_once_in_global_scope,
        },
        Check {
            name: "each_event_once_in_project_scope",
            says: "Registered in the project's files, each event is answered once.",
            run: each_event_once_in_project_scope,
        },
        Check {
            name: "each_event_once_when_both_scopes_are_there",
            says: "With a colleague's registration in the project and the user's own besides, each \
                   event is still answered once.",
            run: each_event_once_when_both_scopes_are_there,
        },
        Check {
            name: "our_hooks_need_no_further_review",
            says: "After `init` our hooks run as they are; in Codex, which runs no hook that its user \
                   did not review, after `init --trust-codex-hooks` and not before.",
            run: our_hooks_need_no_further_review,
        },
        Check {
            name: "a_session_that_goes_on_is_answered_too",
            says: "In a session that is taken up again each event of the new prompt is answered once.",
            run: a_session_that_goes_on_is_answered_too,
        },
    ],
};

fn each_event_once_in_global_scope(bench: &Bench) -> Finding {
    let world = world(bench);
    world.init(&["--hook-scope", "global"]);
    each_event_once(&world)
}

fn each_event_once_in_project_scope(bench: &Bench) -> Finding {
    let world = world(bench);
    world.init(&["--hook-scope", "project"]);
    each_event_once(&world)
}

fn each_event_once_when_both_scopes_are_there(bench: &Bench) -> Finding {
    let world = world(bench);
    world.init_as("colleague", &["--hook-scope", "project"]);
    world.sandbox.git(&["add", "--all"]);
    world.sandbox.git(&["commit", "--quiet", "--message", "Use Symposium"]);
    world.init(&[]);
    assert_eq!(world.sandbox.git(&["status", "--porcelain"]), "", "the colleague's files changed");
    // The colleague's are the user's to review.
    told_once(&world, &world.turn_with_unreviewed_hooks(&SCRIPT()))
}

fn our_hooks_need_no_further_review(bench: &Bench) -> Finding {
    let world = world(bench);
    if bench.is("codex") {
        world.sandbox.run(&["init", "--add-agent", "codex"]).ok();
        let turn = world.turn(&SCRIPT());
        assert!(turn.trace.is_empty() && !world.sandbox.has("calls"), "{}", turn.told());
        // One that its user did not review is seen all the same; in an editor none can be run.
        if bench.client.name() == "codex" {
            told_once(&world, &world.turn_with_unreviewed_hooks(&SCRIPT()));
            std::fs::remove_file(world.sandbox.dir().join("calls")).expect("there were calls");
        }
        world.sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).ok();
    } else {
        world.init(&[]);
    }
    each_event_once(&world)
}

fn a_session_that_goes_on_is_answered_too(bench: &Bench) -> Finding {
    let world = world(bench);
    world.init(&[]);
    each_event_once(&world);
    std::fs::remove_file(world.sandbox.dir().join("calls")).expect("there were calls");
    says(&world, "TWO");
    let turn = world.resume("And once more.", &SCRIPT()).complete();
    let calls = world.sandbox.read("calls");
    let count = |event: &str| calls.lines().filter(|line| *line == event).count();
    for event in &EVENTS[1..] {
        assert_eq!(count(event), 1, "{event}\n{}", turn.told());
        assert_eq!(turn.count_in(1, &context("TWO", event)), 1, "{event}\n{}", turn.told());
    }
    // Whether a session starts once more is for the client to say.
    assert!(count(EVENTS[0]) <= 1, "{calls}");
    Finding::Holds
}

fn world(bench: &Bench) -> World {
    let world = bench.world();
    world.sandbox.package(&[]);
    says(&world, "ONE");
    world
}

/// A plugin that notes each event and gives context with it, which begins with `word`.
fn says(world: &World, word: &str) {
    let log = world.sandbox.dir().join("calls");
    let scripts = EVENTS.map(|event| {
        let context = answers(event, &json!({ "additionalContext": context(word, event) }));
        format!("echo {event} >> '{}'\n{context}", log.display())
    });
    let hooks: Vec<(&str, &str)> =
        EVENTS.into_iter().zip(scripts.iter().map(String::as_str)).collect();
    plugin(&world.sandbox, "probe", &hooks);
}

fn context(word: &str, event: &str) -> String {
    format!("{word}-{}", event.to_uppercase())
}

/// What the model does in each of these turns.
const SCRIPT: fn() -> [Step; 2] = || [Step::shell("echo hi > ran.txt"), Step::say("Done.")];

fn each_event_once(world: &World) -> Finding {
    told_once(world, &world.turn(&SCRIPT()))
}

fn told_once(world: &World, turn: &Turn) -> Finding {
    assert!(world.sandbox.has("ws/ran.txt"), "{}", turn.told());
    let calls = world.sandbox.read("calls");
    let mut calls: Vec<&str> = calls.lines().collect();
    // Copilot does not wait for the session's start before it tells of the prompt.
    calls.sort_unstable();
    let mut expected = EVENTS;
    expected.sort_unstable();
    assert_eq!(calls, expected, "{}", turn.told());
    for event in EVENTS {
        assert_eq!(turn.count_in(1, &context("ONE", event)), 1, "{event}\n{}", turn.told());
    }
    Finding::Holds
}
