//! A plugin as validated: what the rest of the program works with.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::{Version, VersionReq};
use symposium_hook::Event;

use super::git::GitPlace;
pub(crate) use crate::agents::places::Transport;
use crate::text::SecretUrl;

/// A plugin: everything one `SYMPOSIUM.toml`, or one package in a format of others, offers.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Plugin {
    pub name: String,
    /// As its manifest or package says it; packages may write anything.
    pub version: Option<String>,
    pub description: Option<String>,
    /// What is to be said of a package; `None` for a `SYMPOSIUM.toml`.
    pub package: Option<Package>,
    /// Name of the source it was found in.
    pub source: String,
    /// Root folder of that source: no path of the plugin may lead out of it.
    pub source_root: PathBuf,
    pub manifest: PathBuf,
    pub dir: PathBuf,
    pub gate: Gate,
    /// Ways to get programs, inline ones promoted; names are unique.
    pub installations: Vec<Installation>,
    pub skills: Vec<SkillGroup>,
    pub hooks: Vec<Hook>,
    pub servers: Vec<McpServer>,
    pub subcommands: Vec<Subcommand>,
}

impl Plugin {
    /// What no path of the plugin may lead out of: its source, or the folder of a package, which its
    /// authors made to be copied by itself.
    pub(crate) fn boundary(&self) -> &Path {
        if self.package.is_some() { &self.dir } else { &self.source_root }
    }

    /// How deep below a folder of skills the plugin's skills are.
    pub(crate) fn skill_depths(&self) -> RangeInclusive<usize> {
        match self.package.as_ref().map(|package| package.format) {
            None => ANY_DEPTH,
            Some(PackageFormat::AgentPlugins) => 1..=1,
            Some(PackageFormat::Claude) => 0..=1,
        }
    }
}

/// How deep below a folder a skill may be where no format says it.
pub(crate) const ANY_DEPTH: RangeInclusive<usize> = 0..=6;

/// What is particular to a plugin in a format of others.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Package {
    pub format: PackageFormat,
    /// The repository that an index says it is in; it is not looked at unless the user asks for it.
    pub elsewhere: Option<GitPlace>,
    /// What of it has no effect here.
    pub not_taken: Vec<NotTaken>,
}

/// The formats of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum PackageFormat {
    /// Agent Plugins (agent-plugins.org), version 1.0.0.
    AgentPlugins,
    /// Claude Code's (code.claude.com/docs/en/plugins-reference).
    Claude,
}

/// Something in a package that has no effect.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NotTaken {
    /// What it is: `2 commands: deploy, review`.
    pub what: String,
    pub why: String,
    /// Whether the package breaks a rule of its format there.
    pub is_mistake: bool,
}

/// `crates` (or `depends-on`) and `predicates` at one level. All levels must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gate {
    /// `None` when the level says nothing, which holds. A list holds if one of its atoms does; an
    /// empty list never does.
    pub crates: Option<Vec<CrateAtom>>,
    /// Every one must hold.
    pub predicates: Vec<Predicate>,
}

/// One atom of a `crates` list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum CrateAtom {
    /// `*`: holds everywhere.
    Any,
    /// A crate, perhaps with a version requirement.
    Crate {
        /// The crate's name as written.
        name: String,
        /// The requirement; `None` for any version.
        requirement: Option<VersionReq>,
        /// The atom as written, for people.
        text: String,
    },
}

/// One entry of a `predicates` list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Predicate {
    /// `env(NAME)` or `env(NAME=value)`.
    Env {
        name: String,
        /// The value it must have; `None`: set, and not empty.
        value: Option<String>,
    },
    /// `path_exists(path)`, relative to the workspace's root and inside it.
    PathExists(String),
    DependsOn(CrateAtom),
    /// `workspace-member()`: the plugin's crate is a member (holds if any crate of the gate is).
    WorkspaceMember,
    Not(Box<Predicate>),
    Any(Vec<Predicate>),
    All(Vec<Predicate>),
    /// What a plugin's `activation` says: it waits for the user to ask for it by name.
    Waits {
        activation: Activation,
        plugin: String,
    },
    /// Stands in no manifest: the user asked for the plugin by name (`Registry::wake`).
    AskedFor,
    /// `shell(…)` and names we do not know: never run, never hold, even inside `not`.
    Unsupported(String),
}

/// How a plugin waits whose `activation` is not `always`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Activation {
    /// The user is asked about it wherever its gate holds.
    Suggested,
    /// It stays asleep until the user thinks of it.
    Off,
}

