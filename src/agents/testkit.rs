//! What the agents' tests share: captured payloads, sample outcomes, places.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use symposium_hook::{Decision, Event};

use crate::agents::AgentSpec;
use crate::agents::places::{HookPlace, HookShape, Placement, ServerPlace};
use crate::agents::wire::{Answer, Decoded, Outcome};
use crate::config::{Environment, HookScope};
use crate::plugins::model::{Gate, McpServer, Transport};

/// A captured payload.
pub(crate) fn fixture(agent: &str, name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/fixtures/agents").join(agent).join(format!("{name}.json"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An environment with these variables.
pub(crate) fn env(vars: &[(&str, &str)]) -> Environment {
    Environment::with("/home/dev/shop", vars.iter().copied())
}

/// A decoded event as text to compare.
pub(crate) fn show(decoded: &Decoded) -> String {
    let input = serde_json::to_value(&decoded.input).expect("it is JSON");
    format!("{input:#}\ntool use: {:?}, foreign: {}\n", decoded.tool_use_id, decoded.foreign)
}

/// One outcome for each wish.
pub(crate) fn outcomes() -> Vec<(&'static str, Outcome)> {
    let decided = |decision, reason: &str| Outcome {
        decision: Some(decision),
        reasons: vec![reason.to_owned()],
        ..Outcome::default()
    };
    let input = json!({ "command": "ls" }).as_object().cloned();
    vec![
        ("none", Outcome::default()),
        ("context", Outcome { context: vec!["use `cargo nextest`".into()], ..Outcome::default() }),
        ("deny", decided(Decision::Deny, "not here")),
        ("ask", decided(Decision::Ask, "it pushes")),
        ("allow", decided(Decision::Allow, "it only reads")),
        ("rewrite", Outcome { updated_input: input, ..Outcome::default() }),
        ("stop", Outcome { stop: Some("that is enough".into()), ..Outcome::default() }),
    ]
}

/// Every answer to every event, and what `client` makes of it.
pub(crate) fn answers(
    spec: &dyn AgentSpec,
    client: impl Fn(Event, &Answer) -> Vec<String>,
) -> String {
    let mut text = String::new();
    for event in Event::ALL {
        for (wish, outcome) in outcomes() {
            let answer = spec.encode(event, &outcome);
            let effects = client(event, &answer).join("; ");
            let _ = writeln!(text, "{} {wish}", event.name());
            let _ =
                writeln!(text, "    exit {} {:?} {:?}", answer.exit, answer.stdout, answer.stderr);
            let _ = writeln!(text, "    -> {effects}");
        }
    }
    text
}

/// A placement in `/home/dev` (or wherever a test has its folders).
pub(crate) struct Place {
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) env: Environment,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { home: "/home/dev".into(), root: "/home/dev/shop".into(), env: env(&[]) }
    }

    pub(crate) fn scope(&self, scope: HookScope) -> Placement<'_> {
        Placement {
            home: &self.home,
            env: &self.env,
            root: Some(&self.root),
            git_root: Some(&self.root),
            scope,
            program: "cargo-agents",
            version: None,
        }
    }
}

/// Places of hooks as text to compare.
pub(crate) fn show_hooks(places: &[HookPlace]) -> String {
    let mut text = String::new();
    for place in places {
        let _ = writeln!(text, "{}", slashes(&place.path));
        match &place.shape {
            HookShape::Own { text: whole } => text.push_str(whole),
            HookShape::Shared { .. } => panic!("these agents' files are ours alone"),
        }
    }
    text
}

/// A path with `/` on every system.
pub(crate) fn slashes(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// The place of a server as text to compare.
pub(crate) fn show_server(place: &ServerPlace) -> String {
    match place {
        ServerPlace::Entry { path, format, table, value, users_keys, note } => format!(
            "{} {format:?}\n{} = {value}\nuser's: {users_keys:?}, note: {note:?}\n",
            slashes(path),
            table.join("."),
        ),
        ServerPlace::Unsupported { reason } => format!("unsupported: {reason}\n"),
    }
}

/// The entry of a server's place.
pub(crate) fn entry(place: ServerPlace) -> (PathBuf, Value) {
    match place {
        ServerPlace::Entry { path, value, .. } => (path, value),
        ServerPlace::Unsupported { reason } => panic!("{reason}"),
    }
}

fn server(name: &str, transport: Transport) -> McpServer {
    McpServer { name: name.to_owned(), gate: Gate::default(), transport }
}

/// One server for each transport.
pub(crate) fn servers() -> [McpServer; 3] {
    let headers = vec![("Authorization".to_owned(), "Bearer x".to_owned())];
    let url = "https://example.com/mcp".to_owned();
    [
        server(
            "db",
            Transport::Stdio {
                command: "/opt/db-mcp".into(),
                args: vec!["--ro".into()],
                env: vec![("DB".into(), "shop".into())],
            },
        ),
        server("docs", Transport::Http { url: url.clone(), headers: headers.clone() }),
        server("old", Transport::Sse { url, headers }),
    ]
}

/// All servers at both scopes and everywhere.
pub(crate) fn show_servers(spec: &dyn AgentSpec, place: &Place) -> String {
    let mut text = String::new();
    let rows = [
        ("global", HookScope::Global, false),
        ("project", HookScope::Project, false),
        ("everywhere", HookScope::Project, true),
    ];
    for (title, scope, everywhere) in rows {
        for server in servers() {
            let shown = show_server(&spec.server(&server, everywhere, &place.scope(scope)));
            let _ = write!(text, "{title} {}: {shown}", server.name);
        }
    }
    text
}
