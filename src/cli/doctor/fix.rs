//! What `--fix` does: nothing that a sync, or an uninstall of what is gone, would not do.

use crate::Symposium;
use crate::report::{Change, Event};
use crate::sync::registration::setup::Setup;
use crate::sync::registration::{Registrar, hooks, orphans, servers};
use crate::sync::{Request, Sweep, configured_agents, sync};

/// Brings about what is configured, and takes back what belongs to workspaces that are gone.
pub(super) fn fix(sym: &Symposium) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    // Without a configuration nobody knows what should be registered.
    if !sym.config_state.is_clear() {
        return Ok(changes);
    }
    for root in orphans::find(sym).0 {
        let removed = orphans::forget(sym, &root)?;
        report_changes(sym, &removed.changes);
        changes.extend(removed.changes);
    }
    let cwd = sym.cwd()?;
    if crate::workspace::locate(&cwd, &sym.env).ok().flatten().is_some() {
        let request = Request { start: cwd, sweep: Sweep::Everything, ..Request::default() };
        changes.extend(sync(sym, &request)?.changes);
    } else {
        let registered = register(sym)?;
        report_changes(sym, &registered);
        changes.extend(registered);
    }
    changes.retain(|change| change.action.is_change());
    Ok(changes)
}

/// Hooks and our own server in the home folder, outside of any workspace.
fn register(sym: &Symposium) -> anyhow::Result<Vec<Change>> {
    let setup = Setup::new(sym, None, true)?;
    let (mut registrar, diagnostics) = Registrar::open(sym, None, true);
    sym.report.diagnostics(&diagnostics);
    let agents = configured_agents(sym);
    let (mut desired, _) =
        hooks::configured(&setup, &agents, registrar.ledgers(), Sweep::Everything);
    servers::keep(&registrar, &mut desired, |_| true);
    servers::add_own(&setup, &agents, &mut desired);
    let registered = registrar.carry_out(desired);
    sym.report.diagnostics(&registered.diagnostics);
    Ok(registered.changes)
}

fn report_changes(sym: &Symposium, changes: &[Change]) {
    for change in changes {
        sym.report.event(&Event::Change(change.clone()));
    }
}
