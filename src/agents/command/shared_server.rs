//! How a file that a team shares starts a plugin's MCP server: by our name, which each machine finds
//! for itself when the server is started. A path of one machine is nobody else's.

use serde_json::Value;

use super::{POSIX_GUARD, PROGRAM};
use crate::agents::places::Transport;

/// Our command that starts a server.
const RUN_SERVER: &str = "run-server";

/// The server `name`, started by us with its variables `env`. Where we are not installed nothing is
/// started, and nothing fails; Windows brings no shell that could see to that.
pub(crate) fn shared_server(name: &str, env: Vec<(String, String)>) -> Transport {
    let [command, args @ ..] = if cfg!(windows) { bare(name) } else { guarded(name) };
    Transport::Stdio { command, args: args.into(), env }
}

/// Whether the entry of the server `name` in an agent's file starts it by way of us, in whatever form.
pub(crate) fn is_shared_server(entry: &Value, name: &str) -> bool {
    let argv = argv(entry);
    [bare(name), guarded(name)].iter().any(|form| argv == *form)
}

fn bare(name: &str) -> [String; 3] {
    [PROGRAM, RUN_SERVER, name].map(str::to_owned)
}

fn guarded(name: &str) -> [String; 3] {
    let word = shlex::try_quote(name).unwrap_or_default();
    let script = format!("command -v {PROGRAM}{POSIX_GUARD}exec {PROGRAM} {RUN_SERVER} {word}");
    ["sh".to_owned(), "-c".to_owned(), script]
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
