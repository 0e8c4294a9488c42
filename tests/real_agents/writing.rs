//! The client and our program write to the same files, and neither loses anything of the other's.

use std::sync::atomic::{AtomicBool, Ordering};

use symposium_testlib::clients::Sight;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::mcp;
use symposium_testlib::{Step, World};

use crate::plugins::{EVENTS, Everything, context_of};

pub(crate) const POINT: Point = Point {
    name: "writing",
    checks: &[
        Check {
            name: "what_the_client_writes_stays",
            says: "A server that the user adds with the client's own command, and what the client \
                   writes during a turn: both outlive our `sync` and `uninstall`, and ours outlive \
                   them.",
            run: what_the_client_writes_stays,
        },
        Check {
            name: "both_write_at_once",
            says: "The client adds servers while our program, over and over, adds and removes its own: \
                   at the end all of them are there and answer.",
            run: both_write_at_once,
        },
    ],
};

const ANYWHERE: &str = "anywhere1";
const MINE: &str = "mine1";

/// A plugin whose server is in the user's own files.
fn anywhere(world: &World, name: &str) {
    let (command, args) = mcp::stdio(name, &world.sandbox.dir().join(format!("asked-{name}")));
    let (command, args) = (serde_json::json!(command), serde_json::json!(args));
    let manifest = format!(
        "name = \"{name}\"\ncrates = [\"*\"]\n\n[[mcp_servers]]\nname = \"{name}\"\ncommand = \
         {command}\nargs = {args}\n"
    );
    world.sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
}

fn add_own(world: &World, name: &str) {
    let (program, args) = mcp::stdio(name, &world.sandbox.dir().join(format!("asked-{name}")));
    let command: Vec<String> = std::iter::once(program).chain(args).collect();
    let added = world.add_server(name, &command);
    assert!(added.is_some(), "the client has no command that adds a server");
}

fn what_the_client_writes_stays(bench: &Bench) -> Finding {
    let world = bench.world();
    let _everything = Everything::new(&world);
    anywhere(&world, ANYWHERE);
    world.init(&[]);
    add_own(&world, MINE);
    // Ours are as they were.
    assert!(world.sync().stderr.contains("nothing to do"), "the client changed something of ours");
    let turn = world.turn(&[Step::ping(MINE), Step::ping(ANYWHERE), Step::say("Done.")]);
    for name in [MINE, ANYWHERE] {
        assert!(turn.results().concat().contains(&mcp::pong(name)), "{name}\n{}", turn.told());
    }
    for event in &EVENTS[..2] {
        assert_eq!(turn.count_in(0, &context_of(event)), 1, "{event}\n{}", turn.told());
    }
    assert!(world.sync().stderr.contains("nothing to do"), "the turn changed something of ours");
    // Ours change.
    anywhere(&world, "later1");
    std::fs::remove_dir_all(world.sandbox.home().join(".symposium/plugins").join(ANYWHERE))
        .expect("the plugin goes");
    world.sync();
    let turn = world.turn(&[Step::ping(MINE), Step::ping("later1"), Step::say("Done.")]);
    for name in [MINE, "later1"] {
        assert!(turn.results().concat().contains(&mcp::pong(name)), "{name}\n{}", turn.told());
    }
    assert!(!turn.shows(ANYWHERE), "{}", turn.around(ANYWHERE));
    world.sandbox.run(&["uninstall"]).ok();
    let turn = world.turn(&[Step::ping(MINE), Step::say("Done.")]);
    assert!(turn.results().concat().contains(&mcp::pong(MINE)), "{}", turn.told());
    assert!(!turn.shows("later1") && turn.trace.is_empty(), "{}", turn.told());
    Finding::Holds
}

/// How many servers the client adds meanwhile.
const ADDED: usize = 4;

fn both_write_at_once(bench: &Bench) -> Finding {
    let world = bench.world();
    world.sandbox.package(&[]);
    anywhere(&world, ANYWHERE);
    world.init(&[]);
    let own: Vec<String> = (0..ADDED).map(|number| format!("mine{number}x")).collect();
    let over = AtomicBool::new(false);
    let manifest = world.sandbox.home().join(".symposium/plugins/later1/SYMPOSIUM.toml");
    std::thread::scope(|scope| {
        let ours = scope.spawn(|| {
            let mut rounds = 0;
            while !over.load(Ordering::Relaxed) {
                anywhere(&world, "later1");
                world.sync();
                std::fs::remove_file(&manifest).expect("the plugin goes");
                world.sync();
                rounds += 1;
            }
            rounds
        });
        for name in &own {
            add_own(&world, name);
        }
        over.store(true, Ordering::Relaxed);
        let rounds = ours.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert!(rounds > 0, "our program wrote nothing meanwhile");
    });
    anywhere(&world, "later1");
    world.sync();
    let all: Vec<&str> = own.iter().map(String::as_str).chain([ANYWHERE, "later1"]).collect();
    if let Some(said) = world.listed_servers() {
        for name in &all {
            assert_ne!(world.client().listed(&said, name), Sight::Missing, "{name}\n{said}");
        }
    }
    let mut script: Vec<Step> = all.iter().map(|name| Step::ping(name)).collect();
    script.push(Step::say("Done."));
    let turn = world.turn(&script);
    for name in &all {
        assert!(turn.results().concat().contains(&mcp::pong(name)), "{name}\n{}", turn.told());
    }
    Finding::Holds
}
