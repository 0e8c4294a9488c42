//! Skill folders, and the folders that installing them made: remembered, so that a later command
//! knows where something of ours is, and takes back empty folders that were not there before.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::observe::foreign_hashes;
use super::plan::{Disk, Found, Parent, Plan, Step};
use crate::Symposium;
use crate::documents::{Entry, Ledger, Record, hash_bytes};
use crate::report::Action;
use crate::skills::discover::SKILL_FILE;
use crate::sync::bounds::{self, Bounds};
use crate::text::Diagnostic;

/// How long another process of ours may hold the ledger.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Remembers the folders that carrying out `plan` is about to make. Trouble with the ledger costs
/// tidiness only, so it is logged.
pub(crate) fn remember(sym: &Symposium, root: &Path, plan: &Plan) {
    let makes = |action| matches!(action, Action::Install | Action::Update | Action::Restore);
    let steps: Vec<&Step> = plan.steps.iter().filter(|step| makes(step.action)).collect();
    if steps.is_empty() {
        return;
    }
    let (mut ledger, _) = Ledger::workspace(&sym.dirs, root);
    for step in steps {
        for folder in step.parent.path.ancestors().take_while(|dir| !dir.exists()) {
            ledger.record(record(folder, Entry::Folder));
        }
        let hash = hash_bytes(step.origin.as_deref().unwrap_or_default().as_bytes());
        let entry = Entry::SkillFolder { name: step.name.clone(), hash };
        ledger.record(record(&step.parent.path.join(&step.name), entry));
    }
    save(sym, &mut ledger);
}

/// What is told of the folders in which `plan` changes something, and nobody can.
pub(crate) fn unwritable(plan: &Plan) -> Vec<Diagnostic> {
    let changing = plan.steps.iter().filter(|step| step.action.is_change());
    let parents: BTreeSet<&Parent> = changing.map(|step| &step.parent).collect();
    let told = parents.into_iter().filter(|parent| !is_writable(&parent.path)).map(|parent| {
        let message = format!("`{}/skills` can't be written", parent.shown);
        Diagnostic::error(message).in_file(&parent.path).note("make the folder writable for you")
    });
    told.collect()
}

/// Whether something may be made in the folder, or in the one that it would be made in.
#[cfg(unix)]
pub(crate) fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    let there = folder.ancestors().find(|dir| dir.exists());
    there.is_none_or(|dir| access(dir, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

/// What Windows says of a folder beforehand means nothing.
#[cfg(not(unix))]
pub(crate) fn is_writable(_folder: &Path) -> bool {
    true
}

/// Tells folders of ours that went but for foreign files, where a skill may go again, from those of
/// the user. What has a `SKILL.md` is the user's skill.
pub(crate) fn recognise_remainders(
    sym: &Symposium,
    root: &Path,
    parents: &[Parent],
    disk: &mut Disk,
) {
    let theirs = disk.iter_mut().zip(parents).flat_map(|(found, parent)| {
        let theirs = found.iter_mut().filter(|(_, found)| **found == Found::Theirs);
        theirs.map(|(name, found)| (parent.path.join(name), found))
    });
    let mut ledger = None;
    for (folder, found) in theirs.filter(|(folder, _)| folder.is_dir() && !folder.is_symlink()) {
        let ledger = ledger.get_or_insert_with(|| Ledger::workspace(&sym.dirs, root).0);
        let is_skill = |record: &Record| matches!(record.entry, Entry::SkillFolder { .. });
        if !ledger.records_at(&folder).any(is_skill) {
            continue;
        }
        match foreign_hashes(&folder) {
            Ok(files) if !files.keys().any(|path| path.eq_ignore_ascii_case(SKILL_FILE)) => {
                *found = Found::Remainder(files);
            }
            _ => {}
        }
    }
}

/// Removes remembered folders that are empty, and forgets skills that are gone.
pub(crate) fn reap(sym: &Symposium, root: &Path) {
    let (mut ledger, _) = Ledger::workspace(&sym.dirs, root);
    let is_gone = |record: &&Record| {
        matches!(record.entry, Entry::SkillFolder { .. }) && !record.path.exists()
    };
    let gone: Vec<Record> = ledger.records().filter(is_gone).cloned().collect();
    // From the end: what follows a record moves up when it goes.
    gone.iter().rev().for_each(|record| ledger.forget(record));
    let bounds = Bounds::of(root, sym.env.home().as_deref());
    let folders = remembered(&ledger).into_iter();
    for folder in folders.filter(|folder| bounds::check(bounds.as_ref(), folder).is_ok()) {
        match fs::remove_dir(&folder) {
            Ok(()) => ledger.forget(&record(&folder, Entry::Folder)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                ledger.forget(&record(&folder, Entry::Folder))
            }
            Err(_) => {}
        }
    }
    save(sym, &mut ledger);
}

/// The remembered folders, the innermost first.
fn remembered(ledger: &Ledger) -> Vec<PathBuf> {
    let folders = ledger.records().filter(|record| record.entry == Entry::Folder);
    let mut folders: Vec<PathBuf> = folders.map(|record| record.path.clone()).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    folders
}

fn record(folder: &Path, entry: Entry) -> Record {
    Record { agent: String::new(), path: folder.to_path_buf(), entry }
}

fn save(sym: &Symposium, ledger: &mut Ledger) {
    if let Err(error) = ledger.save(&sym.dirs, LOCK_TIMEOUT) {
        tracing::warn!("the folders that were made are not remembered: {}", error.message);
    }
}
