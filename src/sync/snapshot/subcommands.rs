//! What subcommands plugins vend, as seen from a folder.
//!
//! The workspace's snapshot says so while it holds, and while the configuration can't be read: what it
//! last gave stays. Else the sources are looked through as they are on disk. Nothing is started or written,
//! and nothing is fetched that the user did not ask for, so that even the help can ask here.

use std::path::{Path, PathBuf};

use super::{SnapshotSubcommand, Stored};
use crate::Symposium;
use crate::config::ConfigState;
use crate::plugins::model::{Audience, Plugin, Subcommand};
use crate::plugins::predicate::{Facts, evaluate_all};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::plugins::trust::Trust;
use crate::plugins::trust::part::PartKind;
use crate::report::Reporter;
use crate::skills::crate_source::{CrateDisk, Newest};
use crate::symposium::UpdateLevel;
use crate::text::Diagnostic;
use crate::workspace::{Loaded, UNOBSERVED, Workspace, locate};

/// A subcommand of some plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vended {
    pub name: String,
    pub plugin: String,
    pub source: String,
    /// One line.
    pub description: String,
    /// Whom it is for.
    pub audience: Audience,
    /// Its plugin's manifest, where it applies here.
    pub manifest: Option<PathBuf>,
    /// Why it does not apply here.
    pub needs: Option<String>,
}

/// What there is.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The workspace's root; `None` outside of one.
    pub root: Option<PathBuf>,
    /// All subcommands, those that do not apply here included.
    pub vended: Vec<Vended>,
    /// Sources that are not on disk, and so may have more: their names.
    pub absent: Vec<String>,
    /// Why the workspace can't be read, where there is one that can't.
    pub trouble: Option<Diagnostic>,
    /// Why less may be known than there is in the sources.
    pub diagnostics: Vec<Diagnostic>,
}

impl Listing {
    /// What can be run here.
    pub(crate) fn applicable(&self) -> impl Iterator<Item = &Vended> {
        self.vended.iter().filter(|vended| vended.needs.is_none())
    }
}

/// The subcommands as seen from the context's folder. With `--update check` or `fetch` the sources
/// are refreshed first. Never fails: trouble is in the diagnostics.
pub(crate) fn listing(sym: &Symposium) -> Listing {
    let asked = matches!(sym.options.update, Some(UpdateLevel::Check | UpdateLevel::Fetch));
    let mut listing = Listing::default();
    let workspace = sym.env.cwd().and_then(|cwd| {
        if !asked && let Some(stored) = snapshot(sym, cwd) {
            let root = stored.header.root.clone();
            listing.vended = stored.offer().subcommands.into_iter().map(from_snapshot).collect();
            listing.root = Some(root);
            return None;
        }
        match Workspace::load(cwd, &sym.env) {
            Ok(loaded) => loaded,
            Err(problem) => {
                listing.trouble = Some(problem);
                None
            }
        }
    });
    if listing.root.is_none() {
        let refresh = if asked { Refresh::for_command(sym) } else { Refresh::cached() };
        look(sym, workspace.as_ref(), &refresh.without_a_trace(), &mut listing);
    }
    listing
}

fn snapshot(sym: &Symposium, cwd: &Path) -> Option<Stored> {
    let root = locate(cwd, &sym.env).ok().flatten()?;
    let serves = |stored: &Stored| !sym.config_state.is_clear() || stored.holds(&sym.env);
    Stored::of(&sym.dirs, &root).filter(serves)
}

fn from_snapshot(known: SnapshotSubcommand) -> Vended {
    Vended {
        name: known.name,
        plugin: known.plugin,
        source: known.source,
        description: known.description,
        audience: known.audience,
        manifest: known.run.map(|run| run.manifest),
        needs: known.needs,
    }
}

