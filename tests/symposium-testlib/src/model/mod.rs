//! A scripted model on loopback: it plays a script and remembers what it was shown.
//!
//! It speaks the four protocols of the clients that the tests drive, one a file: `anthropic`,
//! `responses`, `gemini` and `chat`. Each request that offers tools takes the script's next
//! reply; side requests (titles, classifiers) get a short text and leave the script alone.

mod anthropic;
mod chat;
mod gemini;
mod request;
mod responses;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

pub use request::{Message, Request, Role};

use crate::http::{HttpRequest, HttpResponse, HttpServer};

/// A tool that the model calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name, as the client offers it.
    pub name: String,
    /// Codex offers a server's tools in a namespace.
    pub namespace: Option<String>,
    /// The arguments, an object.
    pub args: Value,
}

impl ToolCall {
    /// A call without a namespace.
    pub fn new(name: impl Into<String>, args: Value) -> Self {
        Self { name: name.into(), namespace: None, args }
    }
}

/// One reply of the script.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A text; the turn is over.
    Say(String),
    /// The model wants these tools used, at once.
    Call(Vec<ToolCall>),
}

/// What a side request, or one beyond the script's end, is told.
const SIDE: &str = "aside";
const END: &str = "The script is over.";

/// One of the protocols.
trait Protocol: Sync {
    /// Whether requests to `path` are this protocol's.
    fn speaks(&self, path: &str) -> bool;
    /// What `body` shows the model, in order.
    fn messages(&self, body: &Value) -> Vec<Message>;
    /// The names of the tools that `body` offers.
    fn tools(&self, body: &Value) -> Vec<String>;
    /// The answer that says `reply`; `id` is different for each answer.
    fn answer(&self, path: &str, body: &Value, reply: &Reply, id: usize) -> HttpResponse;
    /// The answer to a request that leaves the script alone, if `body` is one.
    fn aside(&self, path: &str, body: &Value, id: usize) -> Option<HttpResponse> {
        self.tools(body)
            .is_empty()
            .then(|| self.answer(path, body, &Reply::Say(SIDE.to_owned()), id))
    }
}

const PROTOCOLS: [&dyn Protocol; 4] =
    [&anthropic::Anthropic, &responses::Responses, &gemini::Gemini, &chat::Chat];

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Reply>,
    requests: Vec<Request>,
    answers: usize,
}

/// A model that listens until it is dropped.
#[derive(Debug)]
pub struct Model {
    server: HttpServer,
    state: Arc<Mutex<State>>,
}

impl Default for Model {
    fn default() -> Self {
        Self::start()
    }
}

impl Model {
    /// Starts one, with no script.
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let server = HttpServer::start(move |request| {
            answer(&mut shared.lock().unwrap_or_else(PoisonError::into_inner), &request)
        });
        Self { server, state }
    }

    /// Its address: `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Begins a script, and forgets what was asked before.
    pub fn play(&self, script: Vec<Reply>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.script = script.into();
        state.requests.clear();
    }

    /// What was asked since the script began, side requests too.
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// How many replies of the script were not asked for.
    pub fn left(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).script.len()
    }
}

fn answer(state: &mut State, request: &HttpRequest) -> HttpResponse {
    state.answers += 1;
    let id = state.answers;
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let protocol = PROTOCOLS.iter().find(|protocol| protocol.speaks(&request.path));
    let Some(protocol) = protocol.filter(|_| request.method == "POST") else {
        state.requests.push(Request::unknown(&request.path, body));
        return unknown(&request.path);
    };
    let messages = protocol.messages(&body);
    let tools = protocol.tools(&body);
    let aside = protocol.aside(&request.path, &body, id);
    let main = aside.is_none();
    let response = aside.unwrap_or_else(|| {
        let reply = state.script.pop_front().unwrap_or_else(|| Reply::Say(END.to_owned()));
        protocol.answer(&request.path, &body, &reply, id)
    });
    state.requests.push(Request { path: request.path.clone(), main, messages, tools, body });
    response
}

/// Clients look around before they begin: which models there are, whether anyone is home.
fn unknown(path: &str) -> HttpResponse {
    if path.ends_with("/models") {
        let model =
            json!({ "id": "scripted", "object": "model", "created": 1, "owned_by": "test" });
        return HttpResponse::Json(200, json!({ "object": "list", "data": [model] }));
    }
    let error = json!({ "type": "not_found_error", "message": format!("no such path: {path}") });
    HttpResponse::Json(404, json!({ "type": "error", "error": error }))
}

/// All text in `value`, each string a line.
fn all_text(value: &Value) -> String {
    let mut text = String::new();
    collect(value, &mut text);
    text
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(members) => members.values().for_each(|member| collect(member, text)),
        _ => {}
    }
}

/// One server-sent event.
fn event(name: Option<&str>, data: &Value) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}"),
        None => format!("data: {data}"),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
