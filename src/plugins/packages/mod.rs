//! Plugins in formats that others published, read into the same [`Plugin`] as ours.
//!
//! - [`agent_plugin`]: Agent Plugins 1.0.0
//! - [`claude_package`]: Claude Code's packages, with their [`claude_hooks`]
//! - [`marketplace`]: an index of them
//! - [`servers`]: the MCP servers of both
//! - [`placeholders`]: what stands for a package's folders
//! - [`draft`]: what comes together, and what is noted as not taken
//! - [`folder`]: the folder that all of them read
//!
//! Each reader is a function of a folder: nothing is started, fetched or written.

mod agent_plugin;
mod claude_hooks;
mod claude_package;
mod draft;
mod folder;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod marketplace;
mod placeholders;
mod servers;

use std::path::{Path, PathBuf};

use crate::plugins::model::{NotTaken, PackageFormat, Plugin};
use crate::text::Diagnostic;
use crate::workspace::UNOBSERVED;

pub(super) use draft::text_of;
pub(crate) use folder::{Answers, Folder, OnDisk};
pub(crate) use marketplace::{Entry, EntryPlace, Index, file_of, path as index_of};
pub(crate) use placeholders::{Folders, with_variables};

/// What stands for an option that Claude Code asks its user for.
const USER_OPTION: &str = "${user_config.";
const ASKS_OPTIONS: &str = "it depends on options that only Claude Code asks its user for";

/// Where a package was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub source: &'a str,
    /// Root folder of the source, absolute.
    pub source_root: &'a Path,
    /// The package's own folder.
    pub dir: &'a Path,
    /// What the index says that led to it.
    pub entry: Option<&'a Entry>,
}

/// A package as read.
#[derive(Debug)]
pub(crate) struct ReadPackage {
    /// `None` when it breaks a rule without which nothing of it may be used.
    pub plugin: Option<Plugin>,
    /// The file that makes it a package.
    pub manifest: PathBuf,
    /// Whether every file of it could be read.
    pub is_whole: bool,
    pub diagnostics: Vec<Diagnostic>,
}

/// The file that makes a folder a package.
const MANIFESTS: [&str; 2] = [agent_plugin::MANIFEST, claude_package::MANIFEST];

/// The files that may make `dir` a package, and the entry that stands for one.
pub(crate) fn manifests(dir: &Path, entry: Option<&Entry>) -> Vec<PathBuf> {
    let entry = entry.filter(|entry| entry.is_whole).map(|entry| entry.manifest.clone());
    entry.into_iter().chain(MANIFESTS.map(|name| dir.join(name))).collect()
}

/// Whether a folder is a package, usable or not.
pub(crate) fn is_package(dir: &Path) -> bool {
    let place = Place { source: "", source_root: dir, dir, entry: None };
    read(&place, &OnDisk::new(dir, &UNOBSERVED)).is_some()
}

/// Reads the package in a folder; `None` where the folder is none.
pub(crate) fn read(place: &Place<'_>, folder: &dyn Folder) -> Option<ReadPackage> {
    let unreadable = |manifest: &str, problem: String| ReadPackage {
        plugin: None,
        manifest: place.dir.join(manifest),
        is_whole: false,
        diagnostics: vec![
            Diagnostic::error(format!("this manifest can't be read: {problem}"))
                .code(crate::plugins::diagnostics::codes::PACKAGE)
                .in_file(place.dir.join(manifest)),
        ],
    };
    let text = |manifest: &str| match folder.text(manifest) {
        Ok(text) => Ok(text.map(|text| text.trim_start_matches('\u{feff}').to_owned())),
        Err(problem) => Err(problem),
    };
    match text(agent_plugin::MANIFEST) {
        Ok(Some(text)) if agent_plugin::is_meant(&text) => {
            return Some(agent_plugin::read(place, folder, &text));
        }
        // Others' files have this name, too.
        Ok(_) | Err(_) => {}
    }
    match text(claude_package::MANIFEST) {
        Ok(Some(text)) => Some(claude_package::read(place, folder, &text)),
        Ok(None) => place.entry.map(|_| claude_package::read(place, folder, "{}")),
        Err(problem) => Some(unreadable(claude_package::MANIFEST, problem)),
    }
}

/// Reads the index in `dir`; `None` where there is none.
///
/// # Errors
/// Why it can't be read.
pub(crate) fn read_index(
    dir: &Path,
    folder: &dyn Folder,
) -> Option<Result<Index, Box<Diagnostic>>> {
    let path = marketplace::path(dir);
    match folder.text(marketplace::PLACE) {
        Ok(text) => Some(marketplace::read(dir, &text?).map_err(Box::new)),
        Err(problem) => {
            let told = Diagnostic::error(format!("this index can't be read: {problem}"));
            let code = crate::plugins::diagnostics::codes::PACKAGE;
            Some(Err(Box::new(told.code(code).in_file(path))))
        }
    }
}

/// What a package in the folder of a dependency has beside skills, for people: nothing of it is taken.
pub(crate) fn beside_skills(dir: &Path) -> Option<String> {
    let place = Place { source: "", source_root: dir, dir, entry: None };
    let plugin = read(&place, &OnDisk::new(dir, &UNOBSERVED))?.plugin?;
    let names = |names: Vec<&str>, one| draft::listed(&names, one);
    let mut parts = Vec::new();
    match plugin.hooks.len() {
        0 => {}
        1 => parts.push("1 hook".to_owned()),
        count => parts.push(format!("{count} hooks")),
    }
    if !plugin.servers.is_empty() {
        let servers = plugin.servers.iter().map(|server| server.name.as_str());
        parts.push(names(servers.collect(), "server"));
    }
    parts.extend(plugin.not_taken().iter().map(|found| found.what.clone()));
    let (name, kind) = (&plugin.name, plugin.kind()?);
    let rule = "a dependency brings only skills";
    (!parts.is_empty())
        .then(|| format!("of its package {name} ({kind}): {}; {rule}", parts.join(", ")))
}

impl PackageFormat {
    /// Its name for programs.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::AgentPlugins => "agent-plugins",
            Self::Claude => "claude",
        }
    }

    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AgentPlugins => "Agent Plugins 1.0",
            Self::Claude => "Claude package",
        }
    }
}

impl Plugin {
    /// Its format's name for programs.
    pub(crate) fn format(&self) -> &'static str {
        self.package.as_ref().map_or("symposium", |package| package.format.id())
    }

    /// What of a package has no effect.
    pub(crate) fn not_taken(&self) -> &[NotTaken] {
        self.package.as_ref().map_or(&[], |package| package.not_taken.as_slice())
    }

    /// Its format and version, for people; `None` for one of ours that says no version.
    pub(crate) fn kind(&self) -> Option<String> {
        let format = self.package.as_ref().map(|package| package.format.name());
        let words: Vec<&str> = format.into_iter().chain(self.version.as_deref()).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

#[cfg(test)]
mod tests;
