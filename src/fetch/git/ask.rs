//! Asking a remote without taking anything.

use std::path::Path;
use std::time::Duration;

use super::client::Client;
use super::{GitError, Repository};
use crate::config::Environment;
use crate::files::private_folders;

impl Repository {
    /// Asks the remote for the commit that is wanted, and changes nothing: whether it can be reached
    /// and has it. `cache` is where git gets a folder to work in, for as long as it takes.
    pub(crate) fn ask(
        &self,
        cache: &Path,
        limit: Duration,
        env: &Environment,
    ) -> Result<String, GitError> {
        private_folders(cache).map_err(GitError::cache)?;
        let scratch = tempfile::Builder::new().prefix(".ask-").tempdir_in(cache);
        let scratch = scratch.map_err(GitError::cache)?;
        let client = Client::new(self, scratch.path(), env, limit)?;
        client.resolve().map(|target| target.commit)
    }
}
