//! Skills that can't be read now: what was placed of them stays.

use crate::skills::SkillOrigin;
use crate::text::{Diagnostic, Severity};

/// Skills that are there, but can't be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unread {
    /// The skill, or a folder with whatever skills; all of a source where its path is empty.
    pub origin: SkillOrigin,
    pub plugin: Option<String>,
    /// Whether it is one skill.
    pub is_skill: bool,
    /// Why, with places; empty where that is told already.
    pub problems: Vec<Diagnostic>,
}

impl Unread {
    /// The problems, where no copy of it is: then it is skipped.
    pub(crate) fn problems_without_copy(&self) -> impl Iterator<Item = Diagnostic> {
        let told = |problem| if self.is_skill { skipped(problem) } else { as_warning(problem) };
        self.problems.iter().cloned().map(told)
    }
}

/// The problem of a skill that can't be read, where no copy of it is.
fn skipped(problem: Diagnostic) -> Diagnostic {
    as_warning(problem).remark("the skill is skipped")
}

/// One broken skill is no reason for a command to fail.
pub(super) fn as_warning(mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.severity = Severity::Warning;
    diagnostic
}
