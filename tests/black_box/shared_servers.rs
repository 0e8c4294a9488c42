//! Servers in files that a team shares: no path of one machine is in them, and they work on each.
#![cfg(unix)]

use std::path::Path;

use serde_json::Value;
use symposium_testlib::Sandbox;

use crate::{NO_BUILTIN, sandbox};

/// What the servers print.
const SERVE: &str = "#!/bin/sh\necho \"serving $* for ${WHO:-nobody}, at ${PLACE:-nowhere}\"\n";

/// A member of the team: agents with `hook-scope = "project"`, and a plugin with two servers whose
/// programs are only where they are on this machine.
fn member(agents: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    let agents: String =
        agents.iter().map(|agent| format!("[[agent]]\nname = \"{agent}\"\n")).collect();
    sandbox.write(
        "home/.symposium/config.toml",
        format!("hook-scope = \"project\"\n{agents}\n{NO_BUILTIN}"),
    );
    let place = sandbox.home().join("data");
    sandbox.program("home/.symposium/plugins/tool/bin/serve.sh", SERVE);
    sandbox.user_plugin(
        "tool/SYMPOSIUM.toml",
        &format!(
            r#"name = "tool"
crates = ["widget"]

[[installations]]
name = "runner"
script = "bin/serve.sh"
args = ["--installed"]

[[mcp_servers]]
name = "by-path"
command = "./bin/serve.sh"
args = ["a b"]
env = {{ WHO = "you", PLACE = {place:?} }}

[[mcp_servers]]
name = "by-installation"
command = "runner"

[[mcp_servers]]
name = "named"
command = "npx"
args = ["-y", "widget-mcp"]
"#
        ),
    );
    sandbox
}

/// The first member, who synced and committed.
fn first(agents: &[&str]) -> Sandbox {
    let sandbox = member(agents);
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.registry_crate("widget", "1.0.0", &[]);
    sandbox.git(&["init", "-q"]);
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("this machine"), "{}", run.stderr);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "start"]);
    sandbox
}

/// A colleague with a clone of it, at another place with another home folder.
fn colleague(first: &Sandbox, agents: &[&str]) -> Sandbox {
    let sandbox = member(agents);
    sandbox.git(&["clone", "-q", &first.ws().display().to_string(), "."]);
    sandbox
}

fn servers(sandbox: &Sandbox) -> Value {
    let text = sandbox.read("ws/.mcp.json");
    serde_json::from_str::<Value>(&text).expect("JSON")["mcpServers"].clone()
}

/// What the server prints when Claude starts it, with our program on the `PATH` or not.
fn start(sandbox: &Sandbox, name: &str, with_us: bool) -> (Option<i32>, String) {
    let entry = servers(sandbox)[name].clone();
    let word = |word: &Value| word.as_str().expect("text").to_owned();
    let args: Vec<String> = entry["args"].as_array().expect("arguments").iter().map(word).collect();
    let surroundings = sandbox.command(&[]);
    let ours = sandbox.binary().parent().unwrap_or(Path::new("")).display().to_string();
    let path = if with_us { format!("{ours}:/usr/bin:/bin") } else { "/usr/bin:/bin".to_owned() };
    let mut started = std::process::Command::new(word(&entry["command"]));
    started.args(args).current_dir(sandbox.ws()).env_clear();
    started.envs(surroundings.get_envs().filter_map(|(name, value)| Some((name, value?))));
    started.env("PATH", path);
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        started.env(name, word(value));
    }
    let output = started.output().expect("starts");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_shared_entry_holds_no_path_of_one_machine_and_starts_the_server_on_each() {
    let one = first(&["claude"]);
    let text = one.read("ws/.mcp.json");
    assert!(!text.contains(&one.dir().display().to_string()), "{text}");
    assert_eq!(servers(&one)["named"]["command"], "npx", "what every machine finds is as it was");
    let two = colleague(&one, &["claude"]);
    for _ in 0..2 {
        let run = two.run(&["sync"]).ok();
        assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        assert_eq!(two.git(&["status", "--porcelain"]), "");
    }
    for member in [&one, &two] {
        let place = member.home().join("data");
        let told = format!("serving a b for you, at {}\n", place.display());
        assert_eq!(start(member, "by-path", true), (Some(0), told));
        let told = "serving --installed for nobody, at nowhere\n".to_owned();
        assert_eq!(start(member, "by-installation", true), (Some(0), told));
        assert_eq!(start(member, "by-path", false), (Some(0), String::new()), "we are not there");
    }
}

