//! What exists because of us, by the ledgers as they were before anything was taken back.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock::FILE_LOCK_TIMEOUT;
use crate::documents::ledger::CreatedContainers;
use crate::documents::{
    Change, Created, Document, Entry, FileFormat, Ledger, edit_file_then, remove_empty_folders,
};
use crate::sync::bounds::Bounds;
use crate::text::Diagnostic;
use crate::{Symposium, files};

/// Containers in files, files, and folders. Who of us filled them does not matter: they go when they
/// are empty.
#[derive(Debug, Default)]
pub(crate) struct CreatedByUs {
    pub created: BTreeMap<PathBuf, Vec<Created>>,
    folders: Vec<PathBuf>,
    /// The folders of all files that we wrote.
    written_in: BTreeSet<PathBuf>,
    /// Of the workspaces that they belong to.
    bounds: Vec<Bounds>,
}

impl CreatedByUs {
    pub(crate) fn collect(&mut self, sym: &Symposium, ledger: &Ledger) {
        let bounds = ledger.root().and_then(|root| Bounds::of(root, sym.env.home().as_deref()));
        self.bounds.extend(bounds);
        let is_folder = |entry: &Entry| *entry == Entry::Folder;
        self.folders
            .extend(ledger.records().filter(|it| is_folder(&it.entry)).map(|it| it.path.clone()));
        let mut paths: Vec<PathBuf> =
            ledger.records().map(|record| record.path.clone()).chain(ledger.leftovers()).collect();
        paths.sort();
        paths.dedup();
        self.written_in.extend(paths.iter().filter_map(|path| Some(path.parent()?.to_path_buf())));
        for path in paths {
            let surroundings = ledger.surroundings(&path);
            self.folders.extend(surroundings.folders);
            if !surroundings.created.is_empty() {
                self.created.entry(path).or_default().extend(surroundings.created);
            }
        }
    }

    /// Removes the temporary files of processes that were killed while they wrote.
    pub(crate) fn sweep(&self) {
        let is_ours = |folder: &&PathBuf| self.check(folder).is_ok();
        self.written_in.iter().filter(is_ours).for_each(|folder| files::sweep(folder));
    }

    /// Undoes what is empty by now, and lets the ledgers forget it. Trouble costs tidiness only, so
    /// it is logged.
    pub(crate) fn tidy(&self, sym: &Symposium, root: Option<&Path>) {
        let workspace = root.map(|root| Ledger::workspace(&sym.dirs, root).0);
        let mut ledgers: Vec<Ledger> =
            workspace.into_iter().chain([Ledger::home(&sym.dirs).0]).collect();
        for (path, created) in &self.created {
            let mut ledgers: Vec<&mut Ledger> = ledgers.iter_mut().collect();
            let check = || self.check(path);
            if let Err(error) = undo(sym, path, created, (&mut ledgers, &check), FILE_LOCK_TIMEOUT)
            {
                tracing::warn!("not tidied: {}", error.message);
            }
        }
        self.remove_empty_folders();
    }

    /// Undoes what was created in the file at `path` and is empty. Gives back what is in use.
    ///
    /// # Errors
    /// As [`edit_file_then`]; a file that does not parse; one that is out of bounds now.
    pub(crate) fn prune(
        &self,
        sym: &Symposium,
        path: &Path,
        created: &[Created],
    ) -> Result<Vec<Created>, Diagnostic> {
        prune_and(sym, path, created, FILE_LOCK_TIMEOUT, (&|| self.check(path), |_: &[Created]| ()))
    }

    fn check(&self, path: &Path) -> Result<(), Diagnostic> {
        self.bounds.iter().try_for_each(|bounds| bounds.check(path))
    }

    /// Removes those folders that are empty, the innermost first. Gives back those that are not.
    pub(crate) fn remove_empty_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.folders.clone();
        folders.retain(|folder| self.check(folder).is_ok());
        folders.sort_by_key(|folder| (folder.components().count(), folder.clone()));
        folders.dedup();
        let gone = remove_empty_folders(&folders);
        folders.retain(|folder| !gone.contains(folder) && folder.exists());
        folders
    }
}

/// Lets a file be edited, or not.
pub(crate) type Check<'a> = &'a dyn Fn() -> Result<(), Diagnostic>;

/// As [`CreatedByUs::prune`], and the ledgers forget what is gone before another process of ours may write the
/// file: what that one makes anew is then remembered after it was forgotten.
pub(crate) fn undo(
    sym: &Symposium,
    path: &Path,
    created: &[Created],
    (ledgers, check): (&mut [&mut Ledger], Check<'_>),
    patience: Duration,
) -> Result<(), Diagnostic> {
    let forget = |kept: &[Created]| {
        let created = created.iter().filter(|one| !kept.contains(one)).cloned().collect();
        let gone = CreatedContainers { created, folders: Vec::new() };
        for ledger in ledgers {
            ledger.note_undone(path, gone.clone());
            if let Err(error) = ledger.save(&sym.dirs, patience) {
                tracing::warn!("not forgotten: {}", error.message);
            }
        }
    };
    prune_and(sym, path, created, patience, (check, forget)).map(drop)
}

/// Does `after` with what is in use before another process of ours may write the file.
fn prune_and(
    sym: &Symposium,
    path: &Path,
    created: &[Created],
    patience: Duration,
    (check, after): (Check<'_>, impl FnOnce(&[Created])),
) -> Result<Vec<Created>, Diagnostic> {
    // An exclude file has no containers and is blank or gone already.
    let Some(format) = FileFormat::of_path(path) else {
        after(&[]);
        return Ok(Vec::new());
    };
    let kept = RefCell::new(Vec::new());
    let mut edit = |text: Option<&str>| {
        check()?;
        let Some(text) = text else {
            kept.borrow_mut().clear();
            return Ok(Change::Keep);
        };
        let mut document = Document::open(path, Some(text), format)?;
        kept.replace(document.prune(created)?);
        Ok(document.finish().change)
    };
    edit_file_then(&sym.dirs.locks(), path, patience, &mut edit, || after(&kept.borrow()))?;
    Ok(kept.take())
}
