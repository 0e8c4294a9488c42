//! What stands in a team's `symposium.toml`. Unlike the user's own file it is read as a whole or not at
//! all: what a member is asked to take must be what its author meant.

use std::path::Path;
use std::sync::Arc;

use semver::Version;

use super::NAME;
use crate::config::choices::Choices;
use crate::config::model::{SourceConfig, SourceLocation, read_sources, warn_unread};
use crate::config::places::place_of_source;
use crate::files::relative_inside;
use crate::text::toml::{self as tables, Diagnostics, Table};
use crate::text::{Diagnostic, Severity, Source};

/// What a team offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TeamFile {
    /// Plugin sources.
    pub sources: Vec<SourceConfig>,
    /// Crates and plugins, taken and declined.
    pub choices: Choices,
}

/// A text, read.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadFile {
    /// `None` where something in it can't be read.
    pub(super) file: Option<TeamFile>,
    /// The least version of this program that it asks for.
    pub(super) minimum: Option<Version>,
    /// What is wrong, as errors.
    pub(super) problems: Vec<Diagnostic>,
}

impl ReadFile {
    /// Reads `text`, the file at `path` in the workspace at `root`.
    pub(super) fn parse(path: &Path, text: &str, root: &Path) -> Self {
        let source = Source::new(path, text);
        let diagnostics = Diagnostics::new(Arc::clone(&source));
        let read = tables::read(&diagnostics, |table| read_file(table, root));
        let mut problems = diagnostics.finish();
        let (file, minimum) = read.unzip();
        problems.extend(file.iter().flat_map(|file| misplaced(file, &source, root)));
        for problem in &mut problems {
            problem.severity = Severity::Error;
            problem.add_remark("until it is corrected, nothing of this file counts");
        }
        let file = file.filter(|_| problems.is_empty());
        Self { file, minimum: minimum.flatten(), problems }
    }
}

/// The keys of the whole file.
fn read_file(table: &Table<'_>, root: &Path) -> (TeamFile, Option<Version>) {
    let mut file = TeamFile::default();
    let minimum = read_minimum(table);
    read_sources(table, root, &mut file.sources);
    file.sources.iter_mut().for_each(|source| source.is_teams = true);
    if let Some(plugins) = table.table("plugins") {
        file.choices = Choices::read(&plugins);
        warn_unread(&plugins);
    }
    warn_unread(table);
    (file, minimum)
}

fn read_minimum(table: &Table<'_>) -> Option<Version> {
    let text = table.string("minimum-version")?;
    let version = Version::parse(&text.value);
    let problem = "`minimum-version` must be a whole version, such as `0.3.0`";
    version.inspect_err(|_| table.diagnostics().error(&text.span, problem)).ok()
}

/// The sources that are nowhere, or outside of the workspace.
fn misplaced(file: &TeamFile, source: &Arc<Source>, root: &Path) -> Vec<Diagnostic> {
    let misplaced = |found: &SourceConfig| {
        let problem = match &found.location {
            SourceLocation::Git { .. } => return None,
            SourceLocation::Unusable(why) => {
                Diagnostic::error(format!("the plugin source `{}`: {why}", found.name))
            }
            SourceLocation::Path(path) => {
                let inside = path.strip_prefix(root).ok().and_then(Path::to_str);
                if inside.and_then(relative_inside).is_some() {
                    return None;
                }
                let message =
                    format!("the plugin source `{}` is outside of the workspace", found.name);
                Diagnostic::error(message)
                    .note(format!("`path` starts at the folder of {NAME}, and stays below it"))
            }
        };
        let place = place_of_source(source, &found.name, "path");
        Some(match place {
            Some(span) => problem.at(source, span),
            None => problem.in_file(&source.path),
        })
    };
    file.sources.iter().filter_map(misplaced).collect()
}

/// One thing that a file offers, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offered {
    /// `Source`, `Use`, `Disable`.
    pub label: &'static str,
    pub text: String,
}

impl TeamFile {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each thing in it; secrets of URLs are left out.
    pub(crate) fn offers(&self, root: &Path) -> Vec<Offered> {
        let sources = self.sources.iter().map(|source| ("Source", told(source, root)));
        let used = self.choices.use_.iter().map(|name| ("Use", name.clone()));
        let disabled = self.choices.disable.iter().map(|name| ("Disable", name.clone()));
        let all = sources.chain(used).chain(disabled);
        all.map(|(label, text)| Offered { label, text }).collect()
    }

    /// `2 sources, 1 name to use`, for people.
    pub(crate) fn counted(&self) -> String {
        let counts = [
            (self.sources.len(), "source", "sources"),
            (self.choices.use_.len(), "name to use", "names to use"),
            (self.choices.disable.len(), "name to disable", "names to disable"),
        ];
        let parts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, one, several)| {
                format!("{count} {}", if count == 1 { one } else { several })
            })
            .collect();
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    }
}

/// A source: its name, where it is, and what the file says of its content.
fn told(source: &SourceConfig, root: &Path) -> String {
    let (place, mut more) = match &source.location {
        SourceLocation::Path(path) => {
            let inside = path.strip_prefix(root).unwrap_or(path);
            (format!("the folder {}", inside.display()), Vec::new())
        }
        SourceLocation::Git { url, rev, subdir } => {
            let mut more = Vec::new();
            more.extend(rev.iter().map(|rev| format!("rev {rev}")));
            more.extend(subdir.iter().map(|subdir| format!("subdir {subdir}")));
            (url.to_string(), more)
        }
        SourceLocation::Unusable(why) => (why.clone(), Vec::new()),
    };
    more.extend((!source.auto_update).then(|| "fetched once".to_owned()));
    more.extend(source.gates.all.iter().map(|crates| format!("for {}", crates.join(", "))));
    for (name, crates) in &source.gates.named {
        more.push(format!("{name} for {}", crates.join(", ")));
    }
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    format!("{} {place}{more}", source.name)
}
