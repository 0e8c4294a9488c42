//! Every plugin and standalone skill that the sources in force offer, before anything is matched.

mod compiled;
mod elsewhere;
mod kept;
mod last_good;
mod others;
mod package_scan;
mod scan;
mod users_gates;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use self::compiled::{Depends, Found};
use self::last_good::LastGood;
use super::model::{Gate, Plugin};
use super::source::{self, Refresh, SourceKind, SourceSpec, SourceState};
use crate::Symposium;
use crate::config::{Dirs, PluginChoices};
use crate::text::Diagnostic;
use crate::workspace::Fingerprint;

pub(crate) use others::{Briefly, counted};
pub(crate) use scan::{StandaloneSkill, scan};
pub(crate) use users_gates::UsersGates;

/// What the sources offer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry {
    /// The sources in force, in the order in which they are searched.
    pub sources: Vec<SourceState>,
    /// Their plugins: by source, then by path.
    pub plugins: Vec<PluginEntry>,
    /// Their standalone skills: by source, then by path.
    pub skills: Vec<StandaloneSkill>,
    /// What was wrong with sources, folders and manifests. Not yet told.
    pub diagnostics: Vec<Diagnostic>,
    /// Files and folders whose change can change any of this, as they were before they were read:
    /// the folders, manifests and `SKILL.md` files of path sources, also where they are missing, and
    /// one stamp for each git source. What a plugin of a path source points at (its skills' folders)
    /// is for those to observe who follow it.
    pub fingerprint: Fingerprint,
    /// The sources that can't be had, or not whole: what they offer is not known, not gone.
    pub unavailable: BTreeMap<String, Unavailable>,
    /// Whether a manifest, or where a source is, can't be read and counts as it was.
    pub is_stale: bool,
    /// The repositories of packages that an index in a source names, as far as the user asks for them.
    pub followed: Vec<SourceSpec>,
    /// What the user says of things in a source, by the source's name.
    gates: BTreeMap<String, UsersGates>,
}

/// What is not known of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unavailable {
    /// Whether servers that are registered may be its.
    pub may_serve: bool,
    /// What of it can't be read; `None`: nothing can.
    pub gap: Option<PathBuf>,
}

/// A plugin, and whether it is in force.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PluginEntry {
    pub plugin: Plugin,
    /// Whether its gate is the user's, who may also ask for it by name.
    is_gated_by_user: bool,
    /// The plugin of the same name that comes first.
    pub shadowed_by: Option<Shadow>,
}

/// The plugin that comes before another of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shadow {
    pub source: String,
    pub manifest: PathBuf,
}

impl std::fmt::Display for Shadow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the source `{}` has a plugin of this name, and comes first", self.source)
    }
}

impl Registry {
    /// Opens and scans every source in force. Never fails: what is broken is in the diagnostics,
    /// and the rest is there.
    pub(crate) fn load(sym: &Symposium, refresh: &Refresh<'_>) -> Self {
        Self::read(sym, refresh, None)
    }

    /// As [`Registry::load`], for a workspace: `depends` tells which crates it depends on, and what the
    /// user asks for by name. Plugins of other crates, of which there may be thousands, are left out
    /// where that changes nothing but what is explained.
    pub(crate) fn load_for(
        sym: &Symposium,
        refresh: &Refresh<'_>,
        depends: &dyn Fn(&str) -> bool,
    ) -> Self {
        Self::read(sym, refresh, Some(depends))
    }

    /// What the user says of a skill by itself, which says nothing.
    pub(crate) fn gate_of_skill(&self, source: &str, name: &str) -> Option<&Gate> {
        self.gates.get(source)?.of(name)
    }

    /// Lets those plugins apply that wait for the user to ask for them by name, and that the user asks
    /// for in the workspace at `root` or in all. Of two words of the user's the one that names it counts.
    pub(crate) fn wake(&mut self, choices: &PluginChoices, root: Option<&Path>) {
        for entry in &mut self.plugins {
            let PluginEntry { plugin: Plugin { name, gate, .. }, is_gated_by_user, .. } = entry;
            let waits = gate.is_dormant() || gate.waits().is_some() || *is_gated_by_user;
            if waits && choices.is_used(name, root) {
                let own = if *is_gated_by_user { Gate::default() } else { gate.clone() };
                *gate = own.woken();
            }
        }
    }

    /// Forgets what sources last said that are no longer in the configuration.
    pub(crate) fn forget_others(&self, dirs: &Dirs) {
        last_good::forget_others(dirs, &self.sources);
    }

    fn read(sym: &Symposium, refresh: &Refresh<'_>, depends: Depends<'_>) -> Self {
        let specs = source::effective(sym);
        let mut registry = Self::default();
        if let Some(only) = refresh.only
            && !specs.iter().any(|spec| spec.name == only)
        {
            registry.diagnostics.push(no_such_source(only, &specs));
        }
        let mut first = HashMap::new();
        for (spec, (state, diagnostics)) in specs.iter().zip(open_all(sym, &specs, refresh)) {
            registry.diagnostics.extend(diagnostics);
            let gates = UsersGates::read(sym, spec, &mut registry.diagnostics);
            // What waits for the user may be for any crate that the configuration names.
            let depends = depends.filter(|_| gates.is_empty());
            let before = (registry.plugins.len(), registry.skills.len());
            registry.add((&sym.dirs, refresh.remembers), state, (depends, &mut first), &gates);
            registry.follow((sym, spec), refresh, &gates, before.0);
            if !gates.is_empty() {
                registry.keep_gates((sym, spec), gates, before);
            }
        }
        Diagnostic::each_once(&mut registry.diagnostics);
        registry
    }

