//! Two members of a team: what they commit is the same, and bothers nobody who has no Symposium.
#![cfg(unix)]

use symposium_testlib::{AGENTS, Run, Sandbox};

use crate::registration::plugins;
use crate::{NO_BUILTIN, sandbox, skill};

/// A member with a home and a checkout of their own.
fn member(agents: &[&str], scope: &str) -> Sandbox {
    let sandbox = sandbox();
    let agents: String =
        agents.iter().map(|agent| format!("[[agent]]\nname = \"{agent}\"\n")).collect();
    sandbox.write(
        "home/.symposium/config.toml",
        format!("hook-scope = \"{scope}\"\n{agents}\n{NO_BUILTIN}"),
    );
    plugins(&sandbox);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox
}

/// The team's repository: a workspace with a file of the team's and a skill.
fn origin() -> Sandbox {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.write("ws/symposium.toml", "[plugins]\nuse = [\"widget\"]\n");
    sandbox.write("ws/.agents/skills/ours/SKILL.md", skill("ours", "o"));
    sandbox.git(&["init", "-q", "--initial-branch=main"]);
    commit(&sandbox);
    sandbox
}

fn clone_of(origin: &Sandbox, agents: &[&str], scope: &str) -> Sandbox {
    let sandbox = member(agents, scope);
    sandbox.git(&["clone", "-q", &origin.ws().display().to_string(), "."]);
    sandbox
}

fn sync(sandbox: &Sandbox) {
    let run = sandbox.run(&["status", "--json"]).ok();
    let status: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let hash = status["team_file"]["hash"].as_str().expect("a hash").to_owned();
    sandbox.run(&["sync", "--accept-team-file", &hash]).ok();
}

/// Commits all that git would, and names the tree.
fn commit(sandbox: &Sandbox) -> String {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "x", "--allow-empty"]);
    sandbox.git(&["rev-parse", "HEAD^{tree}"])
}

#[test]
fn two_members_with_two_agents_and_two_homes_commit_the_same_tree() {
    let origin = origin();
    let before = origin.git(&["rev-parse", "HEAD^{tree}"]);
    // So any two of them have the same.
    for agent in AGENTS {
        let member = clone_of(&origin, &[agent], "global");
        sync(&member);
        assert_eq!(commit(&member), before, "{agent}");
    }
    for (one, other) in AGENTS.into_iter().zip(AGENTS.into_iter().cycle().skip(1)) {
        let shared = [[one, other], [other, one]].map(|agents| {
            let member = clone_of(&origin, &agents, "project");
            sync(&member);
            commit(&member)
        });
        assert_eq!(shared[0], shared[1], "{one} and {other}");
        assert_ne!(shared[0], before, "{one} and {other}");
    }
}

#[test]
fn members_with_one_agent_each_come_to_one_tree_and_stay_there() {
    let pairs = [["claude", "codex"], ["gemini", "copilot"], ["kiro", "opencode"]];
    for [one, other] in pairs {
        let origin = origin();
        let first = clone_of(&origin, &[one], "project");
        sync(&first);
        commit(&first);
        let second = clone_of(&first, &[other], "project");
        sync(&second);
        let both = commit(&second);
        first.git(&["pull", "-q", &second.ws().display().to_string(), "main"]);
        for member in [&first, &second] {
            sync(member);
            assert_eq!(commit(member), both, "{one}, {other}");
        }
    }
}

/// The commands of committed files that name our program: each as a shell gets it.
fn commands(sandbox: &Sandbox) -> Vec<(String, String)> {
    let files = sandbox.git(&["ls-files", "-z"]);
    let mut found = Vec::new();
    for file in files.split('\0').filter(|file| !file.is_empty() && *file != "Cargo.lock") {
        let text = sandbox.read(&format!("ws/{file}"));
        if !text.contains("cargo-agents") {
            continue;
        }
        let strings: Vec<String> = match file.rsplit('.').next() {
            Some("json") => {
                let mut strings = Vec::new();
                strings_in(&serde_json::from_str(&text).expect("JSON"), &mut strings);
                strings
            }
            Some("toml") => {
                let table: toml::Table = toml::from_str(&text).expect("TOML");
                let mut strings = Vec::new();
                strings_in(&serde_json::to_value(table).expect("JSON"), &mut strings);
                strings
            }
            _ => Vec::new(),
        };
        let own = strings.into_iter().filter(|text| text.contains("cargo-agents"));
        found.extend(own.map(|command| (file.to_owned(), command)));
    }
    found
}

fn strings_in(value: &serde_json::Value, strings: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => strings.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|it| strings_in(it, strings)),
        serde_json::Value::Object(fields) => {
            fields.values().for_each(|it| strings_in(it, strings));
        }
        _ => {}
    }
}

#[test]
fn a_member_without_symposium_is_not_bothered_by_what_is_committed() {
    for agent in AGENTS {
        let mut member = clone_of(&origin(), &[agent], "project");
        sync(&member);
        commit(&member);
        // A PATH with a shell, and without our program.
        member.set("PATH", "/usr/bin:/bin");
        let found = commands(&member);
        assert!(!found.is_empty() || agent == "opencode", "{agent} has none");
        for (file, command) in found {
            // PowerShell's half of a command for two shells.
            if command.contains("Get-Command") {
                continue;
            }
            let run = Run::of(&mut member.shell(&command), b"{}");
            assert_eq!(
                (run.code, &*run.stdout, &*run.stderr),
                (0, "", ""),
                "{agent}, {file}: {command}"
            );
        }
    }
}
