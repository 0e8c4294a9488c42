//! The programs that hooks and servers run, made ready by a sync.

use super::facts::Facts;
use super::request::{Caller, Mode, SyncContext};
use super::snapshot::programs::resolve_server;
use super::snapshot::remember::PreparedHook;
use crate::files::private_folders;
use crate::installations::{Acquirer, InstallError, Mode as InstallMode, Network};
use crate::text::Diagnostic;

/// What runs the hooks, in their order.
pub(super) fn prepare(sync: &SyncContext<'_>, facts: &Facts<'_>) -> Vec<PreparedHook> {
    let fetcher = Network::new(sync.sym);
    let acquirer = Acquirer::new(sync.sym, &fetcher);
    let mode = sync.install_mode();
    let packages = facts.hooks.iter().filter(|(plugin, _)| plugin.package.is_some());
    for (plugin, _) in packages.filter(|_| sync.request.mode == Mode::Apply) {
        let data = sync.sym.dirs.plugin_data(&plugin.source, &plugin.name);
        if let Err(error) = private_folders(&data) {
            tracing::warn!("{}: {error}", data.display());
        }
    }
    for plugin in &facts.active {
        let records = acquirer.records_of_commands(plugin);
        records.iter().for_each(|record| sync.observer.expect(record));
    }
    facts.hooks.iter().map(|(plugin, hook)| acquirer.hook(plugin, hook, mode)).collect()
}

/// Tells the user of programs that hooks lack, each once. Says whether one could not be got.
pub(super) fn tell_unprepared(
    sync: &SyncContext<'_>,
    facts: &Facts<'_>,
    prepared: &[PreparedHook],
) -> bool {
    if sync.request.caller != Caller::Command {
        return false;
    }
    let fetcher = Network::new(sync.sym);
    let acquirer = Acquirer::new(sync.sym, &fetcher);
    let hooks = facts.hooks.iter().zip(prepared);
    let lacking = hooks.flat_map(|((plugin, _), prepared)| {
        problems(prepared).iter().map(|error| acquirer.diagnose(plugin, error))
    });
    let mut told: Vec<Diagnostic> = Vec::new();
    for problem in lacking {
        if !told.contains(&problem) {
            sync.sym.report.diagnostic(&problem);
            told.push(problem);
        }
    }
    told.iter().any(Diagnostic::is_error)
}

/// What it lacks.
pub(super) fn problems(prepared: &PreparedHook) -> &[InstallError] {
    match prepared {
        Ok(prepared) => &prepared.missing,
        Err(problem) => std::slice::from_ref(problem),
    }
}

/// Gets what takes long before the workspace is locked: nobody shall wait for a program that is
/// being compiled. Afterwards everything is on disk, or known not to be had.
pub(super) fn prefetch(sync: &SyncContext<'_>, facts: &Facts<'_>) {
    let fetcher = Network::new(sync.sym);
    let acquirer = Acquirer::new(sync.sym, &fetcher);
    for (plugin, hook) in &facts.hooks {
        if let Err(error) = acquirer.hook(plugin, hook, InstallMode::Detached) {
            tracing::warn!("{error}");
        }
    }
    for (plugin, server, _) in &facts.servers {
        if let Err(error) = resolve_server(&acquirer, plugin, server, InstallMode::Detached) {
            tracing::warn!("{error}");
        }
    }
}
