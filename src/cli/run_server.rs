//! `cargo agents run-server`: agents start a plugin's MCP server with it, where a file that a team
//! shares says so, and the servers of packages, whose folders each start puts in.
//!
//! Only servers of the user's own plugin sources are started: the file gives a name, no program.

use super::CommandResult;
use super::grammar::RunServerArgs;
use crate::Symposium;
use crate::installations::{Acquirer, Mode, Network, packaged_server};
use crate::plugins::model::Transport;
use crate::plugins::trust::Trust;
use crate::plugins::trust::part::PartKind;
use crate::process::{Child, run_inherited};
use crate::report::ExitCode;
use crate::sync::registration::servers;
use crate::sync::snapshot::programs::resolve_server;
use crate::text::Diagnostic;
use crate::workspace::UNOBSERVED;

/// Runs the server; its standard streams are the agent's.
pub(super) fn run(sym: &Symposium, args: &RunServerArgs) -> CommandResult {
    let (plugin, server) = servers::find(sym, &args.name)?;
    if let Some(why) = Trust::of(sym, &UNOBSERVED).waits(&plugin, PartKind::Server, &server.name) {
        let message =
            format!("the server `{}` of plugin `{}` does not run", server.name, plugin.name);
        return Err(Diagnostic::error(message).note(why.told(&plugin.name)).into());
    }
    if let Some(package) = &plugin.package {
        let child = packaged_server(sym, (&plugin, package), &server)?;
        return Ok(ExitCode::from(run_inherited(&child)?.exit_code()));
    }
    let network = Network::new(sym);
    let acquirer = Acquirer::new(sym, &network);
    let server = resolve_server(&acquirer, &plugin, &server, Mode::Explicit)?;
    let Transport::Stdio { command, args, env } = server.transport else {
        let message = format!("the server `{}` is no program, but an address", server.name);
        return Err(Diagnostic::error(message).into());
    };
    let mut child = Child::new(command).args(args).in_environment(&sym.env);
    for (name, value) in env {
        // What the agent gave has its own variables in it.
        if sym.env.var(&name).is_none() {
            child = child.env(name, value);
        }
    }
    Ok(ExitCode::from(run_inherited(&child)?.exit_code()))
}