/// A group of skills.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct SkillGroup {
    pub gate: Gate,
    pub source: SkillSource,
    /// Where the entry stands in the manifest, as a byte range.
    pub span: Range<usize>,
}

/// Where a group's skills are.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum SkillSource {
    /// A folder, relative to the plugin's folder.
    Path(String),
    Git(GitPlace),
    /// The sources of the matched crates.
    Crate {
        /// `source.crate_path = "dir"`: a folder of the crate tried first.
        tried_first: Option<String>,
    },
    /// `source.cargo`: the named crate's own skills, whether a dependency or not.
    NamedCrate {
        name: String,
        /// A requirement on its version.
        requirement: Option<VersionReq>,
    },
}

/// How to get something onto disk and what of it to run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Installation {
    /// Its name; a promoted inline one is named after its owner (`<hook>`, `<owner>__req_<i>`).
    pub name: String,
    /// How to get it; `None`: it is on disk, or its commands put it there.
    pub source: Option<InstallSource>,
    /// Shell commands that finish the installation, run once per installation and version.
    pub install_commands: Vec<String>,
    /// Names of installations that must be there too.
    pub requirements: Vec<String>,
    pub runnable: Option<Runnable>,
    /// Arguments to run it with; `None` when the installation says nothing.
    pub args: Option<Vec<String>>,
}

/// What of an installation is run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Runnable {
    /// A program: a binary's name for cargo, a path inside the tree for git and archives, a path in
    /// the plugin's folder (or an absolute one) without a source.
    Executable(String),
    /// A script, run as `sh <path>`.
    Script(String),
    /// The shell; the arguments say what it does.
    Shell,
}

/// How an installation gets onto disk.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum InstallSource {
    Cargo {
        krate: String,
        /// The version as written: an exact one or a requirement.
        version: Option<String>,
        /// A repository instead of the registry.
        git: Option<SecretUrl>,
        /// Into the user's own cargo folder, not our cache.
        global: bool,
    },
    /// A git repository or a folder of one (`source = "github"`, any URL git takes).
    Git { url: SecretUrl },
    /// An archive or a bare executable.
    Binary {
        /// The URL; may hold `{target}`, `{version}`, `{arch}`, `{os}`.
        url: SecretUrl,
        /// What `{version}` stands for.
        version: Option<String>,
        /// SHA-256 in hex: one for all targets, or one a target.
        sha256: Checksum,
    },
}

/// The checksums of a binary installation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Checksum {
    One(String),
    /// By target triple.
    ByTarget(BTreeMap<String, String>),
}

/// A hook.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Hook {
    pub name: String,
    pub gate: Gate,
    pub event: Event,
    /// A regular expression over the whole tool name; `None`: all tools.
    pub matcher: Option<String>,
    pub command: String,
    /// What of it to run, where the hook says so and the installation does not.
    pub runnable: Option<Runnable>,
    /// Arguments, where the hook says so and the installation does not.
    pub args: Option<Vec<String>>,
    /// Installations that must be there too.
    pub requirements: Vec<String>,
    /// Only for this agent.
    pub agent: Option<String>,
    /// `symposium`, or the agent whose own format the handler speaks.
    pub format: String,
    /// Whether it is asked in that format whatever agent is at work: a package's, which knows no other.
    pub is_portable: bool,
    pub timeout: Duration,
    /// What a crash, a time-out or a missing program means.
    pub on_failure: OnFailure,
    /// Whether processes that it leaves behind go on.
    pub detach: bool,
}

/// What a failing hook means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnFailure {
    /// Logged; the agent carries on.
    #[default]
    Continue,
    /// The action is blocked, with a reason that names plugin and failure.
    Block,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct McpServer {
    /// Its name in the agents' files.
    pub name: String,
    pub gate: Gate,
    pub transport: Transport,
    /// The folder that a program is started in, as its package says it.
    pub cwd: Option<String>,
    /// Whether its variables or headers are not known, since nobody keeps them: what is registered of
    /// it stays as it is.
    #[serde(skip)]
    pub is_withheld: bool,
}

/// A subcommand.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Subcommand {
    pub name: String,
    /// One line for the help.
    pub description: String,
    /// Whom the help lists it for.
    pub audience: Audience,
    pub command: String,
    pub gate: Gate,
}

/// Whom a subcommand is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Audience {
    /// People.
    Humans,
    /// Agents.
    #[default]
    Agents,
}

/// A crate that a gate matched: name as in the lock file, and version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MatchedCrate {
    pub name: String,
    /// Its version, where it is known.
    pub version: Option<Version>,
}
