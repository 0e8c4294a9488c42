//! Files that are ours alone.

use std::path::Path;

use serde_json::Value;

use super::Ledgers;
use super::desired::OwnWork;
use super::registrar::{Pending, Registered, Registrar, left_alone};
use crate::agents::Agent;
use crate::agents::command::is_ours;
use crate::documents::{
    Change as FileChange, Entry, Record, edit_file, hash_bytes, missing_folders, read_text,
};
use crate::report::{Action, Change, Kind, Place};
use crate::text::Diagnostic;

/// What should become of a file of ours.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    /// It is as it should be.
    Fine,
    /// It gets this text.
    Write(String),
    Delete,
    /// It is not there, and need not be.
    Absent,
    /// It is the user's, or was changed by the user.
    Leave(Diagnostic),
}

/// Decides what becomes of the file that now holds `text`.
pub(super) fn fate(work: &OwnWork, text: Option<&str>, ledgers: &Ledgers) -> Fate {
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
pub(super) fn record(work: &OwnWork, text: &str) -> Record {
    Record {
        agent: work.agent.name().to_owned(),
        path: work.path.clone(),
        entry: Entry::OwnFile { hash: hash_bytes(text.as_bytes()) },
    }
}

impl Registrar<'_> {
    /// What is to be done with a file that is ours alone, announced to the ledger.
    pub(super) fn plan_own<'d>(
        &mut self,
        work: &'d OwnWork,
        agents: &[Agent],
        registered: &mut Registered,
    ) -> Option<Pending<'d>> {
        let text = match self.check(&work.path).and_then(|()| read_text(&work.path)) {
            Ok(text) => text,
            Err(error) => {
                let wanted =
                    work.text.is_some() || self.ledgers.records_at(&work.path).next().is_some();
                registered.diagnostics.extend(wanted.then(|| left_alone(error)));
                return None;
            }
        };
        let (action, new) = match fate(work, text.as_deref(), &self.ledgers) {
            Fate::Fine => {
                self.record_own_written(work, text.as_deref().unwrap_or_default());
                return None;
            }
            Fate::Absent => {
                self.forget_own(work);
                return None;
            }
            Fate::Leave(diagnostic) => {
                if work.text.is_some() || self.ledgers.records_at(&work.path).next().is_some() {
                    registered.diagnostics.push(diagnostic);
                }
                return None;
            }
            Fate::Write(text) => (Action::Register, Some(text)),
            Fate::Delete => (Action::Unregister, None),
        };
        if work.text.is_none()
            && let Some(told) = self.leave_to_team(&work.path, agents)
        {
            registered.diagnostics.push(told);
            return None;
        }
        if let Some(why) = self.off_limits(&work.path, text.is_some(), work.text.is_some()) {
            registered.diagnostics.push(why);
            return None;
        }
        let change = Change {
            places: vec![Place::Agent(work.agent.name())],
            planned: !self.apply,
            ..Change::new(action, Kind::Hooks, "hooks")
        };
        if !self.apply {
            registered.tell(vec![change]);
            return None;
        }
        if let Some(text) = new {
            if let Some(ledger) = self.ledgers.of_mut(work.which) {
                ledger.record_ahead(record(work, &text));
            }
            self.note_created(&work.path, Vec::new(), missing_folders(&work.path));
        }
        Some(Pending::Own(work, change))
    }

    /// Decides anew under the lock: another program may have written since.
    pub(super) fn write_own(&mut self, work: &OwnWork, before: &Ledgers) -> Result<(), Diagnostic> {
        let locks = self.sym.dirs.locks();
        let mut decide = |text: Option<&str>| {
            self.check(&work.path)?;
            match fate(work, text, before) {
                Fate::Write(text) => Ok(FileChange::Write(text)),
                Fate::Delete => Ok(FileChange::Delete),
                Fate::Leave(diagnostic) => Err(diagnostic),
                Fate::Fine | Fate::Absent => Ok(FileChange::Keep),
            }
        };
        let outcome = edit_file(&locks, &work.path, self.patience(), &mut decide)?;
        self.note_created(&work.path, Vec::new(), outcome.into_folders());
        self.insist();
        match &work.text {
            Some(text) => self.record_own_written(work, text),
            None => self.forget_own(work),
        }
        Ok(())
    }

    /// The file says what it should; what is known of it is true again.
    fn record_own_written(&mut self, work: &OwnWork, text: &str) {
        if self.apply
            && let Some(ledger) = self.ledgers.of_mut(work.which)
            && ledger.records_at(&work.path).next().is_some()
        {
            ledger.record(record(work, text));
        }
    }

    fn forget_own(&mut self, work: &OwnWork) {
        if self.apply
            && let Some(ledger) = self.ledgers.of_mut(work.which)
        {
            ledger.forget(&record(work, ""));
        }
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
