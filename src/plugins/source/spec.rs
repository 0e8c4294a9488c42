//! The plugin sources in force, before anything of them is looked at.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{BUILTIN, SourceKind};
use crate::Symposium;
use crate::config::{
    RECOMMENDATIONS, RECOMMENDATIONS_URL, SourceConfig, SourceGates, SourceLocation, USER_PLUGINS,
};
use crate::fetch::git::Repository;
use crate::files::contained;
use crate::plugins::git::GitPlace;
use crate::text::{Diagnostic, Subject};

/// Another place for the central recommendations: a mirror, or a test's repository.
const RECOMMENDATIONS_VARIABLE: &str = "SYMPOSIUM_RECOMMENDATIONS_URL";

/// Where a source is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Location {
    /// A folder, absolute.
    Path(PathBuf),
    /// A repository.
    Git(Repository),
    /// What was written is no place of this kind, and why.
    Unusable(SourceKind, Box<Diagnostic>),
    /// Inside the binary.
    Builtin,
}

/// One source, before anything was looked at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceSpec {
    pub name: String,
    pub location: Location,
    /// Whether a git source is refreshed without being asked for by name.
    pub auto_update: bool,
    /// What the user says of its content.
    pub gates: SourceGates,
    /// Whether its copy of the repository is its own: one that stays as it is must not move with
    /// another source's.
    own_copy: bool,
}

impl SourceSpec {
    /// What a file says of a source, which is at `location`.
    fn of(source: &SourceConfig, location: Location) -> Self {
        Self {
            name: source.name.clone(),
            location,
            auto_update: source.auto_update,
            gates: source.gates.clone(),
            own_copy: false,
        }
    }

    /// The repository of the package `name` that an index in this source names.
    pub(in crate::plugins) fn of_entry(&self, name: &str, place: &GitPlace) -> Self {
        Self {
            name: format!("{}/{name}", self.name),
            location: match place.repository() {
                Ok(repository) => Location::Git(repository),
                Err((_, problem)) => Location::Unusable(SourceKind::Git, problem),
            },
            auto_update: self.auto_update,
            gates: SourceGates::default(),
            own_copy: false,
        }
    }

    /// Whether it is the repository of a package that an index in `source` names.
    pub(crate) fn is_below(&self, source: &str) -> bool {
        self.name.strip_prefix(source).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The folder with the copy of its repository.
    pub(crate) fn copies(&self, sym: &Symposium) -> PathBuf {
        let shared = sym.dirs.plugin_sources();
        if !self.own_copy {
            return shared;
        }
        let hash = Sha256::digest(self.name.as_bytes());
        shared.join(format!("own-{}", crate::text::hex(&hash[..8])))
    }

    pub(crate) fn kind(&self) -> SourceKind {
        match &self.location {
            Location::Path(_) => SourceKind::Path,
            Location::Git(_) => SourceKind::Git,
            Location::Unusable(kind, _) => *kind,
            Location::Builtin => SourceKind::Builtin,
        }
    }
}

/// The sources in force, in the order in which they are searched: the first plugin of a name wins.
/// What the user configured comes first, in the order of the file, then the user's own folder, what
/// the team's file has, the central recommendations, and last what is inside the binary.
pub(crate) fn effective(sym: &Symposium) -> Vec<SourceSpec> {
    let defaults = sym.config.defaults;
    let (teams, own): (Vec<_>, Vec<_>) =
        sym.config.sources.iter().partition(|source| source.is_teams);
    let mut specs: Vec<SourceSpec> = own
        .into_iter()
        .map(|source| {
            let location = match &source.location {
                SourceLocation::Path(path) => Location::Path(below_home(sym, path)),
                SourceLocation::Git { url, rev, subdir } => {
                    let url = from_configuration(sym, url.expose());
                    repository(&url, rev.as_deref(), subdir.as_deref())
                }
                SourceLocation::Unusable(why) => unusable(Diagnostic::error(why)),
            };
            SourceSpec::of(source, location)
        })
        .collect();
    let by_default = |name: &str, location: Location| SourceSpec {
        name: name.to_owned(),
        location,
        auto_update: true,
        gates: SourceGates::default(),
        own_copy: false,
    };
    if defaults.user_plugins {
        specs.push(by_default(USER_PLUGINS, Location::Path(sym.dirs.user_plugins())));
    }
    specs.extend(teams.into_iter().map(|source| SourceSpec::of(source, of_team(sym, source))));
    let mut add = |enabled: bool, name: &str, location: Location| {
        specs.extend(enabled.then(|| by_default(name, location)));
    };
    let url = sym.env.text(RECOMMENDATIONS_VARIABLE).unwrap_or(RECOMMENDATIONS_URL);
    let recommendations = repository(url, None, None);
    add(defaults.symposium_recommendations, RECOMMENDATIONS, recommendations);
    add(defaults.builtin, BUILTIN, Location::Builtin);
    let moving: Vec<Location> =
        specs.iter().filter(|spec| spec.auto_update).map(|spec| spec.location.clone()).collect();
    for spec in specs.iter_mut().filter(|spec| !spec.auto_update) {
        spec.own_copy = moving.contains(&spec.location);
    }
    specs
}

/// Where a source of the team's file is: in the workspace, or on a server.
fn of_team(sym: &Symposium, source: &SourceConfig) -> Location {
    match (&source.location, &sym.team) {
        (SourceLocation::Path(path), Some(team)) => {
            let inside = path.strip_prefix(team.root()).ok().and_then(Path::to_str);
            // A link may lead elsewhere since it was accepted.
            match contained(team.root(), inside.unwrap_or("..")) {
                Ok(path) => Location::Path(path),
                Err(escape) => {
                    unusable(Diagnostic::error(escape.to_string()).about(Subject::Key("path")))
                }
            }
        }
        (SourceLocation::Git { url, rev, subdir }, _) => {
            match repository(url.expose(), rev.as_deref(), subdir.as_deref()) {
                Location::Git(repository) if repository.is_local() => {
                    let problem = Diagnostic::error(format!(
                        "the team's file can't name a repository on this machine: `{url}`"
                    ));
                    let note = "a folder of the workspace is `path`";
                    Location::Unusable(SourceKind::Git, Box::new(problem.note(note)))
                }
                location => location,
            }
        }
        _ => unusable(Diagnostic::error("it is nowhere")),
    }
}

fn unusable(problem: Diagnostic) -> Location {
    Location::Unusable(SourceKind::Path, Box::new(problem))
}

fn repository(url: &str, rev: Option<&str>, subdir: Option<&str>) -> Location {
    match Repository::parse(url, rev, subdir) {
        Ok(repository) => Location::Git(repository),
        Err(problem) => Location::Unusable(SourceKind::Git, problem),
    }
}

/// A folder of the configuration, which may be below `~`.
fn below_home(sym: &Symposium, path: &Path) -> PathBuf {
    let from_home = path.strip_prefix("~").ok().and_then(|rest| Some(sym.env.home()?.join(rest)));
    from_home.as_deref().unwrap_or(path).components().collect()
}

/// In the configuration a repository may be a path relative to it, or to the home folder.
pub(super) fn from_configuration(sym: &Symposium, url: &str) -> String {
    let from_home = url.strip_prefix("~/").and_then(|rest| Some(sym.env.home()?.join(rest)));
    let is_relative = url == "." || url == ".." || url.starts_with("./") || url.starts_with("../");
    let from_config = is_relative.then(|| sym.dirs.config().join(url));
    match from_home.or(from_config) {
        Some(path) => path.components().collect::<PathBuf>().to_string_lossy().into_owned(),
        None => url.to_owned(),
    }
}
