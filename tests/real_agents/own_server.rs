//! Our own MCP server, where the user wants it.

use serde_json::{Value, json};
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, World};

use crate::skills::{BODY, CRATES_SKILL, crate_with_skill, later};

pub(crate) const POINT: Point = Point {
    name: "own server",
    checks: &[
        Check {
            name: "our_own_server_answers_with_each_tool",
            says: "After `init --mcp` each tool of our own MCP server answers the model, about the \
                   project.",
            run: our_own_server_answers_with_each_tool,
        },
        Check {
            name: "a_skill_that_arrives_in_mid_session_is_read_from_it",
            says: "A skill that a sync installs during a session is read from it in that session.",
            run: a_skill_that_arrives_in_mid_session_is_read_from_it,
        },
    ],
};

const SERVER: &str = "cargo-agents";
const ITEM: &str = "pub fn spin()";
const CHANGE: &str = "Widgets are watered twice.";

fn ask(tool: &str, arguments: Value) -> Step {
    Step::ask(SERVER, tool, arguments)
}

fn our_own_server_answers_with_each_tool(bench: &Bench) -> Finding {
    let world = bench.world();
    crate_with_skill(&world.sandbox);
    let source = "home/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/widget-1.0.0";
    world.sandbox.write(
        &format!("{source}/CHANGELOG.md"),
        format!("# Changelog\n\n## 1.0.0\n\n- {CHANGE}\n\n## 0.9.0\n\n- First.\n"),
    );
    world.sandbox.write(&format!("{source}/src/lib.rs"), format!("{ITEM} {{}}\n"));
    world.sandbox.package(&[("widget", "1.0.0")]);
    world.init(&["--mcp"]);
    let asked = [
        ("dependencies", json!({}), "- widget 1.0.0: "),
        ("crate_info", json!({"name": "widget"}), "From: this workspace's Cargo.lock"),
        ("crate_changes", json!({"name": "widget", "since": "0.9"}), CHANGE),
        ("crate_item", json!({"name": "widget", "path": "spin"}), ITEM),
        ("skills", json!({}), CRATES_SKILL),
        ("read_skill", json!({"name": "widget-care"}), BODY),
    ];
    let mut script: Vec<Step> =
        asked.iter().map(|(tool, arguments, _)| ask(tool, arguments.clone())).collect();
    script.push(Step::say("Done."));
    let turn = world.turn(&script);
    let results = turn.results();
    assert_eq!(results.len(), asked.len(), "{}", turn.told());
    for ((tool, _, answer), result) in asked.iter().zip(&results) {
        assert!(result.contains(answer), "{tool}: {result}\n{}", turn.told());
    }
    Finding::Holds
}

fn a_skill_that_arrives_in_mid_session_is_read_from_it(bench: &Bench) -> Finding {
    let world = bench.world();
    crate_with_skill(&world.sandbox);
    let add = later(&world);
    world.init(&["--mcp"]);
    let read = || ask("read_skill", json!({"name": "widget-care"}));
    let sync = Step::shell(format!("{add} && {} sync", world.own_program().display()));
    let turn = world.turn(&[read(), sync, read(), Step::say("Done.")]);
    let results = turn.results();
    assert!(results[0].contains("no skill `widget-care` applies here"), "{}", turn.told());
    assert!(results[2].contains(BODY), "{}", turn.told());
    assert!(results[2].contains(&installed(&world)), "{}", turn.told());
    Finding::Holds
}

/// The file that the sync wrote.
fn installed(world: &World) -> String {
    let file = crate::skills::installed(world).join("SKILL.md");
    file.to_string_lossy().into_owned()
}
