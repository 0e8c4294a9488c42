//! Why copies go that an earlier sync placed, and which stay because somebody placed them by hand.

use std::collections::BTreeMap;

use semver::Version;

use super::desired_skills::{DesiredSkills, copy_of, shown};
use super::marker::Marker;
use super::parents::Parents;
use super::plan::{Disk, Fate, Fates, Found, Wanted, WantedSkill};
use crate::Symposium;
use crate::agents::Agent;
use crate::files::contained;
use crate::plugins::model::{Plugin, SkillSource};
use crate::plugins::registry::Registry;
use crate::plugins::source::BUILTIN;
use crate::report::{Event, Kind, Verdict};
use crate::skills::Skill;
use crate::skills::crate_source::Needs;
use crate::sync::dependencies::page;
use crate::sync::facts::candidates::takes_crate;
use crate::sync::facts::{Facts, PluginFate, passed_over};
use crate::text::{Diagnostic, same_crate};
use crate::workspace::{Observer, Workspace};

/// What decides about copies.
pub(crate) struct Inquest<'a> {
    pub sym: &'a Symposium,
    pub workspace: &'a Workspace,
    pub registry: &'a Registry,
    pub facts: &'a Facts<'a>,
    pub chosen: &'a DesiredSkills,
    pub parents: &'a Parents,
    /// Those that this sync is for.
    pub agents: &'a [Agent],
    /// Skills are read through it.
    pub observer: &'a Observer,
}

