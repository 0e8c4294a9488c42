//! The ledgers of one run.

use std::cell::OnceCell;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::agents::Agent;
use crate::agents::command::argv;
use crate::config::Dirs;
use crate::documents::ledger::CreatedContainers;
use crate::documents::{Entry, Ledger, Record};
use crate::text::Diagnostic;

/// Which ledger remembers a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LedgerKind {
    Home,
    Workspace,
}

impl LedgerKind {
    pub(crate) const ALL: [Self; 2] = [Self::Home, Self::Workspace];
}

/// The ledgers of this run.
#[derive(Debug, Clone)]
pub(crate) struct Ledgers {
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
    pub(crate) fn of(&self, which: LedgerKind) -> Option<&Ledger> {
        match which {
            LedgerKind::Home => Some(&self.home),
            LedgerKind::Workspace => self.workspace.as_ref(),
        }
    }

    /// One of them, to be changed.
    pub(crate) fn of_mut(&mut self, which: LedgerKind) -> Option<&mut Ledger> {
        match which {
            LedgerKind::Home => Some(&mut self.home),
            LedgerKind::Workspace => self.workspace.as_mut(),
        }
    }

    pub(crate) fn records_at<'l>(
        &'l self,
        path: &'l Path,
    ) -> impl Iterator<Item = (LedgerKind, &'l Record)> {
        LedgerKind::ALL.into_iter().flat_map(move |which| {
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
        argv(entry).first().is_some_and(|program| {
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

/// What is known of one agent's members of `table`.
pub(super) fn records<'l>(
    ledger: &'l Ledger,
    agent: Agent,
    table: &'l [String],
) -> impl Iterator<Item = &'l Record> {
    ledger.records().filter(move |record| {
        record.agent == agent.name()
            && matches!(&record.entry, Entry::Member { table: known, .. } if known == table)
    })
}

/// The key of a table's member that the record is about.
pub(super) fn key_of(record: &Record) -> Option<&str> {
    match &record.entry {
        Entry::Member { key, .. } => Some(key),
        _ => None,
    }
}
