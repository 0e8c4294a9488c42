//! Trust in our hooks, for agents that run a hook only once the user trusts it.
//!
//! Given with the user's consent, kept in step with where our hooks stand, and taken back with them.
//! Entries for hooks of others, and entries that the user or the agent wrote, are never touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::desired::{DesiredEntry, Which};
use super::edit::{Editing, member, planned};
use super::hook_files::look;
use super::ownership::{covers, is_as_written};
use super::registrar::{Registered, Registrar};
use super::setup::Setup;
use super::{Desired, Ledgers};
use crate::agents::Agent;
use crate::agents::places::{Placement, Trust};
use crate::config::HookScope;
use crate::documents::{Entry, Keep, Ledger, Record};
use crate::report::{Action, Change, Kind};
use crate::text::{Diagnostic, Subject};

/// Whether the user agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Nobody was asked: trust that was given is kept in step, and none is given.
    AsGiven,
    /// The user just said so.
    Yes,
}

/// How our hooks in one place stand with an agent that asks for trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Hooks of ours that it does not run for want of trust; `None` where there are none of ours.
    pub untrusted: Option<usize>,
    /// Whether the user let us give it, and did not take it back.
    pub given: bool,
    /// What the agent asks for, for people.
    pub why: &'static str,
    /// How people give it in the agent itself.
    pub by_hand: &'static str,
}

/// One agent's trust in our hooks at one scope, as its file should say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DesiredTrust {
    /// The agent.
    pub agent: Agent,
    /// Where the file keeps trust, and what it must say of each hook.
    pub trust: Trust,
    /// Whether the user agrees.
    pub consent: Consent,
    /// The file, as people read it.
    pub shown: String,
    /// How it is said that trust is given: `trusted`, or `to trust`.
    pub verb: &'static str,
}

/// Brings trust in step with the hooks that are there now. Hooks of agents other than `agents`, and
/// of a scope other than the configured one, need none any more.
pub(crate) fn reconcile(
    setup: &Setup<'_>,
    registrar: &mut Registrar<'_>,
    agents: &[Agent],
    consent: Consent,
) -> Registered {
    if let Err(busy) = registrar.begin() {
        return Registered { diagnostics: vec![busy], ..Registered::default() };
    }
    let verb = if registrar.applies() { "trusted" } else { "to trust" };
    let mut desired = Desired { is_partial: true, ..Desired::default() };
    setup.each_placement(&mut |agent, placement| {
        let Some(trust) = agent.registration().trust(placement, Path::new(""), &[]) else { return };
        let which = ledger_for(placement);
        let Some(ledger) = registrar.ledgers().of(which) else { return };
        let mut paths: BTreeSet<PathBuf> =
            records(ledger, agent, &trust.table).map(|record| record.path.clone()).collect();
        if paths.is_empty() && consent == Consent::AsGiven {
            return;
        }
        let wanted = agents.contains(&agent) && placement.scope == setup.scope;
        let entries = if wanted { entries(setup, agent, placement) } else { Vec::new() };
        if !entries.is_empty() {
            paths.insert(trust.path.clone());
        }
        for path in paths {
            let entries = if path == trust.path { entries.clone() } else { Vec::new() };
            let (shown, trust) = (setup.shown(&path), Trust { entries, ..trust.clone() });
            let file = desired.file(&path, trust.format);
            let entry = DesiredEntry::Trust(DesiredTrust { agent, trust, consent, shown, verb });
            if !file.entries.contains(&(which, entry.clone())) {
                file.entries.push((which, entry));
            }
        }
    });
    if desired.files.is_empty() {
        return Registered::default();
    }
    registrar.carry_out(desired)
}

/// How our hooks at `placement` stand; `None` where the agent asks for no trust.
pub(crate) fn standing(
    setup: &Setup<'_>,
    agent: Agent,
    placement: &Placement<'_>,
) -> Option<Standing> {
    let trust = agent.registration().trust(placement, Path::new(""), &[])?;
    let document = setup.document(&trust.path, trust.format);
    let stands = |key: &str| document.as_ref()?.get(&member(&trust.table, key)).ok().flatten();
    let ledgers = Ledgers::open(&setup.symposium().dirs, setup.root()).0;
    let ledger = ledgers.of(ledger_for(placement));
    let given = ledger.is_some_and(|ledger| {
        records(ledger, agent, &trust.table).any(|record| {
            key_of(record).and_then(stands).is_some_and(|found| is_as_written(&found, record))
        })
    });
    let entries = entries(setup, agent, placement);
    let missing = entries
        .iter()
        .filter(|(key, value)| {
            !stands(key).is_some_and(|found| covers(&found, value, trust.users_keys))
        })
        .count();
    let Trust { why, by_hand, .. } = trust;
    Some(Standing { untrusted: (!entries.is_empty()).then_some(missing), given, why, by_hand })
}

