//! Where the server is registered, and that it goes again.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use symposium_testlib::{Run, Sandbox};

use crate::configure;
use crate::mcp_everywhere::place;
use crate::registration::{AGENTS, outside, sandbox};

const WANTED: &str = "[mcp]\nregister = true\n";

/// Whether a text has what our entry has and nothing else. On Windows no shell is between, so the name
/// and its argument are words of their own in whatever the agent's format is.
fn has_ours(text: &str) -> bool {
    let ours =
        if cfg!(windows) { r"cargo-agents\W+(args\W+)?mcp\b" } else { "exec cargo-agents mcp" };
    regex::Regex::new(ours).expect("an expression").is_match(text)
}

fn is_there(sandbox: &Sandbox, agent: &str) -> bool {
    sandbox.has(place(agent)) && has_ours(&sandbox.read(place(agent)))
}

#[test]
fn init_mcp_registers_it_at_home_for_every_agent_and_uninstall_leaves_nothing() {
    for agent in AGENTS {
        for (folder, scope) in [("ws", "global"), ("ws", "project"), ("elsewhere", "project")] {
            let sandbox = sandbox();
            sandbox.write("elsewhere/notes.txt", "mine\n");
            let before = outside(&sandbox);
            let add = ["init", "--add-agent", agent, "--hook-scope", scope];
            sandbox.run_in(folder, &add).ok();
            assert!(!is_there(&sandbox, agent), "nobody asked for it: {agent}");
            sandbox.run_in(folder, &["init", "--mcp"]).ok();
            assert!(is_there(&sandbox, agent), "{agent} {folder} {scope}");
            let in_project = outside(&sandbox).without(&["home"]);
            assert!(!has_ours(&format!("{in_project:?}")), "{agent} {folder} {scope}");
            // A second time, and in another workspace, there is nothing to do.
            let now = outside(&sandbox);
            sandbox.run_in(folder, &["init", "--mcp"]).ok();
            assert_eq!(outside(&sandbox).changes_since(&now), [""; 0], "{agent} {folder} {scope}");
            sandbox.run(&["uninstall", "--all-workspaces"]).ok();
            assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "{agent} {scope}");
        }
    }
}

#[test]
fn init_no_mcp_takes_it_back_from_every_agent_and_asks_nothing() {
    for agent in AGENTS {
        for folder in ["ws", "elsewhere"] {
            let sandbox = sandbox();
            sandbox.write("elsewhere/notes.txt", "mine\n");
            sandbox.run_in(folder, &["init", "--add-agent", agent]).ok();
            let files = |sandbox: &Sandbox| outside(sandbox).without(&["home/.symposium"]);
            let before = files(&sandbox);
            sandbox.run_in(folder, &["init", "--mcp"]).ok();
            assert!(is_there(&sandbox, agent), "{agent} {folder}");
            let run = sandbox.run_in(folder, &["init", "--no-mcp"]).ok();
            assert_eq!(files(&sandbox).changes_since(&before), [""; 0], "{agent} {folder}");
            assert!(run.stderr.contains("Unregistered cargo-agents"), "{}", run.stderr);
            // It is not brought back, and once more there is nothing to do.
            sandbox.run(&["sync"]).ok();
            let config = sandbox.read("home/.symposium/config.toml");
            sandbox.run_in(folder, &["init", "--no-mcp"]).ok();
            assert_eq!(sandbox.read("home/.symposium/config.toml"), config);
            assert!(!is_there(&sandbox, agent), "{agent} {folder}");
        }
    }
    let sandbox = sandbox();
    let run = sandbox.run(&["init", "--mcp", "--no-mcp"]).code(2);
    assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
    // Where nobody wanted it, nothing is written.
    sandbox.run(&["init", "--add-agent", "claude", "--no-mcp"]).ok();
    assert!(!sandbox.read("home/.symposium/config.toml").contains("mcp"));
}

#[test]
fn the_configuration_brings_it_and_takes_it_back() {
    let sandbox = sandbox();
    configure(&sandbox, &["claude", "codex"], WANTED);
    let run = sandbox.run(&["sync", "--dry-run"]).ok();
    assert!(run.stderr.contains("Register cargo-agents "), "{}", run.stderr);
    sandbox.run(&["sync"]).ok();
    assert!(is_there(&sandbox, "claude") && is_there(&sandbox, "codex"));
    // Other agents' entries go with them.
    configure(&sandbox, &["claude"], WANTED);
    sandbox.run(&["sync"]).ok();
    assert!(is_there(&sandbox, "claude") && !is_there(&sandbox, "codex"));
    configure(&sandbox, &["claude"], "");
    let run = sandbox.run(&["sync"]).ok();
    assert!(!is_there(&sandbox, "claude"));
    assert!(run.stderr.contains("`register` in `[mcp]`"), "{}", run.stderr);
    // So does an `init` that runs in no workspace.
    sandbox.write("elsewhere/notes.txt", "mine\n");
    configure(&sandbox, &["claude"], WANTED);
    sandbox.run_in("elsewhere", &["init", "--add-agent", "claude"]).ok();
    assert!(is_there(&sandbox, "claude"));
    configure(&sandbox, &["claude"], "[mcp]\nregister = false\n");
    sandbox.run_in("elsewhere", &["init", "--add-agent", "claude"]).ok();
    assert!(!is_there(&sandbox, "claude"));
}

fn report(sandbox: &Sandbox, folder: &str, args: &[&str]) -> Value {
    let run = sandbox.run_in(folder, args);
    run.json_lines().pop().unwrap_or_else(|| panic!("{}", run.stderr))
}

