//! What a sync keeps for hooks, help and subcommands: the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::programs::{is_fetchable, run_of};
use super::{
    Header, Offer, Snapshot, SnapshotHook, SnapshotServer, SnapshotSkill, SnapshotSubcommand,
    Stored,
};
use crate::agents::Agent;
use crate::config::{Config, now_in_ms};
use crate::installations::{Acquirer, Mode as InstallMode, Network, awaited};
use crate::plugins::model::SkillSource;
use crate::plugins::registry::Registry;
use crate::plugins::source::SourceKind;
use crate::report::{Action, Change, Kind};
use crate::sync::bounds::NEUTRAL;
use crate::sync::facts::Facts;
use crate::sync::placing::desired_skills::DesiredSkills;
use crate::sync::placing::parents::Parents;
use crate::sync::placing::plan::{Parent, Plan};
use crate::sync::request::{Caller, Mode, Sync, Synced};
use crate::workspace::Fingerprint;

impl Sync<'_> {
    /// What hooks, help and subcommands need, kept for the next process. Trouble costs speed only, so
    /// it is logged.
    pub(in crate::sync) fn remember(
        &self,
        registry: &Registry,
        observed: Observed,
        facts: &Facts<'_>,
        chosen: &DesiredSkills,
        (agents, synced): (&[Agent], &Synced),
    ) -> Option<Stored> {
        let sym = self.sym;
        let root = &self.loaded.workspace.root;
        let path = Snapshot::path(&sym.dirs, root);
        let is_outside = *root == Snapshot::outside(&sym.dirs);
        let before = Stored::load(&path, crate::symposium::VERSION, root);
        let Observed { mut fingerprint, variables } = observed;
        let offer = self.offer(facts, chosen, agents, (before.as_ref(), synced));
        let acts = self.request.mode == Mode::Apply;
        let changed_at = match &before {
            Some(before) if before.offer() == offer && !(acts && synced.is_change()) => {
                before.header.changed_at
            }
            _ => now_in_ms(),
        };
        let hooks = self.hooks(facts);
        // A program that went while it was looked for would be missed for good.
        let unseen = |path: &PathBuf| !fingerprint.paths().any(|known| known == path);
        let gone: Vec<PathBuf> =
            facts.active.iter().flat_map(|plugin| awaited(plugin)).filter(unseen).collect();
        for path in gone {
            fingerprint.distrust(&path);
        }
        let snapshot = Snapshot {
            header: Header {
                layout: 0,
                program: crate::symposium::VERSION.to_owned(),
                root: root.clone(),
                fingerprint,
                env: variables
                    .into_iter()
                    .map(|name| {
                        let value = sym.env.text(&name).map(str::to_owned);
                        (name, value)
                    })
                    .collect(),
                changed_at,
                servers: facts.servers.iter().map(|(_, server, _)| server.name.clone()).collect(),
                refreshable: !is_outside && is_refreshable(registry, facts),
                outside: is_outside,
                failed: synced.failed,
                hooks: BTreeMap::new(),
            },
            hooks,
            offer,
            member_entry_dirs: self.loaded.member_entry_dirs.clone(),
        };
        let stored =
            snapshot.store().inspect_err(|error| tracing::warn!("no snapshot: {error}")).ok()?;
        // One that was only looked at must not pass for a sync that was done, unless none is wanted,
        // nor for a workspace that could not be read.
        let is_done = acts || (!sym.config.auto_sync && !self.loaded.is_unknown);
        if (is_done || is_outside)
            && !before.is_some_and(|before| before.says_the_same(&stored))
            && let Err(error) = stored.save(&path)
        {
            tracing::warn!("no snapshot: {error}");
        }
        Some(stored)
    }

    fn hooks(&self, facts: &Facts<'_>) -> BTreeMap<symposium_hook::Event, Vec<SnapshotHook>> {
        let fetcher = Network::new(self.sym);
        let acquirer = Acquirer::new(self.sym, &fetcher);
        let mut hooks: BTreeMap<_, Vec<SnapshotHook>> = BTreeMap::new();
        for (plugin, hook) in &facts.hooks {
            let prepared = acquirer.hook(plugin, hook, self.install_mode());
            if let Err(error) = &prepared
                && self.request.caller == Caller::Command
            {
                self.sym.report.warn(error.to_string());
            }
            hooks.entry(hook.event).or_default().push(SnapshotHook {
                plugin: plugin.name.clone(),
                name: hook.name.clone(),
                matcher: hook.matcher.clone(),
                agent: hook.agent.clone(),
                format: hook.format.clone(),
                timeout: u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
                on_failure: hook.on_failure,
                detach: hook.detach,
                run: run_of(self.sym, plugin, &hook.command, &prepared),
            });
        }
        hooks
    }

    fn offer(
        &self,
        facts: &Facts<'_>,
        chosen: &DesiredSkills,
        agents: &[Agent],
        (before, synced): (Option<&Stored>, &Synced),
    ) -> Offer {
        let old = before.map(Stored::offer).unwrap_or_default();
        let root = &self.loaded.workspace.root;
        let acts = self.request.mode == Mode::Apply;
        let is_new = |change: &&Change| matches!(change.action, Action::Install | Action::Register);
        let new = synced.changes.iter().filter(is_new);
        let new: BTreeSet<_> = new.map(|change| (change.kind, change.name.as_str())).collect();
        let is_new = |kind: Kind, name: &str| new.contains(&(kind, name));
        let since = |old: Option<u64>, kind: Kind, name: &str| match old {
            Some(since) => since,
            None if is_new(kind, name) => self.now,
            // We have only forgotten when: it was there before.
            None => 0,
        };
        // What could not be placed, or only would be, is not there.
        let installs = synced.plan.steps.iter().filter(|step| step.action == Action::Install);
        let planned: BTreeSet<&str> = installs.map(|step| step.name.as_str()).collect();
        let placed = |name: &str| !planned.contains(name) || (acts && is_new(Kind::Skill, name));
        let known: BTreeMap<&str, u64> =
            old.skills.iter().map(|known| (known.name.as_str(), known.since)).collect();
        let skills = chosen.wanted.skills.iter().zip(&chosen.descriptions);
        let skills = skills.filter(|(skill, _)| placed(&skill.name)).map(|(skill, description)| {
            let dirs = skill.parents.iter().map(|index| {
                let path = chosen.wanted.parents[*index].path.join(&skill.name);
                let relative = path.strip_prefix(root).unwrap_or(&path);
                relative.to_string_lossy().replace('\\', "/")
            });
            let known = known.get(skill.name.as_str()).copied();
            SnapshotSkill {
                name: skill.name.clone(),
                description: description.clone(),
                dirs: dirs.collect(),
                since: since(known, Kind::Skill, &skill.name),
            }
        });
        let servers = facts.servers.iter().filter_map(|(_, server, _)| {
            let known = old.servers.iter().find(|known| known.name == server.name);
            if agents.is_empty() || (!acts && known.is_none()) {
                return None;
            }
            let since = since(known.map(|known| known.since), Kind::Server, &server.name);
            Some(SnapshotServer { name: server.name.clone(), since })
        });
        let fetcher = Network::new(self.sym);
        let acquirer = Acquirer::new(self.sym, &fetcher);
        let quiet = InstallMode::Dispatch { budget: Duration::ZERO };
        let subcommands = facts.subcommands.iter().map(|(plugin, subcommand, needs)| {
            let run = needs.is_none().then(|| {
                let prepared = acquirer.command(plugin, &subcommand.command, quiet);
                run_of(self.sym, plugin, &subcommand.command, &prepared)
            });
            let same = |known: &&SnapshotSubcommand| {
                (&known.plugin, &known.name) == (&plugin.name, &subcommand.name)
            };
            let known = old.subcommands.iter().find(same).filter(|known| known.run.is_some());
            SnapshotSubcommand {
                since: match (known, before) {
                    (Some(known), _) => known.since,
                    (None, Some(_)) => self.now,
                    (None, None) => 0,
                },
                name: subcommand.name.clone(),
                plugin: plugin.name.clone(),
                source: plugin.source.clone(),
                description: subcommand.description.clone(),
                audience: subcommand.audience,
                run,
                needs: needs.clone(),
            }
        });
        Offer {
            skills: skills.collect(),
            servers: servers.collect(),
            subcommands: subcommands.collect(),
            candidates: facts.candidates.iter().map(|found| found.name.clone()).collect(),
        }
    }

    /// What must not change for the snapshot to hold: what was observed, by the time it was read, of
    /// the workspace, the plugin sources (`sources`) and all that skills and gates led to.
    pub(in crate::sync) fn observed(
        &self,
        sources: Fingerprint,
        plan: &Plan,
        parents: &Parents,
    ) -> Observed {
        let (mut fingerprint, variables) = self.observer.findings();
        fingerprint.merge(sources);
        fingerprint.merge(self.loaded.fingerprint.clone());
        if let Some(neutral) = parents.neutral() {
            let root = &self.loaded.workspace.root;
            accept_own(&mut fingerprint, root, plan, &parents.list[neutral]);
        }
        // The configuration was read before it is observed: it must still say the same.
        let config = self.sym.dirs.config_file();
        fingerprint.observe(&config);
        if Config::load(&self.sym.dirs).config != self.sym.config {
            fingerprint.distrust(&config);
        }
        Observed { fingerprint, variables }
    }
}

