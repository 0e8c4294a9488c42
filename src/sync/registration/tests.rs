//! Documents of all sorts in the agents' real places: in, and out again without a trace.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use symposium_testlib::readers::GOOSE_CONFIG;

use super::setup::Setup;
use super::{Registrar, hooks};
use crate::Symposium;
use crate::agents::Agent;
use crate::config::HookScope;
use crate::plugins::model::{Gate, McpServer, Transport};
use crate::sync::request::Sweep;

/// Where the agents' shared files are, relative to home (`~`) and workspace (`.`).
const PLACES: &[(Agent, HookScope, &str)] = &[
    (Agent::Claude, HookScope::Global, "~/.claude/settings.json"),
    (Agent::Claude, HookScope::Global, "~/.claude.json"),
    (Agent::Claude, HookScope::Project, "./.claude/settings.json"),
    (Agent::Claude, HookScope::Project, "./.mcp.json"),
    (Agent::Codex, HookScope::Global, "~/.codex/hooks.json"),
    (Agent::Codex, HookScope::Global, "~/.codex/config.toml"),
    (Agent::Codex, HookScope::Project, "./.codex/config.toml"),
    (Agent::Copilot, HookScope::Global, "~/.copilot/mcp-config.json"),
    (Agent::Gemini, HookScope::Global, "~/.gemini/settings.json"),
    (Agent::Gemini, HookScope::Project, "./.gemini/settings.json"),
    (Agent::Qwen, HookScope::Global, "~/.qwen/settings.json"),
    (Agent::Qwen, HookScope::Project, "./.qwen/settings.json"),
    (Agent::Goose, HookScope::Global, GOOSE_CONFIG),
    (Agent::Kiro, HookScope::Global, "./.kiro/settings/mcp.json"),
    (Agent::OpenCode, HookScope::Global, "./opencode.json"),
    (Agent::OpenCode, HookScope::Global, "~/.config/opencode/opencode.json"),
];

struct World {
    dir: tempfile::TempDir,
    sym: Symposium,
}

impl World {
    fn new(agent: Agent, scope: HookScope) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(dir.path().join("ws")).expect("creates");
        let mut sym = Symposium::from_dir(dir.path());
        sym.config.agents = vec![agent.name().to_owned()];
        sym.config.hook_scope = scope;
        Self { dir, sym }
    }

    fn path(&self, place: &str) -> PathBuf {
        match place.strip_prefix("~/").or(place.strip_prefix("home/")) {
            Some(rest) => self.dir.path().join(rest),
            None => self.root().join(place.trim_start_matches("./")),
        }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    /// Registers `agents`; says whether something changed and whether all went well.
    fn register(&self, agents: &[Agent]) -> (bool, bool) {
        let root = self.root();
        let setup = Setup::new(&self.sym, Some(&root), false).expect("a home");
        let (mut registrar, problems) = Registrar::open(&self.sym, Some(&root), true);
        assert_eq!(problems, []);
        let (mut desired, _) =
            hooks::configured(&setup, agents, registrar.ledgers(), Sweep::Recorded);
        for agent in agents {
            let placement = setup.placement(*agent, self.sym.config.hook_scope, "");
            for (name, everywhere) in [("here", false), ("anywhere", true)] {
                desired.server(*agent, &server(name), everywhere, &placement);
            }
        }
        let registered = registrar.carry_out(desired);
        (!registered.changes.is_empty(), !registered.failed())
    }
}

fn server(name: &str) -> McpServer {
    McpServer {
        name: name.to_owned(),
        gate: Gate::default(),
        transport: Transport::Stdio {
            command: format!("{name}-mcp"),
            args: vec!["a \"b\"".to_owned()],
            env: vec![("TOKEN".to_owned(), "x".to_owned())],
        },
        cwd: None,
        is_withheld: false,
    }
}

/// Registers, again, and takes back, with `text` in the file at `place`.
fn there_and_back(agent: Agent, scope: HookScope, place: &str, text: &str) {
    let world = World::new(agent, scope);
    let path = world.path(place);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
    std::fs::write(&path, text).expect("writes");
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let (changed, went_well) = world.register(&[agent]);
    let with = read(&path);
    if went_well {
        assert!(changed, "{place}: nothing was registered");
        assert_ne!(with.as_deref(), Some(text), "{place}: nothing in it");
        assert_eq!(world.register(&[agent]), (false, true), "{place}: a second time, {with:?}");
    } else {
        assert_eq!(with.as_deref(), Some(text), "{place}: it was refused");
    }
    assert_eq!(read(&path), with, "{place}: a second time");
    world.register(&[]);
    assert_eq!(read(&path).as_deref(), Some(text), "{place}: taken back");
    let left: Vec<_> = walkdir::WalkDir::new(world.dir.path())
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file() && entry.path() != path)
        .map(|entry| entry.path().to_path_buf())
        .filter(|path| !path.components().any(|part| part.as_os_str() == "locks"))
        .filter(|path| path.extension().is_none_or(|extension| extension != "lock"))
        .filter(|path| !path.to_string_lossy().contains("ledgers"))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new(), "{place}");
}

