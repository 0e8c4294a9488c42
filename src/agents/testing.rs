//! What the agents' tests share: the captured payloads, the outcomes to encode, and the words in
//! which an emulated client says what it made of an answer.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};

use super::AgentSpec;
use super::places::{HookShape, Placement, ServerPlace};
use super::wire::{Answer, Outcome};
use crate::config::{Environment, HookScope};
use crate::plugins::model::{Gate, McpServer, Transport};

/// What an emulated client does with an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effect {
    /// Why the client drops the whole answer, if it does.
    pub rejected: Option<String>,
    /// The tool is not run, the prompt not sent, or the result not shown as it is; the reason.
    pub blocked: Option<String>,
    /// The user is asked, with this reason.
    pub asked: Option<String>,
    /// The tool runs without the user being asked.
    pub granted: bool,
    /// The tool's new input.
    pub input: Option<Value>,
    /// What the model reads besides.
    pub context: Option<String>,
    /// The turn ends, with this reason.
    pub ended: Option<String>,
}

impl Effect {
    /// The answer is dropped.
    pub fn rejected(why: impl Into<String>) -> Self {
        Self { rejected: Some(why.into()), ..Self::default() }
    }
}

/// The captured payloads of an agent, in the order of their names.
pub fn fixtures(agent: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents").join(agent);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a payload"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Each captured payload in canonical words. One that is not of our four events must be refused,
/// and none may pass for two.
pub fn canonical_table(spec: &dyn AgentSpec, env: &Environment) -> String {
    let mut table = String::new();
    for (name, bytes) in fixtures(spec.name()) {
        let read: Vec<_> = Event::ALL
            .into_iter()
            .filter_map(|event| spec.decode(event, &bytes, env).ok())
            .collect();
        match read.as_slice() {
            [] => writeln!(table, "{name}\n  none of ours"),
            [one] => {
                assert!(!one.foreign, "{name}");
                let id = one.tool_use_id.as_deref().unwrap_or("-");
                let input = serde_json::to_string(&one.input).expect("JSON");
                writeln!(table, "{name}\n  {id} {input}")
            }
            more => panic!("{name} passes for {} events", more.len()),
        }
        .expect("a string takes it");
    }
    table
}

/// One outcome of each kind, and two mixed ones.
pub fn outcomes() -> Vec<(&'static str, Outcome)> {
    let reason = || vec!["too risky".to_owned()];
    let context = || vec!["use cargo nextest".to_owned()];
    let input = || json!({"command": "cargo check"}).as_object().cloned();
    let none = Outcome::default;
    let decided = |decision| Outcome { decision: Some(decision), reasons: reason(), ..none() };
    vec![
        ("none", none()),
        ("context", Outcome { context: context(), ..none() }),
        ("deny", decided(Decision::Deny)),
        ("ask", decided(Decision::Ask)),
        ("allow", decided(Decision::Allow)),
        ("rewrite", Outcome { updated_input: input(), ..none() }),
        ("stop", Outcome { stop: Some("enough".to_owned()), ..none() }),
        ("message", Outcome { user_message: Some("0.5.0 is out".to_owned()), ..none() }),
        ("bare deny", Outcome { decision: Some(Decision::Deny), ..none() }),
        ("deny + rest", {
            let rest = Outcome { context: context(), updated_input: input(), ..none() };
            Outcome { decision: Some(Decision::Deny), reasons: reason(), ..rest }
        }),
        ("rewrite + context", Outcome { context: context(), updated_input: input(), ..none() }),
    ]
}

/// The outcome with this name.
pub fn wish(name: &str) -> Outcome {
    outcomes().into_iter().find(|(found, _)| *found == name).expect("one of them").1
}

/// The bytes of each outcome at each event.
pub fn answer_table(spec: &dyn AgentSpec) -> String {
    let mut table = String::new();
    for event in Event::ALL {
        writeln!(table, "{}", event.name()).expect("a string takes it");
        for (name, outcome) in outcomes() {
            let Answer { stdout, stderr, exit } = spec.encode(event, &outcome);
            assert_eq!((stderr.as_str(), exit), ("", 0), "{name}");
            writeln!(table, "{}", format!("  {name:18}{stdout}").trim_end())
                .expect("a string takes it");
        }
    }
    table
}

/// What the agent's emulated client makes of an outcome at an event.
pub fn effect(
    spec: &dyn AgentSpec,
    client: fn(Event, &Answer) -> Effect,
    event: Event,
    outcome: &Outcome,
) -> Effect {
    client(event, &spec.encode(event, outcome))
}

/// Any outcome, odd texts included.
pub fn any_outcome() -> impl Strategy<Value = Outcome> {
    let text = || prop::sample::select(vec!["", " ", "no", "two\nlines", "{\"a\":null}", "é\u{0}"]);
    let texts = || prop::collection::vec(text().prop_map(str::to_owned), 0..3);
    let decision = prop::option::of(prop::sample::select(vec![
        Decision::Allow,
        Decision::Ask,
        Decision::Deny,
    ]));
    let input = prop::option::of(Just(Map::from_iter([("command".to_owned(), json!("ls"))])));
    let line = || prop::option::of(text().prop_map(str::to_owned));
    (decision, texts(), texts(), input, line(), line()).prop_map(
        |(decision, reasons, context, updated_input, user_message, stop)| Outcome {
            decision,
            reasons,
            context,
            updated_input,
            user_message,
            stop,
            extra: Map::new(),
        },
    )
}

/// A workspace inside a checkout of the user `dev`.
pub fn placement(env: &Environment, scope: HookScope) -> Placement<'_> {
    Placement {
        home: Path::new("/home/dev"),
        env,
        root: Some(Path::new("/home/dev/shop/api")),
        git_root: Some(Path::new("/home/dev/shop")),
        scope,
        program: "cargo-agents",
        version: None,
    }
}

