//! Bringing registrations to disk, and keeping the ledger.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::desired::{Desired, FileWork, OwnWork, Which};
use super::edit::{Ledgers, Noted, edit};
use super::own::{self, Fate};
use crate::Symposium;
use crate::config::HookScope;
use crate::documents::ledger::Surroundings;
use crate::documents::{
    Change as FileChange, Entry, Ledger, Outcome, Record, edit_file, exclude, read_text,
    remove_empty_folders,
};
use crate::process::{Child, run};
use crate::report::{Action, Change, Kind};
use crate::text::Diagnostic;

/// How long another process of ours may hold a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Carries out [`Desired`], or says what would be done.
pub struct Registrar<'a> {
    sym: &'a Symposium,
    ledgers: Ledgers,
    root: Option<PathBuf>,
    apply: bool,
    /// Whether git may be asked what it tracks.
    may_ask_git: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Registered {
    /// For people; planned ones when nothing was applied.
    pub changes: Vec<Change>,
    /// Problems: errors for files that could not be edited, warnings for what was left alone.
    pub diagnostics: Vec<Diagnostic>,
}

impl Registered {
    /// Whether a file could not be edited.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

impl<'a> Registrar<'a> {
    /// Opens the ledgers. With `apply`, changes are made; without, only told.
    pub fn open(sym: &'a Symposium, root: Option<&Path>, apply: bool) -> (Self, Vec<Diagnostic>) {
        let (home, mut diagnostics) = Ledger::home(&sym.dirs);
        let workspace = root.map(|root| {
            let (ledger, more) = Ledger::workspace(&sym.dirs, root);
            diagnostics.extend(more);
            ledger
        });
        let ledgers = Ledgers { home, workspace };
        let root = root.map(Path::to_path_buf);
        (Self { sym, ledgers, root, apply, may_ask_git: true }, diagnostics)
    }

    /// The ledgers.
    pub fn ledgers(&self) -> &Ledgers {
        &self.ledgers
    }

    /// Does not start git, for a hook's sake: files inside the workspace that exist already and are
    /// not ours are then left alone.
    pub fn without_git(&mut self) {
        self.may_ask_git = false;
    }

    /// Makes the files say what is desired, adds files that only the ledger knows, and saves the
    /// ledgers.
    pub fn carry_out(&mut self, mut desired: Desired) -> Registered {
        let mut registered =
            Registered { diagnostics: std::mem::take(&mut desired.notes), ..Registered::default() };
        self.add_recorded(&mut desired);
        for work in desired.files.values() {
            self.shared(work, &desired.kept, &mut registered);
        }
        for work in &desired.own {
            self.own(work, &mut registered);
        }
        if self.apply {
            self.clean_exclude(&desired, &mut registered);
            self.save(&mut registered);
        } else {
            for change in &mut registered.changes {
                change.planned = true;
            }
        }
        registered
    }

