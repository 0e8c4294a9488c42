//! An edit, brought to disk beside other programs that write the same file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::document::Document;
use super::edited::Change;
use super::format::FileFormat;
use super::hash::hash_bytes;
use crate::files::{self, Limit, Lock, LockError, final_target, remove_if_same, replace_if_same};
use crate::text::Diagnostic;

/// How often an edit is made anew at least because another program wrote in the meantime.
const TRIES: u32 = 6;
/// For how long it is made anew at most.
const LONGEST_CONTENTION: Duration = Duration::from_secs(2);
/// A file changed this recently may be half written.
const FRESH: Duration = Duration::from_secs(2);
/// How long a half-written file gets to become whole.
const TORN_FILE_PATIENCE: Duration = Duration::from_millis(500);
/// The time between two looks at it.
const PAUSE: Duration = Duration::from_millis(25);

/// What became of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was as it should be; nothing was written.
    Unchanged,
    /// It has new content.
    Written,
    /// It is new.
    Created {
        /// Folders that were made for it, outermost first.
        folders: Vec<PathBuf>,
    },
    /// It is gone.
    Removed,
}

impl Outcome {
    /// The folders that were made for it, outermost first.
    pub(crate) fn into_folders(self) -> Vec<PathBuf> {
        match self {
            Self::Created { folders } => folders,
            Self::Unchanged | Self::Written | Self::Removed => Vec::new(),
        }
    }
}

/// Edits the file at `path`: reads it, asks `edit` what it shall be (`None`: there is no file) and
/// brings that about in one step.
///
/// Our own processes take turns (`locks_dir` holds the lock files, nothing lies beside the user's
/// file; where no lock can be made, as on a read-only home, we go on without). Other programs don't
/// know our lock: when one wrote between reading and writing, the edit is made anew on what is there
/// now, so `edit` may be called several times. A file that is half written is waited for, see
/// [`read_whole`]. A symbolic link stays; its target is edited.
///
/// # Errors
/// What `edit` refuses; a file that is no regular one, no UTF-8, over 10 MB, or can't be read or
/// written; another process of ours that holds the lock longer than `patience`. The file is then
/// as it was.
pub(crate) fn edit_file(
    locks_dir: &Path,
    path: &Path,
    patience: Duration,
    edit: &mut dyn FnMut(Option<&str>) -> Result<Change, Diagnostic>,
) -> Result<Outcome, Diagnostic> {
    edit_file_then(locks_dir, path, patience, edit, || ())
}

/// As [`edit_file`]; `after` is done while the others still wait.
///
/// # Errors
/// As [`edit_file`]; nothing is done after then.
pub(crate) fn edit_file_then(
    locks_dir: &Path,
    path: &Path,
    patience: Duration,
    edit: &mut dyn FnMut(Option<&str>) -> Result<Change, Diagnostic>,
    after: impl FnOnce(),
) -> Result<Outcome, Diagnostic> {
    let failed = |error: io::Error| Diagnostic::error(error.to_string()).in_file(path);
    let target = final_target(path).map_err(failed)?;
    let _lock = match Lock::acquire(&locks_dir.join(lock_name(&target)), patience) {
        Ok(lock) => Some(lock),
        Err(LockError::Io { .. }) => None,
        Err(error @ LockError::Busy { .. }) => {
            return Err(Diagnostic::error(error.to_string())
                .in_file(path)
                .note("try again when the other command is done"));
        }
    };
    let start = Instant::now();
    let mut tries = 0;
    while tries < TRIES || start.elapsed() < patience.min(LONGEST_CONTENTION) {
        tries += 1;
        let (before, change) =
            read_whole(&target, |text| Ok((text.map(str::to_owned), edit(text)?)))?;
        if let Some(outcome) = apply_change(&target, before.as_deref(), change).map_err(failed)? {
            after();
            return Ok(outcome);
        }
    }
    Err(Diagnostic::error("another program keeps changing this file")
        .in_file(path)
        .note("close it, or try again"))
}