/// Goes through the sources.
fn look(sym: &Symposium, loaded: Option<&Loaded>, refresh: &Refresh<'_>, listing: &mut Listing) {
    let Ok(mut quiet) = sym.telling(Reporter::silent(), sym.options) else { return };
    let root = loaded.map(|loaded| loaded.workspace.root.as_path());
    root.into_iter().for_each(|root| quiet.enter(root));
    // It vends nothing, and would be put on disk.
    quiet.config.defaults.builtin = false;
    let mut registry = Registry::load(&quiet, refresh);
    registry.wake(&quiet.config.plugins, root);
    let away = registry.sources.iter().filter(|it| it.root.is_none() && it.notice.is_some());
    // One that needs no configuration may be switched off in one that can't be read.
    let away = away.filter(|_| sym.config_state != ConfigState::Broken);
    listing.absent = away.map(|state| state.name.clone()).collect();
    listing.diagnostics.extend(registry.diagnostics.iter().cloned());
    let workspace = loaded.map(|loaded| &loaded.workspace);
    listing.root = workspace.map(|workspace| workspace.root.clone());
    let disk = workspace.map(|workspace| CrateDisk::new(workspace, &sym.env, &sym.dirs));
    let facts = Facts {
        dependencies: workspace.map_or(&[], |workspace| &workspace.dependencies),
        newest: &disk.as_ref().map(|disk| Newest(disk)),
        members: workspace.map_or(&[], |workspace| &workspace.members),
        root: listing.root.as_deref(),
        env: &sym.env,
        observer: &UNOBSERVED,
    };
    let (choices, root) = (&quiet.config.plugins, listing.root.clone());
    let trust = Trust::of(&quiet, &UNOBSERVED);
    let wanted = |plugin: &&Plugin| !choices.is_disabled(&plugin.name, root.as_deref());
    for plugin in registry.active().filter(wanted) {
        for subcommand in &plugin.subcommands {
            let evaluation = evaluate_all(&[&plugin.gate, &subcommand.gate], &facts);
            let needs = if evaluation.holds {
                trust
                    .waits(plugin, PartKind::Subcommand, &subcommand.name)
                    .map(|why| why.told(&plugin.name))
            } else if listing.trouble.is_some() {
                Some("the workspace can't be read".to_owned())
            } else {
                Some(evaluation.reason)
            };
            listing.vended.push(Vended {
                name: subcommand.name.clone(),
                plugin: plugin.name.clone(),
                source: plugin.source.clone(),
                description: subcommand.description.clone(),
                audience: subcommand.audience,
                manifest: needs.is_none().then(|| plugin.manifest.clone()),
                needs,
            });
        }
    }
}

/// The plugin and its subcommand, read anew from the manifest: that of one plugin only.
///
/// # Errors
/// When it does not apply here, the manifest went away since, or the user did not allow it as it is.
pub(crate) fn load(sym: &Symposium, vended: &Vended) -> Result<(Plugin, Subcommand), Diagnostic> {
    let gone = |manifest: &Path| {
        Diagnostic::error(format!("`{}` of plugin `{}` is gone", vended.name, vended.plugin))
            .in_file(manifest)
            .note("`cargo agents sync` looks through all plugins again")
    };
    let manifest = vended.manifest.as_deref().ok_or_else(|| gone(Path::new(&vended.source)))?;
    let plugin = Registry::reread(sym, &vended.source, manifest).ok_or_else(|| gone(manifest))?;
    let found = plugin.subcommands.iter().find(|known| known.name == vended.name).cloned();
    let subcommand = found.ok_or_else(|| gone(manifest))?;
    // It may have changed since it was listed.
    let trust = Trust::of(sym, &UNOBSERVED);
    if let Some(why) = trust.waits(&plugin, PartKind::Subcommand, &subcommand.name) {
        let (name, plugin) = (&subcommand.name, &plugin.name);
        return Err(Diagnostic::error(format!("`{name}` of plugin `{plugin}` does not run"))
            .note(why.told(plugin)));
    }
    Ok((plugin, subcommand))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::manifest::Strictness;
    use crate::plugins::registry::scan;
    use crate::plugins::{builtin, source};

    #[test]
    fn the_plugin_inside_the_program_vends_nothing_so_it_can_be_left_out() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = builtin::materialise(dir.path()).expect("writes");
        let found = scan(source::BUILTIN, &root, Strictness::Validate, &UNOBSERVED);
        assert!(!found.plugins.is_empty());
        assert!(found.plugins.iter().all(|plugin| plugin.subcommands.is_empty()));
    }
}
