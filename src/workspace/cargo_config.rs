//! Cargo's configuration files: folders that stand in for registries, patches
//! and overrides.
//!
//! Format: <https://doc.rust-lang.org/cargo/reference/config.html>; source replacement:
//! <https://doc.rust-lang.org/cargo/reference/source-replacement.html>. Only read, and a broken
//! file is no reason to stop: nothing in them makes us run anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::overrides::{patch_folders, read_patches};
use super::paths::normalize;
use super::reader::read_text;
use crate::config::Environment;
use crate::files::Limit;
use crate::text::toml::{Diagnostics, StringOrTable, Table, read};
use crate::text::{Diagnostic, Severity, Source};

/// A chain of replacements longer than this goes in a circle.
const MAX_CHAIN: usize = 16;
/// Configuration files include others this deep at most.
const MAX_INCLUDES: usize = 8;
/// The source that everybody means, and so the first to be looked at.
const DEFAULT_SOURCE: &str = "crates-io";

/// Folders of unpacked crates that apply to a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vendored {
    /// Each holds one sub-folder a crate (`serde/` or `serde-1.0.0/`). What replaces crates.io comes
    /// first. They need not exist.
    pub folders: Vec<PathBuf>,
    /// Registries, and what stands in for them.
    pub registries: Registries,
    /// The configuration files that were looked for, there or not: a change in them can change
    /// `folders`. They are among [`super::Workspace::inputs`] too.
    pub inputs: Vec<PathBuf>,
    /// Files that could not be read, as warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds the folders that replace a registry or git source (`cargo vendor`), by the configuration
/// files from `root` upwards and in cargo's own folder. The nearer file wins.
pub(crate) fn vendored(root: &Path, env: &Environment) -> Vendored {
    let config = CargoConfig::load(root, env, &mut |_| ());
    Vendored {
        folders: config.registries.vendor_folders(),
        registries: config.registries,
        inputs: config.inputs,
        diagnostics: config.diagnostics,
    }
}

/// What cargo asks in the place of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceReplacement {
    /// Another registry, by its index as cargo's `--index` takes it.
    Index(String),
    /// A folder of `.crate` files with an index.
    Crates(PathBuf),
    /// A folder of unpacked crates.
    Sources(PathBuf),
}

impl SourceReplacement {
    /// The other registry's index.
    pub(crate) fn index(&self) -> Option<&str> {
        match self {
            Self::Index(index) => Some(index),
            Self::Crates(_) | Self::Sources(_) => None,
        }
    }
}

/// The registries that cargo's configuration names, and what it has in the place of registries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Registries {
    sources: BTreeMap<String, SourceTable>,
    /// Indexes of alternative registries, by name.
    indexes: BTreeMap<String, String>,
    /// The same by environment variables, which win: by name in upper case, with `_`.
    indexes_by_variable: BTreeMap<String, String>,
}

impl Registries {
    /// Those of a cargo that runs in `dir`.
    pub(crate) fn load(dir: &Path, env: &Environment) -> Self {
        CargoConfig::load(dir, env, &mut |_| ()).registries
    }

    /// The index of the alternative registry `name`.
    pub(crate) fn index_of(&self, name: &str) -> Option<&str> {
        let variable = name.to_uppercase().replace('-', "_");
        let index = self.indexes_by_variable.get(&variable).or_else(|| self.indexes.get(name));
        index.map(String::as_str)
    }

    /// What replaces a registry: `index` as in the lock file, `None` for crates.io.
    pub(crate) fn replacement(&self, index: Option<&str>) -> Option<SourceReplacement> {
        let is_it = |(name, table): &(&String, &SourceTable)| match index {
            None => name.as_str() == DEFAULT_SOURCE,
            Some(index) => table.registry.as_deref().is_some_and(|known| same_index(known, index)),
        };
        let (_, mut table) = self.sources.iter().find(is_it)?;
        for _ in 0..MAX_CHAIN {
            let Some(next) = &table.replace_with else { break };
            let Some(found) = self.sources.get(next) else {
                // It may be an alternative registry's name.
                return self.index_of(next).map(|index| SourceReplacement::Index(index.to_owned()));
            };
            table = found;
        }
        table.replace_with.is_none().then_some(())?;
        let index = table.registry.clone().map(SourceReplacement::Index);
        let crates = table.local_registry.clone().map(SourceReplacement::Crates);
        index.or(crates).or_else(|| table.directory.clone().map(SourceReplacement::Sources))
    }

