//! Direct dependencies: what members declare, at the version the lock file resolved.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::rc::Rc;

use semver::{Version, VersionReq};

use super::cargo_config::same_index;
use super::discover::{dependency_folder, inherited, root_of};
use super::lock::Lock;
use super::manifest::{Declared, DeclaredFrom, Manifest, PackageVersion};
use super::overrides::Overrides;
use super::paths::normalize;
use super::reader::Reader;
use super::{
    Dependency, DependencyOrigin, LockedPackage, Registries, RegistryRequirement, Usage,
    is_crates_io,
};
use crate::text::{Diagnostic, SecretUrl};

/// How many names a message lists.
const LISTED: usize = 5;

/// What dependencies are resolved from.
pub(super) struct Facts<'a> {
    pub root: &'a Rc<Manifest>,
    pub members: &'a [Rc<Manifest>],
    pub lock: Option<&'a Lock>,
    pub overrides: Overrides,
    pub registries: &'a Registries,
}

/// A member's version, its own or the workspace's.
pub(super) fn version_of(root: &Manifest, manifest: &Manifest) -> Option<Version> {
    match &manifest.package.as_ref()?.version {
        PackageVersion::Missing => None,
        PackageVersion::Is(version) => Some(version.clone()),
        PackageVersion::Inherited => root.workspace.as_ref()?.version.clone(),
    }
}

/// The direct dependencies of all members, sorted, one entry a name and version.
pub(super) fn dependencies(reader: &mut Reader, facts: &Facts<'_>) -> Vec<Dependency> {
    let mut found = Found::default();
    for member in facts.members {
        let name = member.package.as_ref().map_or("", |package| &package.name);
        let version = version_of(facts.root, member);
        let mut listed = ByName::new();
        for package in
            facts.lock.iter().flat_map(|lock| lock.dependencies_of(name, version.as_ref()))
        {
            listed.entry(&package.name).or_default().push(package);
        }
        for declared in &member.dependencies {
            let usage = usage(facts.root, member, declared);
            for dependency in resolve(reader, facts, member, declared, &listed) {
                found.add(Dependency { usage: usage.clone(), ..dependency });
            }
        }
    }
    let dependencies = found.finish();
    warn_unlocked(reader, facts, &dependencies);
    dependencies
}

/// What one declaration says of the use of a dependency. As cargo has it, a member adds features to
/// those of `[workspace.dependencies]`, and can turn the default ones on but not off.
fn usage(root: &Manifest, member: &Manifest, declared: &Declared) -> Usage {
    let (entry, _) = inherited(root, member, declared).unwrap_or((declared, &member.dir));
    let said = |said: Option<bool>| said.unwrap_or(true);
    let default_features = match declared.inherits {
        true => said(entry.default_features) || declared.default_features == Some(true),
        false => said(declared.default_features),
    };
    Usage {
        kinds: [declared.kind].into(),
        renames: [&declared.key].into_iter().filter(|key| *key != entry.name()).cloned().collect(),
        optional: declared.optional,
        default_features,
        features: entry.features.iter().chain(&declared.features).cloned().collect(),
        members: member.package.iter().map(|package| package.name.clone()).collect(),
    }
}

/// The packages that the lock file resolved for a member, by their names.
type ByName<'a> = BTreeMap<&'a str, Vec<&'a LockedPackage>>;

fn resolve(
    reader: &mut Reader,
    facts: &Facts<'_>,
    member: &Manifest,
    declared: &Declared,
    listed: &ByName<'_>,
) -> Vec<Dependency> {
    let Some((entry, _)) = inherited(facts.root, member, declared) else {
        reader.diagnostics.push(
            Diagnostic::warning(format!(
                "`{}` is not in the workspace's `[workspace.dependencies]`",
                declared.key
            ))
            .at(&member.source, declared.span.clone())
            .note("add it there, or declare its version here"),
        );
        return locked(facts, declared, listed);
    };
    let folder = dependency_folder(facts.root, member, declared);
    // A package may depend on itself, to build its tests with other features.
    if folder.as_ref() == Some(&member.dir) {
        return Vec::new();
    }
    // `paths` goes before the folder that a dependency names itself.
    match facts.overrides.package(entry.name()).or(folder) {
        None => locked(facts, entry, listed),
        Some(dir) => vec![from_folder(reader, facts, (member, declared), entry.name(), dir)],
    }
}

