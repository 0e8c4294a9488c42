//! `[hints]`: what is said of dependencies when a build fails.

use super::warn_unread;
use crate::text::toml::Table;

/// Letters of one hint.
const BUDGET: usize = 1_500;

/// What a tool's result with errors of the compiler is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints {
    /// Whether there are any.
    pub errors: bool,
    /// The most letters that one answer adds; 0 is none.
    pub budget: usize,
}

impl Default for Hints {
    fn default() -> Self {
        Self { errors: true, budget: BUDGET }
    }
}

impl Hints {
    pub(super) fn read(root: &Table<'_>) -> Self {
        let mut hints = Self::default();
        let Some(table) = root.table("hints") else { return hints };
        hints.errors = table.bool("errors").is_none_or(|flag| flag.value);
        if let Some(wanted) = table.integer("budget") {
            match usize::try_from(wanted.value).ok().filter(|budget| *budget <= BUDGET) {
                Some(budget) => hints.budget = budget,
                None => table.diagnostics().warning(
                    &wanted.span,
                    format!("`hints.budget` must be 0 to {BUDGET} letters; the default is used"),
                ),
            }
        }
        warn_unread(&table);
        hints
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn read(text: &str) -> (Hints, usize) {
        let loaded = Config::parse(Path::new("config.toml"), text, Path::new("/base"));
        (loaded.config.hints, loaded.diagnostics.len())
    }

    #[test]
    fn hints_can_be_switched_off_and_made_shorter() {
        assert_eq!(read(""), (Hints { errors: true, budget: 1_500 }, 0));
        assert_eq!(
            read("[hints]\nerrors = false\nbudget = 600\n").0,
            Hints { errors: false, budget: 600 }
        );
        for wrong in ["budget = -1", "budget = 1501", "budget = \"all\"", "error = true"] {
            assert_eq!(read(&format!("[hints]\n{wrong}\n")), (Hints::default(), 1), "{wrong}");
        }
    }
}
