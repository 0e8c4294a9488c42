//! What `plugin test --json` prints.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::plugin::view::Standing;
use crate::text::Location;

/// Everything that was tried out.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Tested {
    /// Each plugin, crate or skill by itself.
    pub subjects: Vec<SubjectTested>,
    /// How many checks failed: hooks and servers that do not work, cases of the suite.
    pub failed: usize,
}

/// One of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct SubjectTested {
    pub name: String,
    pub path: PathBuf,
    /// The workspace in which it was in force.
    pub workspace: Surroundings,
    /// Whether it applies there, and each of its parts.
    pub gates: Vec<GateTested>,
    pub skills: Vec<SkillListed>,
    pub servers: Vec<ServerTried>,
    /// The events that it was fed.
    pub events: Vec<EventFed>,
    /// The cases of its `tests/*.toml`.
    pub cases: Vec<CaseRun>,
    /// What else is wrong: with the manifest, and skills that are missing or can't be read.
    pub problems: Vec<String>,
}

/// A workspace.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Surroundings {
    /// Its root; left out where it was made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// The direct dependencies of one that was made up: `widget 1.0.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_up: Option<Vec<String>>,
}

/// The plugin, or a part of it, and whether it applies.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct GateTested {
    /// `plugin`, `skills`, `hook`, `server` or `subcommand`.
    pub kind: &'static str,
    pub name: String,
    #[serde(flatten)]
    pub standing: Standing,
}

/// A skill, as agents list it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct SkillListed {
    pub name: String,
    pub description: String,
    #[serde(flatten)]
    pub standing: Standing,
    /// What each agent shows to the model.
    pub agents: Vec<Listing>,
}

/// A line of an agent's list of skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Listing {
    pub agent: &'static str,
    /// The description as far as it is shown.
    pub shown: String,
    pub is_cut: bool,
}

/// A server that was started.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct ServerTried {
    pub name: String,
    /// What it calls itself, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_itself: Option<String>,
    /// The version of the protocol that it speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    pub tools: Vec<ToolListed>,
    /// Seconds until it had answered.
    pub seconds: f64,
    pub stderr: String,
    /// Why it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A tool of a server.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct ToolListed {
    pub name: String,
    pub description: String,
}

/// An event, and what became of it with each agent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct EventFed {
    pub event: &'static str,
    /// The tool, by its canonical name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub agents: Vec<Told>,
    /// The hooks for this event that no agent's event reached, each with why.
    pub not_asked: Vec<NotAsked>,
}

/// What an agent would be told.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Told {
    /// `symposium`: the canonical event.
    pub agent: String,
    /// Why the agent never sends this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never: Option<String>,
    /// The hooks that were asked.
    pub hooks: Vec<HookRun>,
    /// What they all want, and whether the agent does it.
    pub wants: Vec<Want>,
    /// The answer, as the agent reads it.
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

/// A hook's program, and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct HookRun {
    pub name: String,
    /// `exit code 2`; left out where it was not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    pub seconds: f64,
    pub stdout: String,
    pub stderr: String,
    /// What it wants, in a few words.
    pub answer: String,
    /// What in its answer was passed over.
    pub notes: Vec<String>,
    /// Why it counts as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Something that is wanted of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Want {
    /// `denial`, `words for the model` and their like.
    pub what: String,
    pub text: String,
    pub honoured: Honoured,
    /// What the agent gets in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// Whether an agent does what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum Honoured {
    Yes,
    /// The nearest that is safe.
    Instead,
    No,
}

/// A hook that was not asked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct NotAsked {
    pub name: String,
    pub reason: String,
}

/// A case of the suite.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct CaseRun {
    pub name: String,
    pub location: Location,
    /// What was not as expected; empty where all was.
    pub failures: Vec<String>,
}