#[test]
fn a_shared_entry_of_a_colleagues_is_ours_to_bring_up_to_date_and_to_take_out() {
    let one = first(&["claude"]);
    let two = colleague(&one, &["claude"]);
    let manifest = "tool/SYMPOSIUM.toml";
    let text = two.read(&format!("home/.symposium/plugins/{manifest}"));
    two.user_plugin(manifest, &text.replace("\"you\"", "\"them\""));
    let run = two.run(&["sync"]).ok();
    assert!(run.stderr.contains("Updated by-path"), "{}", run.stderr);
    assert_eq!(servers(&two)["by-path"]["env"]["WHO"], "them");
    two.package(&[]);
    let run = two.run(&["sync"]).ok();
    assert!(run.stderr.contains("Unregistered by-path"), "{}", run.stderr);
    assert!(!two.has("ws/.mcp.json") || servers(&two)["by-path"].is_null());
}

#[test]
fn uninstall_leaves_a_shared_entry_that_git_tracks_to_the_others_and_says_so() {
    let one = first(&["claude"]);
    let two = colleague(&one, &["claude"]);
    two.run(&["sync"]).ok();
    // With changes of the member's in that file as without.
    for (member, told) in [
        (&one, "this file is shared through git, and stays as it is for the others"),
        (&two, "the server `by-path` is shared through git and stays"),
    ] {
        if member.dir() == two.dir() {
            member.write("ws/.mcp.json", member.read("ws/.mcp.json").replacen('{', "{ ", 1));
        }
        let before = servers(member);
        let run = member.run(&["uninstall"]).ok();
        assert!(run.stderr.contains(told), "{}", run.stderr);
        assert!(run.stderr.contains("what is shared through git"), "{}", run.stderr);
        let now = servers(member);
        for name in ["by-path", "by-installation"] {
            assert_eq!(now[name], before[name], "{name}");
        }
    }
    // What was never committed is nobody else's.
    let alone = member(&["claude"]);
    alone.package(&[("widget", "1.0.0")]);
    alone.git(&["init", "-q"]);
    alone.run(&["sync"]).ok();
    alone.run(&["uninstall"]).ok();
    assert!(!alone.has("ws/.mcp.json"), "{}", alone.read("ws/.mcp.json"));
}

/// Who leaves, or drops an agent, changes nothing that is committed: the others use it.
#[test]
fn a_member_who_leaves_or_drops_an_agent_leaves_what_is_committed_and_says_so() {
    const KEPT: &str = "this file is shared through git, and stays as it is for the others";
    let agents: Vec<&str> = symposium_testlib::AGENTS.to_vec();
    let one = first(&agents);
    let leave: Vec<&str> = ["init"]
        .into_iter()
        .chain(agents.iter().flat_map(|name| ["--remove-agent", *name]))
        .collect();
    for args in [&["uninstall"][..], &["init", "--remove-agent", agents[0]], &leave] {
        let two = colleague(&one, &agents);
        two.run(&["sync"]).ok();
        assert_eq!(two.git(&["status", "--short"]), "", "{args:?}");
        let run = two.run(args).ok();
        assert_eq!(two.git(&["status", "--short"]), "", "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(KEPT), "{args:?}: {}", run.stderr);
        for file in run.stderr.lines().filter(|line| line.contains("-->")) {
            assert_eq!(run.stderr.matches(file).count(), 1, "{args:?}: {}", run.stderr);
        }
        // It is told once, and nothing of it is ours any more.
        let run = two.run(&["sync"]);
        assert!(!run.stderr.contains(KEPT), "{args:?}: {}", run.stderr);
        assert_eq!(two.git(&["status", "--short"]), "", "{args:?}: {}", run.stderr);
    }
    // What was not committed yet is nobody else's.
    let alone = colleague(&one, &agents);
    alone.run(&["sync"]).ok();
    let file = "ws/.claude/settings.json";
    alone.write(file, alone.read(file).replacen('{', "{ ", 1));
    let run = alone.run(&["uninstall"]).ok();
    assert!(!alone.read(file).contains("cargo-agents"), "{}", run.stderr);
}

#[test]
fn every_agents_shared_entry_works_without_a_path_of_this_machine() {
    let agents = symposium_testlib::AGENTS;
    let one = first(&agents);
    for file in one.git(&["ls-files"]).lines() {
        let bytes = std::fs::read(one.ws().join(file)).expect("reads");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&one.dir().display().to_string()), "{file}: {text}");
    }
    let two = colleague(&one, &agents);
    let run = two.run(&["sync"]).ok();
    assert!(!run.stderr.contains("is not Symposium's"), "{}", run.stderr);
    assert_eq!(two.git(&["status", "--porcelain"]), "");
}

#[test]
fn only_servers_of_the_users_own_sources_are_started() {
    let one = first(&["claude"]);
    let run = one.run(&["run-server", "rm"]).code(1);
    assert!(run.stderr.contains("the server `rm` does not apply here"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    one.package(&[]);
    let run = one.run(&["run-server", "by-path"]).code(1);
    assert!(run.stderr.contains("widget"), "{}", run.stderr);
}