impl Inquest<'_> {
    /// The fate of each copy on `disk` that this sync does not want where it is.
    pub(crate) fn fates(&self, disk: &Disk) -> Fates {
        let wanted = &self.chosen.wanted.skills;
        let mut fates = BTreeMap::new();
        for (index, found) in disk.iter().enumerate() {
            for (name, found) in found {
                let is_wanted = wanted
                    .iter()
                    .any(|skill| skill.name == *name && skill.parents.contains(&index));
                if let (false, Found::Ours { marker, .. }) = (is_wanted, found) {
                    fates.insert((index, name.clone()), self.fate(index, name, marker));
                }
            }
        }
        fates
    }

    fn fate(&self, index: usize, name: &str, marker: &Marker) -> Fate {
        let is_ours = |agent: &String| self.agents.iter().any(|ours| ours.name() == agent);
        let by_hand = !marker.by_hand_for.is_empty() && !marker.by_hand_for.iter().any(is_ours);
        if by_hand && let Some(skill) = self.still_applies(name, marker) {
            let copy = copy_of(self.facts, skill, name, self.observer);
            return Fate::ByHand(marker.by_hand_for.clone(), copy);
        }
        if !by_hand && let Some(reason) = self.folder_is_not_read(index, name, marker) {
            return Fate::Goes(reason);
        }
        let reason = self.is_not_needed(name, marker);
        if self.is_plugin_known(marker) { Fate::Goes(reason) } else { Fate::Unneeded(reason) }
    }

    /// Whether it is known what the plugin brings that brought the copy, though not all of its source
    /// may be.
    fn is_plugin_known(&self, marker: &Marker) -> bool {
        let is_its = |plugin: &Plugin| {
            plugin.source == marker.source && Some(&*plugin.name) == self.plugin_of(marker)
        };
        let lack = self.facts.unavailable.get(&marker.source);
        lack.is_none_or(|lack| lack.gap.is_some())
            && self.facts.plugins.iter().any(|fate| is_its(fate.plugin))
    }

    /// The plugin in whose own folder the skill was, by the copy's marker.
    fn plugin_of<'m>(&self, marker: &'m Marker) -> Option<&'m str> {
        marker.origin.strip_suffix(&format!(" ({})", marker.source))
    }

    /// The skill that a sync for the right agent would place, in whatever version.
    fn still_applies(&self, name: &str, marker: &Marker) -> Option<&Skill> {
        let mut skills = self.facts.skills.iter().chain(&self.facts.own_skills).filter(|skill| {
            place_of(&shown(skill)) == place_of(&marker.origin)
                && name.strip_prefix(skill.name.as_str()).is_some_and(is_suffix)
        });
        let first = skills.clone().next();
        skills.find(|skill| marker.path.as_deref() == Some(skill.origin.path())).or(first)
    }

    /// Why nobody reads the folder, while the skill itself may be needed.
    fn folder_is_not_read(&self, index: usize, name: &str, marker: &Marker) -> Option<String> {
        let reads = |agent: &Agent| {
            let mut dirs = agent.identity().skill_dirs.iter();
            dirs.any(|dir| self.parents.index(dir) == Some(index))
        };
        if self.agents.is_empty() {
            return Some("no agent is configured".to_owned());
        }
        let folder = self.parents.list.get(index)?;
        if !self.agents.iter().any(reads) {
            return Some(format!("none of your agents reads {}/skills", folder.shown));
        }
        let wanted = self.chosen.wanted.skills.iter();
        let mut elsewhere = wanted.filter(|skill| {
            skill.name == name && place_of(&skill.origin) == place_of(&marker.origin)
        });
        let at = *elsewhere.next()?.parents.first()?;
        let there = self.parents.list.get(at)?;
        Some(format!("your agents find it in {}/skills", there.shown))
    }

    /// What the skill is called now, where that is another name: a folder of the user's took its own, or
    /// several claim it.
    fn new_name(&self, name: &str, marker: &Marker) -> Option<&str> {
        let is_same = |skill: &&WantedSkill| {
            let is_there = skill.source == marker.source
                && place_of(&skill.origin) == place_of(&marker.origin);
            let is_it = match &marker.path {
                Some(path) => skill.path == *path,
                None => skill.name.strip_prefix(name).is_some_and(is_suffix),
            };
            skill.name != name && is_there && is_it
        };
        self.chosen.wanted.skills.iter().find(is_same).map(|skill| skill.name.as_str())
    }

    fn is_not_needed(&self, name: &str, marker: &Marker) -> String {
        if let Some(new) = self.new_name(name, marker) {
            return format!("it is called {new} now");
        }
        let root = Some(self.workspace.root.as_path());
        let choices = &self.sym.config.plugins;
        if let Some(reason) = choices.disabled_by(name, root) {
            return format!("declined: {reason}");
        }
        if let Some(reason) = self.explained(name) {
            return reason;
        }
        if marker.origin == "this workspace" {
            return match self.sym.config.agents_syncing {
                true => "the workspace has no skill of this name any more".to_owned(),
                false => "`agents-syncing` is off in the configuration".to_owned(),
            };
        }
        match crate_of(&marker.origin) {
            Some((crate_, version)) => self.of_crate(crate_, &version, marker),
            None => self.of_source(marker),
        }
    }

    /// Why a skill of that name was looked at and not taken.
    fn explained(&self, name: &str) -> Option<String> {
        self.facts.explanations.iter().find_map(|event| match event {
            Event::Explain { kind: Kind::Skill, name: about, verdict, reason }
                if about == name && *verdict != Verdict::Matched =>
            {
                Some(reason.clone())
            }
            _ => None,
        })
    }

    fn of_crate(&self, crate_: &str, version: &Version, marker: &Marker) -> String {
        let root = Some(self.workspace.root.as_path());
        if let Some(reason) = self.sym.config.plugins.disabled_by(crate_, root) {
            return format!("you declined the skills of {crate_}: {reason}");
        }
        let dependencies = self.workspace.dependencies.iter();
        let here: Vec<_> = dependencies.filter(|found| same_crate(&found.name, crate_)).collect();
        if here.is_empty() {
            let mut locked = self.workspace.locked.iter();
            return match locked.any(|found| same_crate(&found.name, crate_)) {
                true => {
                    format!("{crate_} is no direct dependency, and nothing points to its skills")
                }
                false => format!("{crate_} is no longer a dependency"),
            };
        }
        if marker.source.is_empty() {
            let used = self.sym.config.plugins.is_used(crate_, root);
            return match used {
                true => format!("{crate_} has no skill of this name any more"),
                false => format!("you no longer ask for the skills of {crate_}"),
            };
        }
        if let Some(reason) = self.of_plugins(marker, &|plugin| takes_crate(plugin, crate_)) {
            return reason;
        }
        let is_now = here.iter().find_map(|found| found.version.as_ref());
        match is_now.filter(|now| *now != version) {
            Some(now) => format!("{crate_} {now} has no skill of this name"),
            None => format!("{crate_} has no skill of this name any more"),
        }
    }

    /// A skill of a plugin's own folder, of a repository, or of a source itself.
    fn of_source(&self, marker: &Marker) -> String {
        let named = self.plugin_of(marker);
        let takes = |plugin: &Plugin| match named {
            Some(name) => plugin.name == name,
            None => {
                let is_git = |group: &_| matches!(group, &SkillSource::Git(_));
                plugin.skills.iter().any(|group| is_git(&group.source))
            }
        };
        let brings = named.unwrap_or(&marker.source);
        self.of_plugins(marker, &takes)
            .or_else(|| self.of_dependencies(marker))
            .or_else(|| self.leads_out(marker))
            .unwrap_or_else(|| format!("{brings} has no skill of this name any more"))
    }

    /// The page about the dependencies goes with them.
    fn of_dependencies(&self, marker: &Marker) -> Option<String> {
        let is_page = marker.source == BUILTIN && marker.path.as_deref() == Some(page::NAME);
        let reason = match self.sym.config.defaults.dependencies {
            true => "the workspace depends on no crates but its own",
            false => "`dependencies` is off in `[defaults]` of the configuration",
        };
        is_page.then(|| reason.to_owned())
    }

    /// What is behind a link that leads out of its source is not taken any more.
    fn leads_out(&self, marker: &Marker) -> Option<String> {
        let source = self.registry.sources.iter().find(|known| known.name == marker.source)?;
        let path = marker.path.as_deref()?;
        contained(source.root.as_deref()?, path).err()?;
        Some(format!("a link in `{path}` leads out of its source `{}`", source.name))
    }

    /// What came of the plugins of the copy's source that could have brought it; `None` where one
    /// applies as a whole.
    fn of_plugins(&self, marker: &Marker, takes: &dyn Fn(&Plugin) -> bool) -> Option<String> {
        let source = &marker.source;
        if !self.registry.sources.iter().any(|known| known.name == *source) {
            return Some(format!("`{source}` is no longer one of your plugin sources"));
        }
        let of_source = |plugin: &Plugin| plugin.source == *source && takes(plugin);
        let fates = self.facts.plugins.iter().filter(|fate| of_source(fate.plugin));
        let mut reasons: Vec<Option<String>> = fates.map(why_left_out).collect();
        if reasons.is_empty() {
            let passed_over = passed_over::reasons(self.sym, self.workspace, &of_source);
            reasons.extend(passed_over.into_iter().map(Some));
        }
        match reasons.first() {
            None => Some(format!("no plugin of `{source}` brings it any more")),
            Some(_) if reasons.contains(&None) => None,
            Some(reason) => reason.clone(),
        }
    }
}

