//! Files in the project, and git: what is tracked is left alone, what we create is kept out.

use std::path::{Path, PathBuf};

use super::LedgerKind;
use super::registrar::Registrar;
use crate::agents::Agent;
use crate::config::HookScope;
use crate::documents::checkout::{self, Tracking, Unclear};
use crate::documents::ledger::CreatedContainers;
use crate::documents::{Created, Entry, Outcome, Record, exclude, missing_folders, read_text};
use crate::files::Limit;
use crate::sync::bounds;
use crate::text::Diagnostic;

/// A line that keeps one of our files out of git, and the file that it belongs in.
#[derive(Debug, PartialEq)]
struct Line {
    exclude: PathBuf,
    line: String,
    file: PathBuf,
}

impl Registrar<'_> {
    /// See [`bounds::check`].
    pub(super) fn check(&self, path: &Path) -> Result<(), Diagnostic> {
        bounds::check(self.bounds.as_ref(), path)
    }

    /// Whether `path` belongs to the project: it is in the workspace, or in the checkout around it.
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        self.bounds.as_ref().is_some_and(|bounds| bounds.hold(path))
    }

    /// Whether the file is one that a team shares through its repository.
    pub(super) fn is_shared(&self, path: &Path) -> bool {
        self.scope == HookScope::Project
            && self.is_inside(path)
            && path.parent().and_then(checkout::find).is_some()
    }

    /// Leaves a file to the team that shares it, where nobody here has an agent any more whose
    /// registrations are in it: it is as git has it, so they are there for others. It is forgotten, and
    /// what is told is given back.
    pub(super) fn leave_to_team(&mut self, path: &Path, agents: &[Agent]) -> Option<Diagnostic> {
        let is_used = |record: &Record| {
            Agent::from_name(&record.agent).is_some_and(|agent| agents.contains(&agent))
        };
        let records: Vec<Record> =
            self.ledgers.workspace.iter().flat_map(|it| it.records_at(path)).cloned().collect();
        if self.takes_shared
            || self.scope != HookScope::Project
            || !self.is_inside(path)
            || records.iter().any(is_used)
            || self.tracking(path) != (Tracking::Tracked { as_staged: true })
        {
            return None;
        }
        if self.apply
            && let Some(ledger) = &mut self.ledgers.workspace
        {
            records.iter().for_each(|record| ledger.forget(record));
        }
        let message = "this file is shared through git, and stays as it is for the others";
        let note = "where nobody needs what is ours in it, take that out and commit";
        Some(Diagnostic::warning(message).in_file(path).note(note))
    }

    /// Why the file may not be written: git tracks it, or it can't be told. Where an agent waits, a
    /// file in a checkout that is there counts as tracked, unless we made it.
    pub(super) fn off_limits(&self, path: &Path, exists: bool, wanted: bool) -> Option<Diagnostic> {
        if self.scope == HookScope::Project || !self.is_inside(path) {
            return None;
        }
        let tracking = if self.in_hook && exists && !self.is_made_by_us(path) {
            path.parent()
                .and_then(checkout::find)
                .map_or(Tracking::Untracked, |_| Tracking::Tracked { as_staged: false })
        } else {
            self.tracking(path)
        };
        why_off_limits(path, tracking, wanted)
    }

    fn tracking(&self, path: &Path) -> Tracking {
        checkout::tracking(path, if self.in_hook { Limit::INDEX_IN_HOOK } else { Limit::INDEX })
    }

    /// Whether there would be no such file without us.
    fn is_made_by_us(&self, path: &Path) -> bool {
        let mut ledgers = LedgerKind::ALL.into_iter().filter_map(|which| self.ledgers.of(which));
        ledgers.any(|ledger| ledger.made(path))
    }

    /// Keeps the files that we made in the project out of git, and takes back the lines of those
    /// that are gone, or are shared now.
    pub(super) fn guard_from_git(&mut self, problems: &mut Vec<Diagnostic>) {
        let needed = self.needed_lines(problems);
        for line in &needed {
            if let Err(error) = self.add_line(line) {
                problems.push(error);
            }
        }
        for error in self.remove_lines(&needed) {
            problems.push(error);
        }
    }

    fn needed_lines(&self, problems: &mut Vec<Diagnostic>) -> Vec<Line> {
        let Some(ledger) = &self.ledgers.workspace else { return Vec::new() };
        if self.scope == HookScope::Project {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for record in ledger.records() {
            let path = &record.path;
            let file = !matches!(record.entry, Entry::ExcludeLine { .. });
            if !file || !self.is_inside(path) || !self.is_made_by_us(path) || !path.is_file() {
                continue;
            }
            let Some(checkout) = path.parent().and_then(checkout::find) else { continue };
            let exclude = match checkout.exclude() {
                Ok(exclude) => exclude,
                Err(Unclear { why, remedy }) => {
                    let message = "this file of ours can't be kept out of git";
                    let problem = Diagnostic::warning(message).in_file(path).note(why).note(remedy);
                    problems.push(problem);
                    continue;
                }
            };
            let Ok(relative) = path.strip_prefix(&checkout.top) else { continue };
            let relative = relative.to_string_lossy().replace('\\', "/");
            let line = exclude::pattern(&relative, false);
            let line = Line { exclude, line, file: path.clone() };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// Adds a line, and remembers it before; one that is there already is somebody else's, or that of
    /// another of our workspaces, which may leave before this one.
    fn add_line(&mut self, wanted: &Line) -> Result<(), Diagnostic> {
        let text = read_text(&wanted.exclude)?;
        let mut lines = text.as_deref().unwrap_or_default().lines();
        let record = Record {
            agent: String::new(),
            path: wanted.exclude.clone(),
            entry: Entry::ExcludeLine { line: wanted.line.clone() },
        };
        if lines.any(|line| line == wanted.line) {
            if self.ledgers.excludes_elsewhere(&wanted.exclude, &wanted.line)
                && let Some(ledger) = &mut self.ledgers.workspace
            {
                ledger.record(record);
            }
            return Ok(());
        }
        if self.tracking(&wanted.file) != Tracking::Untracked {
            return Ok(());
        }
        if let Some(ledger) = &mut self.ledgers.workspace {
            ledger.record(record);
            if text.is_none() {
                let created = vec![Created::File { was: None }];
                let folders = missing_folders(&wanted.exclude);
                ledger.note_created(&wanted.exclude, CreatedContainers { created, folders });
            }
        }
        self.save();
        let locks = self.sym.dirs.locks();
        let lines = [wanted.line.clone()];
        exclude::add(&locks, &wanted.exclude, &lines, self.patience()).map(|_| ())
    }

    fn remove_lines(&mut self, needed: &[Line]) -> Vec<Diagnostic> {
        let locks = self.sym.dirs.locks();
        let patience = self.patience();
        let ledger = self.ledgers.workspace.as_ref();
        let known = ledger.map(|ledger| ledger.records().cloned().collect::<Vec<_>>());
        let mut problems = Vec::new();
        for record in known.unwrap_or_default() {
            let Entry::ExcludeLine { line } = &record.entry else { continue };
            if needed.iter().any(|known| (&known.exclude, &known.line) == (&record.path, line)) {
                continue;
            }
            let shared = self.ledgers.excludes_elsewhere(&record.path, line);
            if shared && let Err(error) = self.ledgers.hand_over(&record.path, line, patience) {
                problems.push(error);
            }
            let Some(ledger) = &mut self.ledgers.workspace else { continue };
            if shared {
                ledger.forget(&record);
                continue;
            }
            let created = !ledger.surroundings(&record.path).created.is_empty();
            let lines = [line.clone()];
            match exclude::remove(&locks, &record.path, &lines, created, patience) {
                Ok(outcome) => {
                    ledger.forget(&record);
                    if outcome == Outcome::Removed {
                        tracing::debug!("{} is gone again", record.path.display());
                    }
                }
                Err(error) => problems.push(error),
            }
        }
        problems
    }
}

/// What people are told of a file that is left alone.
fn why_off_limits(path: &Path, tracking: Tracking, wanted: bool) -> Option<Diagnostic> {
    let told = |message: &str| Diagnostic::warning(message).in_file(path);
    match tracking {
        Tracking::Untracked => None,
        Tracking::Tracked { .. } => {
            let remedy = if wanted {
                "`cargo agents init --hook-scope project` shares registrations through the repository"
            } else {
                "hooks and servers of ours in it still act: take them out and commit that, or share \
                 them with `cargo agents init --hook-scope project`"
            };
            Some(told("git tracks this file, so it is left as it is").note(remedy))
        }
        Tracking::Unclear(Unclear { why, remedy }) => {
            let message = "it can't be told whether git tracks this file, so it is left as it is";
            Some(told(message).note(why).note(remedy))
        }
    }
}
