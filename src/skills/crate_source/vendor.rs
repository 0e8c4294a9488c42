//! Vendored sources: folders called `<name>` or `<name>-<version>` (`cargo vendor`).

use std::path::PathBuf;

use semver::Version;

use super::{How, Located, folders, package_id, split_name};
use crate::text::same_crate;

/// The crate in one of `roots`, if its manifest says that it is the one.
pub(super) fn exact(roots: &[PathBuf], name: &str, version: &Version) -> Option<Located> {
    packages(roots, name).find(|located| &located.version == version)
}

/// The versions of a crate in `roots`.
pub(super) fn versions(roots: &[PathBuf], name: &str) -> Vec<(String, Version)> {
    packages(roots, name).map(|located| (located.name, located.version)).collect()
}

fn packages(roots: &[PathBuf], wanted: &str) -> impl Iterator<Item = Located> {
    let dirs: Vec<PathBuf> = roots.iter().flat_map(|root| folders(root)).collect();
    dirs.into_iter().filter_map(move |dir| {
        let folder = dir.file_name()?.to_str()?;
        if !same_crate(folder, wanted) && split_name(folder, wanted).is_none() {
            return None;
        }
        let id = package_id(&dir).filter(|id| same_crate(&id.name, wanted))?;
        Some(Located { name: id.name, version: id.version?, dir, how: How::Vendor })
    })
}
