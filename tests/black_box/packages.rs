//! Packages in formats of others: Agent Plugins, and Claude Code's with their marketplaces.

mod adding;
mod collections;
mod gates;

use serde_json::Value;
use symposium_testlib::{Run, Sandbox};

use crate::hook_kit::{Event, Told, effect, send};
use crate::{NO_BUILTIN, sandbox, skill, with_agents};

const SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP: &str = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

/// The manifest of an Agent Plugin for workspaces that use `widget`; `more` are further members.
fn portable(name: &str, more: &str) -> String {
    format!(
        "{{\"$schema\":\"{SCHEMA}\",\"name\":\"{name}\",\"version\":\"1.4.0\"{more},\
         \"extensions\":{{\"dev.symposium\":{{\"crates\":\"widget\"}}}}}}"
    )
}

/// A Claude package for the same; `hooks` is what its `hooks.json` has under `hooks`.
fn claudes(sandbox: &Sandbox, name: &str, hooks: &str) {
    let manifest = format!(
        "{{\"name\":\"{name}\",\"version\":\"0.2.1\",\
         \"extensions\":{{\"dev.symposium\":{{\"crates\":[\"widget\"]}}}}}}"
    );
    sandbox.user_plugin(&format!("{name}/.claude-plugin/plugin.json"), &manifest);
    let hooks = format!("{{\"description\":\"d\",\"hooks\":{hooks}}}");
    sandbox.user_plugin(&format!("{name}/hooks/hooks.json"), &hooks);
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

/// What it complains of, but for the folder that it was built in and what Codex asks of its users.
fn complaints(run: &Run) -> Vec<&str> {
    let is_complaint = |line: &&str| {
        let level = line.split([':', '[']).next().unwrap_or_default();
        let known = ["on the PATH", "Codex CLI"].iter().any(|known| line.contains(known));
        ["warning", "error"].contains(&level) && !known
    };
    run.stderr.lines().filter(is_complaint).collect()
}

/// The plugin of that name in `plugin list --json`.
fn listed(sandbox: &Sandbox, name: &str) -> Value {
    let all = document(&sandbox.run(&["plugin", "list", "--json"]).ok());
    let plugins = all["plugins"].as_array().expect("a list");
    let found = plugins.iter().find(|plugin| plugin["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {all:#}")).clone()
}

/// An Agent Plugin with a skill, a skill that lies too deep, and a server.
fn agent_plugin(sandbox: &Sandbox) {
    sandbox.user_plugin("acme/plugin.json", &portable("acme.tools", ""));
    sandbox.user_plugin("acme/skills/deploy/SKILL.md", &skill("deploy", "How to deploy."));
    sandbox.user_plugin("acme/skills/deep/er/SKILL.md", &skill("er", "Too deep."));
    let server = "{\"type\":\"stdio\",\"command\":\"./bin/serve.sh\",\
                  \"args\":[\"${PLUGIN_ROOT}/x\",\"${HOME}\"],\
                  \"env\":{\"PLACE\":\"${PLUGIN_DATA}/db\"}}";
    sandbox.user_plugin(
        "acme/mcp.json",
        &format!("{{\"$schema\":\"{MCP}\",\"mcpServers\":{{\"acme-db\":{server}}}}}"),
    );
    sandbox.program(
        "home/.symposium/plugins/acme/bin/serve.sh",
        "#!/bin/sh\necho \"in $PWD: $* PLACE=$PLACE ROOT=$PLUGIN_ROOT DATA=$PLUGIN_DATA\"\n\
         test -d \"$PLUGIN_DATA\" && echo kept >> \"$PLUGIN_DATA/notes\"\n",
    );
}

#[test]
fn an_agent_plugin_brings_its_skills_and_names_format_and_version() {
    let sandbox = with_agents(&["claude", "codex"]);
    agent_plugin(&sandbox);
    let run = sandbox.run(&["sync"]).ok();
    assert!(complaints(&run).is_empty(), "{}", run.stderr);
    assert!(sandbox.has("ws/.claude/skills/deploy/SKILL.md"));
    assert!(sandbox.has("ws/.agents/skills/deploy/SKILL.md"));
    assert!(!sandbox.has("ws/.claude/skills/er"), "only one level is looked at");
    let plugin = listed(&sandbox, "acme.tools");
    assert_eq!((&plugin["format"], &plugin["version"]), (&"agent-plugins".into(), &"1.4.0".into()));
    assert_eq!(plugin["skills"], serde_json::json!(["deploy"]));
    for args in [
        &["plugin", "list"][..],
        &["plugin", "show", "acme.tools"],
        &["why", "acme.tools"],
        &["why", "deploy"],
        &["status"],
    ] {
        let run = sandbox.run(args);
        assert!(run.stdout.contains("Agent Plugins 1.0 1.4.0"), "{args:?}: {}", run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_server_of_an_agent_plugin_starts_in_its_folder_with_its_two_variables() {
    let sandbox = with_agents(&["claude", "codex"]);
    agent_plugin(&sandbox);
    sandbox.run(&["sync"]).ok();
    let file: Value = serde_json::from_str(&sandbox.read("home/.claude.json")).expect("JSON");
    let entry = file["projects"].as_object().expect("projects").values().next();
    let entry = &entry.expect("the workspace's")["mcpServers"]["acme-db"];
    assert!(entry["args"].to_string().contains("run-server acme-db"), "{entry}");
    assert!(!entry.to_string().contains("PLACE"), "no value is in anybody's file: {entry}");
    assert!(sandbox.read("ws/.codex/config.toml").contains("run-server acme-db"));
    let run = sandbox.run(&["run-server", "acme-db"]).ok();
    let root = sandbox.home().join(".symposium/plugins/acme");
    let root = root.display();
    let said = run.stdout.trim();
    assert!(said.starts_with(&format!("in {root}: {root}/x ${{HOME}} PLACE=")), "{said}");
    assert!(said.contains(&format!("ROOT={root} DATA=")), "{said}");
    let data = said.rsplit("DATA=").next().expect("a folder").to_owned();
    assert!(said.contains(&format!("PLACE={data}/db")), "{said}");
    // It stays through an update.
    sandbox.user_plugin("acme/plugin.json", &portable("acme.tools", "").replace("1.4.0", "2.0.0"));
    sandbox.run(&["run-server", "acme-db"]).ok();
    let kept = std::fs::read_to_string(format!("{data}/notes")).expect("is kept");
    assert_eq!(kept, "kept\nkept\n");
}

const GUARD: &str = r#"{"PreToolUse":[{"matcher":"Bash|Write","hooks":[
    {"type":"command","command":"\"${CLAUDE_PLUGIN_ROOT}\"/hooks/guard.sh","timeout":10}]}]}"#;

