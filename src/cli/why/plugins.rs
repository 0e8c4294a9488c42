//! Plugins and what they offer: hooks, servers, subcommands.

use super::Inquiry;
use super::model::Trail;
use crate::agents::Agent;
use crate::agents::checkup::Topic;
use crate::cli::programs::programs;
use crate::installations::{Acquirer, Network};
use crate::plugins::in_words::needs;
use crate::plugins::model::{Gate, Hook, McpServer, Plugin, Subcommand, Transport};
use crate::plugins::predicate::{evaluate_all, evaluate_plugin};
use crate::plugins::registry::PluginEntry;
use crate::report::{Kind, Verdict};
use crate::sync::facts::{Part, PluginFate};
use crate::sync::survey::{Health, Inputs, Obstructed};

impl Inquiry<'_> {
    /// Every plugin of that name, those that another one comes before included.
    pub(super) fn of_plugins(&self) -> Vec<Trail> {
        let plugins = self.survey.inputs.registry.plugins.iter().map(|entry| &entry.plugin);
        plugins
            .filter(|plugin| self.is_meant(&plugin.name))
            .map(|plugin| self.of_plugin(plugin))
            .collect()
    }

    fn of_plugin(&self, plugin: &Plugin) -> Trail {
        let fate = self.fate(plugin);
        let verdict = fate.map(|fate| fate.verdict);
        let outside = self.outside(plugin, &[]);
        let active = verdict == Some(Verdict::Matched) || outside.is_some_and(|(holds, _)| holds);
        let outcome = match verdict {
            _ if active => "is active",
            Some(Verdict::Shadowed) => "is shadowed",
            Some(Verdict::Disabled) => "is off",
            _ => "is not active",
        };
        let mut trail = Trail::new(Kind::Plugin, &plugin.name, active, outcome);
        self.plugin_steps(&mut trail, plugin, &[]);
        for found in plugin.not_taken() {
            trail.step("not taken", format!("{}: {}", found.what, found.why));
        }
        self.mistake_steps(&mut trail, plugin, None);
        let Some(fate) = fate.filter(|_| active) else { return trail };
        for part in &fate.parts {
            let (label, name) = match part.kind {
                Kind::Hooks => {
                    ("hook", plugin.hooks.get(part.index).map(|hook| hook.name.as_str()))
                }
                Kind::Server => {
                    ("server", plugin.servers.get(part.index).map(|server| server.name.as_str()))
                }
                Kind::Subcommand => (
                    "subcommand",
                    plugin.subcommands.get(part.index).map(|found| found.name.as_str()),
                ),
                _ => ("skills", Some("a group")),
            };
            let (holds, reason) = match (&part.lacks, part.holds) {
                (Some(lacks), _) if part.waits() => ("applies, and does not run", lacks),
                (Some(lacks), _) => ("applies, and delivers nothing", lacks),
                (None, true) => ("applies", &part.reason),
                (None, false) => ("does not apply", &part.reason),
            };
            trail.step(label, format!("{} {holds}: {reason}", name.unwrap_or_default()));
            if !part.holds {
                self.transitive_step(&mut trail, part_gate(plugin, part));
            }
        }
        for view in self.survey.skills() {
            if view.skill.plugin.as_deref() == Some(&plugin.name) {
                trail.step("skill", format!("{} ({})", view.name, view.skill.origin));
            }
        }
        self.program_steps(&mut trail, plugin, None);
        trail
    }

    /// Hooks, servers and subcommands of that name.
    pub(super) fn of_parts(&self) -> Vec<Trail> {
        let mut trails = Vec::new();
        for entry in &self.survey.inputs.registry.plugins {
            let plugin = &entry.plugin;
            let hooks = plugin.hooks.iter().enumerate();
            let hooks = hooks.filter(|(_, hook)| self.is_meant(&hook.name));
            trails.extend(hooks.map(|(index, hook)| self.of_hook(plugin, index, hook)));
            let servers = plugin.servers.iter().enumerate();
            let servers = servers.filter(|(_, server)| self.is_meant(&server.name));
            trails.extend(servers.map(|(index, server)| self.of_server(plugin, index, server)));
            let commands = plugin.subcommands.iter().enumerate();
            let commands = commands.filter(|(_, command)| self.is_meant(&command.name));
            trails.extend(commands.map(|(index, found)| self.of_subcommand(plugin, index, found)));
        }
        trails
    }

    fn of_hook(&self, plugin: &Plugin, index: usize, hook: &Hook) -> Trail {
        let mut trail = self.of_part(plugin, Kind::Hooks, index, &hook.name, &hook.gate);
        trail.step("event", hook.event.name());
        trail.step("matcher", hook.matcher.as_deref().unwrap_or("every tool"));
        if let Some(agent) = &hook.agent {
            trail.step("agent", format!("only {agent}"));
        }
        if trail.in_force {
            self.hook_agents(&mut trail, hook.agent.as_deref());
            self.program_steps(&mut trail, plugin, Some(&format!("hook {}", hook.name)));
        }
        trail
    }

    fn of_server(&self, plugin: &Plugin, index: usize, server: &McpServer) -> Trail {
        let mut trail = self.of_part(plugin, Kind::Server, index, &server.name, &server.gate);
        if let Transport::Http { url, .. } | Transport::Sse { url, .. } = &server.transport {
            trail.step("address", url.to_string());
        }
        if trail.in_force {
            self.server_agents(&mut trail, &server.name);
            self.program_steps(&mut trail, plugin, Some(&format!("server {}", server.name)));
        }
        trail
    }

    fn of_subcommand(&self, plugin: &Plugin, index: usize, found: &Subcommand) -> Trail {
        let mut trail = self.of_part(plugin, Kind::Subcommand, index, &found.name, &found.gate);
        trail.step("call", format!("`cargo agents {}`: {}", found.name, found.description));
        if trail.in_force {
            self.program_steps(&mut trail, plugin, Some(&format!("subcommand {}", found.name)));
        }
        trail
    }

    fn of_part(&self, plugin: &Plugin, kind: Kind, index: usize, name: &str, gate: &Gate) -> Trail {
        let fate = self.fate(plugin);
        let parts = fate.map(|fate| fate.parts.as_slice()).unwrap_or_default();
        let part = parts.iter().find(|part| part.kind == kind && part.index == index);
        let outside = self.outside(plugin, &[gate]);
        let in_force = part.is_some_and(Part::is_in_force) || outside.is_some_and(|it| it.0);
        let verdict = match part {
            Some(part) if part.waits() => "applies here, and does not run",
            _ if in_force => "applies here",
            _ => "does not apply here",
        };
        let mut trail = Trail::new(kind, name, in_force, verdict);
        self.plugin_steps(&mut trail, plugin, &[gate]);
        self.part_step(&mut trail, plugin, (kind, index), gate);
        self.mistake_steps(&mut trail, plugin, Some((kind, name)));
        trail
    }

    /// Where the plugin is, what it asks for, and what came of that.
    pub(super) fn plugin_steps(&self, trail: &mut Trail, plugin: &Plugin, more: &[&Gate]) {
        let manifest = self.path(&plugin.manifest);
        trail.step("plugin", format!("{} (source {}, {manifest})", plugin.name, plugin.source));
        if let Some(team) = self.survey.inputs.team_of(plugin) {
            trail.step("offered by", format!("your team, in {}", self.path(&team.path)));
        }
        if let Some(kind) = plugin.kind() {
            let key = if plugin.package.is_some() { "format" } else { "version" };
            trail.step(key, kind);
        }
        let gates: Vec<&Gate> = std::iter::once(&plugin.gate).chain(more.iter().copied()).collect();
        if let Some(needs) = needs(&gates) {
            trail.step("needs", needs);
        }
        match self.fate(plugin) {
            Some(fate) => {
                let label = match fate.verdict {
                    Verdict::Shadowed => "shadowed",
                    Verdict::Disabled => "off",
                    // What the part itself found comes below.
                    Verdict::Matched if !more.is_empty() => "its plugin",
                    _ => "found",
                };
                trail.step(label, &fate.reason);
                if fate.verdict == Verdict::Skipped {
                    self.transitive_step(trail, &plugin.gate);
                }
            }
            None => match &self.survey.inputs.trouble {
                Some(problem) => {
                    trail.step("found", format!("the workspace can't be read: {problem}"));
                }
                None if more.is_empty() || trail.in_force => {
                    let (_, reason) = self.outside(plugin, more).unwrap_or_default();
                    trail.step("found", reason);
                }
                // Whatever its plugin says.
                None => trail.step("found", "this is no Rust workspace"),
            },
        }
    }

    /// Whether a plugin, or a part of it, applies where there is no workspace, and why.
    fn outside(&self, plugin: &Plugin, more: &[&Gate]) -> Option<(bool, String)> {
        let Inputs { sym, registry, trouble, .. } = &self.survey.inputs;
        if self.survey.planned.is_some() || trouble.is_some() {
            return None;
        }
        let is_it = |entry: &&PluginEntry| entry.plugin.manifest == plugin.manifest;
        let entry = registry.plugins.iter().find(is_it);
        let shadow = entry.and_then(|entry| entry.shadowed_by.as_ref()).map(ToString::to_string);
        let off = || sym.config.plugins.disabled_by(&plugin.name, None).map(str::to_owned);
        if let Some(reason) = shadow.or_else(off) {
            return Some((false, reason));
        }
        let facts = self.survey.inputs.outside();
        let gates: Vec<&Gate> = std::iter::once(&plugin.gate).chain(more.iter().copied()).collect();
        let found = match more {
            [] => evaluate_plugin(plugin, &facts),
            _ => evaluate_all(&gates, &facts),
        };
        Some((found.holds, found.reason))
    }

    /// What came of a part of a plugin that applies.
    pub(super) fn part_step(
        &self,
        trail: &mut Trail,
        plugin: &Plugin,
        (kind, index): (Kind, usize),
        gate: &Gate,
    ) {
        let parts = self.fate(plugin).map(|fate| fate.parts.as_slice()).unwrap_or_default();
        let part = parts.iter().find(|part| part.kind == kind && part.index == index);
        let Some(part) = part else { return };
        trail.step(if kind == Kind::Group { "its group" } else { "itself" }, &part.reason);
        if let Some(lacks) = part.lacks.as_ref().filter(|_| part.waits()) {
            trail.step("trust", lacks);
        }
        if !part.holds {
            self.transitive_step(trail, gate);
        }
    }

    /// A crate that is in the lock file, but no direct dependency, is the usual surprise.
    fn transitive_step(&self, trail: &mut Trail, gate: &Gate) {
        for name in gate.crates_named() {
            if let Some(text) = self.transitive(name) {
                trail.step("but", text);
            }
        }
    }

    pub(super) fn fate(&self, plugin: &Plugin) -> Option<&PluginFate<'_>> {
        let fates = &self.survey.planned.as_ref()?.facts.plugins;
        fates.iter().find(|fate| fate.plugin.manifest == plugin.manifest)
    }

    fn hook_agents(&self, trail: &mut Trail, only: Option<&str>) {
        for agent in &self.survey.agents {
            if only.is_some_and(|only| only != agent.name()) {
                continue;
            }
            let text = match self.survey.hooks_of(*agent) {
                Some(hooks) => health_text(&hooks.health),
                None => "there is nowhere to register hooks".to_owned(),
            };
            trail.step(agent.name(), text);
            self.switch_steps(trail, *agent, Topic::Hooks, None);
        }
    }

    pub(super) fn server_agents(&self, trail: &mut Trail, name: &str) {
        for agent in &self.survey.agents {
            let servers = self.survey.servers_of(*agent);
            let Some(server) = servers.into_iter().find(|server| server.name == name) else {
                continue;
            };
            let text = health_text(&server.health);
            trail.step(
                agent.name(),
                match &server.file {
                    Some(file) => format!("{text} in {}", self.path(file)),
                    None => text,
                },
            );
            self.switch_steps(trail, *agent, Topic::Servers, Some(name));
        }
    }

    /// What the agent's own settings have against it.
    fn switch_steps(&self, trail: &mut Trail, agent: Agent, topic: Topic, server: Option<&str>) {
        for found in self.survey.checkup(agent, &self.survey.skills(), None) {
            let of_another = found.server.is_some() && found.server.as_deref() != server;
            if found.topic == topic && found.severity.is_some() && !of_another {
                trail.step("but", format!("{}: {}; {}", agent.name(), found.message, found.remedy));
            }
        }
    }

    /// What the plugin may run: all of it, or what `user` runs.
    fn program_steps(&self, trail: &mut Trail, plugin: &Plugin, user: Option<&str>) {
        let Some(fate) = self.fate(plugin) else { return };
        let sym = &self.survey.inputs.sym;
        let fetcher = Network::new(sym);
        for program in programs(fate, &Acquirer::new(sym, &fetcher)) {
            if user.is_some_and(|user| !program.used_by.iter().any(|known| known == user)) {
                continue;
            }
            let by = program.used_by.join(", ");
            trail.step("may run", format!("{} for {by}{}", program.what, program.missing()));
            for command in &program.install_commands {
                trail.step("may run", format!("`{command}` once, to install {}", program.name));
            }
        }
        let of_plugin = |found: &&Obstructed<'_>| found.plugin.manifest == plugin.manifest;
        for found in self.survey.obstructed().iter().filter(of_plugin) {
            if user.is_none_or(|user| user == found.user()) {
                trail.step("but", format!("{}; {}", found.told(), found.obstacle.remedy));
            }
        }
    }
}

pub(super) fn health_text(health: &Health) -> String {
    match health {
        Health::Fine => "registered".to_owned(),
        Health::Pending => "not registered as it should be; `cargo agents sync`".to_owned(),
        Health::Edited(why) => format!("registered, but {why}"),
        Health::LeftAlone(why) | Health::Broken(why) | Health::Unsupported(why) => {
            format!("not registered: {why}")
        }
    }
}

/// The gate of a part, or its plugin's where there is no such part.
fn part_gate<'p>(plugin: &'p Plugin, part: &Part) -> &'p Gate {
    let gate = match part.kind {
        Kind::Hooks => plugin.hooks.get(part.index).map(|hook| &hook.gate),
        Kind::Server => plugin.servers.get(part.index).map(|server| &server.gate),
        Kind::Subcommand => plugin.subcommands.get(part.index).map(|found| &found.gate),
        _ => plugin.skills.get(part.index).map(|group| &group.gate),
    };
    gate.unwrap_or(&plugin.gate)
}
