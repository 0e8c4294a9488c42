//! A client of the agent client protocol (agentclientprotocol.com): JSON-RPC, a line a message, over
//! the agent's standard input and output. It begins a session, gives one prompt, and says yes to
//! whatever the agent wants to do. The session's name is kept, and a later prompt takes it up again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Place, Prompt};
use crate::roles::{self, Role};

/// The command that gives `prompt` to the agent that `agent` starts.
pub(super) fn command(agent: &Command, place: Place<'_>, prompt: Prompt<'_>) -> Command {
    let mut command = roles::command(Role::Acp);
    let set = agent.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(set);
    command.arg(place.dir.join("acp-session"));
    command.arg(if prompt.resume { RESUME } else { NEW }).arg(prompt.text);
    command.arg(agent.get_program()).args(agent.get_args());
    command
}

const NEW: &str = "new";
const RESUME: &str = "resume";
/// Claude's mode in which nobody is asked.
const FREE_HAND: &str = "bypassPermissions";

/// Plays the client: arguments are the file that holds the session's name, whether it is taken up
/// again, the prompt, the program and its arguments. What the agent says goes to standard output.
///
/// # Errors
/// When the agent can't be started, or answers with an error.
pub(crate) fn play(args: &[String]) -> anyhow::Result<()> {
    let [kept, begin, prompt, program, rest @ ..] = args else {
        anyhow::bail!("a file, how to begin, a prompt and a program")
    };
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
    let mut begun = json!({ "cwd": cwd, "mcpServers": [] });
    let (session, state) = if begin == RESUME {
        begun["sessionId"] = json!(std::fs::read_to_string(kept)?);
        let state = conversation.ask("session/load", begun.clone())?;
        (begun["sessionId"].clone(), state)
    } else {
        let state = conversation.ask("session/new", begun)?;
        (state["sessionId"].clone(), state)
    };
    std::fs::write(kept, session.as_str().unwrap_or_default())?;
    // Claude's own choice may ask another model about each command; the script has no answer to that.
    let modes = state["modes"]["availableModes"].as_array().into_iter().flatten();
    if modes.into_iter().any(|mode| mode["id"] == FREE_HAND) {
        conversation
            .ask("session/set_mode", json!({ "sessionId": session, "modeId": FREE_HAND }))?;
    }
    let text = json!([{ "type": "text", "text": prompt }]);
    let turn = json!({ "sessionId": session, "prompt": text });
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
