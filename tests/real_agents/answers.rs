//! What a plugin's portable hook says comes true.

use serde_json::json;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, World};

use crate::plugins::{EVENTS, answers, registered};

pub(crate) const POINT: Point = Point {
    name: "answers",
    checks: &[
        Check {
            name: "a_denied_command_does_not_run",
            says: "A plugin's hook denies a shell command: it does not run, and the model reads why.",
            run: a_denied_command_does_not_run,
        },
        Check {
            name: "exit_code_2_denies",
            says: "A plugin's hook denies with exit code 2 and standard error.",
            run: exit_code_2_denies,
        },
        Check {
            name: "a_rewritten_command_runs_instead",
            says: "A plugin's hook rewrites a shell command: the new one runs, the old one does not.",
            run: a_rewritten_command_runs_instead,
        },
        Check {
            name: "context_of_every_event_reaches_the_model",
            says: "Context that a plugin's hook gives at a session's start, with a prompt, before and \
                   after a tool is in a later request to the model.",
            run: context_of_every_event_reaches_the_model,
        },
        Check {
            name: "a_blocked_end_of_a_turn_makes_it_go_on",
            says: "A plugin's hook blocks the end of a turn: the model reads why, and goes on.",
            run: a_blocked_end_of_a_turn_makes_it_go_on,
        },
        Check {
            name: "a_turn_that_is_always_blocked_ends",
            says: "A plugin's hook that blocks every end of a turn keeps the agent going five times, \
                   and then the turn ends.",
            run: a_turn_that_is_always_blocked_ends,
        },
    ],
};

fn a_denied_command_does_not_run(bench: &Bench) -> Finding {
    let deny = json!({ "decision": "deny", "reason": "WE-NEVER-TOUCH-THAT" });
    denied(bench, &answers("PreToolUse", &deny))
}

fn exit_code_2_denies(bench: &Bench) -> Finding {
    denied(bench, "cat >/dev/null\necho WE-NEVER-TOUCH-THAT >&2\nexit 2\n")
}

fn denied(bench: &Bench, script: &str) -> Finding {
    let world = bench.world();
    registered(&world, &[("PreToolUse", script)]);
    let turn = world.turn(&[Step::shell("echo hi > ran.txt"), Step::say("Done.")]);
    assert!(!world.sandbox.has("ws/ran.txt"), "the command ran\n{}", turn.told());
    assert!(turn.results().concat().contains("WE-NEVER-TOUCH-THAT"), "{}", turn.told());
    Finding::Holds
}

fn a_rewritten_command_runs_instead(bench: &Bench) -> Finding {
    let world = bench.world();
    let rewrite = json!({ "updatedInput": { "command": "echo new > new.txt; echo NEW-RAN" } });
    registered(&world, &[("PreToolUse", &answers("PreToolUse", &rewrite))]);
    let turn = world.turn(&[Step::shell("echo old > old.txt"), Step::say("Done.")]);
    if bench.is("qwen") {
        let (old, new) = ("ws/old.txt", "ws/new.txt");
        let keeps = world.sandbox.has(old) && !world.sandbox.has(new);
        assert!(keeps, "it can rewrite now\n{}", turn.told());
        return Finding::Cant("It documents a new input, and runs the old one.");
    }
    assert!(world.sandbox.has("ws/new.txt"), "the new command did not run\n{}", turn.told());
    assert!(!world.sandbox.has("ws/old.txt"), "the old command ran\n{}", turn.told());
    assert!(turn.results().concat().contains("NEW-RAN"), "{}", turn.told());
    Finding::Holds
}

fn context_of_every_event_reaches_the_model(bench: &Bench) -> Finding {
    let world = bench.world();
    let words = |event: &str| format!("CONTEXT-OF-{}", event.to_uppercase());
    let scripts = EVENTS.map(|event| answers(event, &json!({ "additionalContext": words(event) })));
    let hooks: Vec<(&str, &str)> =
        EVENTS.into_iter().zip(scripts.iter().map(String::as_str)).collect();
    registered(&world, &hooks);
    let turn = world.turn(&[Step::shell("echo hi > ran.txt"), Step::say("Done.")]);
    assert!(world.sandbox.has("ws/ran.txt"), "{}", turn.told());
    for event in EVENTS {
        // The last request shows all that came before.
        assert_eq!(turn.count_in(1, &words(event)), 1, "{event}\n{}", turn.told());
    }
    for event in ["SessionStart", "UserPromptSubmit"] {
        assert_eq!(turn.count_in(0, &words(event)), 1, "{event}\n{}", turn.told());
    }
    Finding::Holds
}

/// A hook's answer to the end of a turn.
fn go_on() -> String {
    answers("Stop", &json!({ "decision": "deny", "reason": "THE-TESTS-FAIL" }))
}

fn a_blocked_end_of_a_turn_makes_it_go_on(bench: &Bench) -> Finding {
    let world = bench.world();
    let log = world.sandbox.dir().join("stopped");
    let once = format!("echo stop >> '{}'\n", log.display());
    let once = format!("{once}test $(wc -l < '{}') = 1 || exit 0\n{}", log.display(), go_on());
    registered(&world, &[("Stop", &once)]);
    let ends = [Step::say("Done."), Step::say("Now it is really done.")];
    if let Some(cant) = without_stop(bench, &world, &ends) {
        return cant;
    }
    let turn = world.turn(&ends);
    assert_eq!(turn.count_in(0, "THE-TESTS-FAIL"), 0, "{}", turn.told());
    assert!(turn.count_in(1, "THE-TESTS-FAIL") > 0, "{}", turn.told());
    assert_eq!(world.sandbox.read("stopped"), "stop\nstop\n", "{}", turn.told());
    Finding::Holds
}

fn a_turn_that_is_always_blocked_ends(bench: &Bench) -> Finding {
    let world = bench.world();
    registered(&world, &[("Stop", &go_on())]);
    let ends = ["one", "two", "three", "four", "five", "six", "seven"].map(Step::say);
    if let Some(cant) = without_stop(bench, &world, &ends) {
        return cant;
    }
    let turn = world.try_turn("ws", "Please do as you think best.", &ends);
    assert!(!turn.finished.timed_out, "{}", turn.told());
    assert_eq!(turn.finished.code, Some(0), "{}", turn.told());
    // The first end, and one after each block. A client may ask its model something of its own besides,
    // so what the model was told is counted, and what it said.
    let blocked = turn.main().filter(|request| request.shows("THE-TESTS-FAIL")).count();
    assert!(blocked >= 5, "{}", turn.told());
    let says = |word: &str| turn.finished.stdout.contains(word);
    assert!(says("six") && !says("seven"), "{}", turn.told());
    Finding::Holds
}

/// For a client that asks nobody whether a turn may end: that it still does not.
fn without_stop(bench: &Bench, world: &World, ends: &[Step]) -> Option<Finding> {
    if !bench.is("opencode") {
        return None;
    }
    let turn = world.try_turn("ws", "Please do as you think best.", ends);
    assert_eq!(turn.main().count(), 1, "{}", turn.told());
    assert!(!turn.events().contains(&"stop"), "{}", turn.told());
    Some(Finding::Cant("It asks no hook whether a turn may end."))
}
