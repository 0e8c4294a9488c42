//! Our hooks as they should be registered, or not.

use super::duplicates::registered_twice;
use super::setup::{Setup, is_recorded};
use super::{Desired, Ledgers, trust};
use crate::agents::Agent;
use crate::agents::command::PROGRAM;
use crate::agents::places::Placement;
use crate::config::HookScope;
use crate::sync::request::Sweep;
use crate::text::Diagnostic;

/// The hooks of `agents` at the configured scope, the absence of those of all others (of what is shared
/// in a project, of those that we wrote), and the absence of ours in the other scope; and what people should know.
pub(crate) fn configured(
    setup: &Setup<'_>,
    agents: &[Agent],
    ledgers: &Ledgers,
    sweep: Sweep,
) -> (Desired, Vec<Diagnostic>) {
    let mut notes: Vec<Diagnostic> = Vec::new();
    let mut desired = beside_trust(setup, ledgers);
    desired.agents = agents.to_vec();
    for agent in Agent::ALL {
        let wanted = agents.contains(&agent);
        if setup.has(setup.scope) {
            let (program, warning) = setup.program(agent, setup.scope);
            notes.extend(warning.filter(|warning| {
                wanted && !notes.iter().any(|known| known.message == warning.message)
            }));
            let placement = setup.hook_placement(agent, setup.scope, &program, ledgers);
            let placement = match wanted {
                true => setup.with_stop(agent, placement),
                false => whole(placement),
            };
            // What a team shares may be a colleague's, who uses that agent.
            let is_ours =
                setup.scope == HookScope::Global || is_recorded(agent, &placement, ledgers);
            if wanted || is_ours {
                desired.hooks(agent, &placement, wanted);
            }
        }
        let other = setup.scope.other();
        if setup.has(other) {
            let (program, _) = setup.program(agent, other);
            let placement = setup.hook_placement(agent, other, &program, ledgers);
            if sweep == Sweep::Everything || is_recorded(agent, &placement, ledgers) {
                desired.hooks(agent, &whole(placement), false);
            } else if wanted && setup.asks {
                let places = agent.all_hook_places(&setup.as_there(agent, placement));
                notes.extend(
                    places.iter().find_map(|place| registered_twice(setup, agent, place, other)),
                );
            }
        }
    }
    (desired, notes)
}

/// The absence of every agent's hooks at `scope`.
pub(crate) fn none(setup: &Setup<'_>, scope: HookScope, ledgers: &Ledgers) -> Desired {
    let mut desired = beside_trust(setup, ledgers);
    if setup.has(scope) {
        for agent in Agent::ALL {
            let (program, _) = setup.program(agent, scope);
            let placement = whole(setup.hook_placement(agent, scope, &program, ledgers));
            desired.hooks(agent, &placement, false);
        }
    }
    desired
}

/// With every event that there may be hooks for: for what goes.
fn whole(placement: Placement<'_>) -> Placement<'_> {
    Placement { stop: true, ..placement }
}

/// As [`none`], of hooks that the ledger knows only.
pub(crate) fn none_recorded(setup: &Setup<'_>, scope: HookScope, ledgers: &Ledgers) -> Desired {
    let mut desired = beside_trust(setup, ledgers);
    for agent in Agent::ALL {
        for placement in setup.layouts(agent, scope, PROGRAM).into_iter().map(whole) {
            if is_recorded(agent, &placement, ledgers) {
                desired.hooks(agent, &placement, false);
            }
        }
    }
    desired
}

/// Nothing yet, beside trust in hooks, which follows them later.
fn beside_trust(setup: &Setup<'_>, ledgers: &Ledgers) -> Desired {
    Desired { kept: trust::all_records(setup, ledgers), ..Desired::default() }
}