/// A path dependency. Its manifest's version is the true one: cargo puts it into the lock file at
/// the next build.
fn from_folder(
    reader: &mut Reader,
    facts: &Facts<'_>,
    (member, declared): (&Manifest, &Declared),
    name: &str,
    dir: PathBuf,
) -> Dependency {
    let manifest = match reader.manifest(&dir) {
        Ok(manifest) => manifest.filter(|manifest| manifest.package.is_some()),
        Err(mut problem) => {
            problem.severity = crate::text::Severity::Warning;
            reader.diagnostics.push(problem);
            None
        }
    };
    let in_lock = || {
        let lock = facts.lock?;
        let local = lock.named(name).into_iter().find(|package| package.source.is_none())?;
        Some(local.version.clone())
    };
    let Some(manifest) = manifest else {
        reader.diagnostics.push(
            Diagnostic::warning(format!("the path dependency `{name}` is not there"))
                .at(&member.source, declared.span.clone())
                .label(format!("no usable Cargo.toml in {}", dir.display()))
                .note("correct `path`, or restore the folder"),
        );
        let origin = DependencyOrigin::Unresolved(None);
        return unused(name, in_lock(), origin);
    };
    let inherits = manifest
        .package
        .as_ref()
        .is_some_and(|package| package.version == PackageVersion::Inherited);
    let root = if inherits { root_of(reader, &manifest).ok().flatten() } else { None };
    let version = version_of(root.as_deref().unwrap_or(&manifest), &manifest).or_else(in_lock);
    unused(name, version, DependencyOrigin::Path(dir))
}

/// A dependency before it is known how it is used.
fn unused(name: &str, version: Option<Version>, origin: DependencyOrigin) -> Dependency {
    Dependency { name: name.to_owned(), version, origin, usage: Usage::default() }
}

/// A dependency whose version the lock file knows: what it resolved for this member, or where the
/// manifest was edited since, what would satisfy it. A package of a registry that the manifest does
/// not admit is none: cargo replaces it at the next build.
fn locked(facts: &Facts<'_>, entry: &Declared, listed: &ByName<'_>) -> Vec<Dependency> {
    let name = entry.name();
    let mut all = facts.lock.map(|lock| lock.named(name)).unwrap_or_default();
    all.retain(|package| may_be(facts, entry, package));
    let mut listed = listed.get(name).cloned().unwrap_or_default();
    // A `[patch]` may have put another registry's in its place, which is known by being listed.
    let is_named = matches!(entry.from, DeclaredFrom::Registry(Some(_)) | DeclaredFrom::Index(_));
    if is_named || listed.iter().any(|package| may_be(facts, entry, package)) {
        listed.retain(|package| may_be(facts, entry, package));
    }
    let fits = |package: &&LockedPackage| {
        entry.requirement.as_ref().is_none_or(|needed| needed.matches(&package.version))
    };
    let mut chosen: Vec<_> = listed.iter().copied().filter(fits).collect();
    if chosen.is_empty() {
        chosen = all.iter().copied().filter(fits).collect();
    }
    let is_local = |package: &&LockedPackage| package.source.is_none();
    let is_published = matches!(entry.from, DeclaredFrom::Registry(_) | DeclaredFrom::Index(_));
    if chosen.is_empty() && (!is_published || all.iter().any(is_local)) {
        chosen = if listed.is_empty() { all } else { listed };
    }
    // With one name from two sources, the declaration says which of them is meant; a `[patch]`
    // leaves only one, from wherever.
    let expected = |package: &&LockedPackage| {
        let git = package.source.as_deref().is_some_and(|source| source.starts_with("git+"));
        package.source.is_some() && git == (entry.from == DeclaredFrom::Git)
    };
    if chosen.iter().any(expected) {
        chosen.retain(expected);
    }
    if chosen.is_empty() {
        let origin = DependencyOrigin::Unresolved(asked(facts, entry));
        return vec![unused(name, None, origin)];
    }
    chosen
        .into_iter()
        .map(|package| {
            let origin = replaced(facts, package)
                .or_else(|| DependencyOrigin::of_locked(package))
                .unwrap_or_else(|| in_folder(facts, &package.name));
            unused(&package.name, Some(package.version.clone()), origin)
        })
        .collect()
}

