//! For all documents: what we add can be taken out again, and every byte is as it was.

use std::path::Path;

use serde_json::{Value, json};

use super::edited::{Candidate, HandlerState, Keep};
use super::exclude::{missing, with_lines, without_lines};
use super::testing::there_and_back;
use super::user_config::UserConfig;
use super::{Change, Document, FileFormat, JsonRules};
use crate::report::fuzzing::{text, told};

const KEY: &str = "ours";

/// A server comes and goes; hooks in arrays too, as agents have them.
pub(crate) fn json_editor(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let widest = JsonRules { comments: true, trailing_commas: true, bom: true };
    for rules in [JsonRules::STRICT, widest] {
        let format = FileFormat::Json(rules);
        let server = json!({"type": "stdio", "command": "x", "args": ["a", 1.5], "env": {}});
        an_entry(format, text, &["mcpServers"], &server);
        let handler = json!({"type": "command", "command": "cargo-agents hook claude stop"});
        a_hook(format, text, &handler);
        a_hook(format, text, &json!({"matcher": "*", "hooks": [handler]}));
    }
}

/// A server comes and goes; so do a hook's trust and an agent of our own configuration.
pub(crate) fn toml_editor(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let server = json!({"command": "x", "args": ["a", "b c"], "env": {"A": "1"}});
    an_entry(FileFormat::Toml, text, &["mcp_servers"], &server);
    an_entry(FileFormat::Toml, text, &["hooks", "state"], &json!({"trusted_hash": "sha256:0"}));
    an_agent(text);
}

/// A server comes and goes.
pub(crate) fn yaml_editor(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let server = json!({
        "enabled": true, "type": "stdio", "name": "ours", "cmd": "x: y",
        "args": ["a", "yes", "b\nc"], "envs": {}, "timeout": 300,
    });
    an_entry(FileFormat::Yaml, text, &["extensions"], &server);
}

/// Lines come and go.
pub(crate) fn exclude_editor(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let lines = ["/.claude/skills/widget/", "/.mcp.json"].map(str::to_owned);
    let added = missing(text, &lines);
    if let Some(with) = with_lines(text, &added) {
        assert_eq!(missing(&with, &lines), Vec::<String>::new());
        assert_eq!(without_lines(&with, &added), text);
    }
}

fn open(format: FileFormat, text: &str) -> Option<Document> {
    Document::open(Path::new("/w/f"), Some(text), format)
        .inspect_err(|problem| told(std::slice::from_ref(problem)))
        .ok()
}

fn an_entry(format: FileFormat, text: &str, table: &[&str], entry: &Value) {
    let table: Vec<String> = table.iter().map(|key| (*key).to_owned()).collect();
    let place = [table.clone(), vec![KEY.to_owned()]].concat();
    let Some(mut document) = open(format, text) else { return };
    let set = |document: &mut Document| document.set(&table, KEY, entry, &Keep::default());
    match document.get(&place) {
        Ok(None) => {}
        // Something of this name is there: nobody can say what it was once it says something else.
        Ok(Some(_)) => return brought_up_to_date(format, document, &set),
        Err(problem) => return told(&[problem]),
    }
    if let Err(problem) = set(&mut document) {
        assert_eq!(document.finish().change, Change::Keep, "a refused edit stays: {problem}");
        return told(&[problem]);
    }
    let take_out = |document: &mut Document| document.remove(&table, KEY).map(drop);
    let both = there_and_back(format, text, &set, &take_out);
    let (with, back) = both.expect("what was put in once can be put in");
    assert_eq!(back, text, "after {with:?}");
}

/// An entry that is there is made to say what it should; a second time nothing changes.
fn brought_up_to_date(
    format: FileFormat,
    mut document: Document,
    set: &dyn Fn(&mut Document) -> Result<(), crate::text::Diagnostic>,
) {
    if let Err(problem) = set(&mut document) {
        return told(&[problem]);
    }
    if let Change::Write(text) = document.finish().change {
        let mut again = open(format, &text).expect("what we write can be read");
        set(&mut again).expect("a second time");
        assert_eq!(again.finish().change, Change::Keep, "a second time changes {text:?}");
    }
}

fn a_hook(format: FileFormat, text: &str, entry: &Value) {
    let array = ["hooks".to_owned(), "Stop".to_owned()];
    let Some(mut document) = open(format, text) else { return };
    let take_out = |document: &mut Document| document.remove_from_array(&array, &whose).map(drop);
    let mut without = document.clone();
    let has_ours = take_out(&mut without).is_ok() && without.text() != document.text();
    let add = |document: &mut Document| document.ensure_in_array(&array, entry, &whose);
    if let Err(problem) = add(&mut document) {
        assert_eq!(document.finish().change, Change::Keep, "a refused edit stays: {problem}");
        return told(&[problem]);
    }
    if has_ours {
        return brought_up_to_date(format, document, &add);
    }
    let both = there_and_back(format, text, &add, &take_out);
    let (with, back) = both.expect("what was put in once can be put in");
    assert_eq!(back, text, "after {with:?}");
}

/// Ours by the program's own name at the start of the command.
fn whose(candidate: &Candidate<'_>) -> HandlerState {
    let command = candidate.handler.get("command").and_then(Value::as_str);
    let is_ours = command.is_some_and(|command| command.starts_with("cargo-agents hook "));
    if is_ours { HandlerState::Own } else { HandlerState::Foreign }
}

/// An agent of our own configuration.
fn an_agent(text: &str) {
    let path = Path::new("/w/config.toml");
    let Ok(mut config) = UserConfig::open(path, Some(text)) else { return };
    let Ok(names) = config.agent_names() else { return };
    // A table alone, as an earlier program wrote it, becomes a list and stays one.
    if config.get("agent").is_ok_and(|agent| agent.is_some_and(|agent| agent.is_object())) {
        return;
    }
    let mut more = names.clone();
    more.push(KEY.to_owned());
    if names.iter().any(|name| name == KEY) || config.set_agents(&more).is_err() {
        return;
    }
    let Change::Write(with) = config.finish() else { panic!("nothing was added to {text:?}") };
    let mut back = UserConfig::open(path, Some(&with)).expect("what we write can be read");
    assert_eq!(back.agent_names().expect("reads"), more);
    back.set_agents(&names).expect("it can be taken out");
    let Change::Write(back) = back.finish() else { panic!("nothing to remove") };
    assert_eq!(back, text, "after {with:?}");
}
