//! What holds for every agent.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event, Input};

use super::testing::{
    self, Effect, any_outcome, effect, env, fixture_folder, fixtures, placement, shows,
};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support};
use super::*;
use crate::agents::places::HookShape;
use crate::config::HookScope;

#[test]
fn every_agent_is_found_by_its_name() {
    for agent in Agent::ALL {
        assert_eq!(Agent::from_name(agent.name()), Some(agent));
        assert_eq!(codec(agent.name()).map(Codec::name), Some(agent.name()));
        assert_eq!(agent.name(), agent.name().to_lowercase());
    }
    assert_eq!(Agent::from_name("Claude"), None);
    assert_eq!(Agent::from_name("cursor"), None);
}

#[test]
fn decision_17_symposium_is_a_codec_and_no_agent() {
    assert_eq!(codec("symposium").map(Codec::name), Some("symposium"));
    assert_eq!(Agent::from_name("symposium"), None);
}

#[test]
fn what_we_register_we_recognise_and_it_has_a_limit() {
    let env = env(&[]);
    let scopes = [HookScope::Global, HookScope::Project];
    for (agent, scope) in Agent::ALL.into_iter().flat_map(|a| scopes.map(|s| (a, s))) {
        let registration = agent.registration();
        for place in registration.hooks(&placement(&env, scope)) {
            let HookShape::Shared { entries, .. } = place.shape else { continue };
            let Identity { events, failure_event, .. } = agent.identity();
            assert_eq!(entries.len(), events.len() + usize::from(failure_event.is_some()));
            for entry in entries {
                let handler = entry.group.pointer("/hooks/0").unwrap_or(&entry.group);
                let command = handler["command"].as_str().expect("a command");
                assert_eq!(command::is_ours(command, agent.name()), Some(entry.event));
                let failure = failure_event.filter(|_| entry.event == Event::PostToolUse);
                let names = [Some(registration.event_name(entry.event)), failure];
                let is_it = |name| entry.array == [agent.emulator().hooks_in, name];
                assert!(names.into_iter().flatten().any(is_it), "{:?}", entry.array);
                let timeout = handler["timeout"].as_u64().expect("case 57: a time limit");
                let seconds = registration.registered_timeout(entry.event);
                assert!(timeout == seconds || timeout == seconds * 1000);
            }
        }
    }
}

/// An outcome with nothing but this in it.
fn only(capability: Capability) -> Outcome {
    testing::capability(match capability {
        Capability::Deny => "deny",
        Capability::Ask => "ask",
        Capability::Allow => "allow",
        Capability::Rewrite => "rewrite",
        Capability::Context => "context",
        Capability::Stop => "stop",
        Capability::Message => "message",
    })
}

/// Every cell of every agent's table: what is promised, the client does, and nothing else.
#[test]
fn f266_each_capability_at_each_event_comes_to_what_is_promised() {
    for (agent, event) in Agent::ALL.into_iter().flat_map(|a| Event::ALL.map(|e| (a, e))) {
        let codec = agent.codec();
        for capability in Capability::ALL {
            let outcome = only(capability);
            assert!(
                Capability::ALL
                    .into_iter()
                    .all(|other| other.is_in(&outcome) == (other == capability))
            );
            let effect = effect(codec, agent.emulator().take, event, &outcome);
            let answer = codec.encode(event, &outcome);
            let cell =
                format!("{} {} {capability}: {answer:?} {effect}", agent.name(), event.name());
            match codec.support(event, capability) {
                Support::Yes if capability == Capability::Message => {
                    assert!(answer.stdout.contains("0.5.0 is out"), "{cell}");
                    assert_eq!(effect, Effect::default(), "{cell}");
                }
                Support::Yes => {
                    assert!(shows(capability, &effect), "{cell}");
                    let others = Capability::ALL.into_iter().filter(|other| *other != capability);
                    let others = others.filter(|other| *other != Capability::Message);
                    assert!(!others.into_iter().any(|other| shows(other, &effect)), "{cell}");
                }
                Support::Instead(_)
                    if capability == Capability::Context && !codec.delivers_context(event) =>
                {
                    // It waits for an event that delivers.
                    assert!(effect.blocked.is_none() && effect.rejected.is_none(), "{cell}");
                }
                Support::Instead(_) => {
                    assert!(effect.blocked.is_some() || effect.context.is_some(), "{cell}");
                    assert!(!effect.granted && effect.input.is_none(), "{cell}");
                }
                Support::No => assert_eq!(answer, Answer::carry_on(), "{cell}"),
            }
        }
    }
}