/// Whether a package of the lock file can be what `entry` declares, by where it comes from: another
/// member may have one of the same name from elsewhere. A `[patch]` may have put a folder or a
/// repository in the place of a registry.
fn may_be(facts: &Facts<'_>, entry: &Declared, package: &LockedPackage) -> bool {
    let Some(DependencyOrigin::Registry { index, .. }) = DependencyOrigin::of_locked(package)
    else {
        return true;
    };
    match (declared_index(facts, entry), index) {
        (Some(None), index) => index.is_none(),
        (Some(Some(wanted)), Some(index)) => same_index(&wanted, index.expose()),
        (Some(Some(_)), None) => false,
        // A registry that the configuration does not name is not crates.io.
        (None, index) => index.is_some() && entry.from != DeclaredFrom::Git,
    }
}

/// The index of the registry that is asked: `Some(None)` for crates.io, `None` where nothing says
/// which it is.
fn declared_index(facts: &Facts<'_>, entry: &Declared) -> Option<Option<String>> {
    let index = match &entry.from {
        DeclaredFrom::Registry(None) => return Some(None),
        DeclaredFrom::Registry(Some(name)) if name == "crates-io" => return Some(None),
        DeclaredFrom::Registry(Some(name)) => facts.registries.index_of(name)?,
        DeclaredFrom::Index(index) => index,
        DeclaredFrom::Git | DeclaredFrom::Path(_) => return None,
    };
    Some((!is_crates_io(index)).then(|| index.to_owned()))
}

/// Where `[replace]` has a locked package taken from.
fn replaced(facts: &Facts<'_>, package: &LockedPackage) -> Option<DependencyOrigin> {
    let replacement = facts.overrides.replacement(&package.name, &package.version)?;
    match &replacement.path {
        Some(path) => Some(DependencyOrigin::Path(normalize(&facts.root.dir.join(path)))),
        None => facts.lock?.named(&package.name).into_iter().find_map(|other| {
            let is_git = other.source.as_deref().is_some_and(|source| source.starts_with("git+"));
            let is_it = is_git && other.version == package.version;
            is_it.then(|| DependencyOrigin::of_locked(other)).flatten()
        }),
    }
}

/// What a manifest asks of a registry; `None` where nothing says of which.
fn asked(facts: &Facts<'_>, entry: &Declared) -> Option<RegistryRequirement> {
    let index = declared_index(facts, entry)?.map(SecretUrl::from);
    let requirement = entry.requirement.clone().unwrap_or(VersionReq::STAR);
    Some(RegistryRequirement { requirement, index })
}

fn in_folder(facts: &Facts<'_>, name: &str) -> DependencyOrigin {
    local_folder(facts, name).map_or(DependencyOrigin::Unresolved(None), DependencyOrigin::Path)
}

