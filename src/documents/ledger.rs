//! What we wrote where, so that exactly that can be taken back.
//!
//! One ledger for the home folder and one for each workspace. A ledger is changed in memory and
//! [`Ledger::save`]d: what others saved in the meantime is kept. Record before you write: an entry
//! in the ledger that never reached its file does no harm, one in a file that no ledger knows can
//! never be taken back.

mod record;
mod storage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::record::Records;
pub(crate) use self::record::{Entry, Record};
use super::edited::Created;
use super::hash::hash_bytes;
use crate::config::Dirs;
use crate::text::Diagnostic;

/// What exists of a file because of us, besides the entries themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CreatedContainers {
    /// Tables and arrays, or the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Created>,
    /// Folders that were made for it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileNote {
    path: PathBuf,
    #[serde(flatten)]
    surroundings: CreatedContainers,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Data {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<PathBuf>,
    #[serde(default)]
    records: Records,
    /// What a file may still say where a record is ahead of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Record>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileNote>,
}

/// The version of the file's format.
const VERSION: u32 = 1;

impl Data {
    fn empty(workspace: Option<PathBuf>) -> Self {
        Self {
            version: VERSION,
            workspace,
            records: Records::default(),
            earlier: Vec::new(),
            files: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.records.0.is_empty() && self.files.is_empty()
    }

    /// Makes a change. Says whether it was one.
    fn apply(&mut self, step: &Step) -> bool {
        match step {
            Step::Record(record) => {
                let before = self.records.0.insert(record.thing(), record.clone());
                self.settled(record) | (before.as_ref() != Some(record))
            }
            Step::Ahead(record) => {
                let before = self.records.0.insert(record.thing(), record.clone());
                let is_change = before.as_ref() != Some(record);
                if let Some(before) = before.filter(|_| is_change)
                    && !self.earlier.contains(&before)
                {
                    self.earlier.push(before);
                }
                is_change
            }
            Step::Forget(record) => {
                let before = self.records.0.shift_remove(&record.thing());
                self.settled(record) | before.is_some()
            }
            Step::Created(path, more) => {
                let at = self.files.iter().position(|note| note.path == *path);
                let at = at.unwrap_or_else(|| {
                    let surroundings = CreatedContainers::default();
                    self.files.push(FileNote { path: path.clone(), surroundings });
                    self.files.len() - 1
                });
                let note = &mut self.files[at].surroundings;
                merge(&mut note.created, &more.created) | merge(&mut note.folders, &more.folders)
            }
            Step::Undone(path, gone) => {
                let mut is_change = false;
                for note in self.files.iter_mut().filter(|note| note.path == *path) {
                    let note = &mut note.surroundings;
                    let before = note.clone();
                    note.created.retain(|one| !gone.created.contains(one));
                    note.folders.retain(|one| !gone.folders.contains(one));
                    is_change |= *note != before;
                }
                self.files.retain(|note| note.surroundings != CreatedContainers::default());
                is_change
            }
        }
    }

    /// Nothing of this thing is ahead of its file any more. Says whether anything was.
    fn settled(&mut self, record: &Record) -> bool {
        let before = self.earlier.len();
        if before > 0 {
            let thing = record.thing();
            self.earlier.retain(|known| known.thing() != thing);
        }
        self.earlier.len() != before
    }
}

/// Adds what is not there yet. Says whether there was any.
fn merge<T: PartialEq + Clone>(known: &mut Vec<T>, more: &[T]) -> bool {
    let before = known.len();
    for one in more {
        if !known.contains(one) {
            known.push(one.clone());
        }
    }
    known.len() != before
}

/// One change, so that it can be made anew on what others saved.
#[derive(Debug, Clone)]
enum Step {
    Record(Record),
    Ahead(Record),
    Forget(Record),
    Created(PathBuf, CreatedContainers),
    Undone(PathBuf, CreatedContainers),
}

/// What we wrote in the home folder, or in one workspace.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    file: PathBuf,
    data: Data,
    steps: Vec<Step>,
    /// Whether there is anything to save.
    changed: bool,
    /// Whether the file could not be read and is still in its place.
    damaged: bool,
}

impl Ledger {
    /// The ledger of the home folder. A damaged one counts as empty, with a warning.
    pub(crate) fn home(dirs: &Dirs) -> (Self, Vec<Diagnostic>) {
        Self::load(dirs.ledgers().join("home.json"), None)
    }

    /// The ledger of the workspace at `root`. A damaged one counts as empty, with a warning.
    pub(crate) fn workspace(dirs: &Dirs, root: &Path) -> (Self, Vec<Diagnostic>) {
        let file = dirs.ledgers().join(workspace_file_name(root));
        Self::load(file, Some(root.to_path_buf()))
    }

    /// All ledgers of workspaces, in the order of their roots.
    pub(crate) fn all_workspaces(dirs: &Dirs) -> (Vec<Self>, Vec<Diagnostic>) {
        let mut ledgers = Vec::new();
        let mut warnings = Vec::new();
        let files = std::fs::read_dir(dirs.ledgers()).into_iter().flatten().flatten();
        for file in files.map(|entry| entry.path()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !name.starts_with("workspace-") || !name.ends_with(".json") {
                continue;
            }
            let (ledger, found) = Self::load(file.clone(), None);
            warnings.extend(found);
            if ledger.data.workspace.is_some() {
                ledgers.push(ledger);
            }
        }
        ledgers.sort_by(|one, two| one.data.workspace.cmp(&two.data.workspace));
        (ledgers, warnings)
    }

