//! Hooks, servers and trust in the agents' files, in the order that leaves nothing behind.

use super::created::Made;
use super::hook_files::{Survey, describe};
use super::setup::Setup;
use super::trust::{self, Consent};
use super::{Desired, Registered, Registrar, Which};
use crate::agents::Agent;
use crate::report::{Action, Change};

/// Carries out `desired`, takes back trust in hooks that go, and keeps the rest in step. `agents` are
/// those whose hooks stay at the configured scope.
pub fn register(
    setup: &Setup<'_>,
    registrar: &mut Registrar<'_>,
    desired: Desired,
    agents: &[Agent],
    apply: bool,
) -> Registered {
    if let Err(busy) = registrar.begin() {
        return Registered { diagnostics: vec![busy], ..Registered::default() };
    }
    // Trust goes before the hooks: a folder that was made for both is then empty when they go.
    let before = trust::bring(setup, agents, Consent::AsGiven, apply);
    let mut made = Made::default();
    let ledgers = registrar.ledgers();
    [Which::Home, Which::Workspace]
        .iter()
        .filter_map(|which| ledgers.of(*which))
        .for_each(|ledger| made.collect(setup.symposium(), ledger));
    let mut survey = None;
    let mut registered =
        registrar.carry_out_after(desired, &mut || survey = Some(Survey::of(setup)));
    if apply && registered.changes.iter().any(|change| change.action == Action::Unregister) {
        // What held several things of ours that went one by one is empty only now.
        made.tidy(setup.symposium(), setup.root());
    }
    let scope = setup.symposium().config.hook_scope;
    // Where nothing was written, they are as they were.
    let before_it = || survey.unwrap_or_else(|| Survey::of(setup));
    describe(before_it, setup, (agents, scope), &mut registered.changes);
    let after = if apply {
        trust::bring(setup, agents, Consent::AsGiven, apply)
    } else {
        trust::Trusted::default()
    };
    for trusted in [before, after] {
        add(&mut registered.changes, trusted.changes);
        for diagnostic in trusted.diagnostics {
            if !registered.diagnostics.contains(&diagnostic) {
                registered.diagnostics.push(diagnostic);
            }
        }
    }
    registered
}

fn add(changes: &mut Vec<Change>, more: Vec<Change>) {
    for change in more {
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
}
