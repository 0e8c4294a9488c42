//! What of a crate's folder would be published.

use std::ffi::OsStr;
use std::path::Path;

use super::{FetchError, Fetcher};

impl Fetcher<'_> {
    /// The files that the crate with this `Cargo.toml` would have once published, relative to it and
    /// with `/`, as `cargo package --list` has them: what git ignores and what `exclude` and `include`
    /// leave out is not there. Nothing is built, and no network used.
    pub(crate) fn packaged(&self, manifest: &Path) -> Result<Vec<String>, FetchError> {
        let session = self.empty_folder(None)?;
        // Cargo makes a target folder even for a list.
        let target = session.folder.path().join("target");
        let output = session.cargo(
            ["package", "--list", "--allow-dirty", "--offline", "--target-dir"]
                .map(OsStr::new)
                .into_iter()
                .chain([target.as_os_str(), OsStr::new("--manifest-path"), manifest.as_os_str()]),
        )?;
        if !output.success() {
            return Err(FetchError::Cargo(session.refusal(&output)));
        }
        Ok(output.stdout_text().lines().map(|line| line.replace('\\', "/")).collect())
    }
}