    pub(super) fn vendor_folders(&self) -> Vec<PathBuf> {
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

/// Whether cargo's configuration keeps a cargo that runs in `dir` off the network (`net.offline`).
pub(crate) fn is_offline(dir: &Path, env: &Environment) -> bool {
    CargoConfig::load(dir, env, &mut |_| ()).offline == Some(true)
}

/// Whether two spellings name one registry's index.
pub(super) fn same_index(one: &str, other: &str) -> bool {
    let bare = |index: &str| {
        index.strip_prefix("registry+").unwrap_or(index).trim_end_matches('/').to_owned()
    };
    bare(one) == bare(other)
}

/// What configuration files say that matters here.
#[derive(Debug, Default)]
pub(super) struct CargoConfig {
    pub registries: Registries,
    /// `net.offline`.
    offline: Option<bool>,
    /// Packages that `[patch]` takes from a folder.
    pub patches: Vec<(String, PathBuf)>,
    /// `paths`: packages in these folders stand in for dependencies of their names.
    pub override_folders: Vec<PathBuf>,
    pub inputs: Vec<PathBuf>,
    pub diagnostics: Vec<Diagnostic>,
}

/// `[source.<name>]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SourceTable {
    replace_with: Option<String>,
    directory: Option<PathBuf>,
    local_registry: Option<PathBuf>,
    registry: Option<String>,
}

impl CargoConfig {
    /// Reads the files that apply in `root`; `observe` is called with each before it is read.
    pub(super) fn load(root: &Path, env: &Environment, observe: &mut dyn FnMut(&Path)) -> Self {
        let mut config = Self::default();
        config.registries.indexes_by_variable = indexes_by_variable(env);
        let mut folders: Vec<PathBuf> =
            root.ancestors().map(|folder| folder.join(".cargo")).collect();
        folders.extend(env.cargo_home().filter(|home| !folders.contains(home)));
        for folder in folders {
            // Where both are, cargo takes the name without extension.
            for name in ["config", "config.toml"] {
                if config.file(&folder.join(name), observe, 0) {
                    break;
                }
            }
        }
        config
    }

    /// Adds a file and what it includes; `false` when there is none.
    fn file(&mut self, path: &Path, observe: &mut dyn FnMut(&Path), depth: usize) -> bool {
        // Once is enough: what a file says counts where it is met first.
        if self.inputs.iter().any(|known| known == path) {
            return true;
        }
        observe(path);
        self.inputs.push(path.to_path_buf());
        let source = match read_text(path, Limit::CARGO) {
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
                self.file(include, observe, depth + 1);
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
        let diagnostics = Diagnostics::new(Arc::clone(source));
        let folder = source.path.parent().unwrap_or(Path::new(""));
        // Paths start at the folder that holds `.cargo`, but for includes.
        let base = folder.parent().unwrap_or(folder);
        let found = read(&diagnostics, |root| {
            let offline =
                root.table("net").and_then(|net| net.bool("offline")).map(|found| found.value);
            let sources = (read_sources(root, base), read_registries(root), offline);
            let folders = root.strings("paths").map(|found| found.value).unwrap_or_default();
            (sources, (read_patches(root), folders), read_includes(root, folder))
        });
        if let Some(problem) = diagnostics.finish().into_iter().next() {
            self.tolerate(problem);
        }
        let Some(((sources, registries, offline), (patches, folders), includes)) = found else {
            return Vec::new();
        };
        self.offline = self.offline.or(offline);
        for (name, table) in sources {
            let known = self.registries.sources.entry(name).or_default();
            known.replace_with = known.replace_with.take().or(table.replace_with);
            known.directory = known.directory.take().or(table.directory);
            known.local_registry = known.local_registry.take().or(table.local_registry);
            known.registry = known.registry.take().or(table.registry);
        }
        for (name, index) in registries {
            self.registries.indexes.entry(name).or_insert(index);
        }
        self.patches.extend(patch_folders(base, &patches));
        let folders = folders.iter().map(|folder| normalize(&base.join(&folder.value)));
        self.override_folders.extend(folders);
        includes
    }
}

/// `CARGO_REGISTRIES_<NAME>_INDEX`.
fn indexes_by_variable(env: &Environment) -> BTreeMap<String, String> {
    let index = |(variable, index): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        let name = variable.to_str()?.strip_prefix("CARGO_REGISTRIES_")?.strip_suffix("_INDEX")?;
        Some((name.to_owned(), index.to_str()?.to_owned()))
    };
    env.vars().filter_map(index).collect()
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
        let path = |key| entry.string(key).map(|path| normalize(&base.join(path.value)));
        let (directory, local_registry) = (path("directory"), path("local-registry"));
        let registry = entry.string("registry").map(|index| index.value);
        let table = SourceTable { replace_with, directory, local_registry, registry };
        sources.push((key.value, table));
    }
    sources
}

/// `[registries.<name>] index`.
fn read_registries(root: &Table<'_>) -> Vec<(String, String)> {
    let Some(table) = root.table("registries") else { return Vec::new() };
    let index = |key: crate::text::toml::Located<String>| {
        let index = table.table(&key.value)?.string("index")?.value;
        Some((key.value, index))
    };
    table.keys().into_iter().filter_map(index).collect()
}