/// Denies in Claude Code's own words what removes something, and remembers what it was given.
const GUARD_SCRIPT: &str = "#!/bin/sh\ninput=$(cat)\n\
    printf '%s\\n%s\\n' \"$input\" \"$CLAUDE_PROJECT_DIR\" > \"$CLAUDE_PLUGIN_ROOT/asked\"\n\
    case $input in *'rm -rf'*) printf '%s' '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\
    \"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"not here\"},\"odd\":1}';; esac\n";

fn guarded(agents: &[&str]) -> Sandbox {
    let sandbox = with_agents(agents);
    claudes(&sandbox, "guard", GUARD);
    sandbox.program("home/.symposium/plugins/guard/hooks/guard.sh", GUARD_SCRIPT);
    sandbox.run(&["sync"]).ok();
    sandbox
}

#[cfg(unix)]
#[test]
fn a_deny_of_a_claude_package_takes_effect_in_every_agent() {
    let agents = crate::hook_kit::REAL_AGENTS;
    let sandbox = guarded(&agents);
    for agent in agents {
        let told = Told::in_ws(&sandbox).id("a").command("rm -rf /");
        let refused = send(&sandbox, agent, Event::PreToolUse, &told).refused;
        let reason = refused.unwrap_or_else(|| panic!("{agent} goes on"));
        assert!(reason.contains("not here"), "{agent}: {reason}");
        let told = Told::in_ws(&sandbox).id("b").command("ls");
        let effect = send(&sandbox, agent, Event::PreToolUse, &told);
        assert_eq!(effect.refused, None, "{agent}");
        let asked = sandbox.read("home/.symposium/plugins/guard/asked");
        let (event, project) = asked.split_once('\n').expect("two lines");
        let event: Value = serde_json::from_str(event).expect("JSON");
        let words =
            [&event["hook_event_name"], &event["tool_name"], &event["tool_input"]["command"]];
        assert_eq!(words, ["PreToolUse", "Bash", "ls"], "{agent}: in Claude Code's words");
        assert_eq!(project.trim(), sandbox.ws().display().to_string(), "{agent}");
    }
}