/// The folder of a package that the lock file says is local though its dependent names no path.
fn local_folder(facts: &Facts<'_>, name: &str) -> Option<PathBuf> {
    let patched = facts.overrides.patches.iter().find(|(patched, _)| patched == name);
    let member = || {
        facts
            .members
            .iter()
            .find(|member| member.package.as_ref().is_some_and(|package| package.name == name))
    };
    patched.map(|(_, dir)| dir.clone()).or_else(|| member().map(|member| member.dir.clone()))
}

/// Dependencies by name and version; of several origins, the nearest is kept.
#[derive(Default)]
struct Found {
    entries: BTreeMap<(String, Option<Version>), (DependencyOrigin, Usage)>,
}

impl Found {
    fn add(&mut self, dependency: Dependency) {
        let Dependency { name, version, origin, usage } = dependency;
        match self.entries.entry((name, version)) {
            Entry::Occupied(mut known) => {
                let (nearest, joined) = known.get_mut();
                joined.join(usage);
                if rank(&origin) < rank(nearest) {
                    *nearest = origin;
                }
            }
            Entry::Vacant(place) => {
                place.insert((origin, usage));
            }
        }
    }

    fn finish(self) -> Vec<Dependency> {
        let resolved: Vec<_> = self
            .entries
            .iter()
            .filter(|(_, (origin, _))| !matches!(origin, DependencyOrigin::Unresolved(_)))
            .map(|((name, _), _)| name.clone())
            .collect();
        self.entries
            .into_iter()
            // What one member has resolved, another's gap adds nothing to.
            .filter(|((name, version), (origin, _))| {
                !matches!(origin, DependencyOrigin::Unresolved(_))
                    || version.is_some()
                    || resolved.binary_search(name).is_err()
            })
            .map(|((name, version), (origin, usage))| Dependency { name, version, origin, usage })
            .collect()
    }
}

fn rank(origin: &DependencyOrigin) -> u8 {
    match origin {
        DependencyOrigin::Path(_) => 0,
        DependencyOrigin::Git { .. } => 1,
        DependencyOrigin::Registry { .. } => 2,
        DependencyOrigin::Unresolved(_) => 3,
    }
}

/// One warning for everything whose version is unknown, and one for what the lock file has in a
/// version that the manifest does not admit any more.
fn warn_unlocked(reader: &mut Reader, facts: &Facts<'_>, dependencies: &[Dependency]) {
    let lock = facts.root.dir.join("Cargo.lock");
    let (mut unknown, mut behind) = (Vec::new(), Vec::new());
    for found in dependencies.iter().filter(|found| found.version.is_none()) {
        let DependencyOrigin::Unresolved(asked) = &found.origin else { continue };
        let locked = facts.lock.and_then(|lock| lock.named(&found.name).into_iter().max());
        match (asked, locked) {
            (Some(asked), Some(locked)) => behind.push(format!(
                "it has {} {}, which `{}` does not admit",
                found.name, locked.version, asked.requirement
            )),
            _ => unknown.push(found.name.as_str()),
        }
    }
    if !behind.is_empty() {
        behind.truncate(LISTED);
        let message = format!("Cargo.lock is behind the manifest: {}", behind.join("; "));
        let warning = Diagnostic::warning(message).note("run `cargo check`, which updates it");
        reader.diagnostics.push(warning.in_file(&lock));
    }
    if unknown.is_empty() {
        return;
    }
    let warning = if facts.lock.is_none() {
        Diagnostic::warning(
            "there is no Cargo.lock, so the newest versions count that the manifests admit",
        )
        .note("run `cargo generate-lockfile`")
    } else {
        let mut names = unknown.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
        if let Some(more) = unknown.len().checked_sub(LISTED).filter(|more| *more > 0) {
            names.push_str(&format!(" and {more} more"));
        }
        let theirs = if unknown.len() == 1 { "its version is" } else { "their versions are" };
        Diagnostic::warning(format!("Cargo.lock does not have {names}: {theirs} unknown"))
            .note("run `cargo check`, which completes it")
    };
    reader.diagnostics.push(warning.in_file(lock));
}
