//! The plugin sources that a configuration names.

use std::path::{Path, PathBuf};

use super::{RECOMMENDATIONS, USER_PLUGINS, warn_unread};
use crate::text::SecretUrl;
use crate::text::toml::Table;

/// The keys that say where a source is.
const LOCATION_KEYS: [&str; 4] = ["git", "path", "rev", "subdir"];

/// One `[[plugin-source]]` (or `[[registry]]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceConfig {
    /// The name it is shown under.
    pub name: String,
    pub location: SourceLocation,
    /// Whether a git source is refreshed without being asked for by name.
    pub auto_update: bool,
    /// What things in it are for that do not say it themselves.
    pub gates: SourceGates,
    /// Whether it is in the team's file, not in the user's own.
    pub is_teams: bool,
}

impl SourceConfig {
    /// Whether `name` is this source, or the repository of a package that an index in it names.
    pub(in crate::config) fn covers(&self, name: &str) -> bool {
        name.strip_prefix(&*self.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The user's word on what things in a source are for: entries of `crates`, not read yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceGates {
    /// `crates`: everything in it.
    pub all: Option<Vec<String>>,
    /// `[plugin-source.plugins.NAME] crates`: one plugin or skill.
    pub named: Vec<(String, Vec<String>)>,
}

/// Where a plugin source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceLocation {
    /// A git repository, by any URL that git takes.
    Git {
        /// The URL as written; `/tree/<ref>/<path>` forms are taken apart later.
        url: SecretUrl,
        /// A branch, tag or commit, when given as a key of its own.
        rev: Option<String>,
        /// A folder inside the repository, when given as a key of its own.
        subdir: Option<String>,
    },
    /// A folder; absolute, or below `~`, the home folder.
    Path(PathBuf),
    /// Nobody knows where, and why: what came from it stays until that is mended.
    Unusable(String),
}

/// Reads the sources; whether the name of each is known.
pub(in crate::config) fn read_sources(
    root: &Table<'_>,
    base: &Path,
    sources: &mut Vec<SourceConfig>,
) -> bool {
    let mut is_clear = true;
    for key in ["plugin-source", "registry"] {
        let entries = root.tables(key);
        is_clear &= entries.as_ref().map_or(!root.has(key), |all| all.len() == root.count(key));
        for entry in entries.unwrap_or_default() {
            match read_source(&entry, base) {
                None => is_clear = false,
                Some(source) => match taken(&source.name, sources) {
                    true => {
                        let message = format!(
                            "this plugin source is left out: the name `{}` is taken",
                            source.name
                        );
                        entry.diagnostics().warning(&entry.span, message);
                    }
                    false => sources.push(source),
                },
            }
        }
    }
    is_clear
}

fn taken(name: &str, known: &[SourceConfig]) -> bool {
    known.iter().any(|source| source.name == name)
        || [RECOMMENDATIONS, USER_PLUGINS, "builtin"].contains(&name)
}

/// `None` where it has no name to know it by.
fn read_source(table: &Table<'_>, base: &Path) -> Option<SourceConfig> {
    let name = table.string("name").filter(|name| !name.value.trim().is_empty());
    let [git, path, rev, subdir] = LOCATION_KEYS.map(|key| table.string(key));
    let (git, path) = (git.map(|git| git.value), path.map(|path| path.value));
    let auto_update = table.bool("auto-update").is_none_or(|flag| flag.value);
    let gates = SourceGates { all: crates(table), named: named(table) };
    warn_unread(table);
    let Some(name) = name else {
        table.diagnostics().warning(&table.span, "this plugin source has no `name`");
        return None;
    };
    let is_unread = |(key, value): &(&str, bool)| table.has(key) && !value;
    let read = [git.is_some(), path.is_some(), rev.is_some(), subdir.is_some()];
    let unread = LOCATION_KEYS.into_iter().zip(read).find(is_unread);
    let location = match (git, path) {
        _ if let Some((key, _)) = unread => {
            SourceLocation::Unusable(format!("its `{key}` is no string"))
        }
        (Some(_), Some(_)) => {
            SourceLocation::Unusable("it has both `git` and `path`; keep one".to_owned())
        }
        (None, None) => SourceLocation::Unusable(
            "it needs `git = \"<url>\"` or `path = \"<folder>\"`".to_owned(),
        ),
        (Some(url), None) => {
            let [rev, subdir] = [rev, subdir].map(|key| key.map(|key| key.value));
            SourceLocation::Git { url: url.into(), rev, subdir }
        }
        (None, Some(path)) if path.trim().is_empty() => {
            SourceLocation::Unusable("its `path` is empty".to_owned())
        }
        (None, Some(path)) => {
            for key in ["rev", "subdir"] {
                if let Some(span) = table.key_span(key) {
                    let message =
                        format!("`{key}` has no effect beside `path`: a folder is used as it is");
                    table.diagnostics().warning(&span, message);
                }
            }
            let path = PathBuf::from(path);
            SourceLocation::Path(if path.starts_with("~") { path } else { base.join(path) })
        }
    };
    Some(SourceConfig { name: name.value, location, auto_update, gates, is_teams: false })
}

/// `crates`, or `depends-on`, which means the same.
fn crates(table: &Table<'_>) -> Option<Vec<String>> {
    let lists = ["crates", "depends-on"].map(|key| table.string_or_strings(key));
    if let [Some(_), Some(second)] = &lists {
        let message = "`crates` and `depends-on` mean the same; the first one counts";
        table.diagnostics().warning(&second.span, message);
    }
    let list = lists.into_iter().flatten().next()?;
    Some(list.value.into_iter().map(|item| item.value).collect())
}

/// `[plugin-source.plugins.NAME]`.
fn named(table: &Table<'_>) -> Vec<(String, Vec<String>)> {
    let Some(plugins) = table.table("plugins") else { return Vec::new() };
    let mut named = Vec::new();
    for name in plugins.keys() {
        let Some(said) = plugins.table(&name.value) else { continue };
        named.extend(crates(&said).map(|crates| (name.value.clone(), crates)));
        warn_unread(&said);
    }
    named
}
