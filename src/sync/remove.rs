//! Everything of ours taken back.
//!
//! What the user changed since we wrote it is kept and named. Folders, files and tables that exist
//! because of us go once they are empty.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::apply::apply;
use super::folders;
use super::observe::observe;
use super::parents::Parents;
use super::plan::{Wanted, plan};
use super::register::register;
use super::registration::{Desired, Registrar};
use super::run::{Caller, lock};
use super::setup::Setup;
use super::snapshot::Snapshot;
use crate::Symposium;
use crate::config::{Config, HookScope};
use crate::documents::ledger::Surroundings;
use crate::documents::{
    Change as FileChange, Created, Document, FileFormat, JsonRules, Ledger, edit_file, exclude,
    remove_empty_folders,
};
use crate::report::{Action, Change, Reporter};
use crate::text::Diagnostic;

/// How long another process of ours may hold a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of it.
#[derive(Debug, Default)]
pub struct Removed {
    /// For people.
    pub changes: Vec<Change>,
    /// Whether something could not be done.
    pub failed: bool,
}

/// Takes back hooks, servers, trust, skills, files and lines: in each workspace of `roots`, then in
/// the home folder. Of a workspace that is gone, what it had in the home folder goes. Without
/// `apply`, nothing is changed.
///
/// # Errors
/// When there is no home folder.
pub fn remove(sym: &Symposium, roots: &[PathBuf], apply: bool) -> anyhow::Result<Removed> {
    let mut removal = Removal { sym, apply, made: Made::default(), removed: Removed::default() };
    let (home, _) = Ledger::home(&sym.dirs);
    removal.made.collect(&home);
    let in_home = if apply { Vec::new() } else { removal.home()? };
    for root in roots {
        removal.workspace(root)?;
    }
    if apply {
        removal.home()?;
        removal.tidy(roots);
    } else {
        // Each workspace's plan has the home folder's part in it.
        removal.removed.changes.retain(|change| !in_home.contains(change));
        removal.removed.changes.extend(in_home);
    }
    Ok(removal.removed)
}

/// Takes back hooks that we registered in a project's own files, tracked by git or not: for a user
/// who now has them registered elsewhere.
///
/// # Errors
/// When there is no home folder.
pub fn remove_project_hooks(sym: &Symposium, root: &Path) -> anyhow::Result<Removed> {
    let mut removal =
        Removal { sym, apply: true, made: Made::default(), removed: Removed::default() };
    removal.recorded(root, true)?;
    Ok(removal.removed)
}

struct Removal<'a> {
    sym: &'a Symposium,
    apply: bool,
    made: Made,
    removed: Removed,
}

