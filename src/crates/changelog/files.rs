//! Which files of a crate are its changelog.

use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;

use super::heading::version_of_file;

/// Names of changelogs, without their endings.
const NAMES: [&str; 11] = [
    "changelog",
    "changes",
    "change-log",
    "change_log",
    "history",
    "releases",
    "release-notes",
    "release_notes",
    "releasenotes",
    "release",
    "news",
];
/// Folders that hold a changelog, or one file for each version.
const FOLDERS: [&str; 7] =
    ["changelog", "changelogs", "changes", "releases", "release-notes", "release_notes", "docs"];
const ENDINGS: [&str; 7] = ["md", "markdown", "rst", "txt", "adoc", "org", ""];
/// Files that are looked at.
const MOST: usize = 500;

/// A file that may have a section of a changelog, or be one.
#[derive(Debug)]
pub(super) struct Candidate {
    pub path: PathBuf,
    /// The version that the whole file is about.
    pub version: Option<Version>,
}

/// Those of the crate `name` in `dir`, in the order of their names.
pub(super) fn candidates(dir: &Path, name: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in entries(dir) {
        let lower = entry.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if FOLDERS.contains(&lower.as_str()) && entry.is_dir() {
            folders.push(entry);
        } else if is_changelog(&entry) {
            found.push(Candidate { path: entry, version: None });
        }
    }
    for folder in folders.iter().filter(|folder| is_inside(folder)) {
        // What lies in `docs` is more than changelogs.
        let is_docs = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case("docs"));
        for path in entries(folder) {
            let version = stem_of(&path).and_then(|stem| version_of_file(&stem, name));
            if is_changelog(&path) || !is_docs && version.is_some() {
                found.push(Candidate { version: version.filter(|_| !is_docs), path });
            }
        }
    }
    found.truncate(MOST);
    found
}

/// Where the changelog of the crate `name` is, relative to its folder `dir`: a file, or a folder with a
/// file for each version, which ends with `/`.
pub(crate) fn place(dir: &Path, name: &str) -> Option<String> {
    let found = candidates(dir, name);
    let first = found.iter().find(|found| found.version.is_none()).or(found.first())?;
    let path = first.path.strip_prefix(dir).ok()?;
    let folder = first.version.as_ref().and_then(|_| path.parent()?.to_str());
    match folder {
        Some(folder) => Some(format!("{folder}/")),
        None => Some(path.to_str()?.replace('\\', "/")),
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<_> =
        entries.take(10 * MOST).filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    found
}

/// Crates are unpacked without links; a path dependency's folder may have some that lead anywhere.
fn is_inside(path: &Path) -> bool {
    !path.is_symlink()
}

/// The name without its ending, where that is one of a text.
fn stem_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?.to_lowercase();
    let (stem, ending) = match file.rsplit_once('.') {
        Some((stem, ending)) if ENDINGS.contains(&ending) => (stem, ending),
        _ => (file.as_str(), ""),
    };
    ENDINGS.contains(&ending).then(|| stem.to_owned())
}

/// Whether a file is a changelog, by its name.
fn is_changelog(path: &Path) -> bool {
    let Some(stem) = stem_of(path) else { return false };
    // `CHANGELOG-0.x.md`, `CHANGELOG_old.md`: what was moved out of it.
    let is_it = NAMES.iter().any(|name| {
        let rest = stem.strip_prefix(name);
        rest.is_some_and(|rest| {
            rest.is_empty() || name.starts_with("change") && rest.starts_with(['-', '_', '.'])
        })
    });
    is_it && is_inside(path) && path.is_file()
}
