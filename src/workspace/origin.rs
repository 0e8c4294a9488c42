//! Where packages come from, as `Cargo.lock` writes it.

use std::path::PathBuf;

use semver::VersionReq;

use super::LockedPackage;
use crate::text::SecretUrl;

/// The index of crates.io, as cargo writes it into lock files.
pub(crate) const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Where a dependency comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DependencyOrigin {
    Registry {
        /// Its index, as in `Cargo.lock`; `None` for crates.io.
        index: Option<SecretUrl>,
        /// SHA-256 of the `.crate` file in hex, when the lock file has it.
        checksum: Option<String>,
    },
    Git {
        /// The repository's URL, without query and fragment.
        url: SecretUrl,
        commit: String,
    },
    /// A folder: a path dependency, a member, or a `[patch]` by path.
    Path(PathBuf),
    /// Declared, but neither on disk nor in the lock file in a version that the manifest admits; with
    /// what is asked of a registry, where it is known to be asked of one.
    Unresolved(Option<RegistryRequirement>),
}

/// What a manifest asks of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegistryRequirement {
    pub requirement: VersionReq,
    /// The registry's index; `None` for crates.io.
    pub index: Option<SecretUrl>,
}

impl DependencyOrigin {
    /// What the package's `source` names; `None` for a package without one, which is in a folder.
    pub(crate) fn of_locked(package: &LockedPackage) -> Option<Self> {
        let source = package.source.as_deref()?;
        if let Some(git) = source.strip_prefix("git+") {
            let (address, commit) = git.split_once('#').unwrap_or((git, ""));
            let url = address.split('?').next().unwrap_or(address).into();
            return Some(Self::Git { url, commit: commit.to_owned() });
        }
        // Its kind (`sparse+…`) is part of it: without, cargo takes it for a git repository.
        let index = (!is_crates_io(source)).then(|| source.into());
        Some(Self::Registry { index, checksum: package.checksum.clone() })
    }
}

/// Whether an index is that of crates.io, in any of the forms that cargo writes: with git or sparse,
/// with its kind before it or without.
pub(crate) fn is_crates_io(index: &str) -> bool {
    let index = index.trim_end_matches('/');
    let bare = index.strip_prefix("registry+").or_else(|| index.strip_prefix("sparse+"));
    matches!(
        bare.unwrap_or(index),
        "https://github.com/rust-lang/crates.io-index" | "https://index.crates.io"
    )
}
