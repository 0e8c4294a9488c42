//! A hook or a subcommand, ready to be started.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::acquire::{expanded, installation};
use super::{Acquired, Acquirer, InstallError, Invocation, Mode, Root, Trouble, environment};
use crate::plugins::model::{Hook, Plugin, Runnable};
use crate::plugins::packages::Folders;

/// What to run, and with which variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub invocation: Invocation,
    /// Variables on top of the parent's.
    pub env: Vec<(OsString, OsString)>,
    /// Requirements that are missing. It may well work without them.
    pub missing: Vec<InstallError>,
}

#[cfg(all(test, unix))]
impl Prepared {
    /// A child that runs it.
    pub(crate) fn child(&self) -> crate::process::Child {
        self.env.iter().fold(self.invocation.child(), |child, (name, value)| child.env(name, value))
    }
}

/// What somebody says on top of the installation that they name.
struct Call<'a> {
    command: &'a str,
    runnable: Option<&'a Runnable>,
    args: Option<&'a Vec<String>>,
    requirements: &'a [String],
}

impl Acquirer<'_> {
    /// What runs a hook, with its requirements.
    pub(crate) fn hook(
        &self,
        plugin: &Plugin,
        hook: &Hook,
        mode: Mode,
    ) -> Result<Prepared, InstallError> {
        let call = Call {
            command: &hook.command,
            runnable: hook.runnable.as_ref(),
            args: hook.args.as_ref(),
            requirements: &hook.requirements,
        };
        self.prepare(plugin, &call, mode)
    }

    /// What runs an MCP server whose `command` names an installation of its plugin; `None` when it
    /// names none, and so is a program itself.
    pub(crate) fn server(
        &self,
        plugin: &Plugin,
        command: &str,
        mode: Mode,
    ) -> Option<Result<Prepared, InstallError>> {
        installation(plugin, command).ok()?;
        Some(self.command(plugin, command, mode))
    }

    /// Gets all that a plugin's hooks, subcommands and servers need. What can't be had is told
    /// once, however many need it.
    #[cfg(all(test, unix))]
    pub(crate) fn everything(&self, plugin: &Plugin, mode: Mode) -> Vec<InstallError> {
        let hooks = plugin.hooks.iter().map(|hook| self.hook(plugin, hook, mode));
        let subcommands =
            plugin.subcommands.iter().map(|command| self.command(plugin, &command.command, mode));
        let servers = plugin.servers.iter().filter_map(|server| match &server.transport {
            crate::plugins::model::Transport::Stdio { command, .. } => {
                self.server(plugin, command, mode)
            }
            _ => None,
        });
        let mut errors = Vec::new();
        for result in hooks.chain(subcommands).chain(servers) {
            let new = match result {
                Ok(prepared) => prepared.missing,
                Err(error) => vec![error],
            };
            for error in new {
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
        }
        errors
    }

    /// What runs a subcommand or a server whose `command` names the installation `command`.
    pub(crate) fn command(
        &self,
        plugin: &Plugin,
        command: &str,
        mode: Mode,
    ) -> Result<Prepared, InstallError> {
        let call = Call { command, runnable: None, args: None, requirements: &[] };
        self.prepare(plugin, &call, mode)
    }

    fn prepare(
        &self,
        plugin: &Plugin,
        call: &Call<'_>,
        mode: Mode,
    ) -> Result<Prepared, InstallError> {
        let start = Instant::now();
        let mut missing = Vec::new();
        let mut requirements: Vec<(String, Acquired)> = Vec::new();
        for name in expanded(plugin, call.command, call.requirements) {
            match self.acquire(plugin, name, with_less_time(mode, start.elapsed())) {
                Ok(acquired) => requirements.push((name.to_owned(), acquired)),
                Err(error) => {
                    tracing::warn!("{error}");
                    missing.push(error);
                }
            }
        }
        let command = self.acquire(plugin, call.command, with_less_time(mode, start.elapsed()))?;
        let unusable =
            |problem| InstallError::new(plugin, call.command, Trouble::Unusable(problem));
        let command = self.called(plugin, call, command).map_err(unusable)?;
        let path = self.sym.env.var("PATH");
        let mut env = environment((call.command, &command), &requirements, path);
        let Some(mut invocation) = command.program else {
            return Err(unusable(nothing_to_run(&command.root)));
        };
        if let Some(package) = &plugin.package {
            let data = self.sym.dirs.plugin_data(&plugin.source, &plugin.name);
            let folders = Folders::of(plugin, &data);
            let variables = folders.variables(package.format).into_iter();
            env.extend(variables.map(|(name, value)| (name.into(), value.into())));
            for arg in &mut invocation.args {
                *arg = folders.expand_for_shell(package.format, arg);
            }
        }
        Ok(Prepared { invocation, env, missing })
    }

    /// The installation with what the caller says of it. Both saying the same kind of thing is
    /// refused when the manifest is read; should it come here, that is no reason to guess.
    fn called(
        &self,
        plugin: &Plugin,
        call: &Call<'_>,
        mut command: Acquired,
    ) -> Result<Acquired, String> {
        let installation = installation(plugin, call.command).map_err(|error| error.to_string())?;
        let args = match (call.args, &installation.args) {
            (Some(_), Some(_)) => return Err("`args` is given twice".to_owned()),
            (args, own) => args.or(own.as_ref()).cloned().unwrap_or_default(),
        };
        match (call.runnable, &installation.runnable) {
            (Some(_), Some(_)) => Err("what to run is given twice".to_owned()),
            (Some(runnable), None) => {
                self.with_runnable(plugin, installation, command, runnable, args)
            }
            (None, _) => {
                if let Some(program) = &mut command.program {
                    program.args = args;
                }
                Ok(command)
            }
        }
    }
}

fn nothing_to_run(root: &Root) -> String {
    if let Root::Bin(bin) = root {
        let programs = super::cargo::programs(bin);
        let list = programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        return format!("it has several programs; `executable` is one of {}", list.join(", "));
    }
    "it says neither `executable` nor `script`, so there is nothing to run".to_owned()
}

/// The same mode with the time gone by taken off.
fn with_less_time(mode: Mode, elapsed: Duration) -> Mode {
    match mode {
        Mode::Dispatch { budget } => Mode::Dispatch { budget: budget.saturating_sub(elapsed) },
        other => other,
    }
}
