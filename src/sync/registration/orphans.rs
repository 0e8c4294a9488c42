//! Workspaces whose folder is gone, and what is still registered for them elsewhere.

use std::path::{Path, PathBuf};

use super::lock::{FILE_LOCK_TIMEOUT, RegistrationLock};
use super::setup::Setup;
use super::{LedgerKind, Registered, Registrar, hooks};
use crate::Symposium;
use crate::documents::{Entry, Ledger};
use crate::sync::request::{Sweep, configured_agents};
use crate::sync::snapshot::Snapshot;
use crate::text::Diagnostic;

/// The roots that a ledger knows and that are not there any more, and ledgers that can't be read.
pub(crate) fn find(sym: &Symposium) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let (ledgers, damaged) = Ledger::all_workspaces(&sym.dirs);
    let roots = ledgers.iter().filter_map(Ledger::root).filter(|root| !root.exists());
    (roots.map(Path::to_path_buf).collect(), damaged)
}

/// Takes back what is registered outside of the gone workspace at `root` for it, such as its entry
/// in `~/.claude.json`, and forgets it. What is registered for all workspaces stays.
///
/// # Errors
/// When there is no home folder, the ledger can't be written, or another process does not end.
pub(crate) fn forget(sym: &Symposium, root: &Path) -> anyhow::Result<Registered> {
    let _registration = RegistrationLock::alone(sym)?;
    let (mut ledger, diagnostics) = Ledger::workspace(&sym.dirs, root);
    sym.report.diagnostics(&diagnostics);
    let inside: Vec<_> =
        ledger.records().filter(|record| record.path.starts_with(root)).cloned().collect();
    for record in &inside {
        ledger.forget(record);
        ledger.note_undone(&record.path, ledger.surroundings(&record.path));
    }
    ledger.save(&sym.dirs, FILE_LOCK_TIMEOUT)?;
    // As if outside of any workspace: nothing must be made where the root was.
    let setup = Setup::new(sym, None, false)?;
    let (mut registrar, diagnostics) = Registrar::open(sym, Some(root), true);
    registrar.under_callers_lock();
    sym.report.diagnostics(&diagnostics);
    let agents = configured_agents(sym);
    let (mut desired, _) = hooks::configured(&setup, &agents, registrar.ledgers(), Sweep::Recorded);
    let everywhere = registrar.ledgers().of(LedgerKind::Home).into_iter().flat_map(Ledger::records);
    let servers = everywhere.filter(|record| matches!(record.entry, Entry::Member { .. }));
    desired.kept.extend(servers.map(|record| (LedgerKind::Home, record.clone())));
    let registered = registrar.carry_out(desired);
    sym.report.diagnostics(&registered.diagnostics);
    let (ledger, _) = Ledger::workspace(&sym.dirs, root);
    if ledger.records().len() == 0 {
        let _ = std::fs::remove_file(ledger.file());
    }
    let _ = std::fs::remove_file(Snapshot::path(&sym.dirs, root));
    Ok(registered)
}
