//! `Cargo.toml`, read with positions: only what tells members and dependencies.
//!
//! Format: <https://doc.rust-lang.org/cargo/reference/manifest.html>. Keys that don't matter here
//! are not looked at, so a manifest of a newer cargo is read too.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use semver::{Version, VersionReq};

use super::model::DependencyKind;
use super::overrides::{PathPatch, Replacement, read_patches, read_replacements};
use crate::text::toml::{Diagnostics, Located, StringOrTable, Table, read};
use crate::text::{Diagnostic, Source};

/// A manifest.
#[derive(Debug)]
pub(super) struct Manifest {
    pub source: Arc<Source>,
    /// The folder it is in.
    pub dir: PathBuf,
    pub package: Option<Package>,
    pub workspace: Option<WorkspaceTable>,
    /// Of every kind and target, in the order of the file within each table.
    pub dependencies: Vec<Declared>,
    /// Packages that `[patch]` takes from a folder.
    pub patches: Vec<PathPatch>,
    /// Packages that `[replace]` takes from elsewhere.
    pub replaced: Vec<Replacement>,
}

/// `[package]`.
#[derive(Debug)]
pub(super) struct Package {
    pub name: String,
    pub version: PackageVersion,
    /// `package.workspace`: the folder of the root.
    pub workspace: Option<Located<String>>,
}

/// `package.version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PackageVersion {
    Missing,
    Is(Version),
    /// `version.workspace = true`.
    Inherited,
}

/// `[workspace]`.
#[derive(Debug)]
pub(super) struct WorkspaceTable {
    pub members: Vec<Located<String>>,
    pub exclude: Vec<String>,
    /// `workspace.package.version`.
    pub version: Option<Version>,
    pub dependencies: Vec<Declared>,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    /// The key, which may be a rename.
    pub key: String,
    /// Where the key stands.
    pub span: Range<usize>,
    /// `package`: the real name, where it differs.
    pub package: Option<String>,
    /// `None` accepts every version.
    pub requirement: Option<VersionReq>,
    pub from: DeclaredFrom,
    /// `workspace = true`: the rest stands in `[workspace.dependencies]`.
    pub inherits: bool,
    /// What the table it stands in is for.
    pub kind: DependencyKind,
    pub optional: bool,
    /// `default-features`, where it is said.
    pub default_features: Option<bool>,
    pub features: Vec<String>,
}

/// Where a declared dependency comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DeclaredFrom {
    /// A registry, by its name in cargo's configuration; `None` for crates.io.
    Registry(Option<String>),
    /// A registry, by its index.
    Index(String),
    Git,
    /// A folder, relative to the manifest's.
    Path(String),
}

impl Declared {
    pub(super) fn name(&self) -> &str {
        self.package.as_deref().unwrap_or(&self.key)
    }
}

/// The tables that declare dependencies; the spellings with `_` are old but still read.
const DEPENDENCY_TABLES: [(&str, DependencyKind); 5] = [
    ("dependencies", DependencyKind::Normal),
    ("dev-dependencies", DependencyKind::Development),
    ("dev_dependencies", DependencyKind::Development),
    ("build-dependencies", DependencyKind::Build),
    ("build_dependencies", DependencyKind::Build),
];

impl Manifest {
    /// Reads the text of a manifest; problems that can be lived with go to `diagnostics`.
    ///
    /// # Errors
    /// Broken syntax, a wrong type, or neither `[package]` nor `[workspace]`: the first problem.
    pub(super) fn parse(
        source: &Arc<Source>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let found = Diagnostics::new(Arc::clone(source));
        let manifest = read(&found, Self::read);
        let mut problems = found.finish();
        if let Some(first) = problems.iter().position(Diagnostic::is_error) {
            return Err(problems
                .swap_remove(first)
                .note("cargo can't read it either: mend the manifest"));
        }
        diagnostics.append(&mut problems);
        manifest.ok_or_else(|| Diagnostic::error("not a manifest").in_file(&source.path))
    }

    fn read(root: &Table<'_>) -> Self {
        let source = Arc::clone(&root.diagnostics().source);
        let dir = source.path.parent().map(Path::to_path_buf).unwrap_or_default();
        // `[project]` is the old name of `[package]`.
        let key = if root.has("package") { "package" } else { "project" };
        let package = root.table(key).as_ref().and_then(read_package);
        let workspace = root.table("workspace").as_ref().map(read_workspace);
        if workspace.is_none() && !root.has(key) {
            root.diagnostics()
                .error(&(0..0), "there is neither `[package]` nor `[workspace]` here");
        }
        let mut dependencies = Vec::new();
        read_dependency_tables(root, &mut dependencies);
        if let Some(targets) = root.table("target") {
            for target in targets.keys() {
                if let Some(target) = targets.table(&target.value) {
                    read_dependency_tables(&target, &mut dependencies);
                }
            }
        }
        let (patches, replaced) = (read_patches(root), read_replacements(root));
        Self { source, dir, package, workspace, dependencies, patches, replaced }
    }

