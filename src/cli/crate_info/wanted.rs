//! Which version `--version` asks for.

use semver::{Version, VersionReq};

use crate::report::fit;
use crate::skills::crate_source::CrateRequest;
use crate::text::Diagnostic;

/// What `--version` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `1.0.3`, or `=1.0.3`.
    Exact(Version),
    /// `^1`, `1.0`, `>=1, <2`.
    Requirement(VersionReq),
}

impl Wanted {
    pub(super) fn parse(text: &str) -> Result<Self, Diagnostic> {
        let text = text.trim();
        let bare = text.strip_prefix('=').unwrap_or(text).trim();
        if let Ok(version) = Version::parse(bare) {
            return Ok(Self::Exact(version));
        }
        VersionReq::parse(text).map(Self::Requirement).map_err(|error| {
            Diagnostic::error(format!("`{}` is no version: {error}", fit(text, 80)))
                .note("for example `1.0.3`, `^1.2`, `>=1, <2`")
        })
    }

    pub(super) fn takes(&self, version: &Version) -> bool {
        match self {
            // Build metadata does not tell versions apart.
            Self::Exact(wanted) => wanted.cmp_precedence(version).is_eq(),
            Self::Requirement(wanted) => wanted.matches(version),
        }
    }

    pub(super) fn request(&self, name: &str) -> CrateRequest {
        let (version, requirement) = match self {
            Self::Exact(version) => (Some(version.clone()), None),
            Self::Requirement(requirement) => (None, Some(requirement.clone())),
        };
        CrateRequest { name: name.to_owned(), version, requirement }
    }
}