#[cfg(unix)]
#[test]
fn a_claude_package_s_hooks_honour_matchers_exit_codes_and_starts() {
    let sandbox = with_agents(&["claude", "codex"]);
    claudes(
        &sandbox,
        "many",
        r#"{"PreToolUse":[{"matcher":"^Web","hooks":[{"type":"command","command":"exit 2"}]},
              {"matcher":"Bash","hooks":[
                {"type":"command","command":"echo 'no rm' >&2; exit 2"},
                {"type":"command","command":"exit 1"}]}],
            "SessionStart":[{"matcher":"resume","hooks":[
                {"type":"command","command":"echo 'as before'"}]}]}"#,
    );
    sandbox.run(&["sync"]).ok();
    for agent in ["claude", "codex"] {
        let told = Told::in_ws(&sandbox).command("rm x");
        let refused = send(&sandbox, agent, Event::PreToolUse, &told).refused;
        assert_eq!(refused.as_deref(), Some("no rm"), "{agent}");
        let start = |source: &str, session: &str| {
            let event = serde_json::json!({
                "hook_event_name": "SessionStart", "session_id": session, "source": source,
                "cwd": sandbox.ws(),
            });
            let run = sandbox.feed(&["hook", agent, "session-start"], event.to_string().as_bytes());
            effect(agent, Event::SessionStart, &run).context.unwrap_or_default()
        };
        let new = start("startup", &format!("{agent}-1"));
        assert!(!new.contains("as before"), "{agent}: {new}");
        let resumed = start("resume", &format!("{agent}-2"));
        assert!(resumed.contains("as before"), "{agent}: {resumed}");
    }
}

#[cfg(unix)]
#[test]
fn a_shell_s_own_error_in_a_package_s_command_blocks_nothing() {
    let sandbox = with_agents(&["claude"]);
    let hooks = r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"if true; then"}]}]}"#;
    claudes(&sandbox, "broken", hooks);
    sandbox.run(&["sync"]).ok();
    let told = Told::in_ws(&sandbox);
    assert_eq!(send(&sandbox, "claude", Event::PreToolUse, &told).refused, None);
}

