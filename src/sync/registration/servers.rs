//! The servers that should be registered: those of a workspace, and those of every one.

use std::path::Path;

use super::setup::Setup;
use super::{Desired, Registrar};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::command::{OWN_SERVER, own_server, shared_server, started_server};
use crate::config::{HookScope, TrustPrograms};
use crate::installations::{Acquirer, Mode, Network};
use crate::plugins::model::{Gate, McpServer, Plugin, Transport};
use crate::plugins::predicate::{Facts as GateFacts, evaluate_all};
use crate::plugins::registry::{Briefly, Registry};
use crate::plugins::source::Refresh;
use crate::plugins::trust::Trust;
use crate::plugins::trust::part::PartKind;
use crate::report::{Action, Change, Kind};
use crate::skills::crate_source::{CrateDisk, Newest};
use crate::sync::facts::{Facts, Part, is_everywhere, passed_over};
use crate::sync::snapshot::programs::resolve_server;
use crate::text::Diagnostic;
use crate::workspace::{UNOBSERVED, Workspace};

/// A plugin's server, and whether it is for every workspace.
type Offered<'r> = (&'r Plugin, &'r McpServer, bool);

/// Adds our own server for `agents`, where the user wants it. It goes to each agent's own file, whatever
/// the scope of hooks: a user's choice is not the project's.
pub(crate) fn add_own(setup: &Setup<'_>, agents: &[Agent], desired: &mut Desired) {
    if !setup.symposium().config.register_mcp {
        return;
    }
    for agent in agents {
        let placement = setup.placement(*agent, HookScope::Global, "");
        desired.server(*agent, &own(setup, *agent), true, &placement);
    }
}

/// Our own server as `agent` starts it.
pub(crate) fn own(setup: &Setup<'_>, agent: Agent) -> McpServer {
    let (program, _) = setup.program(agent, HookScope::Global);
    McpServer {
        name: OWN_SERVER.to_owned(),
        gate: Gate::default(),
        transport: own_server(&program),
        cwd: None,
        is_withheld: false,
    }
}

/// Keeps the servers of plugins that are registered already and whose names are `wanted`; whether our
/// own stays is the configuration's to say.
pub(crate) fn keep(
    registrar: &Registrar<'_>,
    desired: &mut Desired,
    wanted: impl Fn(&str) -> bool,
) {
    registrar.keep_servers(desired, |name| name != OWN_SERVER && wanted(name));
}

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
                let resolved = match setup.scope {
                    HookScope::Global => resolved,
                    HookScope::Project => without_personal_paths(server, resolved, setup.home()),
                };
                for agent in agents {
                    let placement = setup.placement(*agent, setup.scope, "");
                    let resolved = started_by_us((setup, *agent), plugin, resolved.clone());
                    desired.server(*agent, &resolved, *everywhere, &placement);
                }
            }
            Err(error) => {
                registrar.keep_servers(desired, |name| name == server.name);
                desired.troubles.push(error.diagnose());
            }
        }
    }
}

