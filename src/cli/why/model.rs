//! What `why --json` prints.

use serde::Serialize;

use crate::report::Kind;

/// Everything that is known by a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Why {
    /// The name that was asked for.
    pub name: String,
    /// One for each thing of that name.
    #[serde(rename = "accounts")]
    pub trails: Vec<Trail>,
}

/// How one thing came out, decision by decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Trail {
    /// What kind of thing.
    pub kind: Kind,
    /// Its own name.
    pub name: String,
    /// Whether it is in force here.
    pub in_force: bool,
    /// The outcome in a few words: `is installed`, `is not active`.
    pub verdict: String,
    /// The decisions, first to last.
    pub steps: Vec<Step>,
}

/// One decision, or one fact that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Step {
    /// What it is about, in a word: `plugin`, `needs`, `found`.
    pub label: String,
    /// What was found.
    pub text: String,
}

impl Trail {
    pub(super) fn new(
        kind: Kind,
        name: impl Into<String>,
        in_force: bool,
        verdict: impl Into<String>,
    ) -> Self {
        let (name, verdict) = (name.into(), verdict.into());
        Self { kind, name, in_force, verdict, steps: Vec::new() }
    }

    pub(super) fn step(&mut self, label: &str, text: impl Into<String>) {
        let step = Step { label: label.to_owned(), text: text.into() };
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }
}