/// Our records of trust in `ledgers`. They look like those of servers, so whoever brings servers in
/// step must be told to leave them.
pub(crate) fn all_records(setup: &Setup<'_>, ledgers: &Ledgers) -> Vec<(Which, Record)> {
    let mut found: Vec<(Which, Record)> = Vec::new();
    setup.each_placement(&mut |agent, placement| {
        let Some(trust) = agent.registration().trust(placement, Path::new(""), &[]) else { return };
        for which in Which::ALL {
            let Some(ledger) = ledgers.of(which) else { continue };
            for record in records(ledger, agent, &trust.table) {
                if !found.contains(&(which, record.clone())) {
                    found.push((which, record.clone()));
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
        .filter_map(|file| agent.registration().trust(placement, &file.path, &file.placed()))
        .flat_map(|trust| trust.entries)
        .collect()
}

/// Trust in hooks of a project is remembered with the project, wherever it is written.
fn ledger_for(placement: &Placement<'_>) -> Which {
    match (placement.scope, placement.root) {
        (HookScope::Project, Some(_)) => Which::Workspace,
        _ => Which::Home,
    }
}

fn records<'l>(
    ledger: &'l Ledger,
    agent: Agent,
    table: &'l [String],
) -> impl Iterator<Item = &'l Record> {
    ledger.records().filter(move |record| {
        record.agent == agent.name()
            && matches!(&record.entry, Entry::Member { table: known, .. } if known == table)
    })
}

fn key_of(record: &Record) -> Option<&str> {
    match &record.entry {
        Entry::Member { key, .. } => Some(key),
        _ => None,
    }
}

impl Editing<'_> {
    /// Gives trust to hooks that stand there, and takes it back from those that do not any more.
    pub(super) fn trust(&mut self, desired: &DesiredTrust) -> Result<(), Diagnostic> {
        let DesiredTrust { agent, trust, consent, .. } = desired;
        let ledger = self.ledgers.of(self.which).into_iter();
        let records: Vec<Record> = ledger
            .flat_map(|ledger| records(ledger, *agent, &trust.table))
            .filter(|record| record.path == self.work.path)
            .cloned()
            .collect();
        let mut stands = false;
        for key in records.iter().filter_map(key_of) {
            stands |= self.stands_as_written(&trust.table, key)?;
        }
        let allowed = stands || *consent == Consent::Yes;
        let (mut given, mut taken, mut left) = (0, 0, 0);
        for record in &records {
            let Some(key) = key_of(record) else { continue };
            if trust.entries.iter().any(|(wanted, _)| wanted == key) {
                continue;
            }
            if self.stands_as_written(&trust.table, key)? {
                self.document.remove(&trust.table, key)?;
                taken += 1;
            }
            self.noted.forgotten.push((self.which, record.clone()));
        }
        for (key, value) in &trust.entries {
            let record = records.iter().find(|record| key_of(record) == Some(key));
            let existing = self.document.get(&member(&trust.table, key))?;
            let says_it =
                existing.as_ref().is_some_and(|found| covers(found, value, trust.users_keys));
            let write = match (existing.is_some(), record) {
                // The user took it out.
                (false, Some(_)) if *consent == Consent::AsGiven => false,
                (false, _) => allowed,
                (true, Some(_)) => !says_it && self.stands_as_written(&trust.table, key)?,
                (true, None) => false,
            };
            if write {
                let keep = Keep { users_keys: trust.users_keys, our_keys: &[] };
                self.document.set(&trust.table, key, value, &keep)?;
                given += 1;
            }
            if write || (says_it && record.is_some()) {
                self.record_member(*agent, &trust.table, (key, value), trust.users_keys);
            } else if !says_it {
                self.noted.forgotten.extend(record.map(|record| (self.which, record.clone())));
                left += usize::from(existing.is_some() && allowed);
            }
        }
        self.tell_of_trust(desired, (given, taken));
        if left > 0 {
            let message = format!(
                "{} knows another hook in the place of ours and will not run ours",
                agent.title()
            );
            let remedy = format!("{}; the file is left as it is", trust.by_hand);
            self.note(message, Subject::Advice, &remedy);
        }
        Ok(())
    }

    fn tell_of_trust(&mut self, desired: &DesiredTrust, (given, taken): (usize, usize)) {
        let hooks = |number: usize| format!("{number} hook{}", if number == 1 { "" } else { "s" });
        let (action, what) = match (given, taken) {
            (0, 0) => return,
            (0, _) => (Action::Unregister, format!("trust in {} taken back", hooks(taken))),
            _ => (Action::Register, format!("{} {}", hooks(given), desired.verb)),
        };
        let reason = Some(format!("{} ({what})", desired.shown));
        self.noted
            .changes
            .push(Change { reason, ..planned(action, Kind::Hooks, desired.agent, "trust") });
    }
}

#[cfg(test)]
mod tests;