/// `None` when another program wrote in the meantime.
fn apply_change(
    target: &Path,
    before: Option<&str>,
    change: Change,
) -> io::Result<Option<Outcome>> {
    match (change, before) {
        (Change::Keep, _) | (Change::Delete, None) => Ok(Some(Outcome::Unchanged)),
        (Change::Write(text), Some(before)) if text == before => Ok(Some(Outcome::Unchanged)),
        (Change::Write(text), Some(before)) => {
            let done = replace_if_same(target, Some(before.as_bytes()), text.as_bytes())?;
            Ok(done.then_some(Outcome::Written))
        }
        (Change::Write(text), None) => {
            let folders = missing_folders(target);
            // Folders of an agent are as everybody else would make them: a checkout may be a group's.
            if let Some(parent) = target.parent() {
                std::fs::create_dir_all(parent)?;
            }
            match replace_if_same(target, None, text.as_bytes()) {
                Ok(true) => Ok(Some(Outcome::Created { folders })),
                Ok(false) => Ok(None),
                Err(error) => {
                    remove_empty_folders(&folders);
                    Err(error)
                }
            }
        }
        (Change::Delete, Some(before)) => {
            let done = remove_if_same(target, before.as_bytes())?;
            Ok(done.then_some(Outcome::Removed))
        }
    }
}

/// Reads the file at `path` as `read` understands its text (`None`: there is no file). One that was
/// changed just now and is not understood, or is blank, may be half written by another program: it is
/// read again for a moment, and then given up with the message.
pub(crate) fn read_whole<T>(
    path: &Path,
    mut read: impl FnMut(Option<&str>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let start = Instant::now();
    loop {
        let mut is_blank = false;
        let found = read_text(path).and_then(|text| {
            is_blank = text.as_deref().is_some_and(|text| text.trim().is_empty());
            read(text.as_deref())
        });
        let may_be_torn = (is_blank || found.is_err()) && is_fresh(path);
        if may_be_torn && start.elapsed() < TORN_FILE_PATIENCE {
            std::thread::sleep(PAUSE);
            continue;
        }
        return found.map_err(|refusal| if may_be_torn { refusal.note(WRITING) } else { refusal });
    }
}

const WRITING: &str =
    "it was changed a moment ago: if another program is writing it, try again when it is done";

/// The document in the file at `path`; `None` when there is none. See [`read_whole`].
pub(crate) fn read_document(
    path: &Path,
    format: FileFormat,
) -> Result<Option<Document>, Diagnostic> {
    read_whole(path, |text| text.map(|text| Document::open(path, Some(text), format)).transpose())
}

/// The text of a file of the user's; `None` when there is none.
///
/// # Errors
/// A file that is no regular one, no UTF-8, over 10 MB, or can't be read.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, Diagnostic> {
    match files::read_text(path, Limit::SETTINGS) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.diagnose("this file", path)),
    }
}

/// Removes those of `folders` that are empty, the last first. Gives back those that are gone, be it
/// since before.
pub(crate) fn remove_empty_folders(folders: &[PathBuf]) -> Vec<PathBuf> {
    let gone = |folder: &&PathBuf| match fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    folders.iter().rev().filter(gone).cloned().collect()
}

/// Folders above `target` that are not there, outermost first.
pub(crate) fn missing_folders(target: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = target
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    missing
}

fn is_fresh(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|found| found.modified());
    // A time in the future counts as now.
    modified
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age < FRESH) || time.elapsed().is_err())
}

/// One lock for one file, by whatever path it is reached.
fn lock_name(target: &Path) -> String {
    let folder = target.parent().and_then(|folder| crate::files::canonicalize(folder).ok());
    let real = match (folder, target.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => target.to_path_buf(),
    };
    let hash = hash_bytes(real.as_os_str().as_encoded_bytes());
    format!("file-{}.lock", &hash[..16])
}

#[cfg(test)]
mod stress;
#[cfg(test)]
mod tests;
