//! Vendored sources: folders called `<name>` or `<name>-<version>` (`cargo vendor`).

use std::path::{Path, PathBuf};

use semver::Version;

use super::{How, Located, Unusable, folders, package_id, split_name};
use crate::files::{Limit, read_optional};
use crate::text::same_crate;

/// The crate in one of `roots`, if its manifest says that it is the one, and nothing says that it
/// was made of another `.crate` file than that of the checksum.
///
/// # Errors
/// The folder was made of another file.
pub(super) fn exact(
    roots: &[PathBuf],
    name: &str,
    version: &Version,
    checksum: Option<&str>,
) -> Result<Option<Located>, Unusable> {
    let mut problem = None;
    for located in packages(roots, name).filter(|located| &located.version == version) {
        match (checksum, package_checksum(&located.dir)) {
            (Some(wanted), Some(found)) if !found.eq_ignore_ascii_case(wanted) => {
                problem.get_or_insert_with(|| Unusable::other_file(&located.dir, &found, wanted));
            }
            _ => return Ok(Some(located)),
        }
    }
    problem.map_or(Ok(None), Err)
}

/// The checksum of the `.crate` file that `cargo vendor` made a folder of.
fn package_checksum(dir: &Path) -> Option<String> {
    let bytes = read_optional(&dir.join(".cargo-checksum.json"), Limit::CARGO).ok()??;
    let checksums: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    checksums.get("package")?.as_str().map(str::to_owned)
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