/// A server in an agent's own file that is started by our program, wherever that is: a package's, and
/// each that the user has a say in.
fn started_by_us(
    (setup, agent): (&Setup<'_>, Agent),
    plugin: &Plugin,
    resolved: McpServer,
) -> McpServer {
    let is_program = matches!(resolved.transport, Transport::Stdio { .. });
    // Each start asks anew whether it is what the user allowed.
    let config = &setup.symposium().config;
    let asks = config.trust_programs == TrustPrograms::Ask || config.is_in_checkout(&plugin.source);
    let is_started_by_us = plugin.package.is_some() || asks;
    if !is_started_by_us || !is_program || setup.scope == HookScope::Project {
        return resolved;
    }
    let (program, _) = setup.program(agent, HookScope::Global);
    McpServer { transport: started_server(&program, &resolved.name), ..resolved }
}

/// The server as a file that a team shares has it: a program that is only where it is on this machine
/// is started by way of us, who find it on each, and give it the variables that are left out.
fn without_personal_paths(server: &McpServer, resolved: McpServer, home: &Path) -> McpServer {
    let Transport::Stdio { command, args, env } = &resolved.transport else { return resolved };
    let is_personal = |text: &String| home.to_str().is_some_and(|home| text.contains(home));
    let words = std::iter::once(command).chain(args);
    let of_this_machine = resolved.transport != server.transport
        || words.chain(env.iter().map(|(_, value)| value)).any(is_personal);
    if !of_this_machine {
        return resolved;
    }
    let env = env.iter().filter(|(_, value)| !is_personal(value)).cloned().collect();
    McpServer { transport: shared_server(&server.name, env), ..resolved }
}

/// The server `name` that applies in the context's folder, with its plugin.
///
/// # Errors
/// There is none, or the workspace can't be read.
pub(crate) fn find(sym: &Symposium, name: &str) -> anyhow::Result<(Plugin, McpServer)> {
    let loaded = Workspace::load(&sym.cwd()?, &sym.env)?;
    let workspace = loaded.as_ref().map(|loaded| &loaded.workspace);
    let root = workspace.map(|workspace| workspace.root.as_path());
    let disk = workspace.map(|workspace| CrateDisk::new(workspace, &sym.env, &sym.dirs));
    let facts = GateFacts {
        dependencies: workspace.map_or(&[], |workspace| &workspace.dependencies),
        newest: &disk.as_ref().map(|disk| Newest(disk)),
        members: workspace.map_or(&[], |workspace| &workspace.members),
        root,
        env: &sym.env,
        observer: &UNOBSERVED,
    };
    let mut registry = Registry::load(sym, &Refresh::cached());
    registry.wake(&sym.config.plugins, root);
    let mut reason = None;
    for plugin in registry.active() {
        let Some(server) = plugin.servers.iter().find(|server| server.name == name) else {
            continue;
        };
        if let Some(why) = sym.config.plugins.disabled_by(&plugin.name, root) {
            reason.get_or_insert(why.to_owned());
            continue;
        }
        let evaluation = evaluate_all(&[&plugin.gate, &server.gate], &facts);
        if evaluation.holds {
            return Ok((plugin.clone(), server.clone()));
        }
        reason.get_or_insert(evaluation.reason);
    }
    let reason = reason.unwrap_or_else(|| "no plugin of yours brings it".to_owned());
    Err(Diagnostic::error(format!("the server `{name}` does not apply here: {reason}"))
        .note("`cargo agents sync` brings what is registered up to date")
        .into())
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
    let mut briefly = Briefly::new(&sym.report, &registry);
    briefly.tell(&registry.diagnostics);
    briefly.finish();
    add_applicable(setup, registrar, &everywhere(sym, &registry), agents, Mode::Explicit, desired);
}

/// Says of servers that go why.
pub(in crate::sync) fn explain(
    changes: &mut [Change],
    facts: &Facts<'_>,
    agents: &[Agent],
    (sym, workspace): (&Symposium, &Workspace),
) {
    let goes = |change: &&mut Change| {
        (change.kind, change.action) == (Kind::Server, Action::Unregister)
            && change.reason.is_none()
    };
    for change in changes.iter_mut().filter(goes) {
        let of_no_agent = !agents.iter().any(|agent| change.is_of(agent.name()));
        let applies = facts.servers.iter().any(|(_, server, _)| server.name == change.name);
        change.reason = match (of_no_agent, applies) {
            (true, _) => Some("the agent is not one of yours".to_owned()),
            // It only moves.
            (false, true) => None,
            (false, false) => Some(why_gone(&change.name, facts, (sym, workspace))),
        };
    }
}

fn why_gone(name: &str, facts: &Facts<'_>, (sym, workspace): (&Symposium, &Workspace)) -> String {
    if name == OWN_SERVER {
        return "`register` in `[mcp]` of your configuration is not `true`".to_owned();
    }
    let mut fates = facts.plugins.iter().filter_map(|fate| {
        let index = fate.plugin.servers.iter().position(|server| server.name == name)?;
        let is_this = |part: &&Part| part.kind == Kind::Server && part.index == index;
        let part = fate.parts.iter().find(is_this);
        let reason = part.map(|part| part.lacks.as_ref().unwrap_or(&part.reason));
        Some(reason.unwrap_or(&fate.reason).clone())
    });
    let brings = |plugin: &Plugin| plugin.servers.iter().any(|server| server.name == name);
    fates
        .next()
        .or_else(|| passed_over::reasons(sym, workspace, &brings).into_iter().next())
        .unwrap_or_else(|| "no plugin brings it any more".to_owned())
}

/// The servers whose plugin and own gate hold in every workspace.
fn everywhere<'r>(sym: &Symposium, registry: &'r Registry) -> Vec<Offered<'r>> {
    let (choices, trust) = (&sym.config.plugins, Trust::of(sym, &UNOBSERVED));
    let plugins = registry.plugins.iter().filter(|entry| {
        let disabled = choices.disabled_by(&entry.plugin.name, None).is_some();
        let is_teams = sym.config.is_teams(&entry.plugin.source);
        let is_own = entry.shadowed_by.is_none() && !disabled && !is_teams;
        is_own && is_everywhere(&entry.plugin.gate)
    });
    plugins
        .flat_map(|entry| entry.plugin.servers.iter().map(|server| (&entry.plugin, server, true)))
        .filter(|(_, server, _)| is_everywhere(&server.gate))
        .filter(|(plugin, server, _)| trust.waits(plugin, PartKind::Server, &server.name).is_none())
        .collect()
}
