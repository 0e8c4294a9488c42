//! MCP servers for tests, with one tool `ping_<name>`: over standard input and output, and over
//! streamable HTTP.

use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http::{HttpResponse, HttpServer};

/// The first argument that makes a test binary a server: then its name, then the file it logs to.
pub const ARGUMENT: &str = "--be-an-mcp-server";

/// The description of a server's tool.
pub fn description(name: &str) -> String {
    format!("Answers for {name}.")
}

/// What a server's tool answers.
pub fn pong(name: &str) -> String {
    format!("pong from {name}")
}

/// The variable, and with another spelling the header, whose value a server's tool answers too.
pub const GIVEN: &str = "SYMPOSIUM_TEST_GIVEN";
/// The header.
pub const GIVEN_HEADER: &str = "x-symposium-test-given";

/// What a server's tool answers besides, when it was given `value`.
pub fn given(value: &str) -> String {
    format!("given {value}")
}

/// The server's tool.
pub fn tool(name: &str) -> String {
    format!("ping_{name}")
}

/// The program and arguments of a server that logs the methods it was asked to `log`.
pub fn stdio(name: &str, log: &Path) -> (String, Vec<String>) {
    let this = std::env::current_exe().expect("this program has a file");
    let args = [ARGUMENT.to_owned(), name.to_owned(), log.to_string_lossy().into_owned()];
    (this.to_string_lossy().into_owned(), args.to_vec())
}

pub(crate) fn serve_stdio(args: &[String]) {
    let [name, log] = args else { return };
    let value = std::env::var(GIVEN).ok();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let method = message["method"].as_str().unwrap_or_default();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(log);
        let _ = file.and_then(|mut file| file.write_all(format!("{method}\n").as_bytes()));
        if let Some(answer) = answer(name, &message, value.as_deref()) {
            let mut out = std::io::stdout().lock();
            if out.write_all(format!("{answer}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    }
}

/// A server over streamable HTTP.
#[derive(Debug)]
pub struct HttpMcp {
    server: HttpServer,
    asked: Arc<Mutex<Vec<String>>>,
}

impl HttpMcp {
    /// Starts one.
    pub fn start(name: &str) -> Self {
        let name = name.to_owned();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let server = HttpServer::start(move |request| {
            if request.method != "POST" {
                // No stream of the server's own, no session to end.
                return HttpResponse::Empty(405);
            }
            let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            log.lock().unwrap_or_else(PoisonError::into_inner).push(method);
            let header = request.headers.iter().find(|(name, _)| name == GIVEN_HEADER);
            match answer(&name, &message, header.map(|(_, value)| value.as_str())) {
                Some(answer) => HttpResponse::Json(200, answer),
                None => HttpResponse::Empty(202),
            }
        });
        Self { server, asked }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("{}/mcp", self.server.url())
    }

    /// The methods that it was asked, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(name: &str, message: &Value, value: Option<&str>) -> Option<Value> {
    let id = message.get("id")?;
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params.get("protocolVersion").unwrap_or(&json!("2025-06-18")),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": name, "version": "1.0.0" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": tool(name),
            "description": description(name),
            "inputSchema": { "type": "object", "properties": {} },
        }] }),
        "tools/call" => {
            let text = [pong(name)].into_iter().chain(value.map(given)).collect::<Vec<_>>();
            json!({ "content": [{ "type": "text", "text": text.join(", ") }] })
        }
        "ping" => json!({}),
        method => {
            let error = json!({ "code": -32601, "message": format!("there is no {method}") });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