#[test]
fn what_is_not_taken_is_named_to_those_who_look_and_to_nobody_else() {
    let sandbox = with_agents(&["claude"]);
    claudes(&sandbox, "rich", r#"{"Notification":[{"hooks":[{"type":"command","command":"x"}]}]}"#);
    sandbox.user_plugin("rich/commands/deploy.md", "x");
    sandbox.user_plugin("rich/agents/checker.md", "x");
    sandbox.user_plugin("rich/skills/a/SKILL.md", &skill("a", "d"));
    sandbox.user_plugin("rich/.mcp.json", "{\"mcpServers\":{\"a b\":{\"command\":\"x\"}}}");
    let run = sandbox.run(&["sync"]).ok();
    assert!(complaints(&run).is_empty() && !run.stderr.contains("checker"), "{}", run.stderr);
    let parts =
        ["command `deploy`", "subagent `checker`", "hooks on `Notification`", "server `a b`"];
    for args in [
        &["plugin", "show", "rich"][..],
        &["plugin", "list", "-v"],
        &["plugin", "validate", "../home/.symposium/plugins", "--no-check-crates"],
        &["plugin", "validate", "../home/.symposium/plugins/rich", "--no-check-crates"],
    ] {
        let run = sandbox.run(args);
        let said = format!("{}{}", run.stdout, run.stderr);
        for part in parts {
            assert!(said.contains(part), "{args:?}: no {part}: {said}");
        }
        // A name that agents don't take is a mistake; what only Claude Code has is none.
        let is_check = args.contains(&"validate");
        assert_eq!(run.code, i32::from(is_check), "{args:?}: {said}");
    }
    let shown = document(&sandbox.run(&["plugin", "show", "rich", "--json"]).ok());
    assert_eq!(shown["not_taken"].as_array().map(Vec::len), Some(4), "{shown:#}");
}

#[test]
fn everything_that_a_package_could_run_is_shown() {
    let sandbox = with_agents(&["claude"]);
    claudes(&sandbox, "guard", GUARD);
    sandbox.user_plugin(
        "guard/.mcp.json",
        "{\"mcpServers\":{\"db\":{\"command\":\"npx\",\"args\":[\"-y\",\"db\"],\
         \"env\":{\"TOKEN\":\"s3cret\"}}}}",
    );
    sandbox.user_plugin("guard/skills/a/SKILL.md", &format!("{}\n!`make all`\n", skill("a", "d")));
    let run = sandbox.run(&["plugin", "show", "guard"]).ok();
    for part in ["/hooks/guard.sh", "npx -y db (with TOKEN)", "runs !`make all`"] {
        assert!(run.stdout.contains(part), "no {part}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("s3cret"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn a_package_that_can_t_be_read_any_more_stays_as_it_was() {
    let sandbox = guarded(&["claude"]);
    agent_plugin(&sandbox);
    sandbox.run(&["sync"]).ok();
    for (broken, text) in [
        ("guard/.claude-plugin/plugin.json", "{"),
        ("guard/hooks/hooks.json", "<<<<<<< ours"),
        ("acme/plugin.json", "{\"$schema\":"),
        ("acme/mcp.json", "{"),
    ] {
        let path = format!("home/.symposium/plugins/{broken}");
        let before = sandbox.read(&path);
        sandbox.write(&path, text);
        let told = Told::in_ws(&sandbox).id(broken).command("rm -rf /");
        let refused = send(&sandbox, "claude", Event::PreToolUse, &told).refused;
        assert_eq!(refused.as_deref(), Some("not here"), "{broken}");
        let run = sandbox.run(&["sync"]);
        assert!(run.stderr.contains("stays in force"), "{broken}: {}", run.stderr);
        assert!(sandbox.has("ws/.claude/skills/deploy/SKILL.md"), "{broken}");
        assert!(sandbox.read("home/.claude.json").contains("acme-db"), "{broken}");
        sandbox.write(&path, before);
        sandbox.run(&["sync"]).ok();
    }
}

#[cfg(unix)]
#[test]
fn nothing_of_a_package_leads_out_of_its_own_folder() {
    let sandbox = with_agents(&["claude"]);
    agent_plugin(&sandbox);
    sandbox.user_plugin("other/secret/SKILL.md", &skill("secret", "d"));
    sandbox.user_plugin("other/notes.md", "secret");
    let link = |to: &str, at: &str| {
        let at = sandbox.home().join(".symposium/plugins/acme").join(at);
        std::os::unix::fs::symlink(to, at).expect("links");
    };
    link("../../other/secret", "skills/secret");
    link("../../../other/notes.md", "skills/deploy/notes.md");
    sandbox.run(&["sync"]);
    assert!(sandbox.has("ws/.claude/skills/deploy/SKILL.md"));
    assert!(!sandbox.has("ws/.claude/skills/secret"));
    assert!(!sandbox.has("ws/.claude/skills/deploy/notes.md"));
}
