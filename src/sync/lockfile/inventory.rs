//! What applies to a workspace, each thing with what it is made of.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{LockFile, LockedProgram, LockedSkill};
use crate::Symposium;
use crate::config::USER_PLUGINS;
use crate::fetch::git::Repository;
use crate::plugins::model::Plugin;
use crate::plugins::registry::Registry;
use crate::plugins::source::BUILTIN;
use crate::plugins::trust::part::{Part, PartKind};
use crate::plugins::trust::{Trust, Waits};
use crate::report::Kind;
use crate::skills::content::Content;
use crate::skills::files::collect;
use crate::skills::{Skill, SkillOrigin};
use crate::symposium::Pin;
use crate::sync::facts::Facts;
use crate::text::hex;
use crate::workspace::UNOBSERVED;

/// What applies, with the texts that a lock file has the hashes of.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub lock: LockFile,
    /// The repositories behind [`LockFile::repositories`].
    pub repositories: Vec<(Repository, Pin)>,
    /// Those of each source, by its name.
    pub sources: BTreeMap<String, Vec<Pin>>,
    /// The files of each skill, under the name that a [`Difference`](super::Difference) has for it.
    pub skills: BTreeMap<String, Content>,
    /// Each program in the same way.
    pub programs: BTreeMap<String, Part>,
}

/// Takes stock of `facts` and of the sources that they came from.
pub(crate) fn take_inventory(sym: &Symposium, registry: &Registry, facts: &Facts<'_>) -> Inventory {
    let of_sources = registry.sources.iter().filter_map(|source| source.pin.clone());
    let repositories: Vec<_> = of_sources.chain(facts.pins.iter().cloned()).collect();
    let mut inventory = Inventory::default();
    for source in &registry.sources {
        // An index and its entries are one source: `index/entry`.
        let name = source.name.split('/').next().unwrap_or_default().to_owned();
        let pins = inventory.sources.entry(name).or_default();
        pins.extend(source.pin.iter().map(|(_, pin)| pin.clone()));
    }
    let mut skills = Vec::new();
    for skill in
        facts.skills.iter().chain(facts.held_back()).filter(|skill| is_shared(facts, skill))
    {
        // One that can't be used is not installed either, which was told.
        let Ok(files) = collect(skill, &skill.name, &UNOBSERVED) else { continue };
        let (name, from) = (skill.name.clone(), from(&skill.origin));
        inventory.skills.insert(format!("skill {name} of {from}"), files.content.clone());
        skills.push(LockedSkill { name, from, sha256: hash(&files.content) });
    }
    let trust = Trust::of(sym, &UNOBSERVED);
    let mut locked = Vec::new();
    let shared = programs(facts, &trust).into_iter().filter(|(of, _)| !is_own(&of.source));
    // Of a plugin whose folder can't be looked through nothing is locked.
    for (of, part) in shared.filter_map(|(of, part)| Some((of, part.ok()?))) {
        let (plugin, source) = (of.name.clone(), of.source.clone());
        let key = format!("{} {} of plugin {plugin} ({source})", part.kind, part.name);
        let (kind, name, sha256) = (part.kind, part.name.clone(), part.sha256.clone());
        locked.push(LockedProgram { plugin, source, kind, name, sha256 });
        inventory.programs.insert(key, part);
    }
    let pins = repositories.iter().map(|(_, pin)| pin.clone()).collect();
    inventory.lock = LockFile::new(pins, skills, locked);
    inventory.repositories = repositories;
    inventory
}

/// The hooks, servers and subcommands that apply, each with its plugin; in their place, why it can't be
/// told what a plugin could run.
pub(crate) fn programs<'f>(
    facts: &Facts<'f>,
    trust: &Trust<'_>,
) -> Vec<(&'f Plugin, Result<Part, Waits>)> {
    let mut found = Vec::new();
    for fate in &facts.plugins {
        let known = trust.parts(fate.plugin);
        let holds = |part: &&Part| {
            let index = index(fate.plugin, part);
            fate.parts.iter().any(|it| it.holds && Some((it.kind, it.index)) == index)
        };
        match known.as_ref() {
            Ok(parts) => {
                found.extend(parts.iter().filter(holds).map(|part| (fate.plugin, Ok(part.clone()))))
            }
            Err(why) if !fate.parts.is_empty() => found.push((fate.plugin, Err(*why))),
            Err(_) => {}
        }
    }
    found
}

/// Whether a source is one person's, or the program's own.
fn is_own(source: &str) -> bool {
    source == BUILTIN || source == USER_PLUGINS
}

/// Whether everybody who works on the workspace gets it: not through somebody's own plugins, and not
/// with the checkout.
fn is_shared(facts: &Facts<'_>, skill: &Skill) -> bool {
    let plugin = skill.plugin.as_ref();
    let brought = facts.active.iter().find(|known| Some(&known.name) == plugin);
    let by_own = brought.is_some_and(|plugin| is_own(&plugin.source));
    match &skill.origin {
        SkillOrigin::Workspace { .. } => false,
        SkillOrigin::Source { source, .. } => !is_own(source),
        SkillOrigin::Crate { .. } | SkillOrigin::Git { .. } => !by_own,
    }
}

/// The same on every machine, and for every commit of a repository.
fn from(origin: &SkillOrigin) -> String {
    let place = match origin {
        SkillOrigin::Crate { name, version, .. } => format!("{name} {version}"),
        SkillOrigin::Git { repo, .. } => repo.clone(),
        SkillOrigin::Source { source, .. } => source.clone(),
        SkillOrigin::Workspace { .. } => "workspace".to_owned(),
    };
    format!("{place} {}", origin.path()).trim_end().to_owned()
}

fn hash(content: &Content) -> String {
    let mut sum = Sha256::new();
    for (path, hash) in content.hashes() {
        sum.update(path.len().to_le_bytes());
        sum.update(path);
        sum.update(hash);
    }
    hex(&sum.finalize())
}

/// The place of a part among the plugin's things of its kind.
fn index(plugin: &Plugin, part: &Part) -> Option<(Kind, usize)> {
    let (kind, index) = match part.kind {
        PartKind::Hook => {
            (Kind::Hooks, plugin.hooks.iter().position(|hook| hook.name == part.name))
        }
        PartKind::Server => {
            (Kind::Server, plugin.servers.iter().position(|server| server.name == part.name))
        }
        PartKind::Subcommand => {
            (Kind::Subcommand, plugin.subcommands.iter().position(|it| it.name == part.name))
        }
        PartKind::Skill => return None,
    };
    Some((kind, index?))
}