/// The registration in both scopes, as text.
pub fn registration(spec: &dyn AgentSpec, env: &Environment) -> String {
    let mut text = String::new();
    for scope in [HookScope::Global, HookScope::Project] {
        for place in spec.hooks(&placement(env, scope)) {
            writeln!(text, "{scope:?} {}", slashes(&place.path)).expect("a string takes it");
            let HookShape::Shared { rules, entries } = place.shape else {
                panic!("a file of its own")
            };
            writeln!(text, "  {rules:?}").expect("a string takes it");
            for entry in entries {
                let array = entry.array.join(".");
                writeln!(text, "  {array} += {}", entry.group).expect("a string takes it");
            }
        }
    }
    text
}

/// Where servers of each kind go, as text.
pub fn servers(spec: &dyn AgentSpec, env: &Environment) -> String {
    let mut text = String::new();
    let token = || vec![("Authorization".to_owned(), "Bearer x".to_owned())];
    let transports = [
        Transport::Stdio {
            command: "/opt/docs".to_owned(),
            args: vec!["--stdio".to_owned()],
            env: vec![("LEVEL".to_owned(), "${LEVEL}".to_owned())],
        },
        Transport::Stdio { command: "/opt/docs".to_owned(), args: Vec::new(), env: Vec::new() },
        Transport::Http { url: "https://docs.example/mcp".to_owned(), headers: token() },
        Transport::Sse { url: "https://docs.example/sse".to_owned(), headers: Vec::new() },
    ];
    for (scope, everywhere) in
        [(HookScope::Global, false), (HookScope::Project, false), (HookScope::Global, true)]
    {
        writeln!(text, "{scope:?}, everywhere: {everywhere}").expect("a string takes it");
        for transport in transports.clone() {
            let server = McpServer { name: "docs".to_owned(), gate: Gate::default(), transport };
            match spec.server(&server, everywhere, &placement(env, scope)) {
                ServerPlace::Entry { path, table, value, note, .. } => {
                    let note = note.map(|note| format!("\n    {note}")).unwrap_or_default();
                    writeln!(text, "  {} {table:?} {value}{note}", slashes(&path))
                }
                ServerPlace::Unsupported { reason } => writeln!(text, "  no: {reason}"),
            }
            .expect("a string takes it");
        }
    }
    text
}

fn slashes(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// Where the snapshots of an agent are.
pub fn snapshot(agent: &str, name: &str, text: &str) {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "snapshots", "agents", agent, name].iter().collect();
    expect_test::expect_file![path].assert_eq(text);
}
