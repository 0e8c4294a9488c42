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
                    Some(_) => "this file is not as Symposium wrote it and is left as it is",
                    None => "this file was changed since Symposium wrote it and is left as it is",
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

/// By the ledger, or by its exact shape. Where the ledger knows another text, only the name by which
/// we are called may differ: more, and the user changed it.
fn is_our_text(work: &OwnWork, text: &str, ledgers: &Ledgers) -> bool {
    let hash = hash_bytes(text.as_bytes());
    let written: Vec<&Record> = ledgers
        .of(work.which)
        .into_iter()
        .flat_map(|ledger| ledger.written_at(&work.path))
        .filter(|record| matches!(record.entry, Entry::OwnFile { .. }))
        .collect();
    let how = if written.is_empty() { Likeness::Earlier } else { Likeness::Exact };
    written.iter().any(|record| record.entry.is_unchanged(&hash))
        || is_like(work.agent, &work.path, text, &work.known, how)
}

/// Whether the file at `path` that holds `text` is one of ours by its shape; `known` is what we would
/// write.
pub(in crate::sync) fn looks_ours(agent: Agent, path: &Path, text: &str, known: &str) -> bool {
    is_like(agent, path, text, &[known.to_owned()], Likeness::Earlier)
}

/// How like ours a file must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    /// But for the name by which we are called.
    Exact,
    /// But for that and for time limits, which earlier versions had others of.
    Earlier,
}

fn is_like(agent: Agent, path: &Path, text: &str, known: &[String], how: Likeness) -> bool {
    if known.iter().any(|known| known == text) {
        return true;
    }
    if path.extension().is_some_and(|extension| extension == "json") {
        let shape = |text: &str| {
            let mut value: Value = serde_json::from_str(text).ok()?;
            reduce(&mut value, agent, how).then_some(value)
        };
        let Some(found) = shape(text) else { return false };
        return known.iter().any(|known| shape(known).as_ref() == Some(&found));
    }
    known.iter().any(|known| without_program(known) == without_program(text))
}

/// Keys of time limits, in whatever agent.
const LIMITS: &[&str] = &["timeout", "timeoutSec", "timeout_ms"];

/// Puts the event's name in the place of each command of ours. Says whether there was one.
fn reduce(value: &mut Value, agent: Agent, how: Likeness) -> bool {
    let mut found = false;
    match value {
        Value::Array(items) => {
            for item in items {
                found |= reduce(item, agent, how);
            }
        }
        Value::Object(members) => {
            if how == Likeness::Earlier {
                members.retain(|key, _| !LIMITS.contains(&key.as_str()));
            }
            for member in members.values_mut() {
                found |= reduce(member, agent, how);
            }
        }
        Value::String(text) => {
            if let Some(event) = is_ours(text, agent.name()) {
                *text = event.cli_name().to_owned();
                found = true;
            }
        }
        _ => {}
    }
    found
}

/// A script's lines without the one that names the program, which differs between machines.
fn without_program(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.contains("cargo-agents")).collect()
}
