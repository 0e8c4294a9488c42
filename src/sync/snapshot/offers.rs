//! What there is to be told of and to be run, and since when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::programs::run_of;
use super::{Offer, SnapshotServer, SnapshotSkill, SnapshotSubcommand, Stored};
use crate::agents::Agent;
use crate::installations::{Acquirer, Mode as InstallMode, Network};
use crate::plugins::trust::Waits;
use crate::report::{Action, Change, Kind};
use crate::sync::dependencies::changes::{self, KnownDependency};
use crate::sync::dependencies::published::IndexCaches;
use crate::sync::facts::Facts;
use crate::sync::placing::desired_skills::DesiredSkills;
use crate::sync::request::{Mode, SyncContext, Synced};

/// The offer after a sync; `before` is what was known until then.
pub(super) fn offer(
    sync: &SyncContext<'_>,
    facts: &Facts<'_>,
    chosen: &DesiredSkills,
    agents: &[Agent],
    (before, synced): (Option<&Stored>, &Synced),
) -> Offer {
    let old = before.map(Stored::offer).unwrap_or_default();
    let is_new = |change: &&Change| matches!(change.action, Action::Install | Action::Register);
    let new = synced.changes.iter().filter(is_new);
    let news = News {
        new: new.map(|change| (change.kind, change.name.as_str())).collect(),
        acts: sync.request.mode == Mode::Apply,
        now: sync.started_at,
    };
    let now = sync.started_at;
    let mut known = dependencies(sync, facts, &old);
    Offer {
        skills: skills(sync, chosen, synced, (&old, &news)),
        servers: if agents.is_empty() { Vec::new() } else { servers(facts, &old, &news) },
        subcommands: subcommands(sync, facts, before.map(|_| &old)),
        candidates: facts.candidates.iter().map(|found| found.name.clone()).collect(),
        suggestions: facts.suggestions.iter().map(|found| found.name.clone()).collect(),
        team_waits: sync.sym.team.as_ref().is_some_and(|team| team.waits()),
        changed: changed(facts),
        dependency_changes: match (&mut known, &old.dependencies) {
            (Some(new), Some(known)) => changes::record(old.dependency_changes, known, new, now),
            _ => Vec::new(),
        },
        dependencies: known,
    }
}

/// The names of plugins of which something is not what was allowed, each once.
fn changed(facts: &Facts<'_>) -> Vec<String> {
    let changed = facts.waiting.iter().filter(|waiting| waiting.why == Waits::Changed);
    let names: BTreeSet<&str> = changed.map(|waiting| waiting.owner.name.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// The dependencies, with the days on which their versions came out: of those that were there before
/// it is known already.
fn dependencies(
    sync: &SyncContext<'_>,
    facts: &Facts<'_>,
    old: &Offer,
) -> Option<Vec<KnownDependency>> {
    let mut known = changes::known(facts.dependencies.as_ref()?);
    let old = old.dependencies.as_deref().unwrap_or_default();
    let old: BTreeMap<&str, &KnownDependency> =
        old.iter().map(|known| (known.name.as_str(), known)).collect();
    let caches = sync.sym.env.cargo_home().map(|home| IndexCaches::of(&home));
    for dependency in &mut known {
        let same = old.get(dependency.name.as_str());
        dependency.published = match same.filter(|same| same.versions == dependency.versions) {
            Some(same) => same.published,
            None => dependency
                .versions
                .last()
                .and_then(|newest| caches.as_ref()?.day(&dependency.name, newest)),
        };
    }
    Some(known)
}

/// What came with this sync.
struct News<'a> {
    new: BTreeSet<(Kind, &'a str)>,
    /// Whether it came, or only would.
    acts: bool,
    now: u64,
}

impl News<'_> {
    fn has(&self, kind: Kind, name: &str) -> bool {
        self.new.contains(&(kind, name))
    }

    /// Since when there is something that was known since `old`.
    fn since(&self, old: Option<u64>, kind: Kind, name: &str) -> u64 {
        match old {
            Some(since) => since,
            None if self.has(kind, name) => self.now,
            // We have only forgotten when: it was there before.
            None => 0,
        }
    }
}

/// The skills that are there: not those that could not be placed, or only would be.
fn skills(
    sync: &SyncContext<'_>,
    chosen: &DesiredSkills,
    synced: &Synced,
    (old, news): (&Offer, &News<'_>),
) -> Vec<SnapshotSkill> {
    let installs = synced.plan.steps.iter().filter(|step| step.action == Action::Install);
    let planned: BTreeSet<&str> = installs.map(|step| step.name.as_str()).collect();
    let placed = |name: &str| !planned.contains(name) || (news.acts && news.has(Kind::Skill, name));
    let known: BTreeMap<&str, u64> =
        old.skills.iter().map(|known| (known.name.as_str(), known.since)).collect();
    let skills = chosen.wanted.skills.iter().zip(&chosen.descriptions);
    skills
        .filter(|(skill, _)| placed(&skill.name))
        .map(|(skill, description)| {
            let dirs = skill.parents.iter().map(|index| {
                let path = chosen.wanted.parents[*index].path.join(&skill.name);
                let relative = path.strip_prefix(sync.root()).unwrap_or(&path);
                relative.to_string_lossy().replace('\\', "/")
            });
            let known = known.get(skill.name.as_str()).copied();
            SnapshotSkill {
                name: skill.name.clone(),
                description: description.clone(),
                dirs: dirs.collect(),
                since: news.since(known, Kind::Skill, &skill.name),
            }
        })
        .collect()
}

fn servers(facts: &Facts<'_>, old: &Offer, news: &News<'_>) -> Vec<SnapshotServer> {
    let servers = facts.servers.iter().map(|(_, server, _)| server.name.as_str());
    servers
        .filter_map(|name| {
            let known = old.servers.iter().find(|known| known.name == name);
            if !news.acts && known.is_none() {
                return None;
            }
            let since = news.since(known.map(|known| known.since), Kind::Server, name);
            Some(SnapshotServer { name: name.to_owned(), since })
        })
        .collect()
}

/// All subcommands; without an `old` offer it is not known since when.
fn subcommands(
    sync: &SyncContext<'_>,
    facts: &Facts<'_>,
    old: Option<&Offer>,
) -> Vec<SnapshotSubcommand> {
    let fetcher = Network::new(sync.sym);
    let acquirer = Acquirer::new(sync.sym, &fetcher);
    let quiet = InstallMode::Dispatch { budget: Duration::ZERO };
    let subcommands = facts.subcommands.iter();
    subcommands
        .map(|(plugin, subcommand, needs)| {
            let run = needs.is_none().then(|| {
                let prepared = acquirer.command(plugin, &subcommand.command, quiet);
                run_of(sync.sym, plugin, &subcommand.command, &prepared)
            });
            let applied = |known: &&SnapshotSubcommand| {
                (&known.plugin, &known.name) == (&plugin.name, &subcommand.name)
                    && known.run.is_some()
            };
            let since = old.map_or(0, |old| {
                old.subcommands.iter().find(applied).map_or(sync.started_at, |known| known.since)
            });
            SnapshotSubcommand {
                name: subcommand.name.clone(),
                plugin: plugin.name.clone(),
                source: plugin.source.clone(),
                description: subcommand.description.clone(),
                audience: subcommand.audience,
                run,
                needs: needs.clone(),
                since,
            }
        })
        .collect()
}
