//! A skill as resolved, before it has a place.

use std::path::PathBuf;

use semver::Version;

/// A skill that applies to the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Its name: the frontmatter's, or a conforming slug of it.
    pub name: String,
    /// The frontmatter's description.
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
}

/// Where a skill comes from. Equal origins are the same skill, whoever pointed at it. Holds nothing
/// that differs between the machines of a team.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum SkillOrigin {
    /// A crate's sources.
    Crate {
        /// The crate.
        name: String,
        /// Its version.
        version: Version,
        /// The skill's folder in the crate, with `/`.
        path: String,
    },
    /// A git repository.
    Git {
        /// Its URL, normalised.
        repo: String,
        /// The commit, in hex.
        commit: String,
        /// The skill's folder in the repository, with `/`.
        path: String,
    },
    /// A plugin source.
    Source {
        /// The source's name.
        source: String,
        /// The skill's folder in the source, with `/`.
        path: String,
    },
    /// The workspace's own `.agents/skills`.
    Workspace {
        /// The skill's folder in the workspace, with `/`.
        path: String,
    },
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
