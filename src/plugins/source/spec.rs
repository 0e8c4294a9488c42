//! The plugin sources in force, before anything of them is looked at.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{BUILTIN, SourceKind};
use crate::Symposium;
use crate::config::{
    RECOMMENDATIONS, RECOMMENDATIONS_URL, SourceGates, SourceLocation, USER_PLUGINS,
};
use crate::fetch::git::Repository;
use crate::plugins::git::GitPlace;
use crate::text::Diagnostic;

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
/// What the user configured comes first, in the order of the file, then the user's own folder, the
/// central recommendations, and last what is inside the binary.
pub(crate) fn effective(sym: &Symposium) -> Vec<SourceSpec> {
    let defaults = sym.config.defaults;
    let mut specs: Vec<SourceSpec> = sym
        .config
        .sources
        .iter()
        .map(|source| SourceSpec {
            name: source.name.clone(),
            auto_update: source.auto_update,
            gates: source.gates.clone(),
            own_copy: false,
            location: match &source.location {
                SourceLocation::Path(path) => Location::Path(below_home(sym, path)),
                SourceLocation::Git { url, rev, subdir } => {
                    let url = from_configuration(sym, url.expose());
                    repository(&url, rev.as_deref(), subdir.as_deref())
                }
                SourceLocation::Unusable(why) => {
                    Location::Unusable(SourceKind::Path, Box::new(Diagnostic::error(why)))
                }
            },
        })
        .collect();
    let mut add = |enabled: bool, name: &str, location: Location| {
        if enabled {
            let (name, gates) = (name.to_owned(), SourceGates::default());
            specs.push(SourceSpec { name, location, auto_update: true, gates, own_copy: false });
        }
    };
    add(defaults.user_plugins, USER_PLUGINS, Location::Path(sym.dirs.user_plugins()));
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
