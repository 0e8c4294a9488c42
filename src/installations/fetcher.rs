//! What this room has others fetch for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Symposium;
use crate::fetch::archive::{self, Format, Layout};
use crate::fetch::git::{Limits as GitLimits, Policy, Repository};
use crate::files::open;
use crate::symposium::UpdateLevel;

/// A repository's files on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    /// The folder that the URL names; it never changes.
    pub dir: PathBuf,
    pub commit: String,
}

/// Repositories and archives.
pub(crate) trait Fetcher {
    /// The files of a repository, or of the folder of it that `url` names. With `refresh` the
    /// remote is asked for something newer than what is on disk; `limit` holds for all of it.
    ///
    /// # Errors
    /// Why there are none, for people.
    fn checkout(&self, url: &str, refresh: bool, limit: Duration) -> Result<Tree, String>;

    /// Unpacks a `.tar.gz`, `.tgz` or `.tar` file, whose name is `name`, into `into`, which does
    /// not exist yet.
    ///
    /// # Errors
    /// Why the archive is refused, for people; `into` then does not exist.
    fn unpack(&self, archive: &Path, name: &str, into: &Path) -> Result<(), String>;
}

/// The rooms that really do it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Network<'a> {
    sym: &'a Symposium,
}

impl<'a> Network<'a> {
    /// For this context: its environment, its cache, and whether it is offline.
    pub(crate) fn new(sym: &'a Symposium) -> Self {
        Self { sym }
    }
}

impl Fetcher for Network<'_> {
    fn checkout(&self, url: &str, refresh: bool, limit: Duration) -> Result<Tree, String> {
        let repository =
            Repository::parse(url, None, None).map_err(|diagnostic| diagnostic.message.clone())?;
        let policy = Policy {
            level: if refresh { UpdateLevel::Check } else { UpdateLevel::None },
            first_fetch: true,
            force: refresh,
            offline: self.sym.options.offline,
            limit,
            lock_timeout: limit,
            limits: GitLimits::default(),
        };
        let cache = self.sym.dirs.cache().join("repositories");
        let checkout =
            repository.checkout(&cache, &policy, &self.sym.env).map_err(|error| error.whole())?;
        if let Some(error) = &checkout.stale {
            tracing::warn!("the copy of {} that is there is used: {error}", repository.shown());
        }
        Ok(Tree { dir: checkout.dir, commit: checkout.commit })
    }

    fn unpack(&self, archive: &Path, name: &str, into: &Path) -> Result<(), String> {
        let format =
            Format::of_name(name).ok_or_else(|| format!("{name} is no archive that we unpack"))?;
        // A program alone may be larger than any file of a crate.
        let limits = archive::Limits {
            total: 1000 * archive::MEGABYTE,
            file: 500 * archive::MEGABYTE,
            ..archive::Limits::default()
        };
        let file = open(archive).map_err(|error| error.to_string())?;
        archive::unpack(file, format, into, Layout::AsIs, &limits)
            .map(drop)
            .map_err(|error| error.to_string())
    }
}