/// The files that people read hold every cell: each outcome of each kind at each event.
#[test]
fn every_cell_is_in_the_snapshots() {
    let outcomes: Vec<&str> = testing::outcomes().into_iter().map(|(name, _)| name).collect();
    for capability in ["none", "context", "deny", "ask", "allow", "rewrite", "stop"] {
        assert!(outcomes.contains(&capability), "{capability}");
    }
    for agent in Agent::ALL {
        let path = format!("tests/snapshots/agents/{}/answers.txt", agent.name());
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(&path).expect("the snapshot");
        let rows = text.lines().filter(|line| !line.trim_start().starts_with('→'));
        let found: Vec<String> = rows.map(|line| line.chars().take(20).collect()).collect();
        let expected: Vec<String> = Event::ALL
            .into_iter()
            .flat_map(|event| {
                let cells = outcomes.iter().map(|name| format!("  {name}"));
                std::iter::once(event.name().to_owned()).chain(cells)
            })
            .collect();
        let found: Vec<&str> = found.iter().map(|line| line.trim_end()).collect();
        assert_eq!(found, expected, "{}", agent.name());
    }
}

/// What clients cut, we cut first, however their limit is counted.
#[test]
fn no_client_cuts_what_it_is_told() {
    for part in ["x", "é", "語", "😀", "word\n"] {
        let context = vec![part.repeat(30_000)];
        let outcome = Outcome { context, ..Outcome::default() };
        for (agent, event) in Agent::ALL.into_iter().flat_map(|a| Event::COMMON.map(|e| (a, e))) {
            let effect = effect(agent.codec(), agent.emulator().take, event, &outcome);
            assert_eq!(effect.rejected, None, "{} {}", agent.name(), event.name());
        }
    }
}

/// The book's tables of what each agent makes of an answer.
#[test]
fn the_book_says_what_each_agent_makes_of_a_capability() {
    let overview = include_str!("../../md/reference/agents/overview.md");
    let authors = include_str!("../../md/authors/hooks.md");
    for (page, count) in [(overview, 13), (authors, 11)] {
        let mut table =
            page.lines().skip_while(|line| !line.starts_with("| capability |")).map(cells);
        let titles = table.next().expect("the table");
        let is = |title: &String, agent: &Agent| agent.title().contains(title.as_str());
        let agents: Vec<Agent> = titles[1..]
            .iter()
            .map(|title| Agent::ALL.into_iter().find(|agent| is(title, agent)).expect(title))
            .collect();
        assert_eq!(agents.len(), Agent::ALL.len());
        let rows: Vec<_> = table.skip(1).take_while(|row| row.len() > 1).collect();
        assert_eq!(rows.len(), count);
        for row in rows {
            let (event, capability) = meant(&row[0]);
            for (agent, cell) in agents.iter().zip(&row[1..]) {
                let (yes, no) = (cell.starts_with("yes"), cell.starts_with(['–', 'n']));
                let fits = match agent.codec().support(event, capability) {
                    Support::Yes => yes,
                    Support::No => no,
                    Support::Instead(_) => !yes && !no,
                };
                assert!(fits, "{}, {}: {cell}", row[0], agent.name());
            }
        }
    }
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// What a row of the book's tables is about.
fn meant(row: &str) -> (Event, Capability) {
    use Event::{PostToolUse as Post, PreToolUse as Pre, SessionStart, UserPromptSubmit as Prompt};
    match row {
        "deny a tool" => (Pre, Capability::Deny),
        "ask the user" | "ask the user about a tool" => (Pre, Capability::Ask),
        "allow without a question" | "allow a tool without asking" => (Pre, Capability::Allow),
        "rewrite the input" | "rewrite a tool's input" => (Pre, Capability::Rewrite),
        "context at a session's start" => (SessionStart, Capability::Context),
        "context with a prompt" => (Prompt, Capability::Context),
        "context before a tool" => (Pre, Capability::Context),
        "context after a tool" => (Post, Capability::Context),
        "keep a prompt back" | "block a prompt" => (Prompt, Capability::Deny),
        "hide a tool's result" => (Post, Capability::Deny),
        "end the turn" => (Pre, Capability::Stop),
        "go on at a turn's end" => (Event::Stop, Capability::Deny),
        "a line for the user" => (Post, Capability::Message),
        other => panic!("a row about something else: {other}"),
    }
}

#[test]
fn decision_24a_each_agent_reads_skills_somewhere_inside_the_project() {
    for agent in Agent::ALL {
        let dirs = agent.identity().skill_dirs;
        assert!(!dirs.is_empty(), "{}", agent.name());
        assert!(dirs.iter().all(|dir| dir.ends_with("skills") && !dir.starts_with('/')));
    }
}

#[test]
fn every_agent_has_captured_payloads_and_a_page_of_the_book() {
    for agent in Agent::ALL {
        assert!(fixture_folder(agent.name()).is_dir());
        let page = format!("md/reference/agents/{}.md", agent.name());
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        assert!(page.is_file(), "{}", page.display());
    }
}

/// Whether the text names the agent, and not only a file or a folder of its.
fn names_agent(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| !text[..at].ends_with(['.', '/']))
}

