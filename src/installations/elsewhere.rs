//! What this room has others fetch for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A repository's files on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The folder that the URL names; it never changes.
    pub dir: PathBuf,
    /// The commit, in hex.
    pub commit: String,
}

/// Repositories and archives.
pub trait Fetcher {
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
