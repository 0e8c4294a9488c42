//! `Cargo.lock`, formats 1 to 4.
//!
//! Read here rather than with the crate `cargo-lock`, which looks up each abbreviated dependency by
//! walking all packages (and each checksum of format 1 by parsing all of `[metadata]`), forgets how
//! a source was written, and reports no positions. Tests compare the two.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use semver::Version;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reader::{Reader, read_text};
use super::{LockedPackage, Workspace};
use crate::files::Limit;
use crate::text::{Diagnostic, Source, same_crate};

pub(super) mod scan;

/// The newest format there is; a newer one is read as if it were this, with a warning.
const NEWEST_FORMAT: i64 = 4;

/// A lock file.
#[derive(Debug, Default)]
pub(crate) struct Lock {
    /// Sorted.
    pub packages: Vec<LockedPackage>,
    /// What each package without a source depends on, as written. Members have no source.
    references: HashMap<usize, Vec<String>>,
    by_name: HashMap<String, Vec<usize>>,
}

/// A package as read, with its dependencies when it has no source.
pub(super) type Raw = (LockedPackage, Vec<String>);
type Value<'a> = Spanned<DeValue<'a>>;

impl Lock {
    /// Reads the lock file at `path`; `None` when there is none.
    pub(super) fn load(reader: &mut Reader, path: &Path) -> Result<Option<Self>, Diagnostic> {
        match reader.text(path, Limit::LOCK)? {
            Some(source) => Self::parse(&source, &mut reader.diagnostics).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the lock file at `path`, for those who neither observe it nor tell what was tolerated.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Diagnostic> {
        read_text(path, Limit::LOCK)?
            .map(|source| Self::parse(&source, &mut Vec::new()))
            .transpose()
    }

    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// Broken syntax, or a package without a sensible name and version.
    pub(crate) fn parse(
        source: &Arc<Source>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let raw = match scan::packages(&source.text) {
            Some(raw) => raw,
            None => read(source, diagnostics)?,
        };
        Ok(Self::assemble(raw))
    }

    fn assemble(mut raw: Vec<Raw>) -> Self {
        raw.sort_by(|(one, _), (other, _)| one.cmp(other));
        raw.dedup_by(|(one, _), (other, _)| one == other);
        let mut lock = Self {
            packages: Vec::with_capacity(raw.len()),
            by_name: HashMap::with_capacity(raw.len()),
            ..Self::default()
        };
        for (index, (package, references)) in raw.into_iter().enumerate() {
            lock.by_name.entry(package.name.clone()).or_default().push(index);
            if package.source.is_none() {
                lock.references.insert(index, references);
            }
            lock.packages.push(package);
        }
        lock
    }

    pub(crate) fn named(&self, name: &str) -> Vec<&LockedPackage> {
        self.indices(name).filter_map(|index| self.packages.get(index)).collect()
    }

    fn indices(&self, name: &str) -> impl Iterator<Item = usize> {
        self.by_name.get(name).into_iter().flatten().copied()
    }

    /// What the lock file resolved for a member; nothing when it does not know the member.
    pub(crate) fn dependencies_of(
        &self,
        name: &str,
        version: Option<&Version>,
    ) -> Vec<&LockedPackage> {
        let own: Vec<usize> =
            self.indices(name).filter(|index| self.references.contains_key(index)).collect();
        // A version that was raised since the lock file was written makes no other package of it.
        let exact = own
            .iter()
            .find(|index| self.packages.get(**index).map(|package| &package.version) == version);
        let Some(references) = exact.or(own.first()).and_then(|index| self.references.get(index))
        else {
            return Vec::new();
        };
        references.iter().flat_map(|reference| self.resolve(reference)).collect()
    }

    /// The packages a reference means: `name`, `name version` or `name version (source)`, as short
    /// as is unambiguous.
    fn resolve(&self, reference: &str) -> Vec<&LockedPackage> {
        let mut parts = reference.split_whitespace();
        let name = parts.next().unwrap_or_default();
        let version = parts.next();
        let source = parts.next().map(|part| part.trim_start_matches('(').trim_end_matches(')'));
        let mut found = self.named(name);
        if let Some(version) = version {
            found.retain(|package| package.version.to_string() == version);
        }
        if let Some(source) = source {
            found.retain(|package| {
                // References to git packages leave out the commit since format 2.
                package
                    .source
                    .as_deref()
                    .is_some_and(|full| full == source || full.split('#').next() == Some(source))
            });
        }
        found
    }
}

/// The names of the packages in the lock file at `path` that depend on this version of `name`, sorted,
/// each once. A lock file that can't be read has none.
pub(crate) fn dependents(path: &Path, name: &str, version: &Version) -> Vec<String> {
    let source = read_text(path, Limit::LOCK).ok().flatten();
    let raw = source.and_then(|source| read_all(&source, &mut Vec::new()).ok()).unwrap_or_default();
    let is_it = |reference: &String| {
        let mut words = reference.split_whitespace();
        let is_named = words.next().is_some_and(|found| same_crate(found, name));
        // Without a version it is the only one.
        is_named && words.next().is_none_or(|found| found == version.to_string())
    };
    let mut names: Vec<String> = raw
        .into_iter()
        .filter(|(_, references)| references.iter().any(is_it))
        .map(|(package, _)| package.name)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The package called `wanted` that `package` depends on in the lock file of `workspace`: its name and
/// version.
pub(crate) fn locked_dependency(
    workspace: &Workspace,
    package: (&str, &Version),
    wanted: &str,
) -> Option<(String, Version)> {
    let source = read_text(workspace.lock_file.as_deref()?, Limit::LOCK).ok().flatten()?;
    let raw = read_all(&source, &mut Vec::new()).ok()?;
    let is_package = |found: &LockedPackage| (found.name.as_str(), &found.version) == package;
    let (_, references) = raw.into_iter().find(|(found, _)| is_package(found))?;
    let words = |it: &String| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut references = references.iter().map(words);
    let reference =
        references.find(|it| it.first().is_some_and(|name| same_crate(name, wanted)))?;
    if let Some(version) = reference.get(1).and_then(|it| Version::parse(it).ok()) {
        return Some((reference[0].clone(), version));
    }
    // Without a version it is the only one.
    let mut named = workspace.locked.iter().filter(|found| found.name == reference[0]);
    named.next().map(|found| (found.name.clone(), found.version.clone()))
}

/// Reads a lock file as TOML, whatever it looks like, but for what packages with a source depend on:
/// only members' dependencies count.
pub(super) fn read(
    source: &Arc<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Raw>, Diagnostic> {
    let mut raw = read_all(source, diagnostics)?;
    for (_, references) in raw.iter_mut().filter(|(package, _)| package.source.is_some()) {
        references.clear();
    }
    Ok(raw)
}

fn read_all(
    source: &Arc<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Raw>, Diagnostic> {
    let root = DeTable::parse(&source.text).map_err(|error| {
        broken(source, error.span().unwrap_or(0..0), error.message().to_owned())
    })?;
    let root = root.get_ref();
    if let Some(value) = root.get("version")
        && let DeValue::Integer(number) = value.get_ref()
        && i64::from_str_radix(number.as_str(), number.radix())
            .is_ok_and(|format| format > NEWEST_FORMAT)
    {
        let message = format!("lock file format {number} is newer than this program");
        diagnostics.push(
            Diagnostic::warning(message)
                .at(source, value.span())
                .note("it was read as far as it is understood: update Symposium"),
        );
    }
    let mut raw = Vec::new();
    // Old versions of cargo put the package itself into `[root]`.
    if let Some(legacy) = root.get("root") {
        raw.push(package(source, legacy)?);
    }
    if let Some(list) = root.get("package") {
        let DeValue::Array(items) = list.get_ref() else {
            return Err(broken(source, list.span(), "`package` must be an array of tables"));
        };
        for item in items.iter() {
            raw.push(package(source, item)?);
        }
    }
    if let Some(metadata) = root.get("metadata")
        && let DeValue::Table(metadata) = metadata.get_ref()
    {
        add_checksums(&mut raw, metadata);
    }
    Ok(raw)
}

fn broken(source: &Arc<Source>, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
    if let Some(mark) = conflict(&source.text) {
        return Diagnostic::error("the lock file has merge conflict markers")
            .at(source, mark..mark + CONFLICT.len())
            .note("take either side, then run `cargo metadata`, which completes it");
    }
    Diagnostic::error(message)
        .at(source, span)
        .note("restore it from version control, or remove it and run `cargo generate-lockfile`")
}

/// What git puts before its side of a conflict.
const CONFLICT: &str = "<<<<<<<";

/// Where the first conflict begins.
fn conflict(text: &str) -> Option<usize> {
    if text.starts_with(CONFLICT) {
        return Some(0);
    }
    text.find(&format!("\n{CONFLICT}")).map(|newline| newline + 1)
}

fn package(source: &Arc<Source>, value: &Value<'_>) -> Result<Raw, Diagnostic> {
    let DeValue::Table(table) = value.get_ref() else {
        return Err(broken(source, value.span(), "a package must be a table"));
    };
    let required = |key: &str| {
        text(source, table, key)?
            .ok_or_else(|| broken(source, value.span(), format!("this package has no `{key}`")))
    };
    let name = required("name")?.to_owned();
    let written = required("version")?;
    let version = Version::parse(written).map_err(|error| {
        let span = table.get("version").map_or_else(|| value.span(), Spanned::span);
        broken(source, span, format!("`{written}` is no version: {error}"))
    })?;
    let from = text(source, table, "source")?.map(str::to_owned);
    let checksum = text(source, table, "checksum")?.map(str::to_owned);
    Ok((LockedPackage { name, version, source: from, checksum }, references(table)))
}

fn text<'a>(
    source: &Arc<Source>,
    table: &'a DeTable<'_>,
    key: &str,
) -> Result<Option<&'a str>, Diagnostic> {
    match table.get(key) {
        None => Ok(None),
        Some(value) => match value.get_ref() {
            DeValue::String(text) => Ok(Some(text)),
            _ => Err(broken(source, value.span(), format!("`{key}` must be a string"))),
        },
    }
}

fn references(table: &DeTable<'_>) -> Vec<String> {
    let Some(DeValue::Array(items)) = table.get("dependencies").map(Spanned::get_ref) else {
        return Vec::new();
    };
    items.iter().filter_map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}

/// Format 1 keeps checksums apart: `"checksum name version (source)" = "hex"`.
fn add_checksums(raw: &mut [Raw], metadata: &DeTable<'_>) {
    let mut checksums = HashMap::new();
    for (key, value) in metadata {
        if let Some(package) = key.get_ref().strip_prefix("checksum ")
            && let Some(checksum) = value.get_ref().as_str()
            && checksum != "<none>"
        {
            checksums.insert(package, checksum);
        }
    }
    if checksums.is_empty() {
        return;
    }
    for (package, _) in raw {
        let Some(source) = &package.source else { continue };
        let key = format!("{} {} ({source})", package.name, package.version);
        if let Some(checksum) = checksums.get(key.as_str()) {
            package.checksum.get_or_insert_with(|| (*checksum).to_owned());
        }
    }
}
