//! Reports from the public about quoting and `PATH` (C).

use serde_json::Value;
use symposium_testlib::Sandbox;

use super::{CLAUDE, json};
use crate::registration::{AGENTS, sandbox};

/// The commands that an agent's file has, which `sh` runs.
fn commands(sandbox: &Sandbox, path: &str) -> Vec<String> {
    fn collect(value: &Value, commands: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, commands)),
            Value::Object(members) => {
                for (key, value) in members {
                    match value {
                        Value::String(text) if key == "command" || key == "bash" => {
                            commands.push(text.clone());
                        }
                        value => collect(value, commands),
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&json(sandbox, path), &mut found);
    found
}

#[cfg(unix)]
#[test]
fn case_41_and_45_the_registered_command_works_with_a_minimal_path_and_a_space() {
    let mut sandbox = sandbox();
    sandbox.install_in("with space/bin");
    sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "copilot"]).ok();
    let registered: Vec<String> = [CLAUDE, "home/.copilot/hooks/symposium.json"]
        .iter()
        .flat_map(|path| commands(&sandbox, path))
        .collect();
    // Claude Code has an event of its own for a tool that failed.
    assert_eq!(registered.len(), 5 + 4);
    for command in registered {
        assert!(command.contains("with space"), "{command}");
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &command])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", sandbox.home())
            .current_dir(sandbox.ws())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("runs");
        assert!(output.status.success(), "{command}: {output:?}");
    }
    std::fs::remove_file(sandbox.binary()).expect("removes");
    // Copilot takes a failure for a denial, so there it must be none when the program is gone.
    for command in commands(&sandbox, "home/.copilot/hooks/symposium.json") {
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &command])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .output()
            .expect("runs");
        assert!(output.status.success() && output.stdout.is_empty(), "{command}: {output:?}");
    }
}

#[test]
fn case_40_42_and_44_what_is_written_is_sound_json_and_the_bare_name_in_shared_files() {
    for agent in AGENTS {
        let sandbox = sandbox();
        sandbox.run(&["init", "--add-agent", agent, "--hook-scope", "project"]).ok();
        let tree = sandbox.ws_tree();
        for path in tree.files().into_iter().filter(|path| path.ends_with(".json")) {
            for command in commands(&sandbox, &format!("ws/{path}")) {
                assert!(!command.contains('\\'), "{agent}: {command}");
                let here = sandbox.binary().display().to_string();
                assert!(!command.contains(&here), "{agent}: a path of this machine: {command}");
            }
        }
    }
}