/// Values as people have them in settings, with keys that ours go under.
fn value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("hooks".to_owned()),
        Just("PreToolUse".to_owned()),
        Just("mcpServers".to_owned()),
        Just("mcp_servers".to_owned()),
        Just("extensions".to_owned()),
        Just("mcp".to_owned()),
        Just("projects".to_owned()),
        "[a-z ]{0,6}",
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é]{0,8}".prop_map(Value::from),
        Just(json!({"hooks": [{"type": "command", "command": "echo hook"}]})),
    ];
    leaf.prop_recursive(4, 20, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn document() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[a-z]{1,4}|hooks|mcpServers|mcp|extensions", value(), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// The document in the format of `place`, in one of several layouts.
fn render(place: &str, document: &Value, layout: u8) -> Option<String> {
    let text = if place.ends_with(".toml") {
        toml::to_string(document).ok()?
    } else if place.ends_with(".yaml") {
        serde_yaml::to_string(document).ok()?
    } else if layout.is_multiple_of(2) {
        format!("{document:#}\n")
    } else {
        document.to_string()
    };
    Some(match layout % 4 {
        2 => text.replace('\n', "\r\n"),
        3 => text.trim_end().to_owned(),
        _ => text,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn case_4_all_that_is_not_ours_stays_byte_for_byte(
        pick in any::<prop::sample::Index>(), document in document(), layout in any::<u8>(),
    ) {
        let (agent, scope, place) = PLACES[pick.index(PLACES.len())];
        if let Some(text) = render(place, &document, layout) {
            there_and_back(agent, scope, place, &text);
        }
    }
}

#[test]
fn every_place_takes_an_empty_file_and_gives_it_back() {
    for (agent, scope, place) in PLACES {
        there_and_back(*agent, *scope, place, "");
    }
}

/// What a killed process leaves: the ledger says what should be, the file says what was.
#[test]
fn an_update_that_never_reached_its_file_leaves_our_entry_ours() {
    let world = World::new(Agent::Claude, HookScope::Global);
    let root = world.root();
    let run = |server: &McpServer, apply: bool| {
        let setup = Setup::new(&world.sym, Some(&root), false).expect("a home");
        let (mut registrar, _) = Registrar::open(&world.sym, Some(&root), apply);
        let ledgers = registrar.ledgers();
        let (mut desired, _) =
            hooks::configured(&setup, &[Agent::Claude], ledgers, Sweep::Recorded);
        let placement = setup.placement(Agent::Claude, HookScope::Global, "");
        desired.server(Agent::Claude, server, true, &placement);
        registrar.carry_out(desired)
    };
    run(&server("one"), true);
    let before = std::fs::read_to_string(world.path("~/.claude.json")).expect("reads");
    let mut newer = server("one");
    if let Transport::Stdio { args, .. } = &mut newer.transport {
        args.clear();
    }
    let lock = world.sym.dirs.locks();
    run(&newer, true);
    // The kill, after the fact: the file goes back to what it was, the ledger is ahead of it.
    std::fs::write(world.path("~/.claude.json"), &before).expect("writes");
    let file = world.sym.dirs.ledgers().join("home.json");
    let (mut ledger, _) = crate::documents::Ledger::home(&world.sym.dirs);
    let record = ledger
        .records()
        .find(|record| matches!(record.entry, crate::documents::Entry::Member { .. }))
        .expect("is there")
        .clone();
    let older = crate::documents::Record {
        entry: match record.entry.clone() {
            crate::documents::Entry::Member { table, key, keys, .. } => {
                let value: Value = serde_json::from_str(&before).expect("parses");
                let hash = super::ownership::restricted_hash(&value["mcpServers"]["one"], &keys);
                crate::documents::Entry::Member { table, key, keys, hash }
            }
            other => other,
        },
        ..record.clone()
    };
    ledger.record(older);
    ledger.record_ahead(record);
    ledger.save(&world.sym.dirs, std::time::Duration::from_secs(1)).expect("saves");
    assert!(file.exists() && lock.exists());
    let registered = run(&newer, true);
    assert_eq!(registered.diagnostics, []);
    assert_eq!(registered.changes.len(), 1, "brought up to date");
    assert_eq!(run(&newer, false).changes, []);
}
