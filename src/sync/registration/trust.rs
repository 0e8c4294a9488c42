//! Trust in our hooks, for agents that run a hook only once the user trusts it.
//!
//! Given with the user's consent, kept in step with where our hooks stand, and taken back with them.
//! Entries for hooks of others, and entries that the user or the agent wrote, are never touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::Which;
use super::edit::Ledgers;
use super::hook_files::{HookFile, look};
use super::setup::Setup;
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::places::{FileFormat, Placement, Trust};
use crate::config::HookScope;
use crate::documents::ledger::Surroundings;
use crate::documents::{
    Change as FileChange, Created, Document, Edited, Entry, Keep, Ledger, Outcome, Record,
    edit_file, hash_value, missing_folders, remove_empty_folders,
};
use crate::report::{Action, Change, Kind, Place};
use crate::text::{Diagnostic, Subject};

/// How long another process of ours may hold a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether the user agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nobody was asked: trust that was given is kept in step, and none is given.
    AsGiven,
    /// The user just said so.
    Yes,
}

/// How our hooks in one place stand with an agent that asks for trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Hooks of ours that it does not run for want of trust; `None` where there are none of ours.
    pub untrusted: Option<usize>,
    /// Whether the user let us give it, and did not take it back.
    pub given: bool,
    /// What the agent asks for, for people.
    pub why: &'static str,
    /// How people give it in the agent itself.
    pub by_hand: &'static str,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Trusted {
    /// For people.
    pub changes: Vec<Change>,
    /// Problems.
    pub diagnostics: Vec<Diagnostic>,
}

/// Brings trust in step with the hooks that are there now. Hooks of agents other than `agents`, and
/// of a scope other than the configured one, need none any more.
pub fn bring(setup: &Setup<'_>, agents: &[Agent], consent: Consent, apply: bool) -> Trusted {
    let mut trusted = Trusted::default();
    setup.each_placement(&mut |agent, placement| {
        let Some(trust) = agent.registration().trust(placement, Path::new(""), &[]) else { return };
        let sym = setup.symposium();
        let mut ledger = ledger_of(sym, placement.scope, placement.root);
        let records = records(&ledger, agent, &trust);
        let wanted = agents.contains(&agent) && placement.scope == sym.config.hook_scope;
        let entries = if wanted { entries(setup, agent, placement) } else { Vec::new() };
        if records.is_empty() && (entries.is_empty() || consent == Consent::AsGiven) {
            return;
        }
        let mut paths: BTreeSet<PathBuf> =
            records.iter().map(|record| record.path.clone()).collect();
        if !entries.is_empty() {
            paths.insert(trust.path.clone());
        }
        for path in paths {
            let here = path == trust.path;
            let entries = if here { entries.as_slice() } else { &[] };
            let records = records.iter().filter(|record| record.path == path).cloned().collect();
            let task = Task { agent, path: &path, trust: &trust, entries, records, consent };
            match task.carry_out(setup, &mut ledger, apply) {
                Ok(noted) => task.tell(setup, &noted, apply, &mut trusted),
                Err(error) => trusted.diagnostics.push(error),
            }
        }
    });
    trusted
}

/// How our hooks at `placement` stand; `None` where the agent asks for no trust.
pub fn standing(setup: &Setup<'_>, agent: Agent, placement: &Placement<'_>) -> Option<Standing> {
    let trust = agent.registration().trust(placement, Path::new(""), &[])?;
    let text = setup.read(&trust.path).ok().flatten();
    let document = Document::open(&trust.path, text.as_deref(), trust.format).ok();
    let stands = |key: &str| {
        let path: Vec<String> = trust.table.iter().cloned().chain([key.to_owned()]).collect();
        document.as_ref().and_then(|document| document.get(&path).ok().flatten())
    };
    let ledger = ledger_of(setup.symposium(), placement.scope, placement.root);
    let given = records(&ledger, agent, &trust).iter().any(|record| {
        key_of(record).and_then(stands).is_some_and(|found| is_as_written(&found, record))
    });
    let entries = entries(setup, agent, placement);
    let missing = entries
        .iter()
        .filter(|(key, value)| !stands(key).is_some_and(|found| covers(&found, value)))
        .count();
    let Trust { why, by_hand, .. } = trust;
    Some(Standing { untrusted: (!entries.is_empty()).then_some(missing), given, why, by_hand })
}