    fn load(file: PathBuf, workspace: Option<PathBuf>) -> (Self, Vec<Diagnostic>) {
        let (data, warnings) = match storage::read(&file) {
            Ok(Some(data)) => (data, Vec::new()),
            Ok(None) => (Data::empty(workspace), Vec::new()),
            Err(warning) => (Data::empty(workspace), vec![warning]),
        };
        let damaged = !warnings.is_empty();
        (Self { file, data, steps: Vec::new(), changed: false, damaged }, warnings)
    }

    /// The file that it is kept in.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The root of the workspace it is about; `None` for the home folder.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.data.workspace.as_deref()
    }

    /// All that we wrote, in the order of writing.
    pub(crate) fn records(&self) -> impl ExactSizeIterator<Item = &Record> {
        self.data.records.0.values()
    }

    /// What we wrote at `path`.
    pub(crate) fn records_at<'l>(&'l self, path: &'l Path) -> impl Iterator<Item = &'l Record> {
        self.records().filter(move |record| record.path == path)
    }

    /// Whether there is a record of the same thing, whatever its content.
    pub(crate) fn knows(&self, record: &Record) -> bool {
        self.data.records.0.contains_key(&record.thing())
    }

    /// What exists of the file at `path` because of us, besides entries.
    pub(crate) fn surroundings(&self, path: &Path) -> CreatedContainers {
        let note = self.data.files.iter().find(|note| note.path == path);
        note.map(|note| note.surroundings.clone()).unwrap_or_default()
    }

    /// Whether there would be no file at `path` without us.
    pub(crate) fn made(&self, path: &Path) -> bool {
        let whole = |created: &Created| matches!(created, Created::File { was: None });
        self.surroundings(path).created.iter().any(whole)
            || self.records_at(path).any(|known| matches!(known.entry, Entry::OwnFile { .. }))
    }

    /// Files with surroundings but without a record: what was left over.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let recorded = |path: &Path| self.records_at(path).next().is_some();
        let notes = self.data.files.iter().map(|note| &note.path);
        notes.filter(|path| !recorded(path)).cloned().collect()
    }

    /// Remembers that we wrote this; it replaces an older record of the same thing.
    pub(crate) fn record(&mut self, record: Record) {
        self.step(Step::Record(record));
    }

    /// Remembers that we are about to write this. What an older record of the same thing says is
    /// kept beside it until [`Ledger::record`] or [`Ledger::forget`]: a process that is killed
    /// before it writes must not turn our own entry into one that somebody changed.
    pub(crate) fn record_ahead(&mut self, record: Record) {
        self.step(Step::Ahead(record));
    }

    /// All that we may have written at `path`: the records, and what they replaced where nobody
    /// knows whether it was brought to disk.
    pub(crate) fn written_at<'l>(&'l self, path: &'l Path) -> impl Iterator<Item = &'l Record> {
        self.records_at(path)
            .chain(self.data.earlier.iter().filter(move |record| record.path == path))
    }

    /// Forgets this thing, whatever its content.
    pub(crate) fn forget(&mut self, record: &Record) {
        self.step(Step::Forget(record.clone()));
    }

    /// Remembers what else exists of a file because of us; also when that is known already, for
    /// another process may have forgotten it since.
    pub(crate) fn note_created(&mut self, path: &Path, more: CreatedContainers) {
        if more != CreatedContainers::default() {
            let step = Step::Created(path.to_path_buf(), more);
            self.data.apply(&step);
            self.steps.push(step);
            self.changed = true;
        }
    }

    /// What was recorded since the last save is brought to disk with the next one, even if it was
    /// known already: another process may have forgotten it since.
    pub(crate) fn insist(&mut self) {
        self.changed |= !self.steps.is_empty();
    }

    /// Forgets what is gone again, or has become the user's.
    pub(crate) fn note_undone(&mut self, path: &Path, gone: CreatedContainers) {
        if gone != CreatedContainers::default() {
            self.step(Step::Undone(path.to_path_buf(), gone));
        }
    }

    fn step(&mut self, step: Step) {
        let changed = self.data.apply(&step);
        self.changed |= changed;
        if changed || matches!(step, Step::Record(_) | Step::Ahead(_)) {
            self.steps.push(step);
        }
    }

    /// Brings the changes to disk, on top of what others saved in the meantime. Without changes,
    /// nothing is written; an empty ledger has no file. A damaged file is moved aside to `.bad`.
    ///
    /// # Errors
    /// When another process holds the ledger for longer than `patience`, or it can't be written.
    pub(crate) fn save(&mut self, dirs: &Dirs, patience: Duration) -> Result<(), Diagnostic> {
        if !self.changed && !self.damaged {
            return Ok(());
        }
        let workspace = self.data.workspace.clone();
        self.data = storage::update(&self.file, &dirs.locks(), patience, |found| {
            let mut data = found.unwrap_or_else(|| Data::empty(workspace));
            for step in &self.steps {
                data.apply(step);
            }
            data
        })?;
        self.steps.clear();
        self.changed = false;
        self.damaged = false;
        Ok(())
    }
}

/// `workspace-<folder's name>-<8 hexadecimal digits>.json`.
fn workspace_file_name(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let readable: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
        .take(40)
        .collect();
    let hash = hash_bytes(root.as_os_str().as_encoded_bytes());
    format!("workspace-{readable}-{}.json", &hash[..8])
}

#[cfg(test)]
mod tests;
