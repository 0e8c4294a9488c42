//! Cargo's configuration files: folders that stand in for registries, and patches.
//!
//! Format: <https://doc.rust-lang.org/cargo/reference/config.html>; source replacement:
//! <https://doc.rust-lang.org/cargo/reference/source-replacement.html>. Only read, and a broken
//! file is no reason to stop: nothing in them makes us run anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::manifest::read_patches;
use super::paths::normalize;
use super::reader::read_text;
use super::resolve::patch_folders;
use crate::config::Environment;
use crate::text::toml::{Sink, StringOrTable, Table, read};
use crate::text::{Diagnostic, Severity, Source};

/// A chain of replacements longer than this goes in a circle.
const MAX_CHAIN: usize = 16;
/// Configuration files include others this deep at most.
const MAX_INCLUDES: usize = 8;
/// The source that everybody means, and so the first to be looked at.
const DEFAULT_SOURCE: &str = "crates-io";

/// Folders of unpacked crates that apply to a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vendored {
    /// Each holds one sub-folder a crate (`serde/` or `serde-1.0.0/`). What replaces crates.io comes
    /// first. They need not exist.
    pub folders: Vec<PathBuf>,
    /// The configuration files that were looked for, there or not: a change in them can change
    /// `folders`. They are among [`super::Workspace::inputs`] too.
    pub inputs: Vec<PathBuf>,
    /// Files that could not be read, as warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds the folders that replace a registry or git source (`cargo vendor`), by the configuration
/// files from `root` upwards and in cargo's own folder. The nearer file wins.
pub fn vendored(root: &Path, env: &Environment) -> Vendored {
    let config = CargoConfig::load(root, env, &mut |_| ());
    Vendored {
        folders: config.vendor_folders(),
        inputs: config.inputs,
        diagnostics: config.diagnostics,
    }
}

/// What configuration files say that matters here.
#[derive(Debug, Default)]
pub(super) struct CargoConfig {
    sources: BTreeMap<String, SourceTable>,
    /// Packages that `[patch]` takes from a folder.
    pub patches: Vec<(String, PathBuf)>,
    pub inputs: Vec<PathBuf>,
    pub diagnostics: Vec<Diagnostic>,
}

/// `[source.<name>]`.
#[derive(Debug, Default)]
struct SourceTable {
    replace_with: Option<String>,
    directory: Option<PathBuf>,
}

impl CargoConfig {
    /// Reads the files that apply in `root`; `look` is called with each before it is read.
    pub fn load(root: &Path, env: &Environment, look: &mut dyn FnMut(&Path)) -> Self {
        let mut config = Self::default();
        let mut folders: Vec<PathBuf> =
            root.ancestors().map(|folder| folder.join(".cargo")).collect();
        folders.extend(env.cargo_home().filter(|home| !folders.contains(home)));
        for folder in folders {
            // Where both are, cargo takes the name without extension.
            for name in ["config", "config.toml"] {
                if config.file(&folder.join(name), look, 0) {
                    break;
                }
            }
        }
        config
    }

    /// Adds a file and what it includes; `false` when there is none.
    fn file(&mut self, path: &Path, look: &mut dyn FnMut(&Path), depth: usize) -> bool {
        // Once is enough: what a file says counts where it is met first.
        if self.inputs.iter().any(|known| known == path) {
            return true;
        }
        look(path);
        self.inputs.push(path.to_path_buf());
        let source = match read_text(path) {
            Ok(Some(source)) => source,
            Ok(None) => return false,
            Err(problem) => {
                self.tolerate(problem);
                return true;
            }
        };
        let includes = self.add(&source);
        if depth < MAX_INCLUDES {
            // What includes wins over what is included; of these, the later wins.
            for include in includes.iter().rev() {
                self.file(include, look, depth + 1);
            }
        }
        true
    }

    fn tolerate(&mut self, mut problem: Diagnostic) {
        problem.severity = Severity::Warning;
        self.diagnostics
            .push(problem.remark("not everything in this configuration file of cargo's was used"));
    }

    /// Adds a file that counts less than those before it; gives the files that it includes.
    fn add(&mut self, source: &Arc<Source>) -> Vec<PathBuf> {
        let sink = Sink::new(Arc::clone(source));
        let folder = source.path.parent().unwrap_or(Path::new(""));
        // Paths start at the folder that holds `.cargo`, but for includes.
        let base = folder.parent().unwrap_or(folder);
        let found = read(&sink, |root| {
            (read_sources(root, base), read_patches(root), read_includes(root, folder))
        });
        if let Some(problem) = sink.finish().into_iter().next() {
            self.tolerate(problem);
        }
        let Some((sources, patches, includes)) = found else { return Vec::new() };
        for (name, table) in sources {
            let known = self.sources.entry(name).or_default();
            known.replace_with = known.replace_with.take().or(table.replace_with);
            known.directory = known.directory.take().or(table.directory);
        }
        self.patches.extend(patch_folders(base, &patches));
        includes
    }

    fn vendor_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let default = self.sources.get(DEFAULT_SOURCE);
        for source in default.into_iter().chain(self.sources.values()) {
            let mut next = source.replace_with.as_ref();
            for _ in 0..MAX_CHAIN {
                let Some(table) = next.and_then(|name| self.sources.get(name)) else { break };
                if let Some(folder) = &table.directory
                    && !folders.contains(folder)
                {
                    folders.push(folder.clone());
                }
                next = table.replace_with.as_ref();
            }
        }
        folders
    }
}

/// `include = ["a.toml", { path = "b.toml", optional = true }]`.
fn read_includes(root: &Table<'_>, folder: &Path) -> Vec<PathBuf> {
    let items = root.strings_or_tables("include").unwrap_or_default();
    let path = |item| match item {
        StringOrTable::String(path) => Some(path),
        StringOrTable::Table(table) => table.string("path"),
    };
    items.into_iter().filter_map(path).map(|path| normalize(&folder.join(path.value))).collect()
}

fn read_sources(root: &Table<'_>, base: &Path) -> Vec<(String, SourceTable)> {
    let Some(table) = root.table("source") else { return Vec::new() };
    let mut sources = Vec::new();
    for key in table.keys() {
        let Some(entry) = table.table(&key.value) else { continue };
        let replace_with = entry.string("replace-with").map(|name| name.value);
        let directory = entry.string("directory").map(|path| normalize(&base.join(path.value)));
        sources.push((key.value, SourceTable { replace_with, directory }));
    }
    sources
}
