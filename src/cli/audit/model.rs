//! What an audit found.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::audit_args::{Rule, rules};
use crate::cli::forges::relative;
use crate::cli::plugin::trust::Standing;
use crate::plugins::source::SourceKind;
use crate::plugins::trust::part::PartKind;
use crate::text::{Diagnostic, Location, Severity};

/// The whole answer.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Audit {
    /// The workspace's root.
    pub(super) workspace: PathBuf,
    /// Its `symposium.lock`, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lock_file: Option<PathBuf>,
    /// How many direct dependencies it has.
    pub(super) dependencies: usize,
    /// Every skill that applies, and those in agents' folders of the checkout.
    pub(super) skills: Vec<SkillRow>,
    /// Every hook, server and subcommand that applies.
    pub(super) programs: Vec<ProgramRow>,
    /// Every source and repository that something could come from.
    pub(super) sources: Vec<SourceRow>,
    pub(super) findings: Vec<Finding>,
}

/// A skill that was looked at.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SkillRow {
    pub name: String,
    /// Where it comes from, for people: `widget 1.2.3`, `team`, `this checkout`.
    pub from: String,
    pub folder: PathBuf,
    /// As its frontmatter, a file beside it or its crate says; absent where nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// How many files it has; absent where it can't be installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Bytes of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Those of its files that can be run.
    pub scripts: Vec<String>,
    /// The hosts of addresses in its texts.
    pub hosts: Vec<String>,
}

/// A hook, server or subcommand that applies.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProgramRow {
    pub kind: PartKind,
    pub name: String,
    pub plugin: String,
    pub source: String,
    /// What it is, a line each: `runs: sh guard.sh`.
    pub lines: Vec<String>,
    /// The files of the plugin that it could run.
    pub files: Vec<String>,
    pub standing: Standing,
    pub sha256: String,
}

/// Where plugins and skills come from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SourceRow {
    /// Its name, or the repository that a plugin takes skills from.
    pub name: String,
    pub kind: SourceKind,
    pub location: String,
    /// The branch, tag or commit that is asked for; absent for the default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    /// The commit that is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub hold: Hold,
}

/// What holds a source to what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(super) enum Hold {
    /// It is a folder, and is what it is.
    Folder,
    /// It is at the commit of `symposium.lock`.
    Locked,
    /// It is not at that commit.
    Moved,
    /// Its `rev` does.
    Rev,
    /// Nothing does.
    Unpinned,
    /// It could not be looked at.
    Unknown,
}

/// One thing that was found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Finding {
    /// Its rule, which keeps its name.
    rule: &'static str,
    severity: Severity,
    message: String,
    /// Where: from the workspace's root, where it is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    pub(super) fn of(problem: &Diagnostic, root: &Path) -> Self {
        let location = problem.location().map(|place| {
            let path = PathBuf::from(relative(&place.path, root));
            Location { path, ..place }
        });
        Self {
            rule: problem.code.unwrap_or_default(),
            severity: problem.severity,
            message: problem.told(),
            location,
            remedy: problem.remedy(),
        }
    }
}

/// What was found, before anything of it is denied.
#[derive(Debug, Default)]
pub(super) struct Findings(pub Vec<Diagnostic>);

impl Findings {
    pub(super) fn add(&mut self, rule: Rule, problem: Diagnostic) {
        self.0.push(problem.code(rule.name));
    }

    /// Adds what people do not see.
    pub(super) fn hidden(&mut self, problem: Diagnostic) {
        let problem = match problem.notes.is_empty() {
            true => problem.note("say it where everybody sees it, or take it out"),
            false => problem,
        };
        self.add(rules::HIDDEN_TEXT, problem);
    }

    /// Adds what is no reason to fail by itself, whatever it is elsewhere.
    pub(super) fn warn(&mut self, rule: Rule, problem: Diagnostic) {
        self.add(rule, Diagnostic { severity: Severity::Warning, ..problem });
    }
}
