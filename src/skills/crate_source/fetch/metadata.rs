//! Where `cargo metadata` says that a crate is.

use std::path::PathBuf;

use semver::Version;

use crate::process::Output;
use crate::skills::crate_source::{How, Located};

/// The place that `cargo metadata` names: the one way to know a replaced source's.
pub(super) fn located(output: &Output, name: &str, version: &Version) -> Option<Located> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        version: Version,
        manifest_path: PathBuf,
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).ok()?;
    let found = metadata
        .packages
        .into_iter()
        .find(|package| package.name == name && package.version == *version)?;
    Some(Located {
        name: found.name,
        version: found.version,
        dir: found.manifest_path.parent()?.to_path_buf(),
        how: How::Vendor,
    })
}
