//! What a plugin may have run, in words.

use serde::Serialize;

use crate::installations::Acquirer;
use crate::plugins::model::{InstallSource, Installation, Plugin, Runnable, Transport};
use crate::report::Kind;
use crate::sync::facts::PluginFate;

/// A program that a plugin's hooks, servers or subcommands run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Program {
    /// Its name: the installation's, or the command itself.
    pub name: String,
    /// What it is: `sqlx-tools 0.3.1`, `script hooks/guard.sh`, an address.
    pub what: String,
    /// What runs it: `hook guard`, `server sqlx-tools`, `subcommand check`.
    pub used_by: Vec<String>,
    /// Shell commands that finish its installation.
    pub install_commands: Vec<String>,
    /// Whether it is on this machine.
    pub installed: bool,
    /// Whether we get it, so that it may come: it is no file of the plugin itself.
    #[serde(skip)]
    pub is_got: bool,
}

impl Program {
    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            what: String::new(),
            used_by: Vec::new(),
            install_commands: Vec::new(),
            installed: false,
            is_got: false,
        }
    }

    /// What people are told of one that is not here.
    pub(super) fn missing(&self) -> &'static str {
        match (self.installed, self.is_got) {
            (true, _) => "",
            (false, true) => " (not on disk yet)",
            (false, false) => " (not there)",
        }
    }
}

/// The programs of what applies here.
pub(super) fn programs(fate: &PluginFate<'_>, acquirer: &Acquirer<'_>) -> Vec<Program> {
    let plugin = fate.plugin;
    let mut listing = Listing { plugin, acquirer, found: Vec::new() };
    for part in fate.parts.iter().filter(|part| part.is_in_force()) {
        match part.kind {
            Kind::Hooks => {
                let Some(hook) = plugin.hooks.get(part.index) else { continue };
                let by = format!("hook {}", hook.name);
                listing.add(&hook.command, hook.runnable.as_ref(), &by);
                for name in &hook.requirements {
                    listing.add(name, None, &by);
                }
            }
            Kind::Server => {
                let Some(server) = plugin.servers.get(part.index) else { continue };
                if let Transport::Stdio { command, args, .. } = &server.transport {
                    let by = format!("server {}", server.name);
                    if plugin.installations.iter().any(|known| known.name == *command) {
                        listing.add(command, None, &by);
                    } else {
                        let line: Vec<_> =
                            std::iter::once(command).chain(args).map(String::as_str).collect();
                        let what = format!("`{}`", line.join(" "));
                        let program = Program { what, ..Program::named(command) };
                        listing.push(Program { installed: true, ..program }, &by);
                    }
                }
            }
            Kind::Subcommand => {
                let Some(subcommand) = plugin.subcommands.get(part.index) else { continue };
                listing.add(&subcommand.command, None, &format!("subcommand {}", subcommand.name));
            }
            _ => {}
        }
    }
    listing.found
}

struct Listing<'a> {
    plugin: &'a Plugin,
    acquirer: &'a Acquirer<'a>,
    found: Vec<Program>,
}

impl Listing<'_> {
    fn add(&mut self, name: &str, runnable: Option<&Runnable>, by: &str) {
        let known = self.plugin.installations.iter().find(|known| known.name == name);
        let Some(installation) = known else { return };
        let what = describe(installation, runnable);
        let installed = self.acquirer.probe(self.plugin, name).is_some();
        let program = Program {
            what,
            install_commands: installation.install_commands.clone(),
            installed,
            is_got: installation.source.is_some() || !installation.install_commands.is_empty(),
            ..Program::named(name)
        };
        self.push(program, by);
        for required in &installation.requirements {
            self.add(required, None, by);
        }
    }

    fn push(&mut self, program: Program, by: &str) {
        let is_same =
            |known: &&mut Program| known.name == program.name && known.what == program.what;
        match self.found.iter_mut().find(is_same) {
            Some(known) if known.used_by.iter().any(|user| user == by) => {}
            Some(known) => known.used_by.push(by.to_owned()),
            None => self.found.push(Program { used_by: vec![by.to_owned()], ..program }),
        }
    }
}

fn describe(installation: &Installation, runnable: Option<&Runnable>) -> String {
    let file = match runnable.or(installation.runnable.as_ref()) {
        Some(Runnable::Executable(path)) => Some(path.clone()),
        Some(Runnable::Script(path)) => Some(format!("script {path}")),
        Some(Runnable::Shell) => {
            let words = installation.args.iter().flatten().map(String::as_str);
            Some(shlex::try_join(std::iter::once("sh").chain(words)).unwrap_or_default())
        }
        None => None,
    };
    let source = match &installation.source {
        None => return file.unwrap_or_else(|| installation.name.clone()),
        Some(InstallSource::Cargo { krate, version, git, global }) => {
            let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            let git = git.as_ref().map(|git| format!(" from {git}")).unwrap_or_default();
            let global = if *global { " in your own cargo folder" } else { "" };
            return format!("{krate}{version}{git}{global}");
        }
        Some(InstallSource::Git { url } | InstallSource::Binary { url, .. }) => url,
    };
    match file {
        Some(file) => format!("{file} of {source}"),
        None => source.to_string(),
    }
}
