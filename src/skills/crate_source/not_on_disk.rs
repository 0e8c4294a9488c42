//! Crates whose sources can't be had, why, and what to do about it.

use semver::{Version, VersionReq};

use crate::text::same_crate;
use crate::workspace::Workspace;

/// A crate whose sources are not on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub(crate) struct NotOnDisk {
    pub name: String,
    /// Its version, where it is known.
    pub version: Option<Version>,
    /// What its version must meet.
    pub requirement: Option<VersionReq>,
    /// What kept it from being used or had, where it was more than not being there.
    pub reason: Option<String>,
    pub needs: Needs,
}

/// What a crate's sources wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Needs {
    /// To be fetched.
    #[default]
    Fetch,
    /// There is no cargo to fetch them.
    Cargo,
    /// What is there was made of another file than that of the lock file's checksum. Cargo replaces
    /// nothing that is there, and takes nothing else.
    RightFile,
}

impl Needs {
    /// What to do where fetching does not help.
    pub(crate) fn remedy(self) -> Option<&'static str> {
        match self {
            Self::Fetch => None,
            Self::Cargo => {
                Some("crates are fetched by cargo: put it on PATH, or name it in `SYMPOSIUM_CARGO`")
            }
            Self::RightFile => Some(
                "don't build with it: remove it, and what cargo unpacked of it in `registry/src`, and \
                 get it anew with `cargo fetch` (or `cargo vendor`); if that fails or brings the \
                 same, ask who runs the registry why it has another file than when Cargo.lock was \
                 written",
            ),
        }
    }
}

impl NotOnDisk {
    /// What to do about it: what the workspace depends on comes with `cargo fetch`, another crate
    /// (one that its skills are taken from) only with us.
    pub(crate) fn remedy(&self, workspace: &Workspace, offline: bool) -> &'static str {
        let dependencies = workspace.dependencies.iter().map(|known| &known.name);
        let mut known = dependencies.chain(workspace.locked.iter().map(|known| &known.name));
        if let Some(remedy) = self.needs.remedy() {
            remedy
        } else if known.any(|name| same_crate(name, &self.name)) {
            "`cargo fetch` puts the sources of dependencies on disk"
        } else if offline {
            "without `--offline`, cargo is asked to fetch it"
        } else {
            "the next `cargo agents sync` tries again"
        }
    }
}

impl std::fmt::Display for NotOnDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the sources of {}", self.name)?;
        if let Some(version) = &self.version {
            write!(f, " {version}")?;
        } else if let Some(requirement) = &self.requirement {
            write!(f, " {requirement}")?;
        }
        match &self.reason {
            Some(reason) => write!(f, " can't be had: {reason}"),
            None => f.write_str(" are not on this machine"),
        }
    }
}

/// Why what is there can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct Unusable {
    pub why: String,
    pub needs: Needs,
}

impl Unusable {
    /// What is at `path` is not what the lock file means.
    pub(super) fn other_file(path: &std::path::Path, found: &str, wanted: &str) -> Self {
        let found = found.escape_debug();
        let why = format!("{} has the SHA-256 {found}, Cargo.lock has {wanted}", path.display());
        Self { why, needs: Needs::RightFile }
    }
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Self { why, needs: Needs::Fetch }
    }
}