/// Our records of trust in `ledgers`. They look like those of servers, so whoever brings servers in
/// step must be told to leave them.
pub fn all_records(setup: &Setup<'_>, ledgers: &Ledgers) -> Vec<(Which, Record)> {
    let mut found: Vec<(Which, Record)> = Vec::new();
    setup.each_placement(&mut |agent, placement| {
        let Some(trust) = agent.registration().trust(placement, Path::new(""), &[]) else { return };
        for which in [Which::Home, Which::Workspace] {
            let Some(ledger) = ledgers.of(which) else { continue };
            for record in records(ledger, agent, &trust) {
                if !found.contains(&(which, record.clone())) {
                    found.push((which, record));
                }
            }
        }
    });
    found
}

/// What must stand in the agent's file for our hooks there now.
fn entries(setup: &Setup<'_>, agent: Agent, placement: &Placement<'_>) -> Vec<(String, Value)> {
    look(setup, agent, placement)
        .iter()
        .filter_map(|file: &HookFile| {
            agent.registration().trust(placement, &file.path, &file.placed())
        })
        .flat_map(|trust| trust.entries)
        .collect()
}

/// Trust in hooks of a project is remembered with the project, wherever it is written.
fn ledger_of(sym: &Symposium, scope: HookScope, root: Option<&Path>) -> Ledger {
    match (scope, root) {
        (HookScope::Project, Some(root)) => Ledger::workspace(&sym.dirs, root).0,
        _ => Ledger::home(&sym.dirs).0,
    }
}

fn records(ledger: &Ledger, agent: Agent, trust: &Trust) -> Vec<Record> {
    let ours = |record: &&Record| {
        record.agent == agent.name()
            && matches!(&record.entry, Entry::Member { table, .. } if *table == trust.table)
    };
    ledger.records().iter().filter(ours).cloned().collect()
}

fn key_of(record: &Record) -> Option<&str> {
    match &record.entry {
        Entry::Member { key, .. } => Some(key),
        _ => None,
    }
}

/// Whether `existing` says all that `wanted` does.
fn covers(existing: &Value, wanted: &Value) -> bool {
    let wanted = wanted.as_object();
    wanted.is_some_and(|wanted| wanted.iter().all(|(key, value)| existing.get(key) == Some(value)))
}

fn keys_of(value: &Value) -> Vec<String> {
    value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
}

/// The hash of what we wrote of an entry.
fn hash_of(value: &Value, keys: &[String]) -> String {
    let kept: serde_json::Map<String, Value> = keys
        .iter()
        .filter_map(|key| value.get(key).map(|value| (key.clone(), value.clone())))
        .collect();
    hash_value(&Value::Object(kept))
}

fn is_as_written(existing: &Value, record: &Record) -> bool {
    match &record.entry {
        Entry::Member { keys, hash, .. } => hash_of(existing, keys) == *hash,
        _ => false,
    }
}

/// One agent's trust in one file.
struct Task<'a> {
    agent: Agent,
    path: &'a Path,
    trust: &'a Trust,
    entries: &'a [(String, Value)],
    records: Vec<Record>,
    consent: Consent,
}

/// What an edit came to, besides the text.
#[derive(Debug, Clone, Default, PartialEq)]
struct Noted {
    /// To remember.
    set: Vec<Record>,
    /// To forget.
    forgotten: Vec<Record>,
    /// How many entries were written.
    given: usize,
    /// How many entries were removed and not written elsewhere.
    taken: usize,
    /// Entries of others in our hooks' places.
    left: usize,
    /// What is not there any more of what we made.
    undone: Vec<Created>,
}