/// Copies in one folder that somebody placed by hand, for agents that are not configured.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ByHand {
    /// The agents.
    pub agents: Vec<String>,
    /// The folder, relative to the workspace.
    pub folder: String,
    /// The skills' names.
    pub skills: Vec<String>,
}

impl ByHand {
    /// What people are told of them.
    pub(crate) fn told(&self) -> String {
        let (number, verb) = match self.skills.len() {
            1 => ("1 skill".to_owned(), "was"),
            number => (format!("{number} skills"), "were"),
        };
        let agents = self.agents.join(" and ");
        format!("{number} in {} {verb} placed by hand for {agents}", self.folder)
    }

    /// What can be done with them.
    pub(crate) fn remedy(&self) -> String {
        let options = |option: &str| -> String {
            self.agents.iter().map(|agent| format!(" {option} {agent}")).collect()
        };
        format!(
            "syncs keep that up to date; `cargo agents sync{}` also brings what is new, and after \
             `cargo agents init{}` every sync does",
            options("--agent"),
            options("--add-agent")
        )
    }
}

/// What this sync leaves alone because it was placed by hand.
pub(crate) fn by_hand(wanted: &Wanted) -> Vec<ByHand> {
    let mut found: Vec<ByHand> = Vec::new();
    for ((index, name), fate) in &wanted.fates {
        let (Fate::ByHand(agents, _), Some(parent)) = (fate, wanted.parents.get(*index)) else {
            continue;
        };
        let folder = format!("{}/skills", parent.shown);
        let is_same = |known: &&mut ByHand| known.folder == folder && known.agents == *agents;
        match found.iter_mut().find(is_same) {
            Some(known) => known.skills.push(name.clone()),
            None => {
                found.push(ByHand { agents: agents.clone(), folder, skills: vec![name.clone()] })
            }
        }
    }
    found
}

