//! Mistakes in files that others maintain: a user can't mend them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Registry;
use crate::plugins::source::SourceKind;
use crate::report::Reporter;
use crate::text::Diagnostic;

/// Tells of problems, but only counts the warnings about files of sources that are not the user's:
/// a line for each source says how many there are. Who asks for details is told each.
#[derive(Debug)]
pub(crate) struct Briefly<'a> {
    report: &'a Reporter,
    others: Others,
    counts: BTreeMap<String, usize>,
}

/// The sources that are not the user's, by their folders.
#[derive(Debug)]
pub(crate) struct Others(Vec<(PathBuf, String)>);

impl Registry {
    /// The sources that somebody else maintains.
    pub(crate) fn others(&self) -> Others {
        let git = self.sources.iter().filter(|source| source.kind == SourceKind::Git);
        Others(git.filter_map(|source| Some((source.root.clone()?, source.name.clone()))).collect())
    }
}

impl Others {
    /// The source whose file is warned of.
    pub(crate) fn source_of(&self, problem: &Diagnostic) -> Option<&str> {
        let place = problem.location().filter(|_| !problem.is_error())?;
        let mut found = self.0.iter().filter(|(root, _)| place.path.starts_with(root));
        found.next().map(|(_, name)| name.as_str())
    }
}

impl<'a> Briefly<'a> {
    pub(crate) fn new(report: &'a Reporter, registry: &Registry) -> Self {
        Self { report, others: registry.others(), counts: BTreeMap::new() }
    }

    pub(crate) fn tell<'d>(&mut self, problems: impl IntoIterator<Item = &'d Diagnostic>) {
        for problem in problems {
            match self.others.source_of(problem) {
                Some(source) if !self.report.explains() => {
                    tracing::warn!("{problem}");
                    *self.counts.entry(source.to_owned()).or_default() += 1;
                }
                _ => self.report.diagnostic(problem),
            }
        }
    }

    /// Tells what was only counted.
    pub(crate) fn finish(self) {
        for (source, count) in &self.counts {
            let counted = counted(source, *count);
            self.report.warn(format!("{counted}: `cargo agents plugin list -v` lists them"));
        }
    }
}

/// One line for all mistakes of a source.
pub(crate) fn counted(source: &str, count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} mistake{plural} in files of `{source}`, which others maintain")
}
