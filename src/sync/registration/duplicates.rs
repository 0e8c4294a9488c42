//! Hooks of ours that are registered at both scopes.

use super::setup::{Setup, is_recorded};
use super::{Ledgers, has_ours, looks_ours};
use crate::agents::Agent;
use crate::agents::command::PROGRAM;
use crate::agents::places::{HookPlace, HookShape, Placement};
use crate::config::HookScope;
use crate::documents::FileFormat;
use crate::text::Diagnostic;

/// Hooks of ours that stand somewhere besides those at the configured scope.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Duplicate {
    pub agent: Agent,
    /// Whether a ledger knows them: then a sync takes them back, unless git tracks the file.
    pub recorded: bool,
    /// Whether they are in a file that we never write.
    pub in_settings: bool,
    /// What people should know.
    pub told: Diagnostic,
}

/// Every file with hooks of ours besides those at the configured scope, of `agents`.
pub(crate) fn find(setup: &Setup<'_>, agents: &[Agent], ledgers: &Ledgers) -> Vec<Duplicate> {
    let mut found = Vec::new();
    let other = setup.scope.other();
    for agent in agents.iter().copied() {
        let placement = setup.placement(agent, other, PROGRAM);
        let mut layouts = setup.layouts(agent, other, PROGRAM).into_iter();
        let recorded = layouts.any(|layout| is_recorded(agent, &layout, ledgers));
        let places = agent.all_hook_places(&setup.as_there(agent, placement));
        let told = places.iter().filter_map(|place| registered_twice(setup, agent, place, other));
        found.extend(told.map(|told| Duplicate { agent, recorded, in_settings: false, told }));
        let told = in_settings(setup, agent, &placement).into_iter();
        found.extend(told.map(|told| Duplicate {
            agent,
            recorded: false,
            in_settings: true,
            told,
        }));
    }
    found
}

/// Hooks of ours in files that we never write: somebody put them there.
fn in_settings(setup: &Setup<'_>, agent: Agent, placement: &Placement<'_>) -> Vec<Diagnostic> {
    let global = Placement { scope: HookScope::Global, ..*placement };
    let shapes = agent.registration().hooks(&global);
    let files = agent.registration().settings(placement).into_iter().filter(|file| file.has_hooks);
    files
        .filter_map(|file| {
            let shape = shapes.first()?.shape.clone();
            let place = HookPlace { path: file.path, shape };
            let found = registered_twice(setup, agent, &place, HookScope::Project)?;
            Some(Diagnostic { notes: Vec::new(), ..found }.note("take them out there"))
        })
        .collect()
}

/// What people should know where hooks of ours stand at the scope that is not theirs, and the ledger
/// does not know them: somebody committed them, or another Symposium wrote them.
pub(super) fn registered_twice(
    setup: &Setup<'_>,
    agent: Agent,
    place: &HookPlace,
    scope: HookScope,
) -> Option<Diagnostic> {
    let ours = match &place.shape {
        HookShape::Own { text: known } => {
            let text = setup.read(&place.path).ok()??;
            looks_ours(agent, &place.path, &text, known)
        }
        HookShape::Shared { rules, entries } => {
            let document = setup.document(&place.path, FileFormat::Json(*rules))?;
            entries.iter().any(|entry| {
                let array = document.get(&entry.array).ok().flatten();
                has_ours(agent.name(), array.as_ref())
            })
        }
    };
    let (here, keep) = match scope {
        HookScope::Project => ("the project's file", "project"),
        HookScope::Global => ("your own file", "global"),
    };
    let title = agent.title();
    ours.then(|| {
        Diagnostic::warning(format!("hooks for {title} are registered twice: {here} has them, too"))
            .in_file(&place.path)
            .note(format!("take them out there, or keep those with `--hook-scope {keep}`"))
            .note("`cargo agents init --hook-scope …` registers them at one scope only")
    })
}
