//! Trust in our hooks, for agents that run a hook only once the user trusts it.
//!
//! Given with the user's consent, kept in step with where our hooks stand, and taken back with them.
//! Entries for hooks of others, and entries that the user or the agent wrote, are never touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::desired::{Consent, DesiredEntry, DesiredTrust};
use super::edit::member;
use super::hook_files::look;
use super::ledgers::{key_of, records};
use super::ownership::{covers, is_as_written};
use super::registrar::{Registered, Registrar};
use super::setup::Setup;
use super::{Desired, LedgerKind, Ledgers};
use crate::agents::Agent;
use crate::agents::places::{Placement, Trust};
use crate::config::HookScope;
use crate::documents::Record;

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
pub(crate) fn all_records(setup: &Setup<'_>, ledgers: &Ledgers) -> Vec<(LedgerKind, Record)> {
    let mut found: Vec<(LedgerKind, Record)> = Vec::new();
    setup.each_placement(&mut |agent, placement| {
        let Some(trust) = agent.registration().trust(placement, Path::new(""), &[]) else { return };
        for which in LedgerKind::ALL {
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
fn ledger_for(placement: &Placement<'_>) -> LedgerKind {
    match (placement.scope, placement.root) {
        (HookScope::Project, Some(_)) => LedgerKind::Workspace,
        _ => LedgerKind::Home,
    }
}

#[cfg(test)]
mod tests;
