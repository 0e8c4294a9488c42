//! What `status --json` prints.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::programs::Program;
use crate::cli::team::TeamStatus;
use crate::plugins::trust::Waits;
use crate::plugins::trust::part::PartKind;
use crate::report::Change;
use crate::sync::facts::Waiting;
use crate::sync::survey::ByHand;
use crate::text::Location;

/// Everything about a workspace and its agents.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Status {
    /// The workspace; left out outside of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceStatus>,
    /// The team's file; left out where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_file: Option<TeamStatus>,
    /// Why the workspace can't be read, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_trouble: Option<Trouble>,
    /// Why the configuration can't be read: then nothing is known of agents, and nothing is synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_trouble: Option<Trouble>,
    /// The configured agents.
    pub agents: Vec<AgentStatus>,
    /// Skills that were placed by hand, for agents that are not configured.
    pub by_hand: Vec<ByHand>,
    /// Every plugin of the sources.
    pub plugins: Vec<PluginStatus>,
    /// The skills that apply, the workspace's own included.
    pub skills: Vec<SkillStatus>,
    /// Dependencies that ship skills, about which nobody said anything yet.
    pub candidates: Vec<CandidateStatus>,
    /// Plugins that are suggested, about which nobody said anything yet.
    pub suggestions: Vec<SuggestionStatus>,
    /// What is not known of dependencies whose sources are not on this machine, and what to do.
    pub absent: Vec<String>,
    /// Git sources of plugins of which there is no copy on this machine.
    pub unfetched: Vec<String>,
    /// What the next sync would change, or leave alone.
    pub next_sync: Vec<Change>,
    /// Problems, each in one line.
    pub warnings: Vec<String>,
    /// Those among `warnings` that keep a sync from being done.
    #[serde(skip)]
    pub errors: Vec<String>,
}

/// Why something can't be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Trouble {
    /// What is wrong.
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What to do.
    pub remedy: String,
}

/// The workspace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WorkspaceStatus {
    /// Its root folder.
    pub root: PathBuf,
    /// How many members it has.
    pub members: usize,
    /// How many distinct direct dependencies they have.
    pub dependencies: usize,
    /// When it was last synced, in RFC 3339; left out when it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<String>,
    /// Whether that sync could not do all it should.
    pub sync_failed: bool,
}

/// How a registration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// The next sync brings it about.
    Pending,
    /// The user's, or git's: it stays as it is.
    LeftAlone,
    /// The file can't be edited.
    Broken,
    /// It is registered, and the agent does not use it.
    Off,
    /// Its program can't be started; the agent's or its plugin's problems tell why.
    CantStart,
    /// The agent can't do this.
    Unsupported,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AgentStatus {
    /// Its name in the configuration.
    pub name: String,
    /// The name people know it by.
    pub title: String,
    /// Its hooks; left out where there is nowhere to register them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<HooksStatus>,
    /// The servers that apply.
    pub servers: Vec<ServerStatus>,
    /// How many of the skills it finds now.
    pub skills: usize,
    /// How many the next sync brings it.
    pub planned_skills: usize,
    /// Characters of names and descriptions of all these skills.
    pub descriptions: usize,
    /// How many of them the agent shows to its model; left out where no limit is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_budget: Option<usize>,
    /// What keeps something from working, or is worth knowing.
    pub problems: Vec<Problem>,
}

/// An agent's hooks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HooksStatus {
    /// `global` or `project`.
    pub scope: String,
    /// The files.
    pub files: Vec<PathBuf>,
    /// How they stand.
    pub state: State,
}

/// An agent's entry of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ServerStatus {
    /// The server.
    pub name: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// How the entry stands.
    pub state: State,
}

/// Something about an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Problem {
    /// `warning`, `error`, or `note` for what is merely worth knowing.
    pub severity: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// How a plugin came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PluginState {
    /// Its predicates hold.
    Active,
    /// They do not.
    Inactive,
    /// Another plugin of its name comes first.
    Shadowed,
    /// The user does not want it.
    Off,
}

impl PluginState {
    /// As people see it.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Shadowed => "shadowed",
            Self::Off => "off",
        }
    }
}

/// One plugin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PluginStatus {
    /// Its name.
    pub name: String,
    /// Its source.
    pub source: String,
    /// Whether that is one of the team's file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_team: bool,
    /// `symposium`, `agent-plugins` or `claude`.
    pub format: &'static str,
    /// As its package says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Format and version, for people; `None` for one of ours.
    #[serde(skip)]
    pub kind: Option<String>,
    /// Its manifest.
    pub manifest: PathBuf,
    /// How it came out.
    pub state: PluginState,
    /// Why.
    pub reason: String,
    /// How many skills through it are there now.
    pub skills: usize,
    /// How many the next sync brings.
    pub planned_skills: usize,
    /// Its hooks that apply.
    pub hooks: Vec<String>,
    /// Its servers that apply.
    pub servers: Vec<String>,
    /// Its subcommands that apply.
    pub subcommands: Vec<String>,
    /// What applies and does not run, for the user did not allow it as it is, or denied it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingStatus>,
    /// Programs that these may run.
    pub may_run: Vec<Program>,
    /// What keeps these from being run.
    pub problems: Vec<Problem>,
}

/// A hook, server, subcommand or skill that does not run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WaitingStatus {
    /// What it is.
    pub kind: PartKind,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
    /// Whether the user said that nothing of the plugin runs.
    pub denied: bool,
}

impl WaitingStatus {
    pub(super) fn new(kind: PartKind, name: &str, why: Waits) -> Self {
        let (name, reason) = (name.to_owned(), why.to_string());
        Self { kind, name, reason, denied: why == Waits::Denied }
    }

    pub(super) fn of(waiting: &Waiting) -> Self {
        Self::new(waiting.kind, &waiting.name, waiting.why)
    }
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SkillStatus {
    /// The name it is installed under.
    pub name: String,
    /// What kind of origin: `crate`, `git`, `source`, `workspace`.
    pub origin_kind: String,
    /// Where it comes from, for people.
    pub origin: String,
    /// The crate's version, or the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The plugin that brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// Its folders, relative to the workspace.
    pub folders: Vec<String>,
    /// The configured agents that see it.
    pub agents: Vec<String>,
    /// How its copies stand: `pending` where the next sync changes one, whatever the others are.
    pub state: State,
    /// Why a copy stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A plugin that its source suggests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuggestionStatus {
    /// The plugin.
    pub name: String,
    /// Its source.
    pub source: String,
    /// What it would bring, for people.
    pub offers: String,
}

/// A dependency that ships skills no source vouches for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CandidateStatus {
    /// The crate.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Folders of its skills; empty when it points to those of another crate.
    pub skills: Vec<String>,
}
