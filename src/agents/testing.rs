//! What the agents' tests share: the captured payloads, the outcomes to encode, the words in which an
//! emulated client says what it made of an answer, and what is kept as snapshots of each agent.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};
use symposium_testlib::readers::{Ended, Reader};

use super::codec::Codec;
use super::places::{HookShape, Placement, ServerPlace, Transport};
use super::registration::Registration;
use super::wire::{Answer, Capability, Delivery, Outcome};
use crate::config::{Environment, HookScope};

/// What an emulated client does with an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Effect {
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
    pub(super) fn rejected(why: impl Into<String>) -> Self {
        Self { rejected: Some(why.into()), ..Self::default() }
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rejected, blocked, asked, granted, input, context, ended } = self;
        let texts = [
            ("rejected", rejected),
            ("blocked", blocked),
            ("asked", asked),
            ("told", context),
            ("ended", ended),
        ];
        let mut parts: Vec<String> = texts
            .into_iter()
            .filter_map(|(word, text)| Some(format!("{word} {:?}", text.as_deref()?)))
            .collect();
        parts.extend(granted.then(|| "granted".to_owned()));
        parts.extend(input.iter().map(|input| format!("runs {input}")));
        f.write_str(&parts.join(", "))
    }
}

/// An emulated client: what it makes of an answer to an event.
pub(super) type Client = fn(Event, &Answer) -> Effect;

/// What the tests of all agents need to know of one.
pub(super) struct Emulator {
    /// The emulated client.
    pub take: Client,
    /// The payload of a tool's use with these arguments, before it runs.
    pub tool_use: fn(&str, &Value) -> Value,
    /// What tells one delivery of an event from others.
    pub delivery: fn(Event) -> &'static str,
    /// Whether a denial stops what the event is about.
    pub can_block: fn(Event) -> bool,
    /// Whether it lays a new input over the old one.
    pub lays_over: bool,
    /// The key of the table of events in a shared file of hooks.
    pub hooks_in: &'static str,
}

/// What a client that is played by its rules makes of an answer.
pub(super) fn played(reader: Reader, event: Event, answer: &Answer) -> Effect {
    let (stdout, stderr) = (answer.stdout.as_str(), answer.stderr.as_str());
    let ended = Ended { exit: Some(i32::from(answer.exit)), stdout, stderr };
    let taken = reader.take(event.name(), ended);
    Effect { blocked: taken.blocked, context: taken.context, ..Effect::default() }
}

/// The surroundings of the user `dev`, with these variables besides.
pub(super) fn env(vars: &[(&str, &str)]) -> Environment {
    Environment::with("/home/dev/shop", [("HOME", "/home/dev")].iter().chain(vars).copied())
}

