//! What is on disk in the skill folders now.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::apply::STAGING;
use super::content::hashes_on_disk;
use super::marker::{MARKER, Marker};
use super::plan::{Disk, Found, Parent};
use crate::files::{Limit, read_text};

/// Looks into each parent folder.
pub fn observe(parents: &[Parent]) -> Disk {
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
