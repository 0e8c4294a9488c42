//! What `doctor --json` prints.

use serde::Serialize;

use crate::agents::Agent;
use crate::report::Change;
use crate::text::{Diagnostic, Location, Severity};

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Doctor {
    /// What is wrong, or worth knowing; the worst first.
    pub findings: Vec<Finding>,
    /// The checks that found nothing.
    pub passed: Vec<String>,
    /// The checks that could not be made, or not of everything.
    pub not_checked: Vec<Unchecked>,
    /// What `--fix` changed.
    pub fixed: Vec<Change>,
}

/// A check that could not be made, or not of everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Unchecked {
    /// The check.
    pub check: String,
    /// Why.
    pub reason: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Weight {
    /// Something does not work at all.
    Error,
    /// Something works less well than it could.
    Warning,
    /// Worth knowing; it does not count for the exit code.
    Note,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Finding {
    /// The check that found it.
    pub check: String,
    /// Stable name of the kind of finding, in kebab case.
    pub code: String,
    /// How bad it is.
    pub severity: Weight,
    /// The agent it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What to do.
    pub remedy: String,
    /// Whether `--fix` does it.
    pub fixable: bool,
}

impl Finding {
    pub(super) fn new(code: &str, severity: Weight, message: impl Into<String>) -> Self {
        Self {
            check: String::new(),
            code: code.to_owned(),
            severity,
            agent: None,
            message: message.into(),
            location: None,
            remedy: String::new(),
            fixable: false,
        }
    }

    /// A diagnostic, which has the remedy in its notes; `remedy` serves where it has none.
    pub(super) fn of(code: &str, severity: Weight, found: &Diagnostic, remedy: &str) -> Self {
        let mut finding = Self::new(code, severity, found.told());
        finding.location = found.location();
        finding.remedy = found.remedy().unwrap_or_else(|| remedy.to_owned());
        finding
    }

    pub(super) fn of_agent(mut self, agent: Agent) -> Self {
        self.agent = Some(agent.name().to_owned());
        self
    }

    pub(super) fn at(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.location = Some(Location { path: path.into(), line: None, column: None });
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    pub(super) fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }
}

impl From<Severity> for Weight {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note => Self::Note,
        }
    }
}
