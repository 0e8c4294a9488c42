//! Programs of what applies, and what keeps them from being run.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::Survey;
use crate::installations::{Acquirer, Mode, Network, Obstacle, ObstacleKind, Prepared, unusable};
use crate::plugins::model::{McpServer, Plugin, Transport};
use crate::report::Kind;
use crate::sync::snapshot::programs::resolve_server;

/// Something that applies and can't be run as it should.
#[derive(Debug, Clone)]
pub(crate) struct Obstructed<'s> {
    pub plugin: &'s Plugin,
    /// Hook, server or subcommand.
    pub kind: Kind,
    pub name: &'s str,
    pub obstacle: Obstacle,
}

impl Obstructed<'_> {
    /// Whether it stays in the way until somebody does something.
    pub(crate) fn is_grave(&self) -> bool {
        !matches!(self.obstacle.kind, ObstacleKind::Installing | ObstacleKind::NotInstalled)
    }

    /// What can't be run, as people name it: `hook guard`.
    pub(crate) fn user(&self) -> String {
        let what = match self.kind {
            Kind::Server => "server",
            Kind::Subcommand => "subcommand",
            _ => "hook",
        };
        format!("{what} {}", self.name)
    }

    /// `hook guard: its script /p/go.sh is not there`.
    pub(crate) fn told(&self) -> String {
        format!("{}: {}", self.user(), self.obstacle.message)
    }
}

/// Nothing is started or fetched.
const LOOKS_ONLY: Mode = Mode::Dispatch { budget: Duration::ZERO };

impl Survey<'_> {
    /// What of the hooks, servers and subcommands that apply can't be run as it should. Of a
    /// subcommand whose program is not installed yet nothing is said: its first call installs it.
    pub(crate) fn obstructed(&self) -> Vec<Obstructed<'_>> {
        let Some(planned) = &self.planned else { return Vec::new() };
        let fetcher = Network::new(&self.inputs.sym);
        let acquirer = Acquirer::new(&self.inputs.sym, &fetcher);
        let facts = &planned.facts;
        let mut found = Vec::new();
        let mut add = |plugin, kind, name, obstacles: Vec<Obstacle>| {
            let obstacles = obstacles.into_iter();
            found.extend(obstacles.map(|obstacle| Obstructed { plugin, kind, name, obstacle }));
        };
        for (plugin, hook) in &facts.hooks {
            let prepared = acquirer.hook(plugin, hook, LOOKS_ONLY);
            add(*plugin, Kind::Hooks, hook.name.as_str(), acquirer.obstacles(plugin, &prepared));
        }
        for (plugin, server, _) in &facts.servers {
            let obstacles = self.of_server(&acquirer, plugin, server);
            add(*plugin, Kind::Server, server.name.as_str(), obstacles);
        }
        for (plugin, subcommand, needs) in &facts.subcommands {
            if needs.is_some() {
                continue;
            }
            let prepared = acquirer.command(plugin, &subcommand.command, LOOKS_ONLY);
            let mut obstacles = acquirer.obstacles(plugin, &prepared);
            obstacles.retain(|found| found.kind != ObstacleKind::NotInstalled);
            add(*plugin, Kind::Subcommand, subcommand.name.as_str(), obstacles);
        }
        found
    }

    fn of_server(
        &self,
        acquirer: &Acquirer<'_>,
        plugin: &Plugin,
        server: &McpServer,
    ) -> Vec<Obstacle> {
        let Transport::Stdio { command, .. } = &server.transport else { return Vec::new() };
        if let Some(prepared) = acquirer.server(plugin, command, LOOKS_ONLY) {
            return acquirer.obstacles(plugin, &prepared);
        }
        match resolve_server(acquirer, plugin, server, LOOKS_ONLY) {
            Ok(McpServer { transport: Transport::Stdio { command, .. }, .. }) => {
                self.of_command(&command).into_iter().collect()
            }
            Ok(_) => Vec::new(),
            Err(error) => acquirer.obstacles(plugin, &Err::<Prepared, _>(error)),
        }
    }

    /// A program that the agent starts by itself: a path, or a name on its `PATH`.
    fn of_command(&self, command: &str) -> Option<Obstacle> {
        if Path::new(command).is_absolute() {
            return unusable(OsStr::new(command), false);
        }
        let found = self.setup.find(command).or_else(|| self.setup.find_from_desktop(command));
        found.is_none().then(|| Obstacle {
            kind: ObstacleKind::Missing,
            message: format!("its program `{command}` is not on your PATH"),
            remedy: "install it; the agent looks for it on its own PATH".to_owned(),
        })
    }
}
