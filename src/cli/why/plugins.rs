//! Plugins and what they offer: hooks, servers, subcommands.

use super::Inquiry;
use super::model::Account;
use crate::agents::Agent;
use crate::agents::checkup::Topic;
use crate::cli::gates::needs;
use crate::cli::programs::programs;
use crate::installations::{Acquirer, Network};
use crate::plugins::model::{Gate, Plugin, Transport};
use crate::report::{Kind, Verdict};
use crate::sync::facts::{Part, PluginFate};
use crate::sync::survey::Health;

impl Inquiry<'_> {
    /// Every plugin of that name, those that another one comes before included.
    pub(super) fn of_plugins(&self) -> Vec<Account> {
        let plugins = self.survey.inputs.registry.plugins.iter().map(|entry| &entry.plugin);
        plugins
            .filter(|plugin| self.is_meant(&plugin.name))
            .map(|plugin| self.of_plugin(plugin))
            .collect()
    }

    fn of_plugin(&self, plugin: &Plugin) -> Account {
        let fate = self.fate(plugin);
        let verdict = fate.map(|fate| fate.verdict);
        let active = verdict == Some(Verdict::Matched);
        let word = match verdict {
            Some(Verdict::Matched) => "is active",
            Some(Verdict::Shadowed) => "is shadowed",
            Some(Verdict::Disabled) => "is off",
            _ => "is not active",
        };
        let mut account = Account::new(Kind::Plugin, &plugin.name, active, word);
        self.plugin_steps(&mut account, plugin, &[]);
        let Some(fate) = fate.filter(|_| active) else { return account };
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
            let holds = if part.holds { "applies" } else { "does not apply" };
            account.step(label, format!("{} {holds}: {}", name.unwrap_or_default(), part.reason));
            if !part.holds {
                self.transitive_step(&mut account, part_gate(plugin, part));
            }
        }
        for view in self.survey.skills() {
            if view.skill.plugin.as_deref() == Some(&plugin.name) {
                account.step("skill", format!("{} ({})", view.name, view.skill.origin));
            }
        }
        self.program_steps(&mut account, fate, None);
        account
    }

    /// Hooks, servers and subcommands of that name.
    pub(super) fn of_parts(&self) -> Vec<Account> {
        let mut accounts = Vec::new();
        for entry in &self.survey.inputs.registry.plugins {
            let plugin = &entry.plugin;
            for (index, hook) in plugin.hooks.iter().enumerate() {
                if self.is_meant(&hook.name) {
                    let mut account =
                        self.of_part(plugin, Kind::Hooks, index, &hook.name, &hook.gate);
                    account.step("event", hook.event.name());
                    account.step("matcher", hook.matcher.as_deref().unwrap_or("every tool"));
                    if let Some(agent) = &hook.agent {
                        account.step("agent", format!("only {agent}"));
                    }
                    if account.in_force {
                        self.hook_agents(&mut account, hook.agent.as_deref());
                        self.part_programs(&mut account, plugin, &format!("hook {}", hook.name));
                    }
                    accounts.push(account);
                }
            }
            for (index, server) in plugin.servers.iter().enumerate() {
                if self.is_meant(&server.name) {
                    let mut account =
                        self.of_part(plugin, Kind::Server, index, &server.name, &server.gate);
                    if let Transport::Http { url, .. } | Transport::Sse { url, .. } =
                        &server.transport
                    {
                        account.step("address", url.to_string());
                    }
                    if account.in_force {
                        self.server_agents(&mut account, &server.name);
                        self.part_programs(
                            &mut account,
                            plugin,
                            &format!("server {}", server.name),
                        );
                    }
                    accounts.push(account);
                }
            }
            for (index, found) in plugin.subcommands.iter().enumerate() {
                if self.is_meant(&found.name) {
                    let mut account =
                        self.of_part(plugin, Kind::Subcommand, index, &found.name, &found.gate);
                    account.step(
                        "call",
                        format!("`cargo agents {}`: {}", found.name, found.description),
                    );
                    if account.in_force {
                        self.part_programs(
                            &mut account,
                            plugin,
                            &format!("subcommand {}", found.name),
                        );
                    }
                    accounts.push(account);
                }
            }
        }
        accounts
    }

    fn of_part(
        &self,
        plugin: &Plugin,
        kind: Kind,
        index: usize,
        name: &str,
        gate: &Gate,
    ) -> Account {
        let fate = self.fate(plugin);
        let parts = fate.map(|fate| fate.parts.as_slice()).unwrap_or_default();
        let part = parts.iter().find(|part| part.kind == kind && part.index == index);
        let in_force = part.is_some_and(|part| part.holds);
        let verdict = if in_force { "applies here" } else { "does not apply here" };
        let mut account = Account::new(kind, name, in_force, verdict);
        self.plugin_steps(&mut account, plugin, &[gate]);
        self.part_step(&mut account, plugin, (kind, index), gate);
        account
    }

    /// Where the plugin is, what it asks for, and what came of that.
    pub(super) fn plugin_steps(&self, account: &mut Account, plugin: &Plugin, more: &[&Gate]) {
        let manifest = self.path(&plugin.manifest);
        account.step("plugin", format!("{} (source {}, {manifest})", plugin.name, plugin.source));
        let gates: Vec<&Gate> = std::iter::once(&plugin.gate).chain(more.iter().copied()).collect();
        if let Some(needs) = needs(&gates) {
            account.step("needs", needs);
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
                account.step(label, &fate.reason);
                if fate.verdict == Verdict::Skipped {
                    self.transitive_step(account, &plugin.gate);
                }
            }
            None => match &self.survey.inputs.trouble {
                Some(problem) => {
                    account.step("found", format!("the workspace can't be read: {problem}"));
                }
                None => account.step("found", "this is no Rust workspace"),
            },
        }
    }

    /// What came of a part of a plugin that applies.
    pub(super) fn part_step(
        &self,
        account: &mut Account,
        plugin: &Plugin,
        (kind, index): (Kind, usize),
        gate: &Gate,
    ) {
        let parts = self.fate(plugin).map(|fate| fate.parts.as_slice()).unwrap_or_default();
        let part = parts.iter().find(|part| part.kind == kind && part.index == index);
        let Some(part) = part else { return };
        account.step(if kind == Kind::Group { "its group" } else { "itself" }, &part.reason);
        if !part.holds {
            self.transitive_step(account, gate);
        }
    }

    /// A crate that is in the lock file, but no direct dependency, is the usual surprise.
    fn transitive_step(&self, account: &mut Account, gate: &Gate) {
        for name in gate.crates_named() {
            if let Some(text) = self.transitive(name) {
                account.step("but", text);
            }
        }
    }

    pub(super) fn fate(&self, plugin: &Plugin) -> Option<&PluginFate<'_>> {
        let fates = &self.survey.known.as_ref()?.facts.plugins;
        fates.iter().find(|fate| fate.plugin.manifest == plugin.manifest)
    }

    fn hook_agents(&self, account: &mut Account, only: Option<&str>) {
        for agent in &self.survey.agents {
            if only.is_some_and(|only| only != agent.name()) {
                continue;
            }
            let text = match self.survey.hooks_of(*agent) {
                Some(hooks) => health_text(&hooks.health),
                None => "there is nowhere to register hooks".to_owned(),
            };
            account.step(agent.name(), text);
            self.switch_steps(account, *agent, Topic::Hooks, None);
        }
    }

    fn server_agents(&self, account: &mut Account, name: &str) {
        for agent in &self.survey.agents {
            let servers = self.survey.servers_of(*agent);
            let Some(server) = servers.into_iter().find(|server| server.name == name) else {
                continue;
            };
            let text = health_text(&server.health);
            account.step(
                agent.name(),
                match &server.file {
                    Some(file) => format!("{text} in {}", self.path(file)),
                    None => text,
                },
            );
            self.switch_steps(account, *agent, Topic::Servers, Some(name));
        }
    }

    /// What the agent's own settings have against it.
    fn switch_steps(
        &self,
        account: &mut Account,
        agent: Agent,
        topic: Topic,
        server: Option<&str>,
    ) {
        for found in self.survey.checkup(agent, &self.survey.skills(), None) {
            let of_another = found.server.is_some() && found.server.as_deref() != server;
            if found.topic == topic && found.severity.is_some() && !of_another {
                account
                    .step("but", format!("{}: {}; {}", agent.name(), found.message, found.remedy));
            }
        }
    }

    fn part_programs(&self, account: &mut Account, plugin: &Plugin, user: &str) {
        if let Some(fate) = self.fate(plugin) {
            self.program_steps(account, fate, Some(user));
        }
    }

    fn program_steps(&self, account: &mut Account, fate: &PluginFate<'_>, user: Option<&str>) {
        let sym = &self.survey.inputs.sym;
        let fetcher = Network::new(sym);
        for program in programs(fate, &Acquirer::new(sym, &fetcher)) {
            if user.is_some_and(|user| !program.used_by.iter().any(|known| known == user)) {
                continue;
            }
            let on_disk = if program.installed { "" } else { ", not on disk yet" };
            let by = program.used_by.join(", ");
            account.step("may run", format!("{} for {by}{on_disk}", program.what));
            for command in &program.install_commands {
                account.step("may run", format!("`{command}` once, to install {}", program.name));
            }
        }
    }
}

fn health_text(health: &Health) -> String {
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
