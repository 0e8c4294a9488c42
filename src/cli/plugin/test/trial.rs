//! A home of our own and a workspace, in which a plugin is in force without being installed: the
//! user's home, and the agents' files in it, are not touched.

use std::path::{Path, PathBuf};

use symposium_hook::Event;
use tempfile::TempDir;

use super::programs;
use super::subject::{Kind, Subject};
use super::workspace::{self, Made, Wanted, quoted};
use crate::Symposium;
use crate::agents::wire::Answer;
use crate::hook::{self, Seen};
use crate::plugins::model::{Plugin, Predicate};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::skills::crate_source::package_id;
use crate::symposium::Options;
use crate::sync::{Caller, Mode, Request, sync};
use crate::text::Diagnostic;

/// What the source is called in which the plugin is found.
const SOURCE: &str = "tried-out";

pub(super) struct Trial {
    _scratch: TempDir,
    /// The context in which the plugin is in force.
    pub(super) sym: Symposium,
    pub(super) root: PathBuf,
    /// The made-up workspace; `None` for one that was named.
    pub(super) made: Option<Made>,
    /// The plugin's manifest; `None` for a skill by itself.
    manifest: Option<PathBuf>,
}

impl Trial {
    /// # Errors
    /// The plugin or the workspace can't be read, or there is no room for a scratch folder.
    pub(super) fn new(sym: &Symposium, subject: &Subject, wanted: &Wanted) -> anyhow::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("symposium-test-").tempdir()?;
        let dir = crate::files::canonicalize(scratch.path())?;
        let (source, manifest) = match &subject.kind {
            Kind::Plugin(manifest) => (subject.source.clone(), Some(manifest.clone())),
            Kind::Skill => (subject.source.clone(), None),
            Kind::Crate => {
                let source = dir.join("plugin");
                let manifest = stand_in(subject, &source)?;
                (source, Some(manifest))
            }
        };
        let home = dir.join("home");
        std::fs::create_dir_all(&home)?;
        let write = |choices: &str| {
            std::fs::write(home.join("config.toml"), configuration(&source, choices))
        };
        write("")?;
        let first = surroundings(sym, &home, &dir)?;
        let registry = Registry::load(&first, &Refresh::cached());
        let plugin = match &manifest {
            Some(manifest) => Some(find(&registry, manifest)?),
            None => None,
        };
        write(&choices(&registry, plugin))?;
        let made = match wanted {
            Wanted::Folder(_) => None,
            Wanted::Crates(_) | Wanted::ByGates => {
                Some(workspace::make(&first, &dir, subject, (plugin, wanted))?)
            }
        };
        let start = match wanted {
            Wanted::Folder(folder) => crate::files::canonicalize(folder)
                .map_err(|error| Diagnostic::error(error.to_string()).in_file(folder))?,
            _ => dir.join(workspace::FOLDER),
        };
        let sym = surroundings(sym, &home, &start)?;
        let request =
            Request { start, mode: Mode::Look, caller: Caller::Hook, ..Request::default() };
        // The same look as an event takes; made here, it may take its time.
        let looked = sync(&sym, &request)?;
        let root = looked.root.clone();
        if let (Some(plugin), Some(stored)) = (plugin, &looked.stored) {
            programs::put_in(&sym, (plugin, subject), stored)?;
        }
        Ok(Self { _scratch: scratch, sym, root, made, manifest })
    }

    /// The plugin in `registry`; `None` for a skill by itself.
    pub(super) fn plugin_in<'r>(&self, registry: &'r Registry) -> Option<&'r Plugin> {
        find(registry, self.manifest.as_ref()?).ok()
    }

    /// The answer to an event, on the road that `hook` takes, and what was seen on it.
    pub(super) fn feed(&self, agent: &str, event: Event, bytes: &[u8]) -> (Answer, Seen) {
        hook::rehearse(agent, event, bytes, (&self.sym.env, &self.sym.dirs))
    }
}

/// A plugin that does nothing but vouch for the crate.
fn stand_in(subject: &Subject, source: &Path) -> anyhow::Result<PathBuf> {
    let package = package_id(&subject.dir).ok_or_else(|| {
        Diagnostic::error("its `[package]` can't be read").in_file(subject.dir.join("Cargo.toml"))
    })?;
    std::fs::create_dir_all(source)?;
    let manifest = source.join(crate::plugins::manifest::FILE_NAME);
    let name = quoted(&package.name);
    let text = format!("name = {name}\ncrates = [{name}]\n\n[[skills]]\nsource = \"crate\"\n");
    std::fs::write(&manifest, text)?;
    Ok(manifest)
}

/// A configuration that has the plugin and nothing else. Events change nothing, and hear of nothing
/// but what the plugin brings.
fn configuration(source: &Path, choices: &str) -> String {
    let path = quoted(&source.to_string_lossy());
    format!(
        "auto-sync = false\nauto-update = \"off\"\nagents-syncing = false\n\n[defaults]\n\
         symposium-recommendations = false\nuser-plugins = false\nbuiltin = false\n\
         dependencies = false\n\n[logging]\nlevel = \"debug\"\n\n{choices}\
         [[plugin-source]]\nname = \"{SOURCE}\"\npath = {path}\n"
    )
}

/// Takes a plugin that waits to be asked for, and leaves out the others of its source.
fn choices(registry: &Registry, plugin: Option<&Plugin>) -> String {
    let Some(plugin) = plugin else { return String::new() };
    let others = registry.plugins.iter().map(|entry| &entry.plugin);
    let others = others.filter(|other| other.manifest != plugin.manifest);
    let skills = registry.skills.iter().filter_map(|skill| skill.folder_name());
    let others = others.map(|other| other.name.as_str()).chain(skills);
    let others = others.filter(|name| *name != plugin.name);
    let disable: Vec<String> = others.map(quoted).collect();
    let waits = |predicate: &Predicate| matches!(predicate, Predicate::Waits { .. });
    let used = match plugin.gate.predicates.iter().any(waits) {
        true => quoted(&plugin.name),
        false => String::new(),
    };
    format!("[plugins]\nuse = [{used}]\ndisable = [{}]\n\n", disable.join(", "))
}

/// The user's own surroundings, but for our folders.
fn surroundings(sym: &Symposium, home: &Path, cwd: &Path) -> anyhow::Result<Symposium> {
    let env = sym.env.clone().with_var("SYMPOSIUM_HOME", home).in_folder(cwd);
    let options = Options { update: None, offline: true, ..sym.options };
    Ok(Symposium::new(env, sym.report.without_messages(), options)?)
}

fn find<'r>(registry: &'r Registry, manifest: &Path) -> Result<&'r Plugin, Diagnostic> {
    let mut plugins = registry.plugins.iter().map(|entry| &entry.plugin);
    plugins.find(|plugin| plugin.manifest == manifest).ok_or_else(|| {
        let about =
            |problem: &&Diagnostic| problem.location().is_some_and(|at| at.path == manifest);
        let mut errors = registry.diagnostics.iter().filter(|problem| problem.is_error());
        let problem = errors.find(about).cloned();
        problem.unwrap_or_else(|| Diagnostic::error("this is no plugin").in_file(manifest))
    })
}