impl Removal<'_> {
    fn workspace(&mut self, root: &Path) -> anyhow::Result<()> {
        let sym = self.sym;
        let _lock = if self.apply { lock(sym, root, Caller::Command)? } else { None };
        let (ledger, _) = Ledger::workspace(&sym.dirs, root);
        self.made.collect(&ledger);
        if root.is_dir() {
            self.skills(root);
            if self.apply {
                folders::reap(sym, root);
            }
        } else {
            sym.report.diagnostic(
                &Diagnostic::warning("this workspace is gone, and so is what was installed in it")
                    .in_file(root),
            );
        }
        self.recorded(root, false)?;
        let setup = Setup::new(sym, Some(root), false)?;
        let (mut registrar, diagnostics) = Registrar::open(sym, Some(root), self.apply);
        sym.report.diagnostics(&diagnostics);
        let mut desired = Desired::default();
        setup.no_hooks(&mut desired, HookScope::Project, registrar.ledgers());
        self.carry_out(&setup, &mut registrar, desired);
        if self.apply {
            folders::reap(sym, root);
            let _ = std::fs::remove_file(Snapshot::path(&sym.dirs, root));
        }
        Ok(())
    }

    /// What the ledger knows of the workspace. It is ours even in a file that git tracks, which is
    /// otherwise left alone while hooks are registered elsewhere.
    fn recorded(&mut self, root: &Path, keep_servers: bool) -> anyhow::Result<()> {
        let sym = as_if_shared(self.sym);
        let setup = Setup::new(&sym, Some(root), false)?;
        let (mut registrar, _) = Registrar::open(&sym, Some(root), self.apply);
        let mut desired = Desired::default();
        setup.no_recorded_hooks(&mut desired, HookScope::Project, registrar.ledgers());
        if keep_servers {
            registrar.keep_servers(&mut desired);
        }
        self.carry_out(&setup, &mut registrar, desired);
        Ok(())
    }

    /// The home folder's part. Gives back what is planned, when nothing is applied.
    fn home(&mut self) -> anyhow::Result<Vec<Change>> {
        let sym = self.sym;
        let setup = Setup::new(sym, None, false)?;
        let (mut registrar, diagnostics) = Registrar::open(sym, None, self.apply);
        sym.report.diagnostics(&diagnostics);
        let mut desired = Desired::default();
        setup.no_hooks(&mut desired, HookScope::Global, registrar.ledgers());
        self.carry_out(&setup, &mut registrar, desired);
        Ok(if self.apply { Vec::new() } else { std::mem::take(&mut self.removed.changes) })
    }

    fn carry_out(&mut self, setup: &Setup<'_>, registrar: &mut Registrar<'_>, desired: Desired) {
        let registered = register(setup, registrar, desired, &[], self.apply);
        self.sym.report.diagnostics(&registered.diagnostics);
        self.removed.failed |= registered.failed();
        for change in registered.changes {
            // A plan leaves everything where it is, so the next step finds it again.
            if self.apply || !self.removed.changes.contains(&change) {
                self.removed.changes.push(change);
            }
        }
    }

    fn skills(&mut self, root: &Path) {
        let checkout = exclude::find(root).map_or_else(|| root.to_path_buf(), |found| found.top);
        let parents = Parents::of(root, &checkout, true);
        let disk = observe(&parents.list);
        let wanted = Wanted { parents: parents.list.clone(), ..Wanted::default() };
        let plan = plan(&wanted, &disk);
        let mut changes = plan.changes();
        for change in &mut changes {
            change.reason = match change.action {
                Action::Keep => Some("you edited it, so it is yours now".to_owned()),
                _ => None,
            };
        }
        if self.apply {
            for done in apply(&plan) {
                if let Err(error) = done.result {
                    self.removed.failed = true;
                    changes.retain(|change| change.name != done.step.name);
                    self.sym.report.diagnostic(&Diagnostic::error(format!(
                        "can't remove the skill `{}`: {error}",
                        done.step.name
                    )));
                }
            }
            for change in &mut changes {
                change.planned = false;
            }
        }
        self.removed.changes.extend(changes);
    }

    /// What exists because of us and is empty now, whoever of us filled it; then the ledgers, whose
    /// entries are gone or the user's.
    fn tidy(&mut self, roots: &[PathBuf]) {
        let sym = self.sym;
        let mut left = Vec::new();
        for (path, created) in &self.made.created {
            match prune(sym, path, created) {
                Ok(kept) if kept.is_empty() => {}
                Ok(kept) => left.push((path, kept)),
                Err(error) => {
                    self.removed.failed = true;
                    sym.report.diagnostic(&error);
                }
            }
        }
        let mut folders: Vec<PathBuf> = self.made.folders.clone();
        folders.sort_by_key(|folder| folder.components().count());
        folders.dedup();
        let gone = remove_empty_folders(&folders);
        folders.retain(|folder| !gone.contains(folder));
        if self.removed.failed {
            return;
        }
        for root in roots {
            drop_ledger(sym, Ledger::workspace(&sym.dirs, root).0);
        }
        let (others, _) = Ledger::all_workspaces(&sym.dirs);
        let (mut home, _) = Ledger::home(&sym.dirs);
        if others.is_empty() {
            drop_ledger(sym, home);
            return;
        }
        // Another workspace may still have something in them: the last one out cleans up.
        let outside = |path: &Path| !roots.iter().any(|root| path.starts_with(root));
        for (path, created) in left.into_iter().filter(|(path, _)| outside(path)) {
            let above = |folder: &&PathBuf| path.starts_with(folder);
            let folders = folders.iter().filter(above).cloned().collect();
            home.note_created(path, Surroundings { created, folders });
        }
        save(sym, &mut home);
    }
}

/// The same surroundings with hooks registered in the project's files.
fn as_if_shared(sym: &Symposium) -> Symposium {
    Symposium {
        env: sym.env.clone(),
        dirs: sym.dirs.clone(),
        config: Config { hook_scope: HookScope::Project, ..sym.config.clone() },
        config_state: sym.config_state,
        config_diagnostics: Vec::new(),
        report: Reporter::silent(),
        options: sym.options,
    }
}

/// What exists because of us, by the ledgers as they were before anything was taken back.
#[derive(Debug, Default)]
struct Made {
    created: BTreeMap<PathBuf, Vec<Created>>,
    folders: Vec<PathBuf>,
}

impl Made {
    fn collect(&mut self, ledger: &Ledger) {
        let recorded = ledger.records().iter().map(|record| record.path.clone());
        let mut paths: Vec<PathBuf> = recorded.chain(ledger.leftovers()).collect();
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
}

/// Undoes what was created in the file at `path` and is empty. Gives back what is in use.
fn prune(sym: &Symposium, path: &Path, created: &[Created]) -> Result<Vec<Created>, Diagnostic> {
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
            return Ok(FileChange::Keep);
        }
        let mut document = Document::open(path, text, format)?;
        kept = document.prune(created)?;
        Ok(document.finish().change)
    })?;
    Ok(kept)
}

fn drop_ledger(sym: &Symposium, mut ledger: Ledger) {
    for path in ledger.records().iter().map(|record| record.path.clone()).collect::<Vec<_>>() {
        let records: Vec<_> = ledger.records_at(&path).cloned().collect();
        records.iter().for_each(|record| ledger.forget(record));
        let surroundings = ledger.surroundings(&path);
        ledger.note_undone(&path, surroundings);
    }
    for path in ledger.leftovers() {
        let surroundings = ledger.surroundings(&path);
        ledger.note_undone(&path, surroundings);
    }
    save(sym, &mut ledger);
}

fn save(sym: &Symposium, ledger: &mut Ledger) {
    if let Err(error) = ledger.save(&sym.dirs, PATIENCE) {
        sym.report.diagnostic(&error);
    }
}
