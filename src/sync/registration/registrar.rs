//! Bringing registrations to disk, and keeping the ledger.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::created;
use super::desired::{Desired, FileWork, OwnWork};
use super::edit::{Noted, edit};
use super::ledgers::{LedgerKind, Ledgers};
use super::lock::{FILE_LOCK_TIMEOUT, RegistrationLock};
use crate::Symposium;
use crate::config::HookScope;
use crate::documents::ledger::CreatedContainers;
use crate::documents::{
    Change as FileChange, Created, Edited, Entry, Ledger, edit_file, missing_folders, read_whole,
    remove_empty_folders,
};
use crate::report::Change;
use crate::sync::bounds::{self, Bounds};
use crate::text::{Diagnostic, Severity};

/// How long other processes may hold all files together where an agent waits.
const HOOK_LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// Carries out [`Desired`], or says what would be done.
pub(crate) struct Registrar<'a> {
    pub(super) sym: &'a Symposium,
    pub(super) ledgers: Ledgers,
    pub(super) root: Option<PathBuf>,
    /// The scope of hooks and servers: the configured one, unless the caller says otherwise.
    pub(super) scope: HookScope,
    /// What of the disk belongs to the workspace.
    pub(super) bounds: Option<Bounds>,
    pub(super) apply: bool,
    /// The right to change something, once it was taken.
    lock: Option<RegistrationLock>,
    /// Whether an agent waits.
    pub(super) in_hook: bool,
    /// Whether what a team shares is taken out, too, for others as for us.
    pub(super) takes_shared: bool,
    /// When waiting for other processes must end.
    deadline: Option<Instant>,
    /// Troubles with saving a ledger.
    unsaved: Vec<Diagnostic>,
    /// What was created by earlier edits and seems to be gone again.
    undone: Vec<(PathBuf, LedgerKind, Vec<Created>)>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    /// For people; planned ones when nothing was applied.
    pub changes: Vec<Change>,
    /// Problems: errors for files that could not be edited, warnings for what was left alone.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were written and that a team shares.
    pub shared: Vec<PathBuf>,
    /// Servers that apply, and that no agent can have here.
    pub nowhere: Vec<String>,
}

