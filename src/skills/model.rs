//! A skill as resolved, before it has a place.

use std::path::PathBuf;

use semver::Version;

/// A skill that applies to the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Its name: the frontmatter's, or a conforming slug of it.
    pub name: String,
    pub description: String,
    /// The folder that holds its `SKILL.md`, absolute.
    pub dir: PathBuf,
    /// The folder that no file of it may lead out of (the crate's, the source's or the checkout's
    /// root).
    pub root: PathBuf,
    /// Where it comes from: its identity.
    pub origin: SkillOrigin,
    /// The plugin that brought it; `None` for the workspace's own and for standalone skills.
    pub plugin: Option<String>,
    /// Where the very same skill, byte for byte, comes from as well.
    pub same_as: Vec<SkillOrigin>,
    /// The whole of its `SKILL.md`, where that is written for the workspace and nowhere on disk.
    pub written: Option<String>,
}

/// Where a skill comes from. Equal origins are the same skill, whoever pointed at it. Holds nothing
/// that differs between the machines of a team. `path` is the skill's folder below the root of
/// where it comes from, with `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum SkillOrigin {
    Crate { name: String, version: Version, path: String },
    Git { repo: String, commit: String, path: String },
    Source { source: String, path: String },
    Workspace { path: String },
}

impl SkillOrigin {
    /// The skill's folder below the root of where it comes from.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Crate { path, .. }
            | Self::Git { path, .. }
            | Self::Source { path, .. }
            | Self::Workspace { path } => path,
        }
    }
}

/// For people: `serde 1.0.228`, `https://example.com/r at 0123456`, `user-plugins`, `workspace`.
impl std::fmt::Display for SkillOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Crate { name, version, .. } => write!(f, "{name} {version}"),
            Self::Git { repo, commit, .. } => {
                write!(f, "{repo} at {}", commit.get(..7).unwrap_or(commit))
            }
            Self::Source { source, .. } => f.write_str(source),
            Self::Workspace { .. } => f.write_str("workspace"),
        }
    }
}
