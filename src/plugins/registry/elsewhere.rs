//! Packages that an index names, and that are in repositories of their own.

use super::compiled::{self, Found};
use super::{PluginEntry, Registry, Unavailable, UsersGates, open_all};
use crate::Symposium;
use crate::plugins::git::GitPlace;
use crate::plugins::model::Plugin;
use crate::plugins::source::{Refresh, SourceSpec, SourceState};

impl Registry {
    /// Opens the repositories of those packages, from the one at `from` on, that the user asks for:
    /// by name, or by a word on what they are for. The others stay names.
    pub(super) fn follow(
        &mut self,
        (sym, spec): (&Symposium, &SourceSpec),
        refresh: &Refresh<'_>,
        gates: &UsersGates,
        from: usize,
    ) {
        let wanted: Vec<(usize, GitPlace)> = (from..self.plugins.len())
            .filter_map(|index| Some((index, self.wanted(sym, index)?)))
            .collect();
        let specs: Vec<SourceSpec> = wanted
            .iter()
            .map(|(index, place)| spec.of_entry(&self.plugins[*index].plugin.name, place))
            .collect();
        let opened = open_all(sym, &specs, refresh);
        for ((index, _), (state, diagnostics)) in wanted.into_iter().zip(opened) {
            self.diagnostics.extend(diagnostics);
            self.take_entry(index, (sym, refresh.remembers), state, gates);
        }
        self.followed.extend(specs);
    }

    fn wanted(&self, sym: &Symposium, index: usize) -> Option<GitPlace> {
        let PluginEntry { plugin, is_gated_by_user, shadowed_by } = self.plugins.get(index)?;
        let place = plugin.package.as_ref()?.elsewhere.as_ref()?;
        let is_asked_for = *is_gated_by_user || sym.config.plugins.is_used_somewhere(&plugin.name);
        (is_asked_for && shadowed_by.is_none()).then(|| place.clone())
    }

    /// Puts what is in the repository in the place of the name.
    fn take_entry(
        &mut self,
        index: usize,
        (sym, remembers): (&Symposium, bool),
        state: SourceState,
        gates: &UsersGates,
    ) {
        self.fingerprint.merge(state.observed.clone());
        let content = match &state.root {
            Some(root) => compiled::scan_cached((&sym.dirs, remembers), &state, root, None),
            None => compiled::last_known(&sym.dirs, &state, None),
        };
        let PluginEntry { plugin, is_gated_by_user, .. } = &mut self.plugins[index];
        // The entry is about the repository's own folder, whatever else is below it.
        let is_it = |found: Found| match found {
            Found::Plugin(found) if found.dir == found.source_root => Some(found),
            _ => None,
        };
        let found = content.plugins.into_iter().find_map(is_it);
        if state.root.is_none() || content.gap.is_some() {
            let lack = Unavailable { may_serve: true, gap: content.gap.clone() };
            self.unavailable.insert(state.name.clone(), lack);
        }
        match found {
            Some(found) => {
                let Plugin { name, version, description, .. } = plugin.clone();
                *plugin = Plugin { name, ..*found };
                plugin.version = plugin.version.take().or(version);
                plugin.description = plugin.description.take().or(description);
                *is_gated_by_user = gates.give(plugin);
            }
            None if state.root.is_some() => {
                if let Some(package) = &mut plugin.package {
                    package.not_taken.iter_mut().for_each(|found| {
                        "its repository has no package in its folder".clone_into(&mut found.why);
                    });
                }
            }
            None => {}
        }
        self.is_stale |= !content.rest.kept.is_empty();
        self.diagnostics.extend(content.rest.diagnostics);
        self.sources.push(state);
    }
}
