//! What exists because of us, by the ledgers as they were before anything was taken back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Symposium;
use crate::documents::ledger::Surroundings;
use crate::documents::{
    Change, Created, Document, Entry, FileFormat, JsonRules, Ledger, edit_file,
    remove_empty_folders,
};
use crate::text::Diagnostic;

/// How long another process of ours may hold a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Containers in files, files, and folders. Who of us filled them does not matter: they go when they
/// are empty.
#[derive(Debug, Default)]
pub struct Made {
    /// By file.
    pub created: BTreeMap<PathBuf, Vec<Created>>,
    folders: Vec<PathBuf>,
}

impl Made {
    /// Adds what `ledger` knows.
    pub fn collect(&mut self, ledger: &Ledger) {
        let is_folder = |entry: &Entry| *entry == Entry::Folder;
        let recorded = ledger.records().iter();
        self.folders
            .extend(recorded.clone().filter(|it| is_folder(&it.entry)).map(|it| it.path.clone()));
        let mut paths: Vec<PathBuf> =
            recorded.map(|record| record.path.clone()).chain(ledger.leftovers()).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let surroundings = ledger.surroundings(&path);
            self.folders.extend(surroundings.folders);
            if !surroundings.created.is_empty() {
                self.created.entry(path).or_default().extend(surroundings.created);
            }
        }
    }

    /// Undoes what is empty by now, and lets the ledgers forget it. Trouble costs tidiness only, so
    /// it is logged.
    pub fn tidy(&self, sym: &Symposium, root: Option<&Path>) {
        let mut gone: Vec<(&Path, Surroundings)> = Vec::new();
        for (path, created) in &self.created {
            match prune(sym, path, created) {
                Ok(kept) => {
                    let created = created.iter().filter(|one| !kept.contains(one)).cloned();
                    let created = created.collect();
                    gone.push((path, Surroundings { created, folders: Vec::new() }));
                }
                Err(error) => tracing::warn!("not tidied: {}", error.message),
            }
        }
        self.remove_empty_folders();
        let workspace = root.map(|root| Ledger::workspace(&sym.dirs, root).0);
        for mut ledger in workspace.into_iter().chain([Ledger::home(&sym.dirs).0]) {
            for (path, gone) in &gone {
                ledger.note_undone(path, gone.clone());
            }
            if let Err(error) = ledger.save(&sym.dirs, PATIENCE) {
                tracing::warn!("not forgotten: {}", error.message);
            }
        }
    }

    /// Removes those folders that are empty, the innermost first. Gives back those that are not.
    pub fn remove_empty_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.folders.clone();
        folders.sort_by_key(|folder| (folder.components().count(), folder.clone()));
        folders.dedup();
        let gone = remove_empty_folders(&folders);
        folders.retain(|folder| !gone.contains(folder) && folder.exists());
        folders
    }
}

/// Undoes what was created in the file at `path` and is empty. Gives back what is in use.
///
/// # Errors
/// As [`edit_file`]; a file that does not parse.
pub fn prune(
    sym: &Symposium,
    path: &Path,
    created: &[Created],
) -> Result<Vec<Created>, Diagnostic> {
    let lenient = JsonRules { comments: true, trailing_commas: true, bom: true };
    let format = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonc") => FileFormat::Json(lenient),
        Some("toml") => FileFormat::Toml,
        Some("yaml" | "yml") => FileFormat::Yaml,
        // An exclude file has no containers and is blank or gone already.
        _ => return Ok(Vec::new()),
    };
    let mut kept = Vec::new();
    edit_file(&sym.dirs.locks(), path, PATIENCE, &mut |text| {
        if text.is_none() {
            return Ok(Change::Keep);
        }
        let mut document = Document::open(path, text, format)?;
        kept = document.prune(created)?;
        Ok(document.finish().change)
    })?;
    Ok(kept)
}
