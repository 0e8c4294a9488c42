//! The ledgers of one run.

use std::cell::OnceCell;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::desired::Which;
use crate::config::Dirs;
use crate::documents::ledger::CreatedContainers;
use crate::documents::{Entry, Ledger, Record};
use crate::text::Diagnostic;

/// The ledgers of this run.
#[derive(Debug, Clone)]
pub(crate) struct Ledgers {
    /// The home folder's.
    pub home: Ledger,
    /// The workspace's, in one.
    pub workspace: Option<Ledger>,
    dirs: Dirs,
    others: OnceCell<Vec<Ledger>>,
}

impl Ledgers {
    /// Opens the home folder's ledger and, with `root`, a workspace's. Damaged ones count as empty.
    pub(crate) fn open(dirs: &Dirs, root: Option<&Path>) -> (Self, Vec<Diagnostic>) {
        let (home, mut diagnostics) = Ledger::home(dirs);
        let workspace = root.map(|root| {
            let (ledger, more) = Ledger::workspace(dirs, root);
            diagnostics.extend(more);
            ledger
        });
        let ledgers = Self { home, workspace, dirs: dirs.clone(), others: OnceCell::new() };
        (ledgers, diagnostics)
    }

    /// One of them.
    pub(crate) fn of(&self, which: Which) -> Option<&Ledger> {
        match which {
            Which::Home => Some(&self.home),
            Which::Workspace => self.workspace.as_ref(),
        }
    }

    /// One of them, to be changed.
    pub(crate) fn of_mut(&mut self, which: Which) -> Option<&mut Ledger> {
        match which {
            Which::Home => Some(&mut self.home),
            Which::Workspace => self.workspace.as_mut(),
        }
    }

    /// All that is known of the file at `path`.
    pub(crate) fn records_at<'l>(
        &'l self,
        path: &'l Path,
    ) -> impl Iterator<Item = (Which, &'l Record)> {
        Which::ALL.into_iter().flat_map(move |which| {
            let records = self.of(which).map(|ledger| ledger.records_at(path));
            records.into_iter().flatten().map(move |record| (which, record))
        })
    }

    /// The records of the member `key` of `table` that other workspaces have: two workspaces in one
    /// checkout may share a table, as in Claude Code's own file.
    pub(crate) fn elsewhere<'l>(
        &'l self,
        path: &'l Path,
        table: &'l [String],
        key: &'l str,
    ) -> impl Iterator<Item = &'l Record> {
        self.others()
            .iter()
            .filter(|ledger| self.is_other(ledger))
            .flat_map(|ledger| ledger.records_at(path))
            .filter(move |record| is_member(record, table, key))
    }

    /// Whether another workspace has the same line in the exclude file at `path`: linked checkouts
    /// share one.
    pub(crate) fn excludes_elsewhere(&self, path: &Path, line: &str) -> bool {
        self.others().iter().any(|ledger| self.is_other(ledger) && excludes(ledger, path, line))
    }

    /// Hands what exists because of us around the exclude file at `path` on to a workspace that has
    /// the line, too: the last one takes it away.
    ///
    /// # Errors
    /// When the ledgers can't be written.
    pub(crate) fn hand_over(
        &mut self,
        path: &Path,
        line: &str,
        patience: Duration,
    ) -> Result<(), Diagnostic> {
        let Some(own) = &mut self.workspace else { return Ok(()) };
        let made = own.surroundings(path);
        let file = own.file().to_path_buf();
        if made == CreatedContainers::default() {
            return Ok(());
        }
        let mut others = Ledger::all_workspaces(&self.dirs).0.into_iter();
        if let Some(mut heir) =
            others.find(|other| other.file() != file && excludes(other, path, line))
        {
            heir.note_created(path, made.clone());
            heir.save(&self.dirs, patience)?;
            own.note_undone(path, made);
        }
        Ok(())
    }

    fn is_other(&self, ledger: &Ledger) -> bool {
        self.workspace.as_ref().is_none_or(|own| own.file() != ledger.file())
    }

    /// Whether an entry starts a program in our own folders: nobody but us would have entered that.
    pub(crate) fn starts_own_program(&self, entry: &Value) -> bool {
        let command = entry.get("command").or_else(|| entry.get("cmd"));
        let program =
            command.and_then(|command| command.as_str().or_else(|| command.get(0)?.as_str()));
        program.is_some_and(|program| {
            let program = Path::new(program);
            program.starts_with(self.dirs.cache()) || program.starts_with(self.dirs.user_plugins())
        })
    }

    fn others(&self) -> &[Ledger] {
        self.others.get_or_init(|| Ledger::all_workspaces(&self.dirs).0)
    }
}

fn excludes(ledger: &Ledger, path: &Path, line: &str) -> bool {
    let is_line =
        |entry: &Entry| matches!(entry, Entry::ExcludeLine { line: known } if known == line);
    ledger.records_at(path).any(|record| is_line(&record.entry))
}

/// Whether the record is about the member `key` of `table`.
pub(super) fn is_member(record: &Record, table: &[String], key: &str) -> bool {
    matches!(&record.entry, Entry::Member { table: known, key: name, .. }
        if known == table && name == key)
}
