//! Hooks, servers and trust in the agents' files, in the order that leaves nothing behind.

use super::hook_files::Survey;
use super::registration::{Desired, Registered, Registrar};
use super::setup::Setup;
use super::trust::{self, Consent};
use crate::agents::Agent;
use crate::report::Change;

/// Carries out `desired`, takes back trust in hooks that go, and keeps the rest in step. `agents` are
/// those whose hooks stay at the configured scope.
pub fn register(
    setup: &Setup<'_>,
    registrar: &mut Registrar<'_>,
    desired: Desired,
    agents: &[Agent],
    apply: bool,
) -> Registered {
    let survey = Survey::of(setup);
    // Trust goes before the hooks: a folder that was made for both is then empty when they go.
    let before = trust::bring(setup, agents, Consent::AsGiven, apply);
    let mut registered = registrar.carry_out(desired);
    let scope = setup.symposium().config.hook_scope;
    survey.describe(setup, (agents, scope), &mut registered.changes);
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
