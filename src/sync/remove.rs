//! Everything of ours taken back.
//!
//! What the user changed since we wrote it is kept and named. Folders, files and tables that exist
//! because of us go once they are empty.

use std::path::{Path, PathBuf};

use super::bounds::Bounds;
use super::placing::apply::apply_and_tell;
use super::placing::folders;
use super::placing::observe::observe;
use super::placing::parents::Parents;
use super::placing::plan::{Wanted, plan};
use super::registration::created::CreatedByUs;
use super::registration::lock::{FILE_LOCK_TIMEOUT, RegistrationLock, lock};
use super::registration::register::register;
use super::registration::setup::Setup;
use super::registration::{Desired, LedgerKind, Registrar, hooks, opt_out};
use super::request::Caller;
use super::snapshot::Snapshot;
use crate::Symposium;
use crate::agents::command::is_shared_server;
use crate::config::HookScope;
use crate::documents::checkout::{self, Tracking};
use crate::documents::ledger::CreatedContainers;
use crate::documents::{Entry, Ledger, Record};
use crate::files::Limit;
use crate::report::Change;
use crate::text::Diagnostic;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// For people.
    pub changes: Vec<Change>,
    /// Whether something could not be done.
    pub failed: bool,
    /// Whether something stays for others, who have it through git.
    pub is_shared: bool,
}

/// Takes back hooks, servers, trust, skills, files and lines: in each workspace of `roots`, then in
/// the home folder. Of a workspace that is gone, what it had in the home folder goes. Without
/// `apply`, nothing is changed.
///
/// Nobody syncs these workspaces meanwhile, and nobody registers anything anywhere: what they made
/// would be forgotten in the end. Events of agents that still run bring nothing back.
///
/// # Errors
/// When there is no home folder, or another process does not end.
pub(crate) fn remove(sym: &Symposium, roots: &[PathBuf], apply: bool) -> anyhow::Result<Removed> {
    let locked: &[PathBuf] = if apply { roots } else { &[] };
    let locks = locked.iter().map(|root| lock(sym, root, Caller::Command));
    let _locks = locks.collect::<anyhow::Result<Vec<_>>>()?;
    let _registration = apply.then(|| RegistrationLock::alone(sym)).transpose()?;
    if apply {
        opt_out::record(sym, roots);
    }
    let mut removal = Removal::new(sym, apply, true);
    let (home, _) = Ledger::home(&sym.dirs);
    removal.made.collect(sym, &home);
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

/// Takes back hooks and servers that we registered in a project's own files, tracked by git or not:
/// the user chose another scope, and what is still wanted there comes back as that scope has it.
pub(crate) fn remove_from_project(sym: &Symposium, root: &Path) -> anyhow::Result<Removed> {
    let mut removal = Removal::new(sym, true, false);
    removal.recorded(root, Elsewhere::Kept, &[])?;
    Ok(removal.removed)
}

/// What happens to servers that are registered outside the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elsewhere {
    Kept,
    Gone,
}

struct Removal<'a> {
    sym: &'a Symposium,
    apply: bool,
    /// Whether others are kept out.
    alone: bool,
    made: CreatedByUs,
    removed: Removed,
    told: Vec<Diagnostic>,
}

impl<'a> Removal<'a> {
    fn new(sym: &'a Symposium, apply: bool, alone: bool) -> Self {
        let (made, removed) = (CreatedByUs::default(), Removed::default());
        Self { sym, apply, alone, made, removed, told: Vec::new() }
    }

    fn registrar(&self, root: Option<&Path>) -> (Registrar<'a>, Vec<Diagnostic>) {
        let (mut registrar, diagnostics) = Registrar::open(self.sym, root, self.apply);
        if self.alone {
            registrar.under_callers_lock();
        } else {
            registrar.for_all();
        }
        (registrar, diagnostics)
    }

    fn workspace(&mut self, root: &Path) -> anyhow::Result<()> {
        let sym = self.sym;
        let (ledger, _) = Ledger::workspace(&sym.dirs, root);
        self.made.collect(sym, &ledger);
        if root.is_dir() {
            self.skills(root, &ledger);
            if self.apply {
                folders::reap(sym, root);
            }
        } else {
            sym.report.diagnostic(
                &Diagnostic::warning("this workspace is gone, and so is what was installed in it")
                    .in_file(root),
            );
        }
        let shared = self.shared_servers(root)?;
        self.recorded(root, Elsewhere::Gone, &shared)?;
        let setup = Setup::new(sym, Some(root), false)?;
        let (mut registrar, diagnostics) = self.registrar(Some(root));
        sym.report.diagnostics(&diagnostics);
        let mut desired = hooks::none(&setup, HookScope::Project, registrar.ledgers());
        desired.leave_home_hooks = true;
        desired.kept.extend(shared);
        self.carry_out(&setup, &mut registrar, desired);
        if self.apply {
            folders::reap(sym, root);
            let _ = std::fs::remove_file(Snapshot::path(&sym.dirs, root));
        }
        Ok(())
    }

    /// What the ledger knows of the workspace. It is ours even in a file that git tracks, which is
    /// otherwise left alone while hooks are registered elsewhere.
    fn recorded(
        &mut self,
        root: &Path,
        elsewhere: Elsewhere,
        kept: &[(LedgerKind, Record)],
    ) -> anyhow::Result<()> {
        let setup = Setup::new(self.sym, Some(root), false)?.at(HookScope::Project);
        let (mut registrar, _) = self.registrar(Some(root));
        registrar.set_scope(HookScope::Project);
        let mut desired = hooks::none_recorded(&setup, HookScope::Project, registrar.ledgers());
        desired.leave_home_hooks = true;
        desired.kept.extend_from_slice(kept);
        if elsewhere == Elsewhere::Kept {
            registrar.keep_servers(&mut desired, |_| true);
            desired.kept.retain(|(_, record)| !record.path.starts_with(root));
        }
        self.carry_out(&setup, &mut registrar, desired);
        Ok(())
    }