#[test]
fn the_lists_of_agents_are_this_one() {
    let names = Agent::ALL.map(Agent::name);
    assert_eq!(symposium_testlib::AGENTS, names);
    let tells_all = |agent: &Agent| agent.identity().events.len() == Event::COMMON.len();
    let telling: Vec<_> = Agent::ALL.into_iter().filter(tells_all).map(Agent::name).collect();
    assert_eq!(symposium_testlib::TELLING_ALL.as_slice(), telling);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = walkdir::WalkDir::new(root.join("md")).into_iter();
    let pages = pages.map(|entry| entry.expect("reads").into_path());
    let pages = pages.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    for page in pages.chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&page).expect("reads").to_lowercase();
        // The table of tools has Claude Code's names in its first column.
        for part in text.split("\n\n").filter(|part| !part.starts_with("| canonical |")) {
            let missing: Vec<&str> =
                names.into_iter().filter(|name| !names_agent(part, name)).collect();
            assert!(missing.len() != 1, "{}: no {missing:?} in:\n{part}", page.display());
        }
    }
}

#[test]
fn case_79_the_budgets_that_are_known_are_of_a_plausible_size() {
    let known: Vec<_> = Agent::ALL
        .into_iter()
        .filter_map(|agent| Some((agent, agent.identity().description_budget?)))
        .collect();
    assert_eq!(known, [(Agent::Claude, 8_000), (Agent::Codex, 19_000)]);
}

/// A tool's use in the words of each agent.
fn payload(agent: Agent, tool: &str, arguments: &Value) -> Vec<u8> {
    let payload = (agent.emulator().tool_use)(tool, arguments);
    payload.to_string().into_bytes()
}

fn decode(agent: Agent, bytes: &[u8]) -> Decoded {
    agent.codec().decode(Event::PreToolUse, bytes, &env(&[])).expect("a tool's use")
}

/// The tool's input in the agent's own words.
fn native(decoded: &Decoded) -> Value {
    json::arguments(tools::native_of(decoded).1)
}

#[test]
fn decision_10_the_next_handler_reads_the_rewritten_input() {
    let new = json!({ "command": "cargo check" });
    let before = json!({ "command": "rm -rf x", "cwd": "/" });
    let text = Value::String(before.to_string());
    for agent in Agent::ALL {
        let updated = new.as_object().expect("an object");
        let after = if agent.emulator().lays_over {
            json!({ "command": "cargo check", "cwd": "/" })
        } else {
            new.clone()
        };
        for input in [&before, &text] {
            let bytes = payload(agent, "any", input);
            let rewritten =
                agent.codec().replace_input(&bytes, updated).expect("there is an input");
            let decoded = decode(agent, &rewritten);
            let raw = tools::native_of(&decoded).1;
            assert_eq!(raw.is_string(), input.is_string(), "{}", agent.name());
            if input.is_object() {
                assert_eq!(native(&decoded), after, "{}", agent.name());
            }
        }
        assert_eq!(agent.codec().replace_input(b"{}", updated), None);
    }
}

#[test]
fn an_event_delivered_twice_is_known_by_what_the_agent_gives_it() {
    for agent in Agent::ALL {
        for (name, bytes) in fixtures(agent.name()) {
            for event in Event::COMMON {
                let decode = || agent.codec().decode(event, &bytes, &env(&[]));
                let Ok(decoded) = decode() else { continue };
                let expected = (agent.emulator().delivery)(event);
                let found = match decoded.delivery {
                    wire::Delivery::Named(_) => "a name",
                    wire::Delivery::Timed(_) => "its moment",
                    wire::Delivery::Unnamed(_) => "nothing",
                    wire::Delivery::Single => "never twice",
                };
                assert_eq!(found, expected, "{} {name}", agent.name());
            }
        }
    }
}

