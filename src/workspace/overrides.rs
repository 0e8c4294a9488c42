//! What cargo takes in place of a dependency's own source: `[patch]`, `[replace]` and the
//! configuration's `paths`.
//!
//! <https://doc.rust-lang.org/cargo/reference/overriding-dependencies.html>. That `paths` is searched
//! at any depth, takes the folder's version whatever was asked for, and leaves the lock file as it is,
//! was measured with cargo 1.95.

use std::path::{Path, PathBuf};

use semver::Version;

use super::paths::normalize;
use crate::text::toml::{StringOrTable, Table};

/// `[patch.<source>] key = { path = … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPatch {
    pub name: String,
    /// The folder as written.
    pub path: String,
}

/// `[replace] "name:1.2.3" = { path = … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub name: String,
    pub version: Version,
    /// The folder as written; `None` for a git repository, which the lock file names.
    pub path: Option<String>,
}

/// All that applies in a workspace.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    /// Packages that a `[patch]` takes from a folder: name and folder.
    pub patches: Vec<(String, PathBuf)>,
    /// Packages of one version that `[replace]` takes from elsewhere.
    pub replaced: Vec<Replacement>,
    /// Packages in the folders of `paths`: name and folder.
    pub packages: Vec<(String, PathBuf)>,
}

impl Overrides {
    /// The folder of a package in `paths`.
    pub(super) fn package(&self, name: &str) -> Option<PathBuf> {
        self.packages.iter().find(|(known, _)| known == name).map(|(_, dir)| dir.clone())
    }

    /// What `[replace]` says of a package.
    pub(super) fn replacement(&self, name: &str, version: &Version) -> Option<&Replacement> {
        self.replaced.iter().find(|known| known.name == name && known.version == *version)
    }
}

/// `[patch]` of a manifest, or of a cargo configuration file, where it looks the same.
pub(super) fn read_patches(root: &Table<'_>) -> Vec<PathPatch> {
    let mut patches = Vec::new();
    let Some(table) = root.table("patch") else { return patches };
    for source in table.keys() {
        let Some(entries) = table.table(&source.value) else { continue };
        for key in entries.keys() {
            let Some(StringOrTable::Table(entry)) = entries.string_or_table(&key.value) else {
                continue;
            };
            if let Some(path) = entry.string("path") {
                let name = entry.string("package").map_or(key.value, |name| name.value);
                patches.push(PathPatch { name, path: path.value });
            }
        }
    }
    patches
}

/// `[replace]` of a manifest. A key that names no version is not cargo's.
pub(super) fn read_replacements(root: &Table<'_>) -> Vec<Replacement> {
    let Some(table) = root.table("replace") else { return Vec::new() };
    let read = |key: &str| {
        let id = key.rsplit('#').next()?;
        let (name, version) = id.split_once([':', '@'])?;
        let version = Version::parse(version).ok()?;
        let path = table.table(key)?.string("path").map(|path| path.value);
        Some(Replacement { name: name.to_owned(), version, path })
    };
    table.keys().iter().filter_map(|key| read(&key.value)).collect()
}

/// `patches` of a manifest or configuration file, with the folders that they mean.
pub(super) fn patch_folders(base: &Path, patches: &[PathPatch]) -> Vec<(String, PathBuf)> {
    let folder = |path: &str| normalize(&base.join(path));
    patches.iter().map(|patch| (patch.name.clone(), folder(&patch.path))).collect()
}
