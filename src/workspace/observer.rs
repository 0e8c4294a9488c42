//! Reading that is remembered: a file or folder is observed before it is read.

use std::collections::BTreeSet;
use std::fs::{self, Metadata, ReadDir};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Fingerprint;
use crate::files::{self, Limit, ReadError};
use crate::text::Source;

/// For readers whose findings nobody keeps: a command that looks once and ends.
pub(crate) static UNOBSERVED: Observer = Observer { seen: None, fixed: Vec::new() };

/// What a snapshot is made from is read through this alone. It takes the state of each path before
/// it reads there, so an edit at any moment afterwards makes the snapshot stale, however long the
/// sync goes on.
#[derive(Debug)]
pub(crate) struct Observer {
    /// `None` when nobody wants to know.
    seen: Option<Mutex<Seen>>,
    /// Folders whose contents never change in place; nothing in them is observed.
    fixed: Vec<PathBuf>,
}

#[derive(Debug, Default)]
struct Seen {
    fingerprint: Fingerprint,
    variables: BTreeSet<String>,
}

impl Default for Observer {
    fn default() -> Self {
        Self::except(Vec::new())
    }
}

impl Observer {
    /// Observes everything but what is in the folders `fixed`, whose contents never change in place.
    pub(crate) fn except(fixed: Vec<PathBuf>) -> Self {
        Self { seen: Some(Mutex::default()), fixed }
    }

    fn with_seen<T: Default>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        let Some(seen) = &self.seen else { return T::default() };
        work(&mut seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the state of `path`, which is read after this call.
    pub(crate) fn observe(&self, path: &Path) {
        if self.seen.is_some() && !self.fixed.iter().any(|fixed| path.starts_with(fixed)) {
            self.with_seen(|seen| seen.fingerprint.observe(path));
        }
    }

    /// As [`Observer::observe`], for something that is to come or to change, if need be in a folder whose
    /// contents never do otherwise.
    pub(crate) fn expect(&self, path: &Path) {
        self.with_seen(|seen| seen.fingerprint.observe(path));
    }

    /// Takes back the observation of `path`: nothing that was made of it depends on what is there.
    pub(crate) fn forget(&self, path: &Path) {
        self.with_seen(|seen| seen.fingerprint.forget(path));
    }

    /// Notes that the value of an environment variable counts.
    pub(crate) fn variable(&self, name: &str) {
        self.with_seen(|seen| seen.variables.extend([name.to_owned()]));
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &Path, limit: Limit) -> Result<String, ReadError> {
        self.observe(path);
        files::read_text(path, limit)
    }

    /// As [`Observer::text`], with its path.
    pub(crate) fn source(&self, path: &Path, limit: Limit) -> Result<Arc<Source>, ReadError> {
        self.observe(path);
        files::read_source(path, limit)
    }

    /// What is in a folder.
    pub(crate) fn entries(&self, dir: &Path) -> io::Result<ReadDir> {
        self.observe(dir);
        fs::read_dir(dir)
    }

    /// What is at `path`; links are followed.
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.observe(path);
        fs::metadata(path)
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.metadata(path).is_ok()
    }

    pub(crate) fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_dir())
    }

    /// Whether `dir` has a folder or file `name` that `fits`. Only `dir` is observed: of many names
    /// that are asked for in it, it tells at once.
    pub(crate) fn has(&self, dir: &Path, name: &str, fits: fn(&Path) -> bool) -> bool {
        self.observe(dir);
        fits(&dir.join(name))
    }

    /// What was observed, and the variables that count.
    pub(crate) fn findings(&self) -> (Fingerprint, BTreeSet<String>) {
        self.with_seen(|seen| (seen.fingerprint.clone(), seen.variables.clone()))
    }
}
