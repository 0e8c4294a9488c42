//! The servers that should be registered: those of a workspace, and those of every one.

use super::setup::Setup;
use super::{Desired, Registrar};
use crate::Symposium;
use crate::agents::Agent;
use crate::config::HookScope;
use crate::installations::{Acquirer, Mode, Network};
use crate::plugins::model::{McpServer, Plugin};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::sync::facts::is_everywhere;
use crate::sync::snapshot::programs::resolve_server;

/// A plugin's server, and whether it is for every workspace.
type Offered<'r> = (&'r Plugin, &'r McpServer, bool);

/// Adds `servers` to what is desired. One whose program can't be had is told; what is registered of
/// it already stays until it can be had again.
pub(super) fn add_applicable(
    setup: &Setup<'_>,
    registrar: &Registrar<'_>,
    servers: &[Offered<'_>],
    agents: &[Agent],
    mode: Mode,
    desired: &mut Desired,
) {
    let sym = setup.symposium();
    let fetcher = Network::new(sym);
    let acquirer = Acquirer::new(sym, &fetcher);
    for (plugin, server, everywhere) in servers {
        if server.is_withheld {
            registrar.keep_servers(desired, |name| name == server.name);
            continue;
        }
        match resolve_server(&acquirer, plugin, server, mode) {
            Ok(resolved) => {
                for agent in agents {
                    let placement = setup.placement(*agent, setup.scope, "");
                    desired.server(*agent, &resolved, *everywhere, &placement);
                }
            }
            Err(error) => {
                registrar.keep_servers(desired, |name| name == server.name);
                sym.report.warn(error.to_string());
            }
        }
    }
}

/// Adds the servers of every workspace, for a command that runs in none. With hooks in the projects'
/// files there are none: each project has its own then.
pub(crate) fn add_everywhere(
    setup: &Setup<'_>,
    registrar: &Registrar<'_>,
    agents: &[Agent],
    desired: &mut Desired,
) {
    let sym = setup.symposium();
    if setup.scope != HookScope::Global || agents.is_empty() {
        return;
    }
    let registry = Registry::load(sym, &Refresh::for_command(sym));
    sym.report.diagnostics(&registry.diagnostics);
    add_applicable(setup, registrar, &everywhere(sym, &registry), agents, Mode::Explicit, desired);
}

/// The servers whose plugin and own gate hold in every workspace.
fn everywhere<'r>(sym: &Symposium, registry: &'r Registry) -> Vec<Offered<'r>> {
    let choices = &sym.config.plugins;
    let plugins = registry.plugins.iter().filter(|entry| {
        let disabled = choices.disabled_by(&entry.plugin.name, None).is_some();
        entry.shadowed_by.is_none() && !disabled && is_everywhere(&entry.plugin.gate)
    });
    plugins
        .flat_map(|entry| entry.plugin.servers.iter().map(|server| (&entry.plugin, server, true)))
        .filter(|(_, server, _)| is_everywhere(&server.gate))
        .collect()
}
