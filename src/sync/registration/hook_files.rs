//! Agents' files that may carry our hooks, as they are now.

use std::path::{Path, PathBuf};

use serde_json::Value;
use symposium_hook::Event;

use super::ownership::our_event;
use super::setup::{Setup, tells_of_stop};
use crate::agents::Agent;
use crate::agents::command::PROGRAM;
use crate::agents::places::{HookPlace, HookShape, Placement, TrustedHook};
use crate::config::HookScope;
use crate::documents::{Document, FileFormat};
use crate::report::{Action, Change, Kind};

/// One such file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookFile {
    pub agent: Agent,
    pub scope: HookScope,
    pub path: PathBuf,
    pub ours: Vec<OurHook>,
    /// How many of ours belong into it.
    pub complete: usize,
    /// How many handlers of others are in it.
    pub others: usize,
}

/// One of our hooks in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OurHook {
    pub event: Event,
    /// The group as it stands in the file; nothing in a file that is ours alone.
    pub group: Value,
    /// The group's place in the event's array.
    pub group_index: usize,
    /// The handler's place in the group.
    pub handler_index: usize,
}

impl HookFile {
    /// Our hooks with their positions.
    pub(crate) fn placed(&self) -> Vec<TrustedHook<'_>> {
        self.ours
            .iter()
            .map(|hook| TrustedHook {
                event: hook.event,
                group: &hook.group,
                group_index: hook.group_index,
                handler_index: hook.handler_index,
            })
            .collect()
    }
}

/// The files of `agent` at the placement's scope. A file that can't be read holds nothing of ours.
pub(crate) fn look(setup: &Setup<'_>, agent: Agent, placement: &Placement<'_>) -> Vec<HookFile> {
    let places = agent.registration().hooks(placement);
    places.iter().map(|place| read(setup, agent, placement.scope, place)).collect()
}

fn read(setup: &Setup<'_>, agent: Agent, scope: HookScope, place: &HookPlace) -> HookFile {
    let path = place.path.clone();
    let events = agent.identity().events;
    let complete = match &place.shape {
        HookShape::Own { .. } => events.len(),
        HookShape::Shared { entries, .. } => entries.len(),
    };
    let mut file = HookFile { agent, scope, path, ours: Vec::new(), complete, others: 0 };
    match &place.shape {
        HookShape::Own { .. } => {
            let Ok(Some(text)) = setup.read(&place.path) else { return file };
            let whole =
                |&event| OurHook { event, group: Value::Null, group_index: 0, handler_index: 0 };
            // An agent may want more files than the one with the hooks in it.
            if text.contains(PROGRAM) {
                let stop = tells_of_stop(agent, &text).then_some(Event::Stop);
                file.ours = events.iter().chain(&stop).map(whole).collect();
            }
        }
        HookShape::Shared { rules, entries } => {
            let tables = entries.first().and_then(|entry| entry.array.split_last());
            if let Some((_, table)) = tables
                && let Some(document) = setup.document(&place.path, FileFormat::Json(*rules))
            {
                file.read_shared(&document, table);
            }
        }
    }
    file
}

impl HookFile {
    fn read_shared(&mut self, document: &Document, table: &[String]) {
        let Ok(Some(Value::Object(events))) = document.get(table) else { return };
        for groups in events.values().filter_map(Value::as_array) {
            for (group_index, group) in groups.iter().enumerate() {
                let handlers = group.get("hooks").and_then(Value::as_array);
                for (handler_index, handler) in handlers.into_iter().flatten().enumerate() {
                    match our_event(self.agent.name(), handler) {
                        Some(event) => {
                            let group = group.clone();
                            self.ours.push(OurHook { event, group, group_index, handler_index });
                        }
                        None => self.others += 1,
                    }
                }
            }
        }
    }
}

/// Where our hooks were before something was done, to tell people afterwards what happened where.
#[derive(Debug)]
pub(crate) struct HookFiles {
    files: Vec<HookFile>,
}

impl HookFiles {
    /// Looks at every file of every agent.
    pub(crate) fn of(setup: &Setup<'_>) -> Self {
        let mut files: Vec<HookFile> = Vec::new();
        setup.each_placement(&mut |agent, placement| {
            for file in look(setup, agent, placement) {
                if !files.iter().any(|known| known.path == file.path) {
                    files.push(file);
                }
            }
        });
        Self { files }
    }

    fn describe(
        &self,
        setup: &Setup<'_>,
        (wanted, scope): (&[Agent], HookScope),
        changes: &mut Vec<Change>,
    ) {
        let now = Self::of(setup).files;
        let count = |files: &[HookFile], path: &Path| {
            files.iter().find(|file| file.path == path).map_or(0, |file| file.ours.len())
        };
        let stays = |file: &HookFile| wanted.contains(&file.agent) && file.scope == scope;
        let mut leaving: Vec<&HookFile> =
            self.files.iter().filter(|file| !file.ours.is_empty() && !stays(file)).collect();
        for change in changes.iter_mut() {
            if change.kind != Kind::Hooks || change.reason.is_some() {
                continue;
            }
            let file = match change.action {
                Action::Unregister => {
                    let gone = |file: &&HookFile| {
                        change.is_of(file.agent.name())
                            && (change.planned || count(&now, &file.path) == 0)
                    };
                    leaving.iter().position(gone).map(|index| leaving.remove(index))
                }
                _ => {
                    // Of an agent with several layouts, the file that is written is the one that is
                    // there afterwards.
                    let mut files =
                        now.iter().filter(|file| change.is_of(file.agent.name()) && stays(file));
                    let first = files.clone().next();
                    files.find(|file| !file.ours.is_empty()).or(first)
                }
            };
            if let Some(file) = file {
                let had = count(&self.files, &file.path);
                let what = in_words(change, file, had);
                change.reason = Some(format!("{} ({what})", setup.shown(&file.path)));
            }
        }
        keep_telling(changes);
    }
}

/// Adds to each change of hooks which file it was about, and what of it. `wanted` are the agents
/// whose hooks stay, in `scope`; `before` tells where our hooks were before something was done.
pub(crate) fn describe(
    before: impl FnOnce() -> HookFiles,
    setup: &Setup<'_>,
    wanted: (&[Agent], HookScope),
    changes: &mut Vec<Change>,
) {
    if changes.iter().any(|change| change.kind == Kind::Hooks && change.reason.is_none()) {
        before().describe(setup, wanted, changes);
    }
}

/// Of an agent with several files of ours, one line is enough.
fn keep_telling(changes: &mut Vec<Change>) {
    let mut told: Vec<Change> = Vec::new();
    for change in changes.drain(..) {
        let is_hooks = change.kind == Kind::Hooks;
        let same = |known: &Change| {
            known.kind == change.kind
                && known.action == change.action
                && known.places == change.places
                && (known.reason == change.reason || change.reason.is_none())
        };
        if !is_hooks || !told.iter().any(same) {
            told.push(change);
        }
    }
    *changes = told;
}

/// `4 hooks added beside yours`.
fn in_words(change: &Change, file: &HookFile, had: usize) -> String {
    let hooks = |number: usize| format!("{number} hook{}", if number == 1 { "" } else { "s" });
    if change.action == Action::Unregister {
        return format!("{} taken out", hooks(had));
    }
    let number = if change.planned { file.complete } else { file.ours.len() };
    let verb = match (change.planned, had) {
        (true, _) => "",
        (false, 0) => " added",
        (false, _) => " brought up to date",
    };
    let beside = if file.others > 0 { " beside yours" } else { "" };
    format!("{}{verb}{beside}", hooks(number))
}
