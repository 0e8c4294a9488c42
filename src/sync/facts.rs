//! What applies to a workspace: plugins by their gates, and what they offer.

use std::collections::BTreeSet;

use crate::Symposium;
use crate::fetch::git::{Policy, Repository};
use crate::plugins::model::{CrateAtom, Gate, Hook, McpServer, Plugin, Subcommand};
use crate::plugins::predicate::{Facts as GateFacts, evaluate_all};
use crate::plugins::registry::Registry;
use crate::report::{Event, Kind, Progress, Verdict};
use crate::skills::crate_source::{CrateSources, NotOnDisk};
use crate::skills::resolve::{GitFolder, Resolver};
use crate::skills::{Skill, SkillOrigin};
use crate::text::Diagnostic;
use crate::workspace::{Workspace, same_crate};

use super::gates::ByFacts;

/// Everything that applies, with the reasons.
#[derive(Debug, Default)]
pub struct Facts<'r> {
    /// Skills of plugins and sources, one an origin.
    pub skills: Vec<Skill>,
    /// The workspace's own skills.
    pub own_skills: Vec<Skill>,
    /// Hooks whose gates hold, in the order in which they run.
    pub hooks: Vec<(&'r Plugin, &'r Hook)>,
    /// Servers whose gates hold, and whether they are for every workspace.
    pub servers: Vec<(&'r Plugin, &'r McpServer, bool)>,
    /// All subcommands; with the reason, those that do not apply here.
    pub subcommands: Vec<(&'r Plugin, &'r Subcommand, Option<String>)>,
    /// Plugins that apply.
    pub active: Vec<&'r Plugin>,
    /// Crates whose sources could not be had.
    pub missing: Vec<NotOnDisk>,
    /// Why each thing was taken or not.
    pub explanations: Vec<Event>,
    /// Problems; none stops anything else.
    pub diagnostics: Vec<Diagnostic>,
    /// Environment variables that gates looked at.
    pub env: BTreeSet<String>,
    /// Paths in the workspace that gates looked at.
    pub paths: BTreeSet<String>,
}

/// Where facts come from.
pub struct Gatherer<'a> {
    /// The context.
    pub sym: &'a Symposium,
    /// The workspace.
    pub workspace: &'a Workspace,
    /// Sources of crates.
    pub crates: &'a dyn CrateSources,
    /// When git repositories are fetched.
    pub policy: Policy,
}

impl Gatherer<'_> {
    /// Goes through the registry.
    pub fn gather<'r>(&self, registry: &'r Registry) -> Facts<'r> {
        let gates = ByFacts {
            facts: GateFacts {
                dependencies: &self.workspace.dependencies,
                members: &self.workspace.members,
                root: Some(&self.workspace.root),
                env: &self.sym.env,
            },
        };
        let checkouts = |url: &str| self.checkout(url);
        let mut facts = Facts::default();
        let mut resolver = Resolver::new(&gates, self.crates, &checkouts);
        for entry in &registry.plugins {
            let plugin = &entry.plugin;
            if let Some(shadow) = &entry.shadowed_by {
                facts.explain(Kind::Plugin, &plugin.name, Verdict::Shadowed, shadow.to_string());
            } else if self.is_disabled(plugin) {
                let reason = "`[plugins] disable` in the configuration names it";
                facts.explain(Kind::Plugin, &plugin.name, Verdict::Disabled, reason);
            } else {
                facts.plugin(plugin, &gates.facts, &mut resolver);
            }
        }
        for skill in &registry.skills {
            let name = skill.dir.file_name().unwrap_or_default().to_string_lossy();
            if self.is_named(&name, &self.sym.config.plugins.disable) {
                let reason = "`[plugins] disable` in the configuration names it";
                facts.explain(Kind::Skill, &name, Verdict::Disabled, reason);
                continue;
            }
            let chosen = self.is_named(&name, &self.sym.config.plugins.use_);
            resolver.standalone(&skill.source, &skill.source_root, &skill.dir, chosen);
        }
        resolver.workspace(&self.workspace.root);
        let done = resolver.finish();
        let own = |skill: &Skill| matches!(skill.origin, SkillOrigin::Workspace { .. });
        let (own_skills, skills) = done.skills.into_iter().partition(own);
        facts.own_skills = own_skills;
        facts.skills = skills;
        facts.diagnostics.extend(done.diagnostics);
        facts.explanations.extend(done.explanations);
        facts.missing = done.missing;
        facts
    }

    fn is_disabled(&self, plugin: &Plugin) -> bool {
        self.is_named(&plugin.name, &self.sym.config.plugins.disable)
    }

    fn is_named(&self, name: &str, list: &[String]) -> bool {
        list.iter().any(|listed| same_crate(listed, name))
    }

    /// The checkout that a plugin's URL names.
    ///
    /// # Errors
    /// It is no URL, a place on this machine, or can't be had.
    pub fn checkout(&self, url: &str) -> Result<GitFolder, Box<Diagnostic>> {
        let repository = Repository::parse(url, None, None)?;
        if repository.is_local() {
            return Err(Box::new(Diagnostic::error(format!(
                "a plugin can't point at a repository on this machine: `{url}`"
            ))));
        }
        let cache = self.sym.dirs.plugin_sources();
        let shown = repository.shown();
        let progress = std::cell::Cell::new(Progress::default());
        let tell = || progress.set(self.sym.report.busy("Fetching", &shown));
        let checkout =
            repository.checkout_telling(&cache, &self.policy, &self.sym.env, &tell).map_err(
                |error| Box::new(Diagnostic::error(format!("can't read `{shown}`: {error}"))),
            )?;
        Ok(GitFolder {
            root: checkout.root,
            start: checkout.subdir,
            repo: repository.identity().to_owned(),
            commit: checkout.commit,
        })
    }
}

