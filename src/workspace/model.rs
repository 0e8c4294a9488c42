//! What is known of a workspace.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use semver::Version;

use super::{DependencyOrigin, Registries};
use crate::text::spelling;

/// A Rust workspace (or a single package), as its files tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// Folder of the root manifest, absolute and canonical.
    pub root: PathBuf,
    /// The members in the order of their folders.
    pub members: Vec<Member>,
    /// What members declare as dependencies, of any kind, sorted by name then version; one entry a
    /// name and version. A member that another member depends on counts.
    pub dependencies: Vec<Dependency>,
    /// Every package in `Cargo.lock`, sorted; empty without one.
    pub locked: Vec<LockedPackage>,
    /// `Cargo.lock`, when there is one.
    pub lock_file: Option<PathBuf>,
    /// Files and folders whose change can change any of this, sorted: the root's and each member's
    /// manifest, the lock file (also where it is missing), the folders that member globs look into,
    /// manifests of path dependencies, the manifests above a root without `[workspace]`, and cargo's
    /// configuration files (also where they are missing).
    pub inputs: Vec<PathBuf>,
    /// Folders that replace a registry, by cargo's configuration; `None` where there is no workspace to
    /// have read it for.
    pub vendor_folders: Option<Vec<PathBuf>>,
    /// Registries, and what stands in for them, by cargo's configuration.
    pub registries: Registries,
}

/// One member of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub name: String,
    /// Its version, unless it has none or inherits one that is missing.
    pub version: Option<Version>,
    pub dir: PathBuf,
    /// Whether its manifest names Symposium: one that does not says nothing of skills.
    pub names_us: bool,
}

/// A direct dependency of some member, under its package name (never the rename).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub name: String,
    /// The version the lock file resolved; for a path dependency that of its manifest, which cargo
    /// puts into the lock file at the next build; `None` when nothing on disk tells.
    pub version: Option<Version>,
    pub origin: DependencyOrigin,
    pub usage: Usage,
}

/// What a dependency is declared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DependencyKind {
    Normal,
    Build,
    /// Tests, examples and benchmarks.
    Development,
}

/// How members use a dependency: what their declarations of it say together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub kinds: BTreeSet<DependencyKind>,
    /// The names that code knows it by, where they are not its own.
    pub renames: BTreeSet<String>,
    /// Whether no declaration has it unconditionally.
    pub optional: bool,
    pub default_features: bool,
    /// Features that are asked for besides the default ones.
    pub features: BTreeSet<String>,
    /// The members that declare it.
    pub members: BTreeSet<String>,
}

impl Usage {
    /// Adds what another declaration says.
    pub(super) fn join(&mut self, other: Self) {
        self.optional &= other.optional;
        self.default_features |= other.default_features;
        self.kinds.extend(other.kinds);
        self.renames.extend(other.renames);
        self.features.extend(other.features);
        self.members.extend(other.members);
    }
}

/// A package in `Cargo.lock`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedPackage {
    pub name: String,
    pub version: Version,
    /// Its source as written (`registry+…`, `git+…`), `None` for path packages.
    pub source: Option<String>,
    /// SHA-256 of its `.crate` file in hex.
    pub checksum: Option<String>,
}

/// Things by the crate that they are about, whose name may be spelt with `-` or `_`.
#[derive(Debug, Clone)]
pub(crate) struct ByCrate<'a, T> {
    found: HashMap<Cow<'a, str>, Vec<&'a T>>,
}

impl<'a, T> ByCrate<'a, T> {
    /// Looks at all `items` once.
    pub(crate) fn new(items: &'a [T], name_of: fn(&T) -> &str) -> Self {
        let mut found: HashMap<_, Vec<_>> = HashMap::with_capacity(items.len());
        for item in items {
            found.entry(spelling(name_of(item))).or_default().push(item);
        }
        Self { found }
    }

    /// Those that are about the crate `name`, in their order.
    pub(crate) fn get(&self, name: &str) -> &[&'a T] {
        self.found.get(&*spelling(name)).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::same_crate;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn for_all_names_a_crate_is_found_in_every_spelling(
            names in proptest::collection::vec("[ab_-]{1,5}", 0..60),
            name in "[ab_-]{1,5}",
        ) {
            let known = ByCrate::new(&names, |known| known);
            let found = known.get(&name).to_vec();
            let expected: Vec<&String> =
                names.iter().filter(|known| same_crate(known, &name)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