    /// `first` has the plugins that came first of their names.
    fn add(
        &mut self,
        (dirs, remembers): (&Dirs, bool),
        state: SourceState,
        (depends, first): (Depends<'_>, &mut HashMap<String, Shadow>),
        gates: &UsersGates,
    ) {
        self.fingerprint.merge(state.observed.clone());
        let content = match &state.root {
            Some(root) => compiled::scan_cached((dirs, remembers), &state, root, depends),
            None => compiled::last_known(dirs, &state, depends),
        };
        // The others never change in place.
        self.fingerprint.merge(content.fingerprint.unwrap_or_default());
        let is_away =
            state.root.is_none() && (state.notice.is_some() || !content.plugins.is_empty());
        for found in content.plugins {
            let (name, manifest) = match &found {
                Found::Plugin(plugin) => (&plugin.name, &plugin.manifest),
                Found::PassedOver { name, manifest } => (name, manifest),
            };
            let shadowed_by = first.get(name).cloned();
            if shadowed_by.is_none() {
                let (source, manifest) = (state.name.clone(), manifest.clone());
                first.insert(name.clone(), Shadow { source, manifest });
            }
            if let Found::Plugin(mut plugin) = found {
                let is_gated_by_user = gates.give(&mut plugin);
                self.plugins.push(PluginEntry { plugin: *plugin, is_gated_by_user, shadowed_by });
            }
        }
        self.is_stale |= !content.rest.kept.is_empty() || state.is_nowhere();
        if is_away || content.gap.is_some() {
            // A repository that was never fetched brought none, one that was stays in the cache.
            let may_serve = state.kind == SourceKind::Path || state.is_nowhere();
            let lack = Unavailable { may_serve, gap: content.gap };
            self.unavailable.insert(state.name.clone(), lack);
        }
        self.skills.extend(content.rest.skills);
        self.diagnostics.extend(content.rest.diagnostics);
        self.sources.push(state);
    }

    /// Remembers what the user says of a source's content, which is what came after `before`.
    fn keep_gates(
        &mut self,
        (sym, spec): (&Symposium, &SourceSpec),
        gates: UsersGates,
        before: (usize, usize),
    ) {
        let plugins: Vec<(&str, bool)> = self.plugins[before.0..]
            .iter()
            .map(|entry| (entry.plugin.name.as_str(), entry.is_gated_by_user))
            .collect();
        let skills = self.skills[before.1..].iter().filter_map(StandaloneSkill::folder_name);
        let skills: Vec<String> = skills.map(str::to_owned).collect();
        // Of a source that is away nothing can be told.
        if !self.unavailable.contains_key(&spec.name) {
            gates.check((sym, spec), &plugins, &skills, &mut self.diagnostics);
        }
        self.gates.insert(spec.name.clone(), gates);
    }

    /// The plugin of `source` whose manifest is at `path`, read anew: that one alone. While it can't
    /// be read it is what it last was. While the configuration can't be read, and so not where the source
    /// is, nothing outside of the plugin's own folder is its.
    pub(crate) fn reread(sym: &Symposium, source: &str, path: &Path) -> Option<Plugin> {
        let Some(spec) = source::effective(sym).into_iter().find(|spec| spec.name == source) else {
            let dir = path.parent().filter(|_| !sym.config_state.is_clear())?;
            return scan::scan_one((source, dir), path).plugins.pop();
        };
        let (state, _) = source::open(sym, &spec, &Refresh::cached());
        let last_good = LastGood::load(&sym.dirs, &state);
        let Some(root) = state.root else {
            let root = last_good.root().to_path_buf();
            return last_good.only(&root, path).plugins(source).pop();
        };
        if !path.starts_with(&root) || path.symlink_metadata().is_err() {
            return None;
        }
        let last_good = last_good.only(&root, path);
        let mut found = scan::scan_one((source, &root), path);
        last_good.restore(source, &root, &mut found);
        found.plugins.pop()
    }

    /// The plugins in force: those that no other comes before.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.iter().filter(|entry| entry.shadowed_by.is_none()).map(|entry| &entry.plugin)
    }

    pub(crate) fn plugin(&self, name: &str) -> Option<&Plugin> {
        self.active().find(|plugin| plugin.name == name)
    }
}

/// Opens sources, in order: each as found, with what was wrong with it. Those that may use the network
/// are opened at the same time, so that one that stalls does not add to the others' wait.
pub(crate) fn open_all(
    sym: &Symposium,
    specs: &[SourceSpec],
    refresh: &Refresh<'_>,
) -> Vec<(SourceState, Vec<Diagnostic>)> {
    std::thread::scope(|scope| {
        let mut opened = Vec::new();
        for spec in specs {
            let is_slow = spec.kind() == SourceKind::Git && !refresh.policy.offline;
            opened.push(if is_slow {
                Err(scope.spawn(move || source::open(sym, spec, refresh)))
            } else {
                Ok(source::open(sym, spec, refresh))
            });
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        opened.into_iter().map(|found| found.unwrap_or_else(join)).collect()
    })
}

fn no_such_source(name: &str, specs: &[SourceSpec]) -> Diagnostic {
    let names: Vec<_> = specs.iter().map(|spec| format!("`{}`", spec.name)).collect();
    Diagnostic::error(format!("there is no plugin source `{name}`"))
        .note(format!("sources in force: {}", names.join(", ")))
}

#[cfg(test)]
mod tests;