#[test]
fn status_why_and_doctor_know_it_in_a_workspace_and_outside() {
    let sandbox = sandbox();
    sandbox.write("elsewhere/notes.txt", "mine\n");
    configure(&sandbox, &["claude"], WANTED);
    let state = |folder: &str| {
        let status = report(&sandbox, folder, &["status", "--json"]);
        let servers = status["agents"][0]["servers"].as_array().expect("a list").clone();
        let own = servers.into_iter().find(|server| server["name"] == "cargo-agents");
        own.expect("it is listed")["state"].clone()
    };
    let doctor = || sandbox.run(&["doctor"]).stdout;
    for folder in ["ws", "elsewhere"] {
        assert_eq!(state(folder), "pending", "{folder}");
    }
    assert!(doctor().contains("server `cargo-agents`: not registered yet"), "{}", doctor());
    sandbox.run(&["sync"]).ok();
    for folder in ["ws", "elsewhere"] {
        assert_eq!(state(folder), "ok", "{folder}");
        let why = sandbox.run_in(folder, &["why", "cargo-agents"]).ok().stdout;
        assert!(why.contains("(server) is our own MCP server") && why.contains("claude"), "{why}");
    }
    assert!(!doctor().contains("server `cargo-agents`"), "{}", doctor());
    // One of the same name hides it.
    sandbox.write("ws/.mcp.json", "{\"mcpServers\":{\"cargo-agents\":{\"command\":\"x\"}}}");
    let twice = doctor();
    assert!(twice.contains("there is another server `cargo-agents`"), "{twice}");
    configure(&sandbox, &["claude"], "");
    let why = sandbox.run(&["why", "cargo-agents"]).ok().stdout;
    assert!(why.contains("is not registered") && why.contains("init --mcp"), "{why}");
}

#[test]
fn doctor_mends_it_outside_a_workspace() {
    let sandbox = sandbox();
    sandbox.write("elsewhere/notes.txt", "mine\n");
    configure(&sandbox, &["claude"], WANTED);
    sandbox.run_in("elsewhere", &["doctor", "--fix"]);
    assert!(is_there(&sandbox, "claude"));
}

#[test]
fn an_entry_of_the_user_s_stays_as_it_is() {
    let sandbox = sandbox();
    let own =
        "{\"mcpServers\":{\"cargo-agents\":{\"command\":\"cargo-agents\",\"args\":[\"mcp\"]}}}";
    sandbox.write(place("claude"), own);
    configure(&sandbox, &["claude"], WANTED);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("server `cargo-agents`"), "{}", run.stderr);
    assert!(sandbox.read(place("claude")).contains("[\"mcp\"]"));
    sandbox.run(&["uninstall"]).ok();
    assert!(sandbox.read(place("claude")).contains("[\"mcp\"]"));
}

/// By the shell that guards it, which Windows has none of.
#[cfg(unix)]
#[test]
fn it_is_known_after_the_ledger_was_lost_and_follows_the_program() {
    let mut sandbox = sandbox();
    configure(&sandbox, &["claude"], WANTED);
    sandbox.run(&["sync"]).ok();
    std::fs::remove_dir_all(sandbox.home().join(".symposium/ledgers")).expect("it was written");
    sandbox.install();
    sandbox.run(&["sync"]).ok();
    let text = sandbox.read(place("claude"));
    assert!(
        text.contains(".cargo/bin/cargo-agents mcp") && !is_there(&sandbox, "claude"),
        "{text}"
    );
    configure(&sandbox, &["claude"], "");
    sandbox.run(&["sync"]).ok();
    let text = sandbox.read(place("claude"));
    assert!(!text.contains("cargo-agents mcp"), "{text}");
}

#[test]
fn after_uninstall_an_agent_s_events_do_not_bring_it_back() {
    let sandbox = sandbox();
    configure(&sandbox, &["claude"], WANTED);
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["uninstall"]).ok();
    let event = json!({"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup",
        "cwd": sandbox.ws()});
    sandbox.feed(&["hook", "claude", "session-start"], event.to_string().as_bytes()).ok();
    assert!(!is_there(&sandbox, "claude"));
    sandbox.run(&["sync"]).ok();
    assert!(is_there(&sandbox, "claude"));
}

#[cfg(unix)]
#[test]
fn the_registered_command_serves_and_where_we_are_gone_it_ends_well() {
    let mut sandbox = sandbox();
    sandbox.install();
    configure(&sandbox, &["claude"], WANTED);
    sandbox.run(&["sync"]).ok();
    let text = sandbox.read(place("claude"));
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let entry = &file["mcpServers"]["cargo-agents"];
    assert_eq!(entry["command"], "sh");
    let script = entry["args"][1].as_str().expect("a script");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let start = || {
        let mut command = sandbox.shell(script);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("starts");
        // Nobody may be there to read it.
        let _ = writeln!(child.stdin.take().expect("a pipe"), "{hello}");
        child.wait_with_output().expect("ends")
    };
    let served = start();
    assert_eq!(served.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&served.stdout).contains("\"result\":{}"), "{served:?}");
    std::fs::remove_file(sandbox.binary()).expect("it is there");
    let gone = start();
    assert_eq!((gone.status.code(), gone.stdout.len()), (Some(0), 0), "{gone:?}");
}

/// Kept in step with the grammar.
#[test]
fn init_says_what_mcp_is() {
    let Run { stdout, .. } = crate::sandbox().run(&["init", "--help"]).ok();
    assert!(stdout.contains("--mcp") && stdout.contains("our own MCP server"), "{stdout}");
}