    /// Files in which only the ledger knows something of ours.
    fn add_recorded(&self, desired: &mut Desired) {
        for which in [Which::Home, Which::Workspace] {
            let Some(ledger) = self.ledgers.of(which) else { continue };
            for record in ledger.records() {
                match &record.entry {
                    Entry::KeyEntry { .. } => {
                        if let Some(format) = format_of(&record.path) {
                            desired.files.entry(record.path.clone()).or_insert_with(|| FileWork {
                                path: record.path.clone(),
                                format,
                                wishes: Vec::new(),
                            });
                        }
                    }
                    Entry::OwnFile { .. } => {
                        let known = desired.own.iter().any(|work| work.path == record.path);
                        if let (false, Some(agent)) =
                            (known, crate::agents::Agent::from_name(&record.agent))
                        {
                            desired.own.push(OwnWork {
                                agent,
                                path: record.path.clone(),
                                text: None,
                                known: Vec::new(),
                                which,
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn shared(&mut self, work: &FileWork, kept: &[(Which, Record)], registered: &mut Registered) {
        let text = match read_text(&work.path) {
            Ok(text) => text,
            Err(error) => return registered.diagnostics.push(error),
        };
        let (planned, noted) = match edit(work, text.as_deref(), &self.ledgers, kept) {
            Ok(done) => done,
            // A file that is broken concerns us only where we want something of it.
            Err(_) if !self.has_business(work) => return,
            Err(error) => {
                return registered
                    .diagnostics
                    .push(error.note("the file is left alone; everything else goes on"));
            }
        };
        registered.diagnostics.extend(noted.notes.iter().cloned());
        let inside = self.is_inside(&work.path);
        if planned.change != FileChange::Keep
            && inside
            && self.sym.config.hook_scope == HookScope::Global
            && text.is_some()
            && self.is_tracked(&work.path)
        {
            registered.diagnostics.push(tracked(&work.path));
            return;
        }
        if !self.apply {
            registered.changes.extend(noted.changes);
            return;
        }
        // Remembered before it is written: an entry in the ledger that never reached its file does
        // no harm, one in a file that no ledger knows can never be taken back.
        self.remember(&noted);
        if planned.change == FileChange::Keep {
            self.forget(&noted, &work.path);
            return;
        }
        self.save(registered);
        self.write_shared(work, kept, inside, registered);
    }

    fn write_shared(
        &mut self,
        work: &FileWork,
        kept: &[(Which, Record)],
        inside: bool,
        registered: &mut Registered,
    ) {
        let mut done = None;
        let ledgers = &self.ledgers;
        let written = edit_file(&self.sym.dirs.locks(), &work.path, PATIENCE, &mut |text| {
            let (edited, noted) = edit(work, text, ledgers, kept)?;
            let change = edited.change.clone();
            done = Some((edited, noted));
            Ok(change)
        });
        let (outcome, Some((edited, noted))) = (
            match written {
                Ok(outcome) => outcome,
                Err(error) => return registered.diagnostics.push(error),
            },
            done,
        ) else {
            return;
        };
        self.remember(&noted);
        self.forget(&noted, &work.path);
        let folders = match outcome {
            Outcome::Created { folders } => folders,
            Outcome::Removed => {
                self.remove_folders(&work.path);
                Vec::new()
            }
            _ => Vec::new(),
        };
        let which = work.wishes.first().map_or(Which::Workspace, |(which, _)| *which);
        let created_file = edited
            .created
            .iter()
            .any(|created| matches!(created, crate::documents::Created::File { was: None }));
        if let Some(ledger) = self.ledgers.of_mut(which) {
            ledger.note_created(&work.path, Surroundings { created: edited.created, folders });
        }
        if created_file && inside {
            self.exclude(&work.path, registered);
        }
        let mut changes = noted.changes;
        for change in &mut changes {
            change.planned = false;
        }
        registered.changes.extend(changes);
    }

    fn own(&mut self, work: &OwnWork, registered: &mut Registered) {
        let text = match read_text(&work.path) {
            Ok(text) => text,
            Err(error) if work.text.is_some() => return registered.diagnostics.push(error),
            Err(_) => return,
        };
        let mut fate = own::fate(work, text.as_deref(), &self.ledgers);
        let tracked_by_git = matches!(fate, Fate::Write(_) | Fate::Delete)
            && text.is_some()
            && self.is_inside(&work.path)
            && self.sym.config.hook_scope == HookScope::Global
            && self.is_tracked(&work.path);
        if tracked_by_git {
            fate = Fate::Leave(tracked(&work.path));
        }
        let (action, change) = match fate {
            Fate::Fine => {
                if self.apply
                    && let (Some(text), Some(ledger)) = (&text, self.ledgers.of_mut(work.which))
                    && ledger.records_at(&work.path).next().is_some()
                {
                    ledger.record(own::record(work, text));
                }
                return;
            }
            Fate::Absent => return self.forget_own(work),
            Fate::Leave(diagnostic) => {
                registered.diagnostics.push(diagnostic);
                if work.text.is_none() {
                    self.forget_own(work);
                }
                return;
            }
            Fate::Write(text) => (Action::Register, FileChange::Write(text)),
            Fate::Delete => (Action::Unregister, FileChange::Delete),
        };
        if self.apply {
            let fresh = text.is_none();
            if let Err(error) = self.write_own(work, change, fresh, registered) {
                registered.diagnostics.push(error);
                return;
            }
        }
        registered.changes.push(Change {
            action,
            kind: Kind::Hooks,
            name: "hooks".to_owned(),
            origin: None,
            places: vec![work.agent.name().to_owned()],
            reason: None,
            planned: !self.apply,
        });
    }

    fn write_own(
        &mut self,
        work: &OwnWork,
        change: FileChange,
        fresh: bool,
        registered: &mut Registered,
    ) -> Result<(), Diagnostic> {
        if let (FileChange::Write(text), Some(ledger)) = (&change, self.ledgers.of_mut(work.which))
        {
            ledger.record(own::record(work, text));
            self.save(registered);
        }
        let outcome =
            edit_file(&self.sym.dirs.locks(), &work.path, PATIENCE, &mut |_| Ok(change.clone()))?;
        match outcome {
            Outcome::Created { folders } => {
                if let Some(ledger) = self.ledgers.of_mut(work.which) {
                    ledger.note_created(&work.path, Surroundings { created: Vec::new(), folders });
                }
            }
            Outcome::Removed => {
                self.forget_own(work);
                self.remove_folders(&work.path);
            }
            Outcome::Unchanged | Outcome::Written => {}
        }
        if fresh && self.is_inside(&work.path) {
            self.exclude(&work.path, registered);
        }
        Ok(())
    }

    fn forget_own(&mut self, work: &OwnWork) {
        if !self.apply {
            return;
        }
        if let Some(ledger) = self.ledgers.of_mut(work.which) {
            ledger.forget(&own::record(work, ""));
        }
    }

    /// Folders that were made for a file that is gone.
    fn remove_folders(&mut self, path: &Path) {
        for which in [Which::Home, Which::Workspace] {
            let Some(ledger) = self.ledgers.of_mut(which) else { continue };
            let surroundings = ledger.surroundings(path);
            if !surroundings.folders.is_empty() {
                let kept = remove_empty_folders(&surroundings.folders);
                let mut gone = surroundings;
                gone.created.clear();
                gone.folders.retain(|folder| !kept.contains(folder));
                ledger.note_undone(path, gone);
            }
        }
    }

    fn remember(&mut self, noted: &Noted) {
        for (which, record) in &noted.records {
            if let Some(ledger) = self.ledgers.of_mut(*which) {
                ledger.record(record.clone());
            }
        }
    }

    fn forget(&mut self, noted: &Noted, path: &Path) {
        for (which, record) in &noted.forgotten {
            if let Some(ledger) = self.ledgers.of_mut(*which) {
                ledger.forget(record);
            }
        }
        for (which, gone) in &noted.undone {
            if let Some(ledger) = self.ledgers.of_mut(*which) {
                let gone = Surroundings { created: gone.clone(), folders: Vec::new() };
                ledger.note_undone(path, gone);
            }
        }
    }

    /// Whether we want something of this file, or have something in it.
    fn has_business(&self, work: &FileWork) -> bool {
        let recorded = [Which::Home, Which::Workspace].iter().any(|which| {
            self.ledgers
                .of(*which)
                .is_some_and(|ledger| ledger.records_at(&work.path).next().is_some())
        });
        recorded
            || work.wishes.iter().any(|(_, wish)| match wish {
                super::desired::Wish::Hooks { entries, .. } => !entries.is_empty(),
                super::desired::Wish::Server { .. } => true,
            })
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.root.as_deref().is_some_and(|root| path.starts_with(root))
    }

    /// Whether git tracks the file. Where git can't be asked, a file that is there counts as
    /// tracked: better left alone than dirtied.
    fn is_tracked(&self, path: &Path) -> bool {
        let Some(folder) = path.parent() else { return true };
        if exclude::find(folder).is_none() {
            return false;
        }
        if !self.may_ask_git {
            return true;
        }
        let child = Child::new("git")
            .args(["-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--"])
            .args([path.as_os_str()])
            .cwd(folder)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .limit(Duration::from_secs(5));
        run(&child).is_ok_and(|output| output.success())
    }

    /// Keeps a file that we created in the workspace out of git, unless sharing it is the point.
    fn exclude(&mut self, path: &Path, registered: &mut Registered) {
        if self.sym.config.hook_scope == HookScope::Project {
            return;
        }
        let Some(checkout) = path.parent().and_then(exclude::find) else { return };
        let Ok(relative) = path.strip_prefix(&checkout.top) else { return };
        let relative = relative.to_string_lossy().replace('\\', "/");
        let line = exclude::pattern(&relative, false);
        let locks = self.sym.dirs.locks();
        match exclude::add(&locks, &checkout.exclude, &[line], PATIENCE) {
            Ok(added) => {
                let Some(ledger) = self.ledgers.of_mut(Which::Workspace) else { return };
                if let Outcome::Created { folders } = added.outcome {
                    let created = vec![crate::documents::Created::File { was: None }];
                    ledger.note_created(&checkout.exclude, Surroundings { created, folders });
                }
                for line in added.lines {
                    ledger.record(Record {
                        agent: String::new(),
                        path: checkout.exclude.clone(),
                        entry: Entry::ExcludeLine { line },
                    });
                }
            }
            Err(error) => registered.diagnostics.push(error),
        }
    }

    /// Takes back exclude lines of files of ours that are gone.
    fn clean_exclude(&mut self, desired: &Desired, registered: &mut Registered) {
        let _ = desired;
        let Some(ledger) = self.ledgers.workspace.as_ref() else { return };
        let stale: Vec<Record> = ledger
            .records()
            .iter()
            .filter(|record| match &record.entry {
                Entry::ExcludeLine { line } => !self.line_is_needed(line),
                _ => false,
            })
            .cloned()
            .collect();
        for record in stale {
            let Entry::ExcludeLine { line } = &record.entry else { continue };
            let Some(ledger) = self.ledgers.workspace.as_mut() else { return };
            let surroundings = ledger.surroundings(&record.path);
            let created = !surroundings.created.is_empty();
            let locks = self.sym.dirs.locks();
            let lines = [line.clone()];
            match exclude::remove(&locks, &record.path, &lines, created, PATIENCE) {
                Ok(outcome) => {
                    ledger.forget(&record);
                    if outcome == Outcome::Removed {
                        ledger.note_undone(
                            &record.path,
                            Surroundings { created: surroundings.created, folders: Vec::new() },
                        );
                        self.remove_folders(&record.path);
                    }
                }
                Err(error) => registered.diagnostics.push(error),
            }
        }
    }

    fn line_is_needed(&self, line: &str) -> bool {
        let Some(root) = &self.root else { return true };
        let Some(checkout) = exclude::find(root) else { return false };
        let here = |path: &Path| {
            path.strip_prefix(&checkout.top).is_ok_and(|relative| {
                let relative = relative.to_string_lossy().replace('\\', "/");
                exclude::pattern(&relative, false) == line
            })
        };
        self.ledgers.workspace.iter().flat_map(Ledger::records).any(|record| {
            matches!(
                record.entry,
                Entry::KeyEntry { .. } | Entry::OwnFile { .. } | Entry::ArrayEntry { .. }
            ) && here(&record.path)
        })
    }

    fn save(&mut self, registered: &mut Registered) {
        let dirs = &self.sym.dirs;
        let results = [
            Some(self.ledgers.home.save(dirs, PATIENCE)),
            self.ledgers.workspace.as_mut().map(|ledger| ledger.save(dirs, PATIENCE)),
        ];
        for error in results.into_iter().flatten().filter_map(Result::err) {
            let known = registered.diagnostics.iter().any(|known| known.message == error.message);
            if !known {
                registered
                    .diagnostics
                    .push(Diagnostic { severity: crate::text::Severity::Warning, ..error });
            }
        }
    }
}

fn tracked(path: &Path) -> Diagnostic {
    Diagnostic::warning("git tracks this file, so it is left alone")
        .in_file(path)
        .note("`hook-scope = \"project\"` in the configuration shares registrations through the repository")
}

/// The format of a file that the ledger knows and no agent wishes anything of.
fn format_of(path: &Path) -> Option<crate::documents::FileFormat> {
    use crate::documents::{FileFormat, JsonRules};
    // What the file's agent takes is not known here: the widest rules read what any of them reads.
    let lenient = JsonRules { comments: true, trailing_commas: true, bom: true };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonc") => Some(FileFormat::Json(lenient)),
        Some("toml") => Some(FileFormat::Toml),
        Some("yaml" | "yml") => Some(FileFormat::Yaml),
        _ => None,
    }
}

impl Registrar<'_> {
    /// Wishes for servers that are registered already: for callers that know nothing of servers.
    pub fn keep_servers(&self, desired: &mut Desired) {
        self.keep(desired, |_| true);
    }

    /// Wishes for the server `name` as it is registered already, wherever it is.
    pub fn keep_server(&self, desired: &mut Desired, name: &str) {
        self.keep(desired, |key| key == name);
    }

    fn keep(&self, desired: &mut Desired, wanted: impl Fn(&str) -> bool) {
        for which in [Which::Home, Which::Workspace] {
            let Some(ledger) = self.ledgers.of(which) else { continue };
            for record in ledger.records() {
                if let Entry::KeyEntry { key, .. } = &record.entry
                    && wanted(key)
                {
                    desired.kept.push((which, record.clone()));
                }
            }
        }
    }
}