/// A captured payload.
pub(super) fn fixture(agent: &str, name: &str) -> Vec<u8> {
    let path = fixture_folder(agent).join(format!("{name}.json"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Where the captured payloads of an agent are.
pub(super) fn fixture_folder(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents").join(agent)
}

/// The captured payloads of an agent, in the order of their names.
pub(super) fn fixtures(agent: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(fixture_folder(agent))
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a payload"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Each captured payload in canonical words, with what tells it from others. One that is not of our
/// events must be refused.
pub(super) fn canonical_table(codec: &dyn Codec, env: &Environment) -> String {
    let mut table = String::new();
    for (name, bytes) in fixtures(codec.name()) {
        let read: Vec<_> = Event::ALL
            .into_iter()
            .filter_map(|event| codec.decode(event, &bytes, env).ok())
            .collect();
        writeln!(table, "{name}").expect("a string takes it");
        if read.is_empty() {
            writeln!(table, "  none of ours").expect("a string takes it");
        }
        for one in read {
            assert!(!one.foreign, "{name}");
            let id = match &one.delivery {
                Delivery::Named(id) | Delivery::Timed(id) => id.clone(),
                Delivery::Unnamed(kind) if !kind.is_empty() => format!("({kind})"),
                Delivery::Unnamed(_) => "-".to_owned(),
                Delivery::Single => "(never twice)".to_owned(),
            };
            if let Some(tool_use) = &one.tool_use_id {
                assert_eq!(tool_use, &id, "{name}");
            }
            let input = serde_json::to_string(&one.input).expect("JSON");
            writeln!(table, "  {id} {input}").expect("a string takes it");
        }
    }
    table
}

/// What there would be of `capability` in an effect.
pub(super) fn shows(capability: Capability, effect: &Effect) -> bool {
    match capability {
        Capability::Deny => effect.blocked.is_some(),
        Capability::Ask => effect.asked.is_some(),
        Capability::Allow => effect.granted,
        Capability::Rewrite => effect.input.is_some(),
        Capability::Context => effect.context.is_some(),
        Capability::Stop => effect.ended.is_some(),
        // For the user's eyes: no client tells the model.
        Capability::Message => true,
    }
}

/// One outcome of each kind, and two mixed ones.
pub(super) fn outcomes() -> Vec<(&'static str, Outcome)> {
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
pub(super) fn capability(name: &str) -> Outcome {
    outcomes().into_iter().find(|(found, _)| *found == name).expect("one of them").1
}

/// The bytes of each outcome at each event, and below them what `client` makes of them.
pub(super) fn answer_table(codec: &dyn Codec, client: Client) -> String {
    let mut table = String::new();
    for event in Event::ALL {
        writeln!(table, "{}", event.name()).expect("a string takes it");
        for (name, outcome) in outcomes() {
            let answer = codec.encode(event, &outcome);
            let effect = client(event, &answer);
            assert_eq!(effect.rejected, None, "{} {} {name}", codec.name(), event.name());
            let Answer { stdout, stderr, exit } = answer;
            let said = if exit == 0 {
                assert_eq!(stderr, "", "{name}");
                stdout.replace('\n', "\\n")
            } else {
                assert_eq!(stdout, "", "{name}");
                format!("exit {exit}: {}", stderr.replace('\n', "\\n"))
            };
            writeln!(table, "{}", format!("  {name:18}{said}").trim_end())
                .expect("a string takes it");
            if effect != Effect::default() {
                writeln!(table, "  {:18}→ {effect}", "").expect("a string takes it");
            }
        }
    }
    table
}

/// What the agent's emulated client makes of an outcome at an event.
pub(super) fn effect(codec: &dyn Codec, client: Client, event: Event, outcome: &Outcome) -> Effect {
    client(event, &codec.encode(event, outcome))
}

/// Any outcome, odd texts included.
pub(super) fn any_outcome() -> impl Strategy<Value = Outcome> {
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
pub(super) fn placement(env: &Environment, scope: HookScope) -> Placement<'_> {
    Placement {
        home: Path::new("/home/dev"),
        env,
        root: Some(Path::new("/home/dev/shop/api")),
        git_root: Some(Path::new("/home/dev/shop")),
        main_checkout: Some(Path::new("/home/dev/shop")),
        scope,
        program: "cargo-agents",
        windows: false,
        version: None,
        stop: false,
    }
}

/// The registration in both scopes, as text.
pub(super) fn registration(registration: &dyn Registration, env: &Environment) -> String {
    registration_with(registration, env, None)
}

/// As [`registration`], for this version of the agent's program.
pub(super) fn registration_with(
    registration: &dyn Registration,
    env: &Environment,
    version: Option<&semver::Version>,
) -> String {
    let mut text = String::new();
    for scope in [HookScope::Global, HookScope::Project] {
        for place in registration.hooks(&Placement { version, ..placement(env, scope) }) {
            writeln!(text, "{scope:?} {}", slashes(&place.path)).expect("a string takes it");
            match place.shape {
                HookShape::Shared { rules, entries } => {
                    writeln!(text, "  {rules:?}").expect("a string takes it");
                    for entry in entries {
                        let array = entry.array.join(".");
                        writeln!(text, "  {array} += {}", entry.group).expect("a string takes it");
                    }
                }
                HookShape::Own { text: whole } => text.push_str(&whole),
            }
        }
    }
    text
}

/// A server of each kind.
pub(super) fn sample_transports() -> [Transport; 4] {
    let token = || vec![("Authorization".to_owned(), "Bearer x".to_owned())];
    [
        Transport::Stdio {
            command: "/opt/docs".to_owned(),
            args: vec!["--stdio".to_owned()],
            env: vec![("LEVEL".to_owned(), "${LEVEL}".to_owned())],
        },
        Transport::Stdio { command: "/opt/docs".to_owned(), args: Vec::new(), env: Vec::new() },
        Transport::Http { url: "https://docs.example/mcp".into(), headers: token() },
        Transport::Sse { url: "https://docs.example/sse".into(), headers: Vec::new() },
    ]
}

/// Path and value of a server's entry.
pub(super) fn server_entry(place: ServerPlace) -> (PathBuf, Value) {
    match place {
        ServerPlace::Entry { path, value, .. } => (path, value),
        ServerPlace::Unsupported { reason } => panic!("{reason}"),
    }
}

/// Where servers of each kind go, as text.
pub(super) fn servers(registration: &dyn Registration, env: &Environment) -> String {
    let mut text = String::new();
    let mut files = BTreeSet::new();
    for (scope, everywhere) in
        [(HookScope::Global, false), (HookScope::Project, false), (HookScope::Global, true)]
    {
        writeln!(text, "{scope:?}, everywhere: {everywhere}").expect("a string takes it");
        for transport in sample_transports() {
            match registration.place_server("docs", &transport, everywhere, &placement(env, scope))
            {
                ServerPlace::Entry { path, format, table, value, users_keys, note, .. } => {
                    let path = slashes(&path);
                    let note = note.map(|note| format!("\n    {note}")).unwrap_or_default();
                    files.insert(format!("{path}: {format:?}, the user's keys: {users_keys:?}"));
                    writeln!(text, "  {path} {table:?} {value}{note}")
                }
                ServerPlace::Unsupported { reason } => writeln!(text, "  no: {reason}"),
            }
            .expect("a string takes it");
        }
    }
    for file in files {
        writeln!(text, "{file}").expect("a string takes it");
    }
    text
}

/// A path with `/` on every system.
pub(super) fn slashes(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// Where the snapshots of an agent are.
pub(super) fn snapshot(agent: &str, name: &str, text: &str) {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "snapshots", "agents", agent, name].iter().collect();
    expect_test::expect_file![path].assert_eq(text);
}
