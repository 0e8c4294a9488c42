//! What is on disk in the skill folders now.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::apply::STAGING;
use super::marker::{MARKER, Marker};
use super::plan::{Disk, Found, Parent};
use crate::files::{Limit, ReadError, read_bytes, read_text};
use crate::skills::content::FileContent;

/// Looks into each parent folder.
pub(crate) fn observe(parents: &[Parent]) -> Disk {
    parents.iter().map(|parent| observe_parent(&parent.path)).collect()
}

fn observe_parent(parent: &Path) -> BTreeMap<String, Found> {
    let Ok(entries) = fs::read_dir(parent) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let what = if name.starts_with(STAGING) {
            Found::Leftover
        } else if is_folder {
            observe_skill(&entry.path())
        } else {
            // A link, even one to a folder of ours, is somebody else's arrangement.
            Found::Theirs
        };
        found.insert(name, what);
    }
    found
}

fn observe_skill(dir: &Path) -> Found {
    let marker = match fs::symlink_metadata(dir.join(MARKER)) {
        Ok(metadata) if metadata.is_file() => read_text(&dir.join(MARKER), Limit::MANIFEST),
        _ => return Found::Theirs,
    };
    let files = marker.and_then(|text| Ok((text, hashes_on_disk(dir)?)));
    match files {
        Ok((text, mut files)) => {
            files.remove(MARKER);
            Found::Ours { marker: Marker::parse(&text), files }
        }
        Err(error) => Found::Unreadable(error.to_string()),
    }
}

/// The hash of each regular file below `dir`; links and folders inside appear as entries that
/// equal no file's hash, so that a folder which holds them counts as changed.
fn hashes_on_disk(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    walk(dir, "", &mut found)?;
    Ok(found)
}

fn walk(dir: &Path, prefix: &str, found: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &path, found)?;
        } else if kind.is_file() {
            let metadata = entry.metadata()?;
            let hash = match read_bytes(&entry.path(), Limit::COPY) {
                Err(ReadError::TooLarge(_)) => "too large".to_owned(),
                read => FileContent { bytes: read?, executable: is_executable(&metadata) }.hash(),
            };
            found.insert(path, hash);
        } else {
            found.insert(path, "a link".to_owned());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}