impl Registered {
    /// Whether a file could not be edited.
    pub(crate) fn failed(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// What came of a later part of the same task.
    pub(super) fn extend(&mut self, later: Self) {
        self.tell(later.changes);
        self.shared.extend(later.shared);
        for diagnostic in later.diagnostics {
            if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Several files may make up one registration, which is told once.
    pub(super) fn tell(&mut self, changes: Vec<Change>) {
        for change in changes {
            if !self.changes.contains(&change) {
                self.changes.push(change);
            }
        }
    }
}

/// A file that will be written.
pub(super) enum Pending<'d> {
    Shared(&'d FileWork),
    /// One that is ours alone, and what is told of it.
    Own(&'d OwnWork, Change),
}

impl<'d> Pending<'d> {
    fn path(&self) -> &'d Path {
        match self {
            Self::Shared(work) => &work.path,
            Self::Own(work, _) => &work.path,
        }
    }
}

impl<'a> Registrar<'a> {
    /// Opens the ledgers. With `apply`, changes are made; without, only told.
    pub(crate) fn open(
        sym: &'a Symposium,
        root: Option<&Path>,
        apply: bool,
    ) -> (Self, Vec<Diagnostic>) {
        let (ledgers, diagnostics) = Ledgers::open(&sym.dirs, root);
        let registrar = Self {
            sym,
            ledgers,
            root: root.map(Path::to_path_buf),
            scope: sym.config.hook_scope,
            bounds: root.and_then(|root| Bounds::of(root, sym.env.home().as_deref())),
            apply,
            lock: None,
            in_hook: false,
            takes_shared: false,
            deadline: None,
            unsaved: Vec::new(),
            undone: Vec::new(),
        };
        (registrar, diagnostics)
    }

    /// Another scope than the configured one.
    pub(crate) fn set_scope(&mut self, scope: HookScope) {
        self.scope = scope;
    }

    pub(crate) fn ledgers(&self) -> &Ledgers {
        &self.ledgers
    }

    /// Whether changes are made, and not only told.
    pub(super) fn applies(&self) -> bool {
        self.apply
    }

    /// An agent waits: files of the project that exist already and are not ours are left alone, and
    /// other processes are not waited for.
    pub(crate) fn for_hook(&mut self) {
        self.in_hook = true;
        self.deadline = Some(Instant::now() + HOOK_LOCK_TIMEOUT);
    }

    /// The user decides for all who share the project: what is committed is taken out, too.
    pub(crate) fn for_all(&mut self) {
        self.takes_shared = true;
    }

    /// The caller keeps others out.
    pub(crate) fn under_callers_lock(&mut self) {
        self.lock = Some(RegistrationLock::held_by_caller());
    }

    /// Takes the right to change something, until this is dropped, and reads the ledgers anew: who
    /// had it before may have changed them. Where nothing is changed, it is not needed.
    ///
    /// # Errors
    /// When somebody takes everything back meanwhile.
    pub(crate) fn begin(&mut self) -> Result<(), Diagnostic> {
        if self.apply && self.lock.is_none() {
            self.lock = Some(RegistrationLock::beside_others(self.sym, self.patience())?);
            self.ledgers = Ledgers::open(&self.sym.dirs, self.root.as_deref()).0;
        }
        Ok(())
    }

    /// How long the next lock may be waited for.
    pub(super) fn patience(&self) -> Duration {
        self.deadline.map_or(FILE_LOCK_TIMEOUT, |at| at.saturating_duration_since(Instant::now()))
    }

    /// Makes the files say what is desired, adds files that only the ledger knows, and saves the
    /// ledgers.
    pub(crate) fn carry_out(&mut self, desired: Desired) -> Registered {
        self.carry_out_after(desired, &mut || {})
    }

    /// As [`Registrar::carry_out`]; `look` is called right before the first file is written.
    pub(crate) fn carry_out_after(
        &mut self,
        mut desired: Desired,
        look: &mut dyn FnMut(),
    ) -> Registered {
        let mut registered = Registered::default();
        if let Err(busy) = self.begin() {
            registered.diagnostics.push(busy);
            return registered;
        }
        self.add_recorded(&mut desired);
        let before = self.ledgers.clone();
        let mut pending = Vec::new();
        for work in desired.files.values() {
            pending.extend(self.plan_shared(work, &desired, &mut registered));
        }
        for work in &desired.own {
            pending.extend(self.plan_own(work, &desired.agents, &mut registered));
        }
        if !pending.is_empty() {
            look();
            // Remembered before it is written: an entry in the ledger that never reached its file
            // does no harm, one in a file that no ledger knows can never be taken back.
            self.save();
        }
        let mut wrote = false;
        for pending in pending {
            let path = pending.path();
            let done = match pending {
                Pending::Shared(work) => self.write_shared(work, &desired, &before),
                Pending::Own(work, change) => self.write_own(work, &before).map(|()| vec![change]),
            };
            match done {
                Ok(changes) => {
                    wrote |= !changes.is_empty();
                    if !changes.is_empty() && self.is_shared(path) {
                        registered.shared.push(path.to_path_buf());
                    }
                    registered.tell(changes);
                }
                Err(error) => registered.diagnostics.push(left_alone(error)),
            }
        }
        registered.diagnostics.extend(desired.troubles.iter().cloned());
        registered.diagnostics.extend(desired.remarks.diagnostics(&registered.changes));
        if self.apply {
            self.guard_from_git(&mut registered.diagnostics);
            self.forget_undone();
            self.tidy();
            self.save();
            // What a team shares in a project's own files is taken out there, with or without a ledger.
            let is_lost = wrote && self.scope == HookScope::Global;
            let unsaved = std::mem::take(&mut self.unsaved).into_iter();
            registered.diagnostics.extend(unsaved.map(|problem| not_remembered(problem, is_lost)));
        }
        registered
    }

    /// What is to be done with a shared file, announced to the ledger.
    fn plan_shared<'d>(
        &mut self,
        work: &'d FileWork,
        desired: &Desired,
        registered: &mut Registered,
    ) -> Option<Pending<'d>> {
        let business = self.has_business(work);
        let planned = self.check(&work.path).and_then(|()| {
            read_whole(&work.path, |text| {
                let (edited, noted) = edit(work, text, &self.ledgers, desired)?;
                Ok((text.is_some(), edited, noted))
            })
        });
        let (is_there, edited, noted) = match planned {
            Ok(planned) => planned,
            Err(error) => {
                // One that is broken concerns us only where we want something of it.
                registered.diagnostics.extend(business.then(|| left_alone(error)));
                return None;
            }
        };
        registered.diagnostics.extend(noted.notes.iter().cloned());
        if edited.change == FileChange::Keep {
            if self.apply {
                self.record_written(&work.path, &noted);
            }
            return None;
        }
        let wanted = work.entries.iter().any(|(_, entry)| entry.is_wanted());
        if !wanted && let Some(told) = self.leave_to_team(&work.path, &desired.agents) {
            registered.diagnostics.push(told);
            return None;
        }
        if let Some(why) = self.off_limits(&work.path, is_there, wanted) {
            registered.diagnostics.push(why);
            return None;
        }
        if !self.apply {
            registered.tell(noted.changes);
            return None;
        }
        self.announce(&work.path, &edited, &noted);
        Some(Pending::Shared(work))
    }

    /// Makes the edit anew under the file's lock, on what is there then. `ledgers` are as they were
    /// before it was announced.
    fn write_shared(
        &mut self,
        work: &FileWork,
        desired: &Desired,
        ledgers: &Ledgers,
    ) -> Result<Vec<Change>, Diagnostic> {
        let mut done = None;
        let locks = self.sym.dirs.locks();
        let outcome = edit_file(&locks, &work.path, self.patience(), &mut |text| {
            self.check(&work.path)?;
            let (edited, noted) = edit(work, text, ledgers, desired)?;
            let change = edited.change.clone();
            done = Some((edited, noted));
            Ok(change)
        })?;
        let Some((edited, mut noted)) = done else { return Ok(Vec::new()) };
        self.note_created(&work.path, edited.created, outcome.into_folders());
        self.record_written(&work.path, &noted);
        self.insist();
        for change in &mut noted.changes {
            change.planned = false;
        }
        Ok(noted.changes)
    }

    /// What was just written is remembered, even if another process forgot it meanwhile.
    pub(super) fn insist(&mut self) {
        for which in LedgerKind::ALL {
            self.ledgers.of_mut(which).into_iter().for_each(Ledger::insist);
        }
    }

    /// Remembers what is about to be written. Hooks are known by their shape: a record that is ahead
    /// of the first of them would make an older spelling look like one that the user changed.
    fn announce(&mut self, path: &Path, edited: &Edited, noted: &Noted) {
        for (which, record) in &noted.records {
            let Some(ledger) = self.ledgers.of_mut(*which) else { continue };
            let hook = matches!(record.entry, Entry::Element { .. });
            if !hook || ledger.knows(record) {
                ledger.record_ahead(record.clone());
            }
        }
        self.note_created(path, edited.created.clone(), missing_folders(path));
    }

    /// Remembers what else exists because of us. What lies outside of the project is remembered
    /// for all: the next workspace may need it, and the last one takes it away.
    pub(super) fn note_created(
        &mut self,
        path: &Path,
        created: Vec<Created>,
        folders: Vec<PathBuf>,
    ) {
        let which = if self.is_inside(path) { LedgerKind::Workspace } else { LedgerKind::Home };
        let which = if self.ledgers.of(which).is_some() { which } else { LedgerKind::Home };
        if let Some(ledger) = self.ledgers.of_mut(which) {
            ledger.note_created(path, CreatedContainers { created, folders });
        }
    }

    /// The file says what it should; so does the ledger, then.
    fn record_written(&mut self, path: &Path, noted: &Noted) {
        for (which, record) in &noted.records {
            if let Some(ledger) = self.ledgers.of_mut(*which) {
                ledger.record(record.clone());
            }
        }
        for (which, record) in &noted.forgotten {
            if let Some(ledger) = self.ledgers.of_mut(*which) {
                ledger.forget(record);
            }
        }
        let undone = noted.undone.iter();
        self.undone.extend(undone.map(|(which, gone)| (path.to_path_buf(), *which, gone.clone())));
    }

    /// Forgets what is gone. Another process of ours may have made it anew since we looked.
    fn forget_undone(&mut self) {
        for (path, which, gone) in std::mem::take(&mut self.undone) {
            let patience = self.patience();
            let Some(ledger) = self.ledgers.of_mut(which) else { continue };
            let check = || bounds::check(self.bounds.as_ref(), &path);
            if let Err(error) =
                created::undo(self.sym, &path, &gone, (&mut [ledger], &check), patience)
            {
                tracing::warn!("not forgotten: {}", error.message);
            }
        }
    }

    /// Removes folders that were made for files that are gone, the deepest first.
    fn tidy(&mut self) {
        for which in LedgerKind::ALL {
            let Some(ledger) = self.ledgers.of_mut(which) else { continue };
            let gone: Vec<PathBuf> =
                ledger.leftovers().into_iter().filter(|path| !path.exists()).collect();
            let mut folders: Vec<PathBuf> =
                gone.iter().flat_map(|path| ledger.surroundings(path).folders).collect();
            folders.sort_by_key(|folder| folder.components().count());
            folders.dedup();
            folders.retain(|folder| bounds::check(self.bounds.as_ref(), folder).is_ok());
            let removed = remove_empty_folders(&folders);
            for path in gone {
                let mut undone = ledger.surroundings(&path);
                undone.folders.retain(|folder| removed.contains(folder));
                ledger.note_undone(&path, undone);
            }
        }
    }

    /// Whether we want something of this file, or have something in it.
    fn has_business(&self, work: &FileWork) -> bool {
        self.ledgers.records_at(&work.path).next().is_some()
            || work.entries.iter().any(|(_, entry)| entry.is_wanted())
    }

    pub(super) fn save(&mut self) {
        let patience = self.patience();
        let dirs = &self.sym.dirs;
        let results = [
            Some(self.ledgers.home.save(dirs, patience)),
            self.ledgers.workspace.as_mut().map(|ledger| ledger.save(dirs, patience)),
        ];
        for error in results.into_iter().flatten().filter_map(Result::err) {
            if !self.unsaved.iter().any(|known| known.message == error.message) {
                self.unsaved.push(error);
            }
        }
    }
}

/// Where nothing was written there is nothing to take back.
fn not_remembered(problem: Diagnostic, is_lost: bool) -> Diagnostic {
    if is_lost {
        return problem.note("what was written can't be taken back while it is not remembered");
    }
    Diagnostic { severity: Severity::Warning, ..problem }
}

pub(super) fn left_alone(error: Diagnostic) -> Diagnostic {
    if error.is_error() { error.note("everything else goes on") } else { error }
}
