//! A client of the agent client protocol (agentclientprotocol.com): JSON-RPC, a line a message, over
//! the agent's standard input and output. It begins a session, gives one prompt, and says yes to
//! whatever the agent wants to do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::roles::{self, Role};

/// The command that gives `prompt` to the agent that `program` with `args` is.
pub(super) fn command(program: &Path, args: &[&str], prompt: &str) -> Command {
    let mut command = roles::command(Role::Acp);
    command.arg(prompt).arg(program).args(args);
    command
}

/// Plays the client: arguments are the prompt, the program and its arguments. What the agent says
/// goes to standard output.
///
/// # Errors
/// When the agent can't be started, or answers with an error.
pub(crate) fn play(args: &[String]) -> anyhow::Result<()> {
    let [prompt, program, rest @ ..] = args else { anyhow::bail!("a prompt and a program") };
    let mut agent =
        Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut conversation = Conversation {
        to: agent.stdin.take().expect("it is piped"),
        from: BufReader::new(agent.stdout.take().expect("it is piped")),
        last: 0,
    };
    let capabilities = json!({ "fs": { "readTextFile": false, "writeTextFile": false } });
    conversation
        .ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }))?;
    let cwd = std::env::current_dir()?;
    let session = conversation.ask("session/new", json!({ "cwd": cwd, "mcpServers": [] }))?;
    let text = json!([{ "type": "text", "text": prompt }]);
    let turn = json!({ "sessionId": session["sessionId"], "prompt": text });
    let end = conversation.ask("session/prompt", turn)?;
    drop(conversation);
    let _ = agent.kill();
    agent.wait()?;
    anyhow::ensure!(end["stopReason"] == "end_turn", "the turn ended with {end}");
    Ok(())
}

struct Conversation {
    to: std::process::ChildStdin,
    from: BufReader<std::process::ChildStdout>,
    last: u64,
}

impl Conversation {
    /// Asks the agent, and answers what it asks meanwhile.
    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.from.read_line(&mut line)? > 0, "the agent went away");
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if let Some(asked) = message.get("method").and_then(Value::as_str) {
                self.answer(asked, &message)?;
            } else if message["id"] == json!(id) {
                anyhow::ensure!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    fn answer(&mut self, method: &str, message: &Value) -> anyhow::Result<()> {
        let params = &message["params"];
        if method == "session/update" {
            let update = &params["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                let words = update["content"]["text"].as_str().unwrap_or_default();
                std::io::stdout().write_all(words.as_bytes())?;
            }
        }
        let Some(id) = message.get("id") else { return Ok(()) };
        let answer = if method == "session/request_permission" {
            let options = params["options"].as_array().into_iter().flatten();
            let allow = options
                .filter(|option| option["kind"].as_str().is_some_and(|kind| kind.contains("allow")))
                .map(|option| option["optionId"].clone())
                .next();
            let outcome = json!({ "outcome": "selected", "optionId": allow });
            json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } })
        } else {
            let error = json!({ "code": -32601, "message": format!("there is no {method}") });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        self.send(&answer)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.to.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.to.flush()?)
    }
}
