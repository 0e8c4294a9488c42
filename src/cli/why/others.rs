//! What is not decided about, and people ask for all the same: agents, sources, programs, codes.

use super::Inquiry;
use super::model::Trail;
use super::plugins::health_text;
use crate::agents::Agent;
use crate::agents::command::OWN_SERVER;
use crate::cli::programs::programs;
use crate::cli::screen::count;
use crate::installations::{Acquirer, Network};
use crate::plugins::diagnostics::explain;
use crate::plugins::source::{SourceKind, age};
use crate::report::{Kind, Verdict};

impl Inquiry<'_> {
    pub(super) fn of_others(&self) -> Vec<Trail> {
        let mut trails: Vec<Trail> = self.of_agent().into_iter().collect();
        trails.extend(self.of_own_server());
        trails.extend(self.of_sources());
        trails.extend(self.of_programs());
        trails.extend(self.of_code());
        trails
    }

    fn of_agent(&self) -> Option<Trail> {
        let agent = Agent::from_name(&self.name)?;
        let configured = self.survey.agents.contains(&agent);
        let verdict =
            if configured { "is one of your agents" } else { "is not one of your agents" };
        let mut trail = Trail::new(Kind::Agent, agent.name(), configured, verdict);
        for placed in self.survey.by_hand() {
            if placed.agents.iter().any(|name| name == agent.name()) {
                trail.step("by hand", format!("{}; {}", placed.told(), placed.remedy()));
            }
        }
        if !configured {
            trail.step("remedy", format!("`cargo agents init --add-agent {}`", agent.name()));
            return Some(trail);
        }
        match self.survey.hooks_of(agent) {
            Some(hooks) => {
                let files: Vec<_> = hooks.files.iter().map(|file| self.path(file)).collect();
                trail.step(
                    "hooks",
                    format!("{} in {}", health_text(&hooks.health), files.join(", ")),
                );
            }
            None => trail.step("hooks", "there is nowhere to register them"),
        }
        for server in self.survey.servers_of(agent) {
            trail.step("server", format!("{}: {}", server.name, health_text(&server.health)));
        }
        let views = self.survey.skills();
        for view in views.iter().filter(|view| view.agents.contains(&agent)) {
            let planned = if view.placed.contains(&agent) { "" } else { " (planned)" };
            trail.step("skill", format!("{}{planned}", view.name));
        }
        for found in self.survey.checkup(agent, &views, None) {
            let label = if found.severity.is_some() { "but" } else { "note" };
            trail.step(label, format!("{}; {}", found.message, found.remedy));
        }
        Some(trail)
    }

    /// Our own MCP server, which no plugin brings.
    fn of_own_server(&self) -> Option<Trail> {
        if !self.is_meant(OWN_SERVER) {
            return None;
        }
        let is_wanted = self.survey.inputs.sym.config.register_mcp;
        let verdict = if is_wanted {
            "is our own MCP server, for every workspace"
        } else {
            "is our own MCP server, and is not registered"
        };
        let mut trail = Trail::new(Kind::Server, OWN_SERVER, is_wanted, verdict);
        if is_wanted {
            trail.step("wanted", "`register = true` in `[mcp]` of your configuration");
            self.server_agents(&mut trail, OWN_SERVER);
        } else {
            trail.step("remedy", "`cargo agents init --mcp`");
        }
        Some(trail)
    }

    fn of_sources(&self) -> Vec<Trail> {
        let registry = &self.survey.inputs.registry;
        let named = registry.sources.iter().filter(|state| self.is_meant(&state.name));
        let trail_of = |state: &crate::plugins::source::SourceState| {
            let is_here = state.root.is_some();
            let verdict = if is_here {
                "is one of your plugin sources"
            } else {
                "is one of your plugin sources, and not on this machine"
            };
            let mut trail = Trail::new(Kind::Source, &state.name, is_here, verdict);
            if !state.is_nowhere() {
                trail.step("at", &state.location);
            }
            if let Some(commit) = &state.commit {
                let fetched = state.fetched_at.map(|at| age(std::time::SystemTime::now(), at));
                let fetched = fetched.map(|ago| format!(", fetched {ago}")).unwrap_or_default();
                let commit = commit.get(..10).unwrap_or(commit);
                trail.step("commit", format!("{commit}{fetched}"));
            }
            state.notice.iter().for_each(|notice| trail.step("but", notice));
            let plugins = registry.plugins.iter();
            let plugins: Vec<_> =
                plugins.filter(|entry| entry.plugin.source == state.name).collect();
            let is_active = |entry: &&&crate::plugins::registry::PluginEntry| {
                self.fate(&entry.plugin).is_some_and(|fate| fate.verdict == Verdict::Matched)
            };
            let active = plugins.iter().filter(is_active).count();
            let skills = registry.skills.iter().filter(|skill| skill.source == state.name).count();
            let offered = count(plugins.len(), "plugin");
            trail.step("offers", format!("{offered}, {active} of them active here"));
            if skills > 0 {
                trail.step("offers", format!("{} outside of plugins", count(skills, "skill")));
            }
            if let Some(root) = &state.root {
                let of_source = registry.diagnostics.iter().filter(|found| {
                    found.location().is_some_and(|place| place.path.starts_with(root))
                });
                self.tell(&mut trail, of_source);
            }
            if state.kind == SourceKind::Git {
                trail.step("more", format!("`cargo agents plugin sync {}` fetches it", state.name));
            }
            trail
        };
        named.map(trail_of).collect()
    }

    /// Installations and programs of plugins that apply.
    fn of_programs(&self) -> Vec<Trail> {
        let sym = &self.survey.inputs.sym;
        let fetcher = Network::new(sym);
        let acquirer = Acquirer::new(sym, &fetcher);
        let fates = self.survey.planned.iter().flat_map(|planned| &planned.facts.plugins);
        let mut trails = Vec::new();
        for fate in fates {
            for program in programs(fate, &acquirer) {
                // An inline one is called like its hook or subcommand, which is told.
                let is_inline = program.used_by.iter().any(|user| user.ends_with(&program.name));
                if !self.is_meant(&program.name) || is_inline {
                    continue;
                }
                let verdict = if program.installed { "is here" } else { "is not here" };
                let mut trail =
                    Trail::new(Kind::Program, &program.name, program.installed, verdict);
                let (plugin, source) = (&fate.plugin.name, &fate.plugin.source);
                trail.step("plugin", format!("{plugin} (source {source})"));
                trail.step("is", &program.what);
                program.used_by.iter().for_each(|user| trail.step("used by", user));
                for found in self.survey.obstructed() {
                    let is_of = program.used_by.contains(&found.user());
                    if is_of && found.plugin.manifest == fate.plugin.manifest {
                        let remedy = &found.obstacle.remedy;
                        trail.step("but", format!("{}; {remedy}", found.told()));
                    }
                }
                trails.push(trail);
            }
        }
        trails
    }

    /// A diagnostic's code: what it means, and where it was found here.
    fn of_code(&self) -> Option<Trail> {
        let known = explain(&self.name)?;
        let diagnostics = self.survey.diagnostics();
        let found: Vec<_> =
            diagnostics.into_iter().filter(|found| found.code == Some(known.code)).collect();
        let verdict = match found.len() {
            0 => "was not found here".to_owned(),
            1 => "was found once here".to_owned(),
            number => format!("was found {number} times here"),
        };
        let mut trail = Trail::new(Kind::Code, known.code, !found.is_empty(), verdict);
        trail.step("means", known.title);
        self.tell(&mut trail, found.into_iter());
        trail.step("more", format!("`cargo agents plugin explain {}`", known.code));
        Some(trail)
    }
}
