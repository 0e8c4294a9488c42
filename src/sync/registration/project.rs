//! Files in the project, and git: what is tracked is left alone, what we create is kept out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::carry::Registrar;
use super::desired::Which;
use crate::config::HookScope;
use crate::documents::ledger::Surroundings;
use crate::documents::{Created, Entry, Outcome, Record, exclude, missing_folders, read_text};
use crate::process::{Child, run};
use crate::text::Diagnostic;

/// How long git may take to say whether it tracks a file.
const GIT_LIMIT: Duration = Duration::from_secs(5);

/// A line that keeps one of our files out of git, and the file that it belongs in.
#[derive(Debug, PartialEq)]
struct Line {
    exclude: PathBuf,
    line: String,
    file: PathBuf,
}

impl Registrar<'_> {
    /// Whether `path` belongs to the project: it is in the workspace, or in the checkout around it.
    /// A home folder that is a checkout is no project's.
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        let within = |folder: &Option<PathBuf>| {
            folder.as_deref().is_some_and(|folder| path.starts_with(folder))
        };
        within(&self.root) || within(&self.git_root)
    }

    /// Whether the file may not be written because git tracks it. Where git must not be asked, a
    /// file that is there counts as tracked, unless we made it: better left alone than dirtied.
    pub(super) fn is_off_limits(&self, path: &Path, exists: bool) -> bool {
        if self.sym.config.hook_scope == HookScope::Project || !self.is_inside(path) {
            return false;
        }
        let folder = path.ancestors().skip(1).find(|folder| folder.is_dir());
        let Some(folder) = folder.filter(|folder| exclude::find(folder).is_some()) else {
            return false;
        };
        if self.may_ask_git {
            is_tracked(path, folder)
        } else {
            exists && !self.is_made_by_us(path)
        }
    }

    /// Whether there would be no such file without us.
    fn is_made_by_us(&self, path: &Path) -> bool {
        Which::ALL.into_iter().filter_map(|which| self.ledgers.of(which)).any(|ledger| {
            let made = |created: &Created| matches!(created, Created::File { was: None });
            ledger.surroundings(path).created.iter().any(made)
                || ledger.records_at(path).any(|known| matches!(known.entry, Entry::OwnFile { .. }))
        })
    }

    /// Keeps the files that we made in the project out of git, and takes back the lines of those
    /// that are gone, or are shared now.
    pub(super) fn guard_from_git(&mut self, problems: &mut Vec<Diagnostic>) {
        let needed = self.needed_lines();
        for line in &needed {
            if let Err(error) = self.add_line(line) {
                problems.push(error);
            }
        }
        for error in self.remove_lines(&needed) {
            problems.push(error);
        }
    }

    fn needed_lines(&self) -> Vec<Line> {
        let Some(ledger) = &self.ledgers.workspace else { return Vec::new() };
        if self.sym.config.hook_scope == HookScope::Project {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for record in ledger.records() {
            let path = &record.path;
            let file = !matches!(record.entry, Entry::ExcludeLine { .. });
            if !file || !self.is_inside(path) || !self.is_made_by_us(path) || !path.is_file() {
                continue;
            }
            let Some(checkout) = path.parent().and_then(exclude::find) else { continue };
            let Ok(relative) = path.strip_prefix(&checkout.top) else { continue };
            let relative = relative.to_string_lossy().replace('\\', "/");
            let line = exclude::pattern(&relative, false);
            let line = Line { exclude: checkout.exclude, line, file: path.clone() };
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
        if self.is_off_limits(&wanted.file, true) && self.may_ask_git {
            return Ok(());
        }
        if let Some(ledger) = &mut self.ledgers.workspace {
            ledger.record(record);
            if text.is_none() {
                let created = vec![Created::File { was: None }];
                let folders = missing_folders(&wanted.exclude);
                ledger.note_created(&wanted.exclude, Surroundings { created, folders });
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
        let known = self.ledgers.workspace.as_ref().map(|ledger| ledger.records().to_vec());
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

fn is_tracked(path: &Path, folder: &Path) -> bool {
    let child = Child::new("git")
        .args(["-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--"])
        .args([path.as_os_str()])
        .cwd(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .limit(GIT_LIMIT);
    run(&child).is_ok_and(|output| output.success())
}

/// What people are told of a file that git tracks.
pub(super) fn tracked(path: &Path, wanted: bool) -> Diagnostic {
    let remedy = if wanted {
        "`cargo agents init --hook-scope project` shares registrations through the repository"
    } else {
        "hooks and servers of ours in it still act: take them out and commit that, or share them \
         with `cargo agents init --hook-scope project`"
    };
    Diagnostic::warning("git tracks this file, so it is left as it is").in_file(path).note(remedy)
}
