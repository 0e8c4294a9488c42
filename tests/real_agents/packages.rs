//! Packages in the format of Claude Code and Agent Plugins work in every client.

use serde_json::json;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::{Step, World, mcp};

pub(crate) const POINT: Point = Point {
    name: "packages",
    checks: &[
        Check {
            name: "a_package_s_deny_stops_a_tool",
            says: "The hook of a Claude package denies a command in Claude Code's words: it does not \
                   run, and the model is told why.",
            run: a_package_s_deny_stops_a_tool,
        },
        Check {
            name: "a_package_s_server_answers",
            says: "The MCP server of an Agent Plugin is offered to the model and answers it.",
            run: a_package_s_server_answers,
        },
    ],
};

const SERVER: &str = "packed1";
const EVERYWHERE: &str = "\"extensions\":{\"dev.symposium\":{\"crates\":\"*\"}}";

fn a_package_s_deny_stops_a_tool(bench: &Bench) -> Finding {
    let world = bench.world();
    let sandbox = &world.sandbox;
    let manifest = format!("{{\"name\":\"guard\",{EVERYWHERE}}}");
    sandbox.user_plugin("guard/.claude-plugin/plugin.json", &manifest);
    let command = "\"${CLAUDE_PLUGIN_ROOT}\"/guard.sh";
    let handlers = json!([{ "type": "command", "command": command, "timeout": 10 }]);
    let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": handlers }] } });
    sandbox.user_plugin("guard/hooks/hooks.json", &hooks.to_string());
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "WE-NEVER-TOUCH-THAT",
    } });
    let script = format!("#!/bin/sh\ncat >/dev/null\nprintf '%s' '{answer}'\n");
    sandbox.program("home/.symposium/plugins/guard/guard.sh", &script);
    begin(&world);
    let turn = world.turn(&[Step::shell("echo hi > ran.txt"), Step::say("Done.")]);
    assert!(!sandbox.has("ws/ran.txt"), "the command ran\n{}", turn.told());
    assert!(turn.results().concat().contains("WE-NEVER-TOUCH-THAT"), "{}", turn.told());
    Finding::Holds
}

fn a_package_s_server_answers(bench: &Bench) -> Finding {
    let world = bench.world();
    let sandbox = &world.sandbox;
    let schemas = "https://agent-plugins.org/schemas/1.0.0";
    let manifest = format!(
        "{{\"$schema\":\"{schemas}/plugin.schema.json\",\"name\":\"packed\",{EVERYWHERE}}}"
    );
    sandbox.user_plugin("packed/plugin.json", &manifest);
    let (command, args) = mcp::stdio(SERVER, &sandbox.dir().join("asked"));
    // A server that a package brings is a program in its folder.
    sandbox.program(
        "home/.symposium/plugins/packed/bin/serve.sh",
        &format!("#!/bin/sh\ntest \"$PWD\" = \"$PLUGIN_ROOT\" && exec '{command}' \"$@\"\n"),
    );
    let server = json!({ "type": "stdio", "command": "./bin/serve.sh", "args": args });
    let servers = json!({
        "$schema": format!("{schemas}/mcp.schema.json"), "mcpServers": { SERVER: server },
    });
    sandbox.user_plugin("packed/mcp.json", &servers.to_string());
    begin(&world);
    let turn = world.turn(&[Step::ping(SERVER), Step::say("Done.")]);
    assert!(turn.results().join("\n").contains(&mcp::pong(SERVER)), "{}", turn.told());
    assert!(sandbox.read("asked").contains("tools/call"));
    Finding::Holds
}

/// Registers everything, for a workspace that depends on nothing.
fn begin(world: &World) {
    world.sandbox.package(&[]);
    world.init(&[]);
}