fn arguments() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "path",
        "filePath",
        "file_path",
        "file_text",
        "content",
        "old_str",
        "oldString",
        "before",
        "old_string",
        "new_str",
        "newString",
        "after",
        "new_string",
        "command",
        "operations",
        "file_paths",
        "absolute_path",
        "include",
        "notebook_path",
        "patchText",
    ]);
    let value = prop::sample::select(vec![
        json!("write"),
        json!(null),
        json!([]),
        json!([{ "path": "a" }]),
        json!([{ "mode": "Line" }]),
        json!(["a", "b"]),
        json!("*** Add File: a"),
        json!("@a"),
        json!({ "path": 1 }),
    ]);
    prop::collection::vec((key, value), 0..5).prop_map(|pairs| {
        Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

proptest! {
    #[test]
    fn an_input_that_nobody_changed_goes_back_as_it_came(
        arguments in arguments(),
        tool in prop::sample::select(vec![
            "bash", "view", "create", "edit", "read", "write", "fs_write", "fs_read",
            "text_editor", "patch", "mystery", "a-b", "@a/b", "a__b", "Bash", "apply_patch", "glob",
            "grep_search", "activate_skill", "replace", "mcp_a_b", "read_file", "read_many_files",
            "str_replace_editor", "NotebookEdit",
        ]),
    ) {
        for agent in Agent::ALL {
            let decoded = decode(agent, &payload(agent, tool, &arguments));
            let Input::PreToolUse(input) = &decoded.input else { panic!("another event") };
            let updated = input.tool_input.as_object().expect("an object");
            let back = agent.codec().native_input(&decoded, updated);
            // Codex takes no patch and no command without its text, so that is put back.
            prop_assert_eq!(Value::Object(back), arguments.clone(), "{} {}", agent.name(), tool);
        }
    }

    #[test]
    fn decision_2_what_is_refused_is_blocked_and_nothing_else_is(outcome in any_outcome()) {
        for (agent, event) in Agent::ALL.into_iter().flat_map(|a| Event::COMMON.map(|e| (a, e))) {
            let codec = agent.codec();
            let can_ask = codec.support(Event::PreToolUse, Capability::Ask) == Support::Yes;
            // Where there is one word for a denial and for the end of the turn.
            let one_word = matches!(codec.support(event, Capability::Stop), Support::Instead(_));
            let ends = one_word && outcome.stop.is_some();
            let asks = outcome.decision == Some(Decision::Ask) && event == Event::PreToolUse;
            let can_block = (agent.emulator().can_block)(event);
            let refused = outcome.decision == Some(Decision::Deny) || ends || (asks && !can_ask);

            let answer = codec.encode(event, &outcome);
            let who = format!("{} {event:?} {answer:?}", agent.name());
            prop_assert!(answer.exit == 0 || answer.exit == 2 && answer.stdout.is_empty(), "{}", who);
            prop_assert!(answer.stdout != "{}", "{}", who);
            let effect = effect(codec, agent.emulator().take, event, &outcome);
            prop_assert_eq!(&effect.rejected, &None, "{}", who);
            let said = |reason: Option<String>| reason.map(|reason| !reason.trim().is_empty());
            prop_assert_eq!(said(effect.blocked), (refused && can_block).then_some(true), "{}", who);
            prop_assert_eq!(said(effect.asked), (asks && can_ask && !ends).then_some(true), "{}", who);
            prop_assert!(!effect.granted || outcome.decision == Some(Decision::Allow), "{}", who);
        }
    }

    #[test]
    fn decision_25_no_bytes_and_no_answer_make_us_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        text in ".{0,40}",
        exit in prop::option::of(-1..130),
    ) {
        for agent in Agent::ALL {
            let codec = agent.codec();
            for event in Event::COMMON {
                prop_assert!(codec.decode(event, &bytes, &env(&[])).is_err());
                let answer = ChildAnswer { stdout: &text, stderr: &text, exit };
                let _ = codec.decode_answer(event, &answer);
                prop_assert_eq!(codec.replace_input(&bytes, &Map::new()), None);
            }
        }
    }
}
