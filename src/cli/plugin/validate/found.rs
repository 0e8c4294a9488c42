//! What a validation found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::levels::Named;
use crate::cli::screen::count;
use crate::text::Diagnostic;

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) plugins: BTreeSet<PathBuf>,
    pub(super) skills: BTreeSet<PathBuf>,
    pub(super) crates: usize,
    /// The letters of each skill's name and description, as agents list them.
    pub(super) listed: Vec<usize>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) names: Vec<Named>,
}

impl Found {
    /// How many things there were to look at, broken ones too.
    pub(super) fn number(&self) -> usize {
        self.plugins.len() + self.skills.len() + self.crates
    }

    /// Whether something at or below this path was looked at already, for another path.
    pub(super) fn has(&self, path: &Path) -> bool {
        let mut looked_at = self.plugins.iter().chain(&self.skills);
        looked_at.any(|place| place.starts_with(path) || path.starts_with(place))
    }

    /// `3 plugins, 5 skills: 2 errors, 1 warning`.
    pub(super) fn summary(&self, errors: usize, warnings: usize) -> String {
        let mut what = Vec::new();
        for (number, one) in [(self.plugins.len(), "plugin"), (self.crates, "crate")] {
            if number > 0 {
                what.push(count(number, one));
            }
        }
        if what.is_empty() || !self.skills.is_empty() {
            what.push(count(self.skills.len(), "skill"));
        }
        let mut wrong = Vec::new();
        for (number, one) in [(errors, "error"), (warnings, "warning")] {
            if number > 0 {
                wrong.push(count(number, one));
            }
        }
        let wrong = if wrong.is_empty() { "nothing wrong".to_owned() } else { wrong.join(", ") };
        format!("{}: {wrong}", what.join(", "))
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
