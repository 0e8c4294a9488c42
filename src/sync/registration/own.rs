//! Files that are ours alone.

use std::path::Path;

use serde_json::Value;

use super::desired::OwnWork;
use super::edit::Ledgers;
use crate::agents::Agent;
use crate::agents::command::is_ours;
use crate::documents::{Entry, Record, hash_bytes};
use crate::text::Diagnostic;

/// What should become of a file of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It is as it should be.
    Fine,
    /// It gets this text.
    Write(String),
    /// It goes.
    Delete,
    /// It is not there, and need not be.
    Absent,
    /// It is the user's, or was changed by the user.
    Leave(Diagnostic),
}

/// Decides what becomes of the file that now holds `text`.
pub fn fate(work: &OwnWork, text: Option<&str>, ledgers: &Ledgers) -> Fate {
    match (text, &work.text) {
        (None, None) => Fate::Absent,
        (None, Some(wanted)) => Fate::Write(wanted.clone()),
        (Some(text), Some(wanted)) if text == wanted => Fate::Fine,
        (Some(text), wanted) => {
            if !is_our_text(work, text, ledgers) {
                let what = match wanted {
                    Some(_) => "this file is not as Symposium wrote it and is left alone",
                    None => "this file was changed since Symposium wrote it and is left alone",
                };
                return Fate::Leave(
                    Diagnostic::warning(what)
                        .in_file(&work.path)
                        .note("delete it to let Symposium have its way"),
                );
            }
            match wanted {
                Some(wanted) => Fate::Write(wanted.clone()),
                None => Fate::Delete,
            }
        }
    }
}

/// The record for the file with `text`.
pub fn record(work: &OwnWork, text: &str) -> Record {
    Record {
        agent: work.agent.name().to_owned(),
        path: work.path.clone(),
        entry: Entry::OwnFile { hash: hash_bytes(text.as_bytes()) },
    }
}

/// By the ledger, or by its exact shape.
fn is_our_text(work: &OwnWork, text: &str, ledgers: &Ledgers) -> bool {
    let hash = hash_bytes(text.as_bytes());
    let recorded = ledgers.of(work.which).is_some_and(|ledger| {
        ledger.records_at(&work.path).any(|record| {
            matches!(record.entry, Entry::OwnFile { .. }) && record.entry.is_unchanged(&hash)
        })
    });
    recorded
        || work.known.iter().any(|known| known == text)
        || has_our_shape(work.agent, &work.path, text, &work.known)
}

/// A file of an earlier version of ours: every command in it is one of ours, and it says nothing
/// that a file of ours would not; a script starts as ours do.
fn has_our_shape(agent: Agent, path: &Path, text: &str, known: &[String]) -> bool {
    if path.extension().is_some_and(|extension| extension == "json") {
        let (Ok(value), Some(known)) = (
            serde_json::from_str::<Value>(text),
            known.iter().find_map(|known| serde_json::from_str::<Value>(known).ok()),
        ) else {
            return false;
        };
        let mut commands = Vec::new();
        collect_commands(&value, &mut commands);
        return !commands.is_empty()
            && commands.iter().all(|command| is_ours(command, agent.name()).is_some())
            && same_keys(&value, &known);
    }
    let head = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    known.iter().any(|known| !head(known).is_empty() && head(known) == head(text))
        && known.iter().any(|known| without_program(known) == without_program(text))
}

fn collect_commands<'a>(value: &'a Value, commands: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_commands(item, commands)),
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "command" || key == "bash" => commands.push(text),
                    other => collect_commands(other, commands),
                }
            }
        }
        _ => {}
    }
}

/// Whether the top-level keys of `value` are among those of `known`.
fn same_keys(value: &Value, known: &Value) -> bool {
    match (value.as_object(), known.as_object()) {
        (Some(value), Some(known)) => value.keys().all(|key| known.contains_key(key)),
        _ => false,
    }
}

/// A script's lines without the one that names the program, which differs between machines.
fn without_program(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.contains("cargo-agents")).collect()
}
