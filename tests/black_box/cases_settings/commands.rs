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

/// The program, put where it would be installed, with a space in its path.
#[cfg(unix)]
fn installed(sandbox: &Sandbox, folder: &str) -> std::path::PathBuf {
    let bin = sandbox.dir().join(folder);
    std::fs::create_dir_all(&bin).expect("creates");
    let program = bin.join("cargo-agents");
    // A copy can't be started while another test's child still has it open for writing.
    if std::fs::hard_link(sandbox.binary(), &program).is_err() {
        std::fs::copy(sandbox.binary(), &program).expect("copies");
    }
    program
}

#[cfg(unix)]
#[test]
fn case_41_and_45_the_registered_command_works_with_a_minimal_path_and_a_space() {
    let sandbox = sandbox();
    let program = installed(&sandbox, "with space/bin");
    let command = sandbox.command(&["init", "--add-agent", "claude", "--add-agent", "copilot"]);
    // The same surroundings, the installed program.
    let mut other = std::process::Command::new(&program);
    other.args(command.get_args()).current_dir(sandbox.ws()).env_clear();
    for (name, value) in command.get_envs() {
        other.env(name, value.expect("a value"));
    }
    assert!(other.status().expect("starts").success());
    let registered: Vec<String> = [CLAUDE, "home/.copilot/hooks/symposium.json"]
        .iter()
        .flat_map(|path| commands(&sandbox, path))
        .collect();
    assert_eq!(registered.len(), 8);
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
    std::fs::remove_file(&program).expect("removes");
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
