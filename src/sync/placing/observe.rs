//! What is on disk in the skill folders now.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::marker::{MARKER, Marker, STAGING};
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
    let read = marker.map_err(io::Error::from).and_then(|text| {
        let marker = Marker::parse(&text);
        let files = hashes_on_disk(dir, &marker)?;
        Ok(Found::Ours { marker, files })
    });
    read.unwrap_or_else(|error| Found::Unreadable(error.to_string()))
}

/// The hash of each regular file below `dir` but the marker; links inside appear as entries that
/// equal no file's hash, and so do foreign files and folders that can't be read.
fn hashes_on_disk(dir: &Path, marker: &Marker) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    walk(dir, "", &mut |path, entry| {
        let hash = match entry {
            Ok(entry) => match hash(entry) {
                Err(_) if marker.is_foreign(&path) => "unreadable".to_owned(),
                hash => hash?,
            },
            Err(_) if marker.is_foreign(&path) => "unreadable".to_owned(),
            Err(error) => return Err(error),
        };
        found.insert(path, hash);
        Ok(())
    })?;
    found.remove(MARKER);
    Ok(found)
}

/// The hash of each file in a folder in which nothing is ours.
pub(super) fn foreign_hashes(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    walk(dir, "", &mut |path, entry| {
        let hash = entry.and_then(hash).unwrap_or_else(|_| "unreadable".to_owned());
        found.insert(path, hash);
        Ok(())
    })?;
    Ok(found)
}

fn hash(entry: &fs::DirEntry) -> io::Result<String> {
    if !entry.file_type()?.is_file() {
        return Ok("a link".to_owned());
    }
    match read_bytes(&entry.path(), Limit::COPY) {
        Err(ReadError::TooLarge(_)) => Ok("too large".to_owned()),
        read => {
            let executable = is_executable(&entry.metadata()?);
            Ok(FileContent { bytes: read?, executable }.hash())
        }
    }
}

/// The files of a skill folder, as (ours, foreign), by their paths below it. Only what is really
/// inside it is named, whatever its marker says; without a marker all is foreign.
pub(super) fn files_by_owner(dir: &Path) -> io::Result<(Vec<String>, Vec<String>)> {
    let marker = read_text(&dir.join(MARKER), Limit::MANIFEST);
    let marker = marker.map(|text| Marker::parse(&text)).ok();
    let (mut ours, mut foreign) = (Vec::new(), Vec::new());
    walk(dir, "", &mut |path, _| {
        let is_foreign = marker.as_ref().is_none_or(|marker| marker.is_foreign(&path));
        if is_foreign {
            foreign.push(path)
        } else {
            ours.push(path)
        }
        Ok(())
    })?;
    Ok((ours, foreign))
}

type Visit<'a> = &'a mut dyn FnMut(String, io::Result<&fs::DirEntry>) -> io::Result<()>;

/// Visits everything below `dir` that is no folder, and folders that can't be read, with their paths
/// below it. Links are not followed.
fn walk(dir: &Path, prefix: &str, visit: Visit<'_>) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Err(error) if !prefix.is_empty() => return visit(prefix.to_owned(), Err(error)),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &path, visit)?;
        } else {
            visit(path, Ok(&entry))?;
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