    /// Servers that a team shares in files that git tracks, and that this member changed since: they stay
    /// for the others, which is told. A file without such changes stays as a whole.
    fn shared_servers(&mut self, root: &Path) -> anyhow::Result<Vec<(LedgerKind, Record)>> {
        let setup = Setup::new(self.sym, Some(root), false)?;
        let (ledger, _) = Ledger::workspace(&self.sym.dirs, root);
        let mut shared = Vec::new();
        for record in ledger.records().filter(|record| record.path.starts_with(root)) {
            let Tracking::Tracked { as_staged } = checkout::tracking(&record.path, Limit::INDEX)
            else {
                continue;
            };
            self.removed.is_shared |= as_staged;
            if let Entry::Member { key, .. } = &record.entry
                && !as_staged
                && setup.entry_of(record).is_some_and(|entry| is_shared_server(&entry, key))
            {
                let message = format!("the server `{key}` is shared through git and stays");
                self.sym.report.diagnostic(
                    &Diagnostic::warning(message)
                        .in_file(&record.path)
                        .note("where nobody needs it, take it out and commit that"),
                );
                shared.push((LedgerKind::Workspace, record.clone()));
            }
        }
        self.removed.is_shared |= !shared.is_empty();
        Ok(shared)
    }

    /// The home folder's part. Gives back what is planned, when nothing is applied.
    fn home(&mut self) -> anyhow::Result<Vec<Change>> {
        let sym = self.sym;
        let setup = Setup::new(sym, None, false)?;
        let (mut registrar, diagnostics) = self.registrar(None);
        sym.report.diagnostics(&diagnostics);
        let desired = hooks::none(&setup, HookScope::Global, registrar.ledgers());
        self.carry_out(&setup, &mut registrar, desired);
        Ok(if self.apply { Vec::new() } else { std::mem::take(&mut self.removed.changes) })
    }

    fn carry_out(&mut self, setup: &Setup<'_>, registrar: &mut Registrar<'_>, desired: Desired) {
        let registered = register(setup, registrar, desired, &[], self.apply);
        for problem in &registered.diagnostics {
            // Several steps meet the same file.
            if !self.told.contains(problem) {
                self.sym.report.diagnostic(problem);
                self.told.push(problem.clone());
            }
        }
        self.removed.failed |= registered.failed();
        for change in registered.changes {
            // A plan leaves everything where it is, so the next step finds it again.
            if self.apply || !self.removed.changes.contains(&change) {
                self.removed.changes.push(change);
            }
        }
    }

    fn skills(&mut self, root: &Path, ledger: &Ledger) {
        let bounds = Bounds::of(root, self.sym.env.home().as_deref());
        let parents = Parents::of(root, bounds.as_ref(), &self.sym.env);
        self.tell_of_blocked(root, ledger, &parents);
        let disk = observe(&parents.list);
        let wanted =
            Wanted { parents: parents.list.clone(), takes_back: true, ..Wanted::default() };
        let plan = plan(&wanted, &disk);
        let mut changes = plan.changes();
        if self.apply {
            self.removed.failed |= apply_and_tell(self.sym, &plan, bounds.as_ref(), &mut changes);
        }
        self.removed.changes.extend(changes);
    }

    /// Folders that had skills of ours, and that we may not look into now.
    fn tell_of_blocked(&mut self, root: &Path, ledger: &Ledger, parents: &Parents) {
        for (name, problem) in parents.blocked() {
            let folder = root.join(name);
            let is_skill = |record: &Record| {
                matches!(record.entry, Entry::SkillFolder { .. })
                    && record.path.starts_with(&folder)
            };
            if problem.is_error() && ledger.records().any(is_skill) {
                self.removed.failed = true;
                self.sym.report.diagnostic(problem);
            }
        }
    }

    /// What exists because of us and is empty now, whoever of us filled it; then the ledgers, whose
    /// entries are gone or the user's.
    fn tidy(&mut self, roots: &[PathBuf]) {
        let sym = self.sym;
        let mut left = Vec::new();
        for (path, created) in &self.made.created {
            match self.made.prune(sym, path, created) {
                Ok(kept) if kept.is_empty() => {}
                Ok(kept) => left.push((path, kept)),
                Err(error) => {
                    self.removed.failed = true;
                    sym.report.diagnostic(&error);
                }
            }
        }
        let folders = self.made.remove_empty_folders();
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
            home.note_created(path, CreatedContainers { created, folders });
        }
        save(sym, &mut home);
    }
}

/// Forgets all but the hooks that are still there, which the user changed: only the ledger tells them
/// from those that we wrote.
fn drop_ledger(sym: &Symposium, mut ledger: Ledger) {
    for path in ledger.records().map(|record| record.path.clone()).collect::<Vec<_>>() {
        let is_users = |entry: &Entry| {
            matches!(entry, Entry::Element { .. } | Entry::OwnFile { .. }) && path.exists()
        };
        let records: Vec<_> =
            ledger.records_at(&path).filter(|record| !is_users(&record.entry)).cloned().collect();
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
    if let Err(error) = ledger.save(&sym.dirs, FILE_LOCK_TIMEOUT) {
        sym.report.diagnostic(&error);
    }
}