    /// Whether this is the root of a workspace.
    pub(super) fn is_root(&self) -> bool {
        self.workspace.is_some()
    }
}

fn read_package(table: &Table<'_>) -> Option<Package> {
    let version = match table.string_or_table("version") {
        None => PackageVersion::Missing,
        Some(StringOrTable::String(text)) => {
            read_version(table, &text).map_or(PackageVersion::Missing, PackageVersion::Is)
        }
        Some(StringOrTable::Table(inner)) => match inner.bool("workspace") {
            Some(flag) if flag.value => PackageVersion::Inherited,
            _ => PackageVersion::Missing,
        },
    };
    let Some(name) = table.string("name") else {
        if !table.has("name") {
            table
                .diagnostics()
                .error(&table.span, format!("`{}` is missing", table.path_of("name")));
        }
        return None;
    };
    Some(Package { name: name.value, version, workspace: table.string("workspace") })
}

fn read_version(table: &Table<'_>, text: &Located<String>) -> Option<Version> {
    match Version::parse(text.value.trim()) {
        Ok(version) => Some(version),
        Err(error) => {
            let message = format!("`{}` is no version: {error}", table.path_of("version"));
            table.diagnostics().error(&text.span, message);
            None
        }
    }
}

fn read_workspace(table: &Table<'_>) -> WorkspaceTable {
    let list = |key: &str| table.strings(key).map(|list| list.value).unwrap_or_default();
    let mut dependencies = Vec::new();
    if let Some(inner) = table.table("dependencies") {
        read_dependencies(&inner, DependencyKind::Normal, &mut dependencies);
    }
    WorkspaceTable {
        members: list("members"),
        exclude: list("exclude").into_iter().map(|item| item.value).collect(),
        version: table.table("package").and_then(|package| {
            let text = package.string("version")?;
            read_version(&package, &text)
        }),
        dependencies,
    }
}

fn read_dependency_tables(table: &Table<'_>, into: &mut Vec<Declared>) {
    for (key, kind) in DEPENDENCY_TABLES {
        if let Some(inner) = table.table(key) {
            read_dependencies(&inner, kind, into);
        }
    }
}

fn read_dependencies(table: &Table<'_>, kind: DependencyKind, into: &mut Vec<Declared>) {
    for key in table.keys() {
        match table.string_or_table(&key.value) {
            Some(StringOrTable::String(requirement)) => into.push(Declared {
                requirement: read_requirement(table, &requirement),
                key: key.value,
                span: key.span,
                package: None,
                from: DeclaredFrom::Registry(None),
                inherits: false,
                kind,
                optional: false,
                default_features: None,
                features: Vec::new(),
            }),
            Some(StringOrTable::Table(detail)) => into.push(read_detail(key, kind, &detail)),
            None => {}
        }
    }
}

fn read_detail(key: Located<String>, kind: DependencyKind, detail: &Table<'_>) -> Declared {
    let requirement =
        detail.string("version").and_then(|requirement| read_requirement(detail, &requirement));
    let from = match detail.string("path") {
        // With `base` (unstable) the path does not start at the manifest; the lock file must tell.
        Some(path) if !detail.has("base") => DeclaredFrom::Path(path.value),
        _ if detail.has("git") => DeclaredFrom::Git,
        _ => match detail.string("registry-index") {
            Some(index) => DeclaredFrom::Index(index.value),
            None => DeclaredFrom::Registry(detail.string("registry").map(|name| name.value)),
        },
    };
    let flag = |key: &str| detail.bool(key).map(|flag| flag.value);
    let features = detail.strings("features").map(|list| list.value).unwrap_or_default();
    Declared {
        key: key.value,
        span: key.span,
        package: detail.string("package").map(|name| name.value),
        requirement,
        from,
        inherits: flag("workspace").unwrap_or(false),
        kind,
        optional: flag("optional").unwrap_or(false),
        default_features: flag("default-features").or_else(|| flag("default_features")),
        features: features.into_iter().map(|feature| feature.value).collect(),
    }
}

fn read_requirement(table: &Table<'_>, text: &Located<String>) -> Option<VersionReq> {
    match VersionReq::parse(text.value.trim()) {
        Ok(requirement) => Some(requirement),
        Err(error) => {
            let message = format!("`{}` is no version requirement: {error}", text.value);
            table.diagnostics().push(
                Diagnostic::warning(message)
                    .at(&table.diagnostics().source, text.span.clone())
                    .note("every version was accepted"),
            );
            None
        }
    }
}
