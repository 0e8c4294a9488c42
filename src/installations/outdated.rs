//! Folders of programs that a newer version took the place of. Other workspaces' hooks and servers
//! start what is in them until a sync there: a folder goes when nothing names it any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::stamp::Stamp;
use crate::Symposium;
use crate::config::Dirs;
use crate::documents::{Entry, Ledger};
use crate::files::{Limit, Lock, is_absent, read_bytes, read_optional, write_if_changed};

/// How long another process may hold the list.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// Puts `folder` on the list of those that may go.
pub(super) fn add(sym: &Symposium, folder: &Path) {
    change(sym, |folders| folders.push(folder.to_path_buf()));
}

/// Held by whoever found out where programs are, until what it makes of that can be found by
/// [`sweep_outdated`]: folders that it may have found stay.
#[derive(Debug)]
pub(crate) struct FoundPrograms {
    _lock: Option<Lock>,
}

impl FoundPrograms {
    /// From now on nothing that may be found goes.
    pub(crate) fn keep(sym: &Symposium) -> Self {
        let lock = Lock::acquire_shared(&found_lock(&sym.dirs), LOCK_TIMEOUT);
        if let Err(error) = &lock {
            tracing::warn!("outdated programs may go at once: {error}");
        }
        Self { _lock: lock.ok() }
    }
}

/// Removes the listed folders that nothing names: no installation, no workspace's snapshot and no file
/// in which something of ours is registered. Nearly always there is no list. While another process holds
/// [`FoundPrograms`] they stay for the next time.
pub(crate) fn sweep_outdated(sym: &Symposium) {
    if !list(&sym.dirs).exists() {
        return;
    }
    let Ok(_nobody_found_them) = Lock::acquire(&found_lock(&sym.dirs), Duration::ZERO) else {
        return;
    };
    let binaries = sym.dirs.binaries();
    change(sym, |folders| {
        folders.retain(|folder| {
            if Stamp::is_used(&binaries, folder) {
                // Whoever uses it lists it again.
                return false;
            }
            if is_named(&sym.dirs, folder) {
                return true;
            }
            let _ = fs::remove_dir_all(folder);
            if let Some(parent) = folder.parent().filter(|parent| *parent != binaries) {
                // Only when it is empty.
                let _ = fs::remove_dir(parent);
            }
            folder.exists()
        });
    });
}

fn found_lock(dirs: &Dirs) -> PathBuf {
    dirs.locks().join("found-programs.lock")
}

fn list(dirs: &Dirs) -> PathBuf {
    dirs.binaries().join(".outdated.json")
}

fn change(sym: &Symposium, change: impl FnOnce(&mut Vec<PathBuf>)) {
    let path = list(&sym.dirs);
    let lock = sym.dirs.locks().join("outdated.lock");
    let Ok(_lock) = Lock::acquire(&lock, LOCK_TIMEOUT) else {
        tracing::warn!("outdated programs stay: another process holds their list");
        return;
    };
    let bytes = read_optional(&path, Limit::OURS).ok().flatten().unwrap_or_default();
    let mut folders: Vec<PathBuf> = serde_json::from_slice(&bytes).unwrap_or_default();
    // The list is a file that anybody could have written: only what is ours is ever removed.
    folders.retain(|folder| is_ours(&sym.dirs.binaries(), folder));
    change(&mut folders);
    folders.sort();
    folders.dedup();
    let done = match serde_json::to_vec_pretty(&folders) {
        Ok(_) if folders.is_empty() => fs::remove_file(&path).or(Ok(())),
        Ok(bytes) => write_if_changed(&path, &bytes).map(drop),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = done {
        tracing::warn!("outdated programs are not remembered: {error}");
    }
}

/// Whether `folder` lies in our folder of programs.
pub(super) fn is_ours(binaries: &Path, folder: &Path) -> bool {
    let inside = folder.strip_prefix(binaries).map(Path::to_path_buf).unwrap_or_default();
    let normal = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    inside != PathBuf::new() && inside.components().all(normal)
}

/// Whether a snapshot or a registered entry names `folder`. What can't be read may.
fn is_named(dirs: &Dirs, folder: &Path) -> bool {
    let plain = folder.to_string_lossy().into_owned();
    let in_json = serde_json::Value::from(plain.as_str()).to_string();
    let needles = [plain.as_str(), in_json.trim_matches('"')];
    let names = |path: &Path| match read_bytes(path, Limit::OURS) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            needles.iter().any(|needle| text.contains(needle))
        }
        Err(error) => !error.is_absent(),
    };
    let snapshots = match fs::read_dir(dirs.snapshots()) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) if is_absent(&error) => Vec::new(),
        Err(_) => return true,
    };
    let (home, mut damaged) = Ledger::home(dirs);
    let (mut ledgers, more) = Ledger::all_workspaces(dirs);
    damaged.extend(more);
    ledgers.push(home);
    let holds_entries = |entry: &Entry| {
        matches!(entry, Entry::Element { .. } | Entry::Member { .. } | Entry::OwnFile { .. })
    };
    let records = ledgers.iter().flat_map(Ledger::records);
    let mut files: Vec<PathBuf> = records
        .filter(|record| holds_entries(&record.entry))
        .map(|record| record.path.clone())
        .collect();
    files.sort();
    files.dedup();
    !damaged.is_empty() || snapshots.iter().chain(&files).any(|path| names(path))
}
