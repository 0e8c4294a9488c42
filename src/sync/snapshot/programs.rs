//! Programs of plugins, resolved for the snapshot and the agents' files.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::Run;
use crate::Symposium;
use crate::agents::command::shared_server;
use crate::installations::{Acquirer, InstallError, Mode, Prepared, Trouble};
use crate::plugins::manifest::of_another_system;
use crate::plugins::model::{Installation, McpServer, Plugin, Transport};

/// What to run, as the snapshot remembers it; without arguments while it is not there.
pub(crate) fn run_of(
    sym: &Symposium,
    plugin: &Plugin,
    installation: &str,
    prepared: &Result<Prepared, InstallError>,
) -> Run {
    let known = plugin.installations.iter().find(|known| known.name == installation);
    let mut run = Run {
        manifest: plugin.manifest.clone(),
        installation: installation.to_owned(),
        fetchable: known.is_some_and(is_fetchable),
        ..Run::default()
    };
    let failed = |error: &InstallError| Some((error.name.clone(), error.failure()?.to_owned()));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(problem) => {
            run.failed.extend(failed(problem));
            run.problem = Some(problem.to_string());
            return run;
        }
    };
    let fetchable = |name: &&str| {
        plugin.installations.iter().any(|known| known.name == **name && is_fetchable(known))
    };
    run.failed.extend(prepared.missing.iter().filter_map(failed));
    let lacking = prepared.missing.iter().map(|error| error.name.as_str()).filter(fetchable);
    run.lacking = lacking.map(str::to_owned).collect();
    let child = prepared.invocation.child();
    let mut argv = vec![child.program.to_string_lossy().into_owned()];
    argv.extend(child.args.iter().map(|arg| arg.to_string_lossy().into_owned()));
    run.argv = Some(argv);
    for (name, value) in &prepared.env {
        if name == "PATH" {
            run.path = prefix(value, sym.env.var("PATH"));
        } else {
            let name = name.to_string_lossy().into_owned();
            run.env.push((name, value.to_string_lossy().into_owned()));
        }
    }
    run
}

/// Whether an installation is got by us, and so can be got when it is missing.
pub(crate) fn is_fetchable(installation: &Installation) -> bool {
    installation.source.is_some() || !installation.install_commands.is_empty()
}

/// The folders that `path` has before those it inherited: those of today are not those of the
/// session in which the program will run.
fn prefix(path: &OsStr, inherited: Option<&OsStr>) -> Vec<PathBuf> {
    let all: Vec<PathBuf> = std::env::split_paths(path).collect();
    let own = inherited.map_or(0, |inherited| std::env::split_paths(inherited).count());
    let count = all.len().saturating_sub(own);
    all.into_iter().take(count).collect()
}

/// The server with its program resolved, when its command names an installation.
///
/// # Errors
/// When the program is not to be had.
pub(crate) fn resolve_server(
    acquirer: &Acquirer<'_>,
    plugin: &Plugin,
    server: &McpServer,
    mode: Mode,
) -> Result<McpServer, InstallError> {
    let Transport::Stdio { command, args, env } = &server.transport else {
        return Ok(server.clone());
    };
    if plugin.package.is_some() {
        // Its folders and its working folder are put in when it starts, for every agent alike; and
        // what an update moves is in nobody's file.
        let transport = shared_server(&server.name, Vec::new());
        return Ok(McpServer { transport, ..server.clone() });
    }
    let Some(prepared) = acquirer.server(plugin, command, mode) else {
        return with_path(plugin, server, command);
    };
    let prepared = prepared?;
    let child = prepared.invocation.child();
    let mut all: Vec<String> =
        child.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    all.extend(args.iter().cloned());
    let transport = Transport::Stdio {
        command: child.program.to_string_lossy().into_owned(),
        args: all,
        env: env.clone(),
    };
    Ok(McpServer { transport, ..server.clone() })
}

/// A command that is a path in the plugin's folder becomes absolute: agents start it elsewhere. One
/// that leads out of it is refused: taken as it stands, the agent would find it in the project.
fn with_path(
    plugin: &Plugin,
    server: &McpServer,
    command: &str,
) -> Result<McpServer, InstallError> {
    let is_path = command.contains(['/', '\\']) && !PathBuf::from(command).is_absolute();
    let refused = |why| InstallError::new(plugin, command, Trouble::Unusable(why));
    if let Some(why) = of_another_system(command) {
        return Err(refused(why));
    }
    let mut server = server.clone();
    if is_path && let Transport::Stdio { command, .. } = &mut server.transport {
        let path = plugin.resolve(command).map_err(|escape| refused(escape.to_string()))?;
        *command = path.to_string_lossy().into_owned();
    }
    Ok(server)
}
