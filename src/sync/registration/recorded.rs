//! What only the ledger knows, and what is kept.

use std::path::{Path, PathBuf};

use super::desired::{Desired, DesiredEntry, OwnWork, Slot};
use super::ledgers::LedgerKind;
use super::registrar::Registrar;
use crate::agents::Agent;
use crate::agents::places::{FileFormat, Placement};
use crate::config::HookScope;
use crate::documents::{Entry, Ledger};

impl Registrar<'_> {
    /// Adds files in which only the ledger knows something of ours. Those of agents that still have
    /// registrations are left, where other variables (such as `CODEX_HOME`) than today's led there:
    /// another terminal may have them.
    pub(super) fn add_recorded(&self, desired: &mut Desired) {
        if desired.is_partial {
            return;
        }
        for which in LedgerKind::ALL {
            let Some(ledger) = self.ledgers.of(which) else { continue };
            for record in ledger.records() {
                let Some(agent) = Agent::from_name(&record.agent) else { continue };
                let is_hooks =
                    matches!(record.entry, Entry::Element { .. } | Entry::OwnFile { .. });
                if is_hooks && which == LedgerKind::Home && desired.leave_home_hooks {
                    continue;
                }
                let path = record.path.as_path();
                let known = desired.files.contains_key(path)
                    || desired.own.iter().any(|work| work.path == path);
                if known && matches!(record.entry, Entry::OwnFile { .. }) {
                    continue;
                }
                if !known && desired.agents.contains(&agent) && !self.is_todays_place(agent, path) {
                    continue;
                }
                add_record(desired, which, agent, path, &record.entry);
            }
        }
    }

    /// Whether the agent would have something in the folder of `path`, at one scope or the other.
    /// In the project nothing depends on variables.
    fn is_todays_place(&self, agent: Agent, path: &Path) -> bool {
        if self.is_inside(path) {
            return true;
        }
        let Some(home) = self.sym.env.home() else { return true };
        let mut folders = Vec::new();
        for scope in [HookScope::Global, HookScope::Project] {
            let placement = Placement {
                home: &home,
                env: &self.sym.env,
                root: self.root.as_deref(),
                git_root: None,
                main_checkout: None,
                scope,
                program: "",
                windows: cfg!(windows),
                version: None,
                stop: false,
            };
            folders.extend(parents(
                agent.all_hook_places(&placement).into_iter().map(|place| place.path),
            ));
            let servers = agent.server_files(&placement).into_iter();
            folders.extend(parents(servers.map(|(path, _)| path)));
        }
        path.parent().is_some_and(|parent| folders.iter().any(|folder| folder == parent))
    }

    /// Keeps the servers that are registered already and whose names are `wanted`. Those of agents that
    /// are configured no more are not kept.
    pub(crate) fn keep_servers(&self, desired: &mut Desired, wanted: impl Fn(&str) -> bool) {
        for which in LedgerKind::ALL {
            let records = self.ledgers.of(which).into_iter().flat_map(Ledger::records);
            for record in records {
                if let Entry::Member { key, .. } = &record.entry
                    && wanted(key)
                    && self.sym.config.agents.contains(&record.agent)
                {
                    desired.kept.push((which, record.clone()));
                }
            }
        }
    }
}

fn parents(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.filter_map(|path| path.parent().map(Path::to_path_buf)).collect()
}

fn add_record(desired: &mut Desired, which: LedgerKind, agent: Agent, path: &Path, entry: &Entry) {
    match entry {
        Entry::Member { .. } => {
            if let Some(format) = FileFormat::of_path(path) {
                desired.file(path, format);
            }
        }
        Entry::Element { array, .. } => {
            let Some(format) = FileFormat::of_path(path) else { return };
            let file = desired.file(path, format);
            let same = |entry: &DesiredEntry| {
                matches!(entry, DesiredEntry::Hooks { agent: known, slots, .. }
                if *known == agent && slots.iter().any(|slot| slot.array == *array))
            };
            if !file.entries.iter().any(|(_, entry)| same(entry)) {
                let slots = vec![Slot { array: array.clone(), group: None }];
                file.entries.push((which, DesiredEntry::Hooks { agent, slots, wanted: false }));
            }
        }
        Entry::OwnFile { .. } => {
            let path = path.to_path_buf();
            desired.own.push(OwnWork { agent, path, text: None, known: Vec::new(), which });
        }
        Entry::Folder | Entry::ExcludeLine { .. } | Entry::SkillFolder { .. } => {}
    }
}
