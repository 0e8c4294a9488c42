//! What can be told while a command runs: one enum, rendered in one place.
//!
//! With `--json` each event is one line, an object whose `event` key names the variant in kebab
//! case. Keys are only ever added.

use std::path::PathBuf;

use serde::Serialize;

use crate::text::{Diagnostic, Location, Severity};

/// What was, or would be, done to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Action {
    /// It is new.
    Install,
    /// It changed.
    Update,
    /// Parts of it were missing or damaged.
    Restore,
    /// Nobody needs it any more.
    Remove,
    /// The user changed it; it stays as it is.
    Keep,
    /// It can't be had, or must not be.
    Skip,
    /// An entry in an agent's file is new or changed.
    Register,
    /// An entry in an agent's file goes.
    Unregister,
    /// A source was fetched.
    Fetch,
}

impl Action {
    /// The verb for a thing done.
    pub(crate) fn past(self) -> &'static str {
        match self {
            Self::Install => "Installed",
            Self::Update => "Updated",
            Self::Restore => "Restored",
            Self::Remove => "Removed",
            Self::Keep => "Kept",
            Self::Skip => "Skipped",
            Self::Register => "Registered",
            Self::Unregister => "Unregistered",
            Self::Fetch => "Fetched",
        }
    }

    /// The verb for a thing planned.
    pub(crate) fn future(self) -> &'static str {
        match self {
            Self::Install => "Install",
            Self::Update => "Update",
            Self::Restore => "Restore",
            Self::Remove => "Remove",
            Self::Keep => "Keep",
            Self::Skip => "Skip",
            Self::Register => "Register",
            Self::Unregister => "Unregister",
            Self::Fetch => "Fetch",
        }
    }

    /// Whether doing it changes something on disk.
    pub(crate) fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Skip)
    }
}

/// What kind of thing an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A plugin source.
    Source,
    /// A plugin.
    Plugin,
    /// A group of skills in a plugin.
    Group,
    /// A skill.
    Skill,
    /// A crate.
    Crate,
    /// Hook registrations of one agent.
    Hooks,
    /// An MCP server.
    Server,
    /// A subcommand.
    Subcommand,
    /// A file or folder.
    File,
    /// An agent.
    Agent,
    /// A program of a plugin.
    Program,
    /// The code of a diagnostic.
    Code,
}

/// Where something goes; people and `--json` see the name alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Place {
    /// A folder as people see it: `.claude`, `.agents`.
    Folder(String),
    /// An agent, by its name.
    Agent(&'static str),
}

impl Place {
    fn name(&self) -> &str {
        match self {
            Self::Folder(shown) => shown,
            Self::Agent(name) => name,
        }
    }
}

/// One thing that changed or would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Change {
    /// What is done.
    pub action: Action,
    /// To what kind of thing.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Where it comes from, for people: `serde 1.0.228`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Where it goes, for people: `.claude`, `.agents`, or agents' names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub places: Vec<Place>,
    /// Why, where that is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it is only planned.
    pub planned: bool,
}

impl Change {
    /// A change that was made, of which nothing more is known.
    pub(crate) fn new(action: Action, kind: Kind, name: impl Into<String>) -> Self {
        let (origin, places, reason) = (None, Vec::new(), None);
        Self { action, kind, name: name.into(), origin, places, reason, planned: false }
    }

    /// How many of `changes` change something on disk.
    pub(crate) fn count(changes: &[Self]) -> usize {
        changes.iter().filter(|change| change.action.is_change()).count()
    }

    /// Whether it is in the files of the agent of this name.
    pub(crate) fn is_of(&self, agent: &str) -> bool {
        self.places.iter().any(|place| matches!(place, Place::Agent(name) if *name == agent))
    }

    /// The places, for people.
    pub(crate) fn shown_places(&self) -> String {
        self.places.iter().map(Place::name).collect::<Vec<_>>().join(" ")
    }
}

/// How a question about a thing came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Its predicates hold.
    Matched,
    /// A predicate does not hold.
    Skipped,
    /// Another thing of that name comes first.
    Shadowed,
    /// It is not on this machine.
    Unavailable,
    /// The user does not want it.
    Disabled,
}

impl Verdict {
    /// The word people see.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Matched => "Matched",
            Self::Skipped => "Skipped",
            Self::Shadowed => "Shadowed",
            Self::Unavailable => "Unavailable",
            Self::Disabled => "Disabled",
        }
    }
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The workspace a command works on.
    Workspace {
        /// Its root folder.
        root: PathBuf,
        /// How many members it has.
        members: usize,
        /// How many distinct direct dependencies they have.
        dependencies: usize,
    },
    /// A thing changed or would.
    Change(Change),
    /// Why a thing was taken or not (people see it with `-v`).
    Explain {
        /// What kind of thing.
        kind: Kind,
        /// Its name.
        name: String,
        /// How it came out.
        verdict: Verdict,
        /// Why.
        reason: String,
    },
    /// A problem.
    Diagnostic {
        /// Whether the thing was used all the same.
        severity: Severity,
        /// Stable code, for problems that have one.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'static str>,
        /// What is wrong.
        message: String,
        /// Where.
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<Location>,
        /// Causes and remedies.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// A line of talk: what is going on.
    Status {
        /// One capitalised word, such as `Fetching`.
        verb: String,
        /// The rest of the line.
        message: String,
    },
    /// The command is done.
    Finished {
        /// What came of it.
        summary: String,
        /// How many things changed (or would).
        changes: usize,
        /// Whether they only would.
        planned: bool,
        /// How long it took, in seconds.
        seconds: f64,
    },
}

impl Event {
    /// A line of talk.
    pub(crate) fn status(verb: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Status { verb: verb.into(), message: message.into() }
    }

    /// Why a thing was taken or not.
    pub(crate) fn explain(
        kind: Kind,
        name: impl Into<String>,
        verdict: Verdict,
        reason: impl Into<String>,
    ) -> Self {
        Self::Explain { kind, name: name.into(), verdict, reason: reason.into() }
    }
}

impl From<&Diagnostic> for Event {
    fn from(diagnostic: &Diagnostic) -> Self {
        let mut message = diagnostic.message.clone();
        if let Some(label) = &diagnostic.label {
            message = format!("{message} ({label})");
        }
        Self::Diagnostic {
            severity: diagnostic.severity,
            code: diagnostic.code,
            message,
            location: diagnostic.location(),
            notes: diagnostic.notes.clone(),
        }
    }
}
