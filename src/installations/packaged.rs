//! The MCP server of a package in a format of others, ready to be started.

use std::path::{Path, PathBuf};

use crate::Symposium;
use crate::files::{contained, private_folders};
use crate::plugins::model::{McpServer, Package, PackageFormat, Plugin, Transport};
use crate::plugins::packages::{Folders, with_variables};
use crate::process::Child;
use crate::text::Diagnostic;

/// The child that is the server, which has the package's folders in its words and its variables.
///
/// # Errors
/// It is no program, leads out of its package, or the folder for its data can't be made.
pub(crate) fn packaged_server(
    sym: &Symposium,
    (plugin, package): (&Plugin, &Package),
    server: &McpServer,
) -> Result<Child, Diagnostic> {
    let refused = |problem: String| {
        let message = format!("the server `{}` can't be started: {problem}", server.name);
        Diagnostic::error(message).in_file(&plugin.manifest)
    };
    let Transport::Stdio { command, args, env } = &server.transport else {
        return Err(refused("it is no program, but an address".to_owned()));
    };
    let data = sym.dirs.plugin_data(&plugin.source, &plugin.name);
    private_folders(&data).map_err(|error| refused(format!("{}: {error}", data.display())))?;
    let folders = Folders::of(plugin, &data);
    let expand = |text: &str| match package.format {
        PackageFormat::AgentPlugins => folders.expand(package.format, text),
        PackageFormat::Claude => {
            with_variables(&folders.expand(package.format, text), &|name| sym.env.text(name))
        }
    };
    // Only in Claude Code's format may the program's name have a folder put in.
    let command = match package.format {
        PackageFormat::AgentPlugins => command.clone(),
        PackageFormat::Claude => expand(command),
    };
    let is_path = command.contains(['/', '\\']) && !Path::new(&command).is_absolute();
    let command = if is_path {
        plugin.resolve(&command).map_err(|escape| refused(escape.to_string()))?
    } else {
        PathBuf::from(command)
    };
    let mut child = Child::new(command).args(args.iter().map(|arg| expand(arg)));
    child = child.in_environment(&sym.env);
    for (name, value) in env {
        child = child.env(name, expand(value));
    }
    for (name, value) in folders.variables(package.format) {
        child = child.env(name, value);
    }
    let Some(cwd) = &server.cwd else { return Ok(child) };
    let (root, inside) = match cwd.strip_prefix("${PLUGIN_DATA}") {
        Some(rest) => (folders.data, rest),
        None => (folders.root, cwd.strip_prefix("${PLUGIN_ROOT}").unwrap_or(cwd)),
    };
    let cwd =
        contained(root, &format!("./{inside}")).map_err(|escape| refused(escape.to_string()))?;
    if root == folders.data {
        private_folders(&cwd).map_err(|error| refused(format!("{}: {error}", cwd.display())))?;
    }
    Ok(child.cwd(cwd))
}