/// Why a sync for `agents` places no skill.
pub(crate) fn why_none(chosen: &DesiredSkills, facts: &Facts<'_>, agents: &[Agent]) -> String {
    let number = facts.skills.len();
    let skills = if number == 1 { "1 skill applies" } else { &format!("{number} skills apply") };
    let is_off =
        |event: &&Event| matches!(event, Event::Explain { verdict: Verdict::Disabled, .. });
    let off = facts.explanations.iter().filter(is_off).count();
    match number {
        0 if !facts.unread.is_empty() => "no skills: those that apply can't be read".to_owned(),
        0 if facts.missing.iter().any(|missing| missing.needs == Needs::RightFile) => {
            "no skills: the sources of those that apply can't be had".to_owned()
        }
        0 if !facts.missing.is_empty() => {
            "no skills: the sources of those that apply are not on this machine".to_owned()
        }
        0 if off > 0 => format!("no skills apply, with {off} declined or off"),
        0 => "no skills apply".to_owned(),
        _ if agents.is_empty() => format!("{skills}, and no agent is configured"),
        _ if chosen.blocked.iter().any(Diagnostic::is_error) => {
            format!("{skills}, and no folder can take them")
        }
        1 if !chosen.blocked.is_empty() => format!("{skills}, and is not placed here"),
        _ if !chosen.blocked.is_empty() => format!("{skills}, and are not placed here"),
        _ => format!("{skills}, and can't be placed"),
    }
}

/// Why a plugin, or all of its groups of skills, is left out.
fn why_left_out(fate: &PluginFate<'_>) -> Option<String> {
    if fate.verdict != Verdict::Matched {
        let name = &fate.plugin.name;
        return Some(match fate.verdict {
            Verdict::Disabled => format!("plugin {name} is off: {}", fate.reason),
            _ => fate.reason.clone(),
        });
    }
    let mut groups = fate.parts.iter().filter(|part| part.kind == Kind::Group).peekable();
    let Some(first) = groups.peek() else {
        return Some(format!("plugin {} has no skills any more", fate.plugin.name));
    };
    let reason = first.reason.clone();
    groups.all(|part| !part.holds).then_some(reason)
}

/// `serde 1.0.228` taken apart.
fn crate_of(origin: &str) -> Option<(&str, Version)> {
    let (name, version) = origin.split_once(' ')?;
    Some((name, Version::parse(version).ok()?))
}

/// An origin without its version or commit.
fn place_of(origin: &str) -> &str {
    match origin.rsplit_once(' ') {
        Some((place, last)) if !last.ends_with(')') && origin != "this workspace" => place,
        _ => origin,
    }
}

/// Whether this follows a skill's name where several claim it.
fn is_suffix(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('-')
}