/// What a snapshot is made from.
pub(in crate::sync) struct Observed {
    fingerprint: Fingerprint,
    variables: BTreeSet<String>,
}

/// The skill folders that `plan` made and removed beside the workspace's own skills are no news.
fn accept_own(fingerprint: &mut Fingerprint, root: &Path, plan: &Plan, parent: &Parent) {
    let steps = plan.steps.iter().filter(|step| step.parent == *parent);
    let ours: Vec<(&str, bool)> =
        steps.map(|step| (&*step.name, step.action != Action::Install)).collect();
    if ours.is_empty() {
        return;
    }
    let neutral = root.join(NEUTRAL);
    if let (Some(above), Some(name)) = (neutral.parent(), neutral.file_name()) {
        let was_there = fingerprint.was_folder(&neutral);
        fingerprint.accept(above, &[(&name.to_string_lossy(), was_there)]);
    }
    fingerprint.accept(&neutral, &ours);
    if parent.path != neutral {
        fingerprint.accept(&parent.path, &ours);
    }
}

/// Whether there is anything that a refresh with the network could bring.
fn is_refreshable(registry: &Registry, facts: &Facts<'_>) -> bool {
    let elsewhere = |source: &SkillSource| {
        matches!(source, SkillSource::Git(_) | SkillSource::NamedCrate { .. })
    };
    registry.sources.iter().any(|source| source.kind == SourceKind::Git)
        || !facts.missing.is_empty()
        || facts.active.iter().any(|plugin| {
            plugin.installations.iter().any(is_fetchable)
                || plugin.skills.iter().any(|group| elsewhere(&group.source))
        })
}