impl<'r> Facts<'r> {
    fn explain(&mut self, kind: Kind, name: &str, verdict: Verdict, reason: impl Into<String>) {
        self.explanations.push(Event::explain(kind, name, verdict, reason));
    }

    fn note_uses(&mut self, gate: &Gate) {
        let uses = gate.uses();
        self.env.extend(uses.env);
        self.paths.extend(uses.paths);
    }

    fn plugin(&mut self, plugin: &'r Plugin, facts: &GateFacts<'_>, resolver: &mut Resolver<'_>) {
        self.note_uses(&plugin.gate);
        let evaluation = evaluate_all(&[&plugin.gate], facts);
        for warning in &evaluation.warnings {
            self.diagnostics.push(Diagnostic::warning(warning).in_file(&plugin.manifest));
        }
        if !evaluation.holds {
            self.explain(Kind::Plugin, &plugin.name, Verdict::Skipped, &*evaluation.reason);
            for subcommand in &plugin.subcommands {
                self.subcommands.push((plugin, subcommand, Some(evaluation.reason.clone())));
            }
            return;
        }
        self.explain(Kind::Plugin, &plugin.name, Verdict::Matched, &*evaluation.reason);
        self.active.push(plugin);
        for group in &plugin.skills {
            self.note_uses(&group.gate);
            let levels = evaluate_all(&[&plugin.gate, &group.gate], facts);
            if levels.holds {
                resolver.group(plugin, group, &levels.matched);
            } else {
                let name = format!("a group of skills in {}", plugin.name);
                self.explain(Kind::Group, &name, Verdict::Skipped, levels.reason);
            }
        }
        for hook in &plugin.hooks {
            self.note_uses(&hook.gate);
            let levels = evaluate_all(&[&plugin.gate, &hook.gate], facts);
            let verdict = if levels.holds { Verdict::Matched } else { Verdict::Skipped };
            if levels.holds {
                self.hooks.push((plugin, hook));
            }
            let name = format!("{} of {}", hook.name, plugin.name);
            self.explain(Kind::Hooks, &name, verdict, levels.reason);
        }
        for server in &plugin.servers {
            self.note_uses(&server.gate);
            let levels = evaluate_all(&[&plugin.gate, &server.gate], facts);
            let verdict = if levels.holds { Verdict::Matched } else { Verdict::Skipped };
            if levels.holds {
                let everywhere = is_everywhere(&plugin.gate) && is_everywhere(&server.gate);
                self.servers.push((plugin, server, everywhere));
            }
            self.explain(Kind::Server, &server.name, verdict, levels.reason);
        }
        for subcommand in &plugin.subcommands {
            self.note_uses(&subcommand.gate);
            let levels = evaluate_all(&[&plugin.gate, &subcommand.gate], facts);
            let needs = (!levels.holds).then_some(levels.reason);
            self.subcommands.push((plugin, subcommand, needs));
        }
    }
}

/// Whether a gate holds in every workspace, whatever it depends on.
pub fn is_everywhere(gate: &Gate) -> bool {
    let any = |atoms: &Vec<CrateAtom>| atoms.contains(&CrateAtom::Any);
    gate.predicates.is_empty() && gate.crates.as_ref().is_none_or(any)
}
