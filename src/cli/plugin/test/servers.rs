//! The MCP servers: started as an agent starts them, greeted, and asked for their tools.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::{ServerTried, ToolListed};
use super::programs::Around;
use super::subject::Subject;
use super::trial::Trial;
use crate::Symposium;
use crate::cli::plugin::view::View;
use crate::installations::{Acquirer, Mode, Network, packaged_server};
use crate::plugins::model::{McpServer, Plugin, Transport};
use crate::process::{Child, Conversation, Silence, Status};
use crate::sync::snapshot::programs::resolve_server;

/// How long a server may take to greet, and to list its tools. Agents wait 5 to 60 seconds.
const DEADLINE: Duration = Duration::from_secs(20);
/// The protocol's version that we offer; a server answers with the one that it speaks.
const PROTOCOL: &str = "2025-06-18";
/// Pages of a list that are asked for.
const MOST_PAGES: usize = 20;

/// Tries each server of the plugin that applies.
pub(super) fn try_all(
    trial: &Trial,
    view: &View<'_>,
    (subject, plugin): (&Subject, &Plugin),
) -> Vec<ServerTried> {
    let applies = |server: &&McpServer| view.standing(&[&plugin.gate, &server.gate]).is_active();
    let servers = plugin.servers.iter().filter(applies);
    servers.map(|server| try_one(&trial.sym, (subject, plugin), server)).collect()
}

fn try_one(
    sym: &Symposium,
    (subject, plugin): (&Subject, &Plugin),
    server: &McpServer,
) -> ServerTried {
    let mut tried = ServerTried {
        name: server.name.clone(),
        calls_itself: None,
        protocol: None,
        tools: Vec::new(),
        seconds: 0.0,
        stderr: String::new(),
        passed_over: None,
        problem: None,
    };
    if let Transport::Http { .. } | Transport::Sse { .. } = server.transport {
        tried.passed_over = Some("it is an address; only programs are asked".to_owned());
        return tried;
    }
    let start = Instant::now();
    let child = match child(sym, (subject, plugin), server) {
        Ok(child) => child,
        Err(problem) => {
            tried.problem = Some(problem);
            return tried;
        }
    };
    let mut talk = match Conversation::start(&child) {
        Ok(talk) => talk,
        Err(error) => {
            tried.problem = Some(error.to_string());
            return tried;
        }
    };
    let asked = ask(&mut talk, start + DEADLINE, &mut tried);
    tried.seconds = start.elapsed().as_secs_f64();
    let (status, stderr) = talk.end();
    tried.stderr = stderr;
    tried.problem = asked.err().map(|problem| match (status, problem) {
        (Some(status @ (Status::Exited(_) | Status::Signalled(_))), Problem::Closed(what)) => {
            format!("it ended before it answered `{what}` ({status})")
        }
        (_, Problem::Closed(what)) => format!("it closed its output before it answered `{what}`"),
        (_, Problem::Said(problem)) => problem,
    });
    tried
}

/// The server's program, as an agent starts it in the workspace.
fn child(
    sym: &Symposium,
    (subject, plugin): (&Subject, &Plugin),
    server: &McpServer,
) -> Result<Child, String> {
    if let Some(package) = &plugin.package {
        return packaged_server(sym, (plugin, package), server).map_err(|error| error.to_string());
    }
    let Transport::Stdio { command, args, env } = &server.transport else {
        return Err("it is no program".to_owned());
    };
    let installation = plugin.installations.iter().find(|known| known.name == *command);
    let built = installation
        .and_then(|known| Some((known, Around::of(sym, subject).program(known, None)?)));
    let (command, args, env) = match built {
        Some((known, program)) => {
            let all = known.args.iter().flatten().chain(args).cloned().collect();
            (program?.to_string_lossy().into_owned(), all, env.clone())
        }
        None => {
            let network = Network::new(sym);
            let acquirer = Acquirer::new(sym, &network);
            let quiet = Mode::Dispatch { budget: Duration::ZERO };
            let resolved = resolve_server(&acquirer, plugin, server, quiet);
            match resolved.map_err(|error| error.to_string())?.transport {
                Transport::Stdio { command, args, env } => (command, args, env),
                Transport::Http { .. } | Transport::Sse { .. } => {
                    return Err("it is no program".to_owned());
                }
            }
        }
    };
    let mut child = Child::new(command).args(args).in_environment(&sym.env);
    for (name, value) in env {
        child = child.env(name, value);
    }
    Ok(child)
}

enum Problem {
    /// It does not speak any more, in answer to this.
    Closed(&'static str),
    Said(String),
}

/// `initialize` and `tools/list`.
fn ask(talk: &mut Conversation, deadline: Instant, tried: &mut ServerTried) -> Result<(), Problem> {
    let params = json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": { "name": "cargo-agents plugin test", "version": crate::symposium::VERSION },
    });
    let greeting = request(talk, deadline, ("initialize", 1), params)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let info = &greeting["serverInfo"];
    let calls_itself = format!("{} {}", text(&info["name"]), text(&info["version"]));
    tried.calls_itself = Some(calls_itself.trim().to_owned()).filter(|name| !name.is_empty());
    tried.protocol = greeting["protocolVersion"].as_str().map(str::to_owned);
    if tried.protocol.is_none() {
        return Err(Problem::Said(
            "its answer to `initialize` has no `protocolVersion`".to_owned(),
        ));
    }
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let _ = talk.say(&told.to_string());
    if greeting["capabilities"].get("tools").is_none() {
        return Ok(());
    }
    let mut cursor = Value::Null;
    for page in 0..MOST_PAGES {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let listed = request(talk, deadline, ("tools/list", page + 2), params)?;
        let Some(tools) = listed["tools"].as_array() else {
            let problem = "its answer to `tools/list` has no list of `tools`";
            return Err(Problem::Said(problem.to_owned()));
        };
        for tool in tools {
            let named = tool["name"].as_str().filter(|name| !name.is_empty());
            let Some(name) = named.filter(|_| tool["inputSchema"].is_object()) else {
                let problem = format!("a tool has no `name` or no `inputSchema`: {tool}");
                return Err(Problem::Said(problem));
            };
            let description = text(&tool["description"]);
            tried.tools.push(ToolListed { name: name.to_owned(), description });
        }
        cursor = listed["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    Ok(())
}

/// Asks, and passes over whatever is not the answer.
fn request(
    talk: &mut Conversation,
    deadline: Instant,
    (method, id): (&'static str, usize),
    params: Value,
) -> Result<Value, Problem> {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    if talk.say(&request.to_string()).is_err() {
        return Err(Problem::Closed(method));
    }
    loop {
        let line = talk.hear(deadline).map_err(|silence| match silence {
            Silence::Closed => Problem::Closed(method),
            Silence::TimedOut => Problem::Said(format!(
                "no answer to `{method}` within {} seconds",
                DEADLINE.as_secs()
            )),
        })?;
        if line.is_empty() {
            continue;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            let line: String = line.chars().take(200).collect();
            return Err(Problem::Said(format!(
                "what is no message stands on its standard output, where agents read: {line}"
            )));
        };
        if message["id"] != json!(id) {
            continue;
        }
        if let Some(error) = message.get("error") {
            let why = error["message"].as_str().unwrap_or("an error without a message");
            return Err(Problem::Said(format!("`{method}` is answered with an error: {why}")));
        }
        return Ok(message["result"].clone());
    }
}
