//! `cargo agents plugin publish --dry-run`: what a user of a plugin, a source or a crate will get, and how
//! it gets to them. Nothing is published: that is done by cargo and git, whose words are shown.
//!
//! [`gather`] looks, [`honours`] asks the agents, [`steps`] knows the ways, [`show`] is for people.

mod gather;
mod honours;
mod show;
mod steps;

use std::path::Path;

use serde::Serialize;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::plugins::programs::Program;
use crate::report::ExitCode;

/// The whole answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Publication {
    /// What users of it get, one by one.
    offers: Vec<Offer>,
    /// How it gets to them.
    ways: Vec<Way>,
}

/// A plugin, a skill by itself, or a crate.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Offer {
    name: String,
    /// `plugin`, `skill` or `crate`.
    kind: &'static str,
    /// What must hold for it; none for a crate, which is vouched for by others.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    skills: Vec<ShippedSkill>,
    /// Skills that come from elsewhere, for people.
    from_elsewhere: Vec<String>,
    /// Everything it could run.
    may_run: Vec<Program>,
    files: usize,
    bytes: u64,
    /// What each agent makes of it.
    agents: Vec<Honoured>,
}

/// A skill that is in it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShippedSkill {
    name: String,
    /// What must hold for it besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    files: usize,
    bytes: u64,
}

/// What an agent makes of the parts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Honoured {
    agent: &'static str,
    /// How many skills it lists.
    skills: usize,
    /// Hooks that it asks.
    hooks: Vec<String>,
    /// What it does with answers, for each event that a hook of its is asked at.
    answers: Vec<Answers>,
    /// Servers that it starts or connects to.
    servers: Vec<String>,
    /// What has no effect with it, and why.
    without_effect: Vec<WithoutEffect>,
}

/// What an agent does with answers at an event.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Answers {
    event: &'static str,
    honoured: Vec<String>,
    /// What becomes something else, or nothing.
    otherwise: Vec<String>,
}

/// A part that has no effect with an agent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct WithoutEffect {
    what: String,
    why: String,
}

/// A way to users.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Way {
    /// To whom.
    title: String,
    /// Commands, in order.
    commands: Vec<String>,
    /// What users do then.
    then: String,
}

pub(super) fn run(sym: &Symposium, path: &Path) -> CommandResult {
    let publication = gather::publication(sym, path)?;
    sym.report.json(&publication);
    sym.report.result(&show::render(sym, &publication));
    Ok(ExitCode::SUCCESS)
}
