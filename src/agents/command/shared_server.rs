//! How MCP servers are started by way of us: a plugin's in a file that a team shares, by our name,
//! which each machine finds for itself (a path of one machine is nobody else's), and our own.

use serde_json::Value;

use super::{POSIX_GUARD, PROGRAM};
use crate::agents::places::Transport;

/// Our command that starts a server.
const RUN_SERVER: &str = "run-server";

/// Our command that is a server.
const SERVE: &str = "mcp";

/// The name of our own server in agents' files.
pub(crate) const OWN_SERVER: &str = PROGRAM;

/// The server `name`, started by us with its variables `env`. Where we are not installed nothing is
/// started, and nothing fails; Windows brings no shell that could see to that.
pub(crate) fn shared_server(name: &str, env: Vec<(String, String)>) -> Transport {
    let [command, args @ ..] = if cfg!(windows) { bare(name) } else { guarded_by_name(name) };
    Transport::Stdio { command, args: args.into(), env }
}

/// Whether the entry of the server `name` in an agent's file starts it by way of us, in whatever form.
pub(crate) fn is_shared_server(entry: &Value, name: &str) -> bool {
    let argv = argv(entry);
    [bare(name), guarded_by_name(name)].iter().any(|form| argv == *form)
}

/// As [`shared_server`], in a user's own file, which may have the place of our program on this machine;
/// `program` is a word as [`choose_program`](super::choose_program) makes it.
pub(crate) fn started_server(program: &str, name: &str) -> Transport {
    let [command, args @ ..] =
        if cfg!(windows) { bare(name) } else { guarded(program, &run_server(name)) };
    Transport::Stdio { command, args: args.into(), env: Vec::new() }
}

fn run_server(name: &str) -> String {
    let word = shlex::try_quote(name).unwrap_or_default();
    format!("{RUN_SERVER} {word}")
}

fn bare(name: &str) -> [String; 3] {
    [PROGRAM, RUN_SERVER, name].map(str::to_owned)
}

fn guarded_by_name(name: &str) -> [String; 3] {
    guarded(PROGRAM, &run_server(name))
}

/// `program`, a word of the shell, with these arguments.
fn guarded(program: &str, args: &str) -> [String; 3] {
    let script = format!("command -v {program}{POSIX_GUARD}exec {program} {args}");
    ["sh".to_owned(), "-c".to_owned(), script]
}

/// Our own server; `program` is a word as [`choose_program`](super::choose_program) makes it. On
/// Windows, where there is no shell to guard it, our name does: cargo's `bin` folder is on the
/// user's `PATH` in every program there.
pub(crate) fn own_server(program: &str) -> Transport {
    let words = if cfg!(windows) {
        vec![PROGRAM.to_owned(), SERVE.to_owned()]
    } else {
        guarded(program, SERVE).to_vec()
    };
    let mut words = words.into_iter();
    let command = words.next().unwrap_or_default();
    Transport::Stdio { command, args: words.collect(), env: Vec::new() }
}

/// Whether an entry in an agent's file starts our own server as we would have it, under whatever path.
/// One that somebody wrote by hand has no guard.
pub(crate) fn is_own_server(entry: &Value) -> bool {
    let ["sh", "-c", script] = argv(entry)[..] else { return false };
    let program = script.strip_prefix("command -v ").and_then(|it| it.split(POSIX_GUARD).next());
    program.is_some_and(|program| {
        (program == PROGRAM || super::is_our_path(&super::program_path(program)))
            && script == guarded(program, SERVE)[2]
    })
}

/// The program and its arguments, as agents write them: apart or in one list.
pub(crate) fn argv(entry: &Value) -> Vec<&str> {
    let command = entry.get("command").or_else(|| entry.get("cmd"));
    let words = [command, entry.get("args")].into_iter().flatten().flat_map(|part| match part {
        Value::Array(words) => words.as_slice(),
        word => std::slice::from_ref(word),
    });
    words.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_own_server_is_known_by_its_guard_under_whatever_path() {
        for program in ["cargo-agents", "/home/me/.cargo/bin/cargo-agents", "'/a b/cargo-agents'"] {
            let [shell, flag, script] = guarded(program, SERVE);
            assert!(is_own_server(&json!({"command": shell, "args": [flag, script]})), "{program}");
            assert!(!is_own_server(&json!({"command": program, "args": ["mcp"]})), "{program}");
        }
        for script in [
            "command -v cargo-agents >/dev/null 2>&1 || exit 0; exec cargo-agents mcp --offline",
            "command -v other >/dev/null 2>&1 || exit 0; exec other mcp",
            "exec cargo-agents mcp",
        ] {
            assert!(!is_own_server(&json!({"command": ["sh", "-c", script]})), "{script}");
        }
    }

    #[test]
    fn a_shared_server_is_known_in_every_agents_form_and_in_that_of_every_machine() {
        for name in ["docs", "it's a name"] {
            let Transport::Stdio { command, args, .. } = shared_server(name, Vec::new()) else {
                panic!("a program")
            };
            let list: Vec<&String> = std::iter::once(&command).chain(&args).collect();
            for entry in [
                json!({"command": command, "args": args, "env": {}}),
                json!({"cmd": command, "args": args}),
                json!({"command": list}),
                json!({"command": "cargo-agents", "args": ["run-server", name]}),
            ] {
                assert!(is_shared_server(&entry, name), "{entry}");
                assert!(!is_shared_server(&entry, "other"), "{entry}");
            }
        }
        for entry in [
            json!({"command": "cargo-agents", "args": ["run-server", "docs", "more"]}),
            json!({"command": "my-cargo-agents", "args": ["run-server", "docs"]}),
            json!({"url": "https://example.com"}),
            json!("cargo-agents"),
        ] {
            assert!(!is_shared_server(&entry, "docs"), "{entry}");
        }
    }
}