impl Task<'_> {
    fn format(&self) -> FileFormat {
        self.trust.format
    }

    /// Edits the file's text.
    fn edit(&self, text: Option<&str>, made: &[Created]) -> Result<(Edited, Noted), Diagnostic> {
        let mut document = Document::open(self.path, text, self.format())?;
        let mut noted = Noted::default();
        let table = &self.trust.table;
        let at = |document: &Document, key: &str| {
            let path: Vec<String> = table.iter().cloned().chain([key.to_owned()]).collect();
            document.get(&path)
        };
        let mut stands = false;
        for record in &self.records {
            let existing = key_of(record).map(|key| at(&document, key)).transpose()?.flatten();
            stands |= existing.is_some_and(|existing| is_as_written(&existing, record));
        }
        let allowed = stands || self.consent == Consent::Yes;
        for record in self.records.iter().filter(|record| !self.wants(record)) {
            let Some(key) = key_of(record) else { continue };
            if at(&document, key)?.is_some_and(|existing| is_as_written(&existing, record)) {
                document.remove(table, key)?;
                noted.taken += 1;
            }
            noted.forgotten.push(record.clone());
        }
        for (key, value) in self.entries {
            let record = self.records.iter().find(|record| key_of(record) == Some(key));
            let write = match (at(&document, key)?, record) {
                // The user took it out.
                (None, Some(record)) if self.consent == Consent::AsGiven => {
                    noted.forgotten.push(record.clone());
                    false
                }
                (None, _) => allowed,
                (Some(existing), Some(_)) if covers(&existing, value) => {
                    noted.set.push(self.record(key, value));
                    false
                }
                (Some(existing), None) if covers(&existing, value) => false,
                (Some(existing), Some(record)) if is_as_written(&existing, record) => true,
                (Some(_), record) => {
                    noted.forgotten.extend(record.cloned());
                    noted.left += usize::from(allowed);
                    false
                }
            };
            if write {
                let keep = Keep { users_keys: self.trust.users_keys, our_keys: &[] };
                document.set(table, key, value, &keep)?;
                noted.set.push(self.record(key, value));
                noted.given += 1;
            }
        }
        if noted.taken > 0 {
            let kept = document.prune(made)?;
            noted.undone = made.iter().filter(|made| !kept.contains(made)).cloned().collect();
        }
        Ok((document.finish(), noted))
    }

    /// Whether a hook stands where `record`'s entry is about.
    fn wants(&self, record: &Record) -> bool {
        self.entries.iter().any(|(key, _)| key_of(record) == Some(key))
    }

    fn record(&self, key: &str, value: &Value) -> Record {
        let keys = keys_of(value);
        let hash = hash_of(value, &keys);
        Record {
            agent: self.agent.name().to_owned(),
            path: self.path.to_path_buf(),
            entry: Entry::Member {
                table: self.trust.table.clone(),
                key: key.to_owned(),
                keys,
                hash,
            },
        }
    }

    /// Brings the edit to disk, remembered before it is written.
    fn carry_out(
        &self,
        setup: &Setup<'_>,
        ledger: &mut Ledger,
        apply: bool,
    ) -> Result<Noted, Diagnostic> {
        let sym = setup.symposium();
        // The file is in the home folder whoever has an entry in it.
        let mut home = Ledger::home(&sym.dirs).0;
        let made = home.surroundings(self.path);
        let text = setup.read(self.path)?;
        let (planned, mut noted) = self.edit(text.as_deref(), &made.created)?;
        if !apply {
            return Ok(noted);
        }
        for record in &noted.set {
            ledger.record(record.clone());
        }
        ledger.save(&sym.dirs, PATIENCE)?;
        if planned.change != FileChange::Keep {
            let (created, folders) = (planned.created, missing_folders(self.path));
            home.note_created(self.path, Surroundings { created, folders });
            home.save(&sym.dirs, PATIENCE)?;
            let mut done = None;
            let outcome = edit_file(&sym.dirs.locks(), self.path, PATIENCE, &mut |text| {
                setup.check(self.path)?;
                let (edited, again) = self.edit(text, &made.created)?;
                let change = edited.change.clone();
                done = Some((edited, again));
                Ok(change)
            })?;
            if let Some((edited, again)) = done {
                noted = again;
                let folders = match outcome {
                    Outcome::Created { folders } => folders,
                    Outcome::Removed => {
                        remove_empty_folders(&made.folders);
                        Vec::new()
                    }
                    _ => Vec::new(),
                };
                home.note_created(self.path, Surroundings { created: edited.created, folders });
                home.note_undone(
                    self.path,
                    Surroundings { created: noted.undone.clone(), folders: Vec::new() },
                );
                home.save(&sym.dirs, PATIENCE)?;
            }
        }
        for record in &noted.forgotten {
            ledger.forget(record);
        }
        ledger.save(&sym.dirs, PATIENCE)?;
        Ok(noted)
    }

    fn tell(&self, setup: &Setup<'_>, noted: &Noted, apply: bool, trusted: &mut Trusted) {
        let file = setup.shown(self.path);
        let hooks = |number: usize| format!("{number} hook{}", if number == 1 { "" } else { "s" });
        let told = if noted.given > 0 {
            let verb = if apply { " trusted" } else { " to trust" };
            Some((Action::Register, format!("{file} ({}{verb})", hooks(noted.given))))
        } else if noted.taken > 0 {
            let trust = format!("{file} (trust in {} taken back)", hooks(noted.taken));
            Some((Action::Unregister, trust))
        } else {
            None
        };
        if let Some((action, reason)) = told {
            trusted.changes.push(Change {
                places: vec![Place::Agent(self.agent.name())],
                reason: Some(reason),
                planned: !apply,
                ..Change::new(action, Kind::Hooks, "trust")
            });
        }
        if noted.left > 0 {
            let title = self.agent.title();
            trusted.diagnostics.push(
                Diagnostic::warning(format!(
                    "{title} knows another hook in the place of ours and will not run ours"
                ))
                .in_file(self.path)
                .about(Subject::Advice)
                .note(format!("{}; the file is left as it is", self.trust.by_hand)),
            );
        }
    }
}

#[cfg(test)]
mod tests;
