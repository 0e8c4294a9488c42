//! Hooks, servers and trust in the agents' files, in the order that leaves nothing behind.

use super::created::CreatedByUs;
use super::hook_files::{Survey, describe};
use super::setup::Setup;
use super::trust::{self, Consent};
use super::{Desired, Registered, Registrar, Which};
use crate::agents::Agent;
use crate::report::Action;

/// Carries out `desired`, and brings trust in step with it. `agents` are those whose hooks stay at the
/// configured scope.
pub(crate) fn register(
    setup: &Setup<'_>,
    registrar: &mut Registrar<'_>,
    desired: Desired,
    agents: &[Agent],
    apply: bool,
) -> Registered {
    if let Err(busy) = registrar.begin() {
        return Registered { diagnostics: vec![busy], ..Registered::default() };
    }
    let mut made = CreatedByUs::default();
    let ledgers = registrar.ledgers();
    Which::ALL
        .into_iter()
        .filter_map(|which| ledgers.of(which))
        .for_each(|ledger| made.collect(setup.symposium(), ledger));
    let mut survey = None;
    let mut registered =
        registrar.carry_out_after(desired, &mut || survey = Some(Survey::of(setup)));
    let scope = setup.scope;
    // Where nothing was written, they are as they were.
    let before_it = || survey.unwrap_or_else(|| Survey::of(setup));
    describe(before_it, setup, (agents, scope), &mut registered.changes);
    // Trust is about where hooks stand, so it follows them.
    registered.extend(trust::reconcile(setup, registrar, agents, Consent::AsGiven));
    if apply && registered.changes.iter().any(|change| change.action == Action::Unregister) {
        // What held several things of ours that went one by one is empty only now.
        made.tidy(setup.symposium(), setup.root());
    }
    registered
}
