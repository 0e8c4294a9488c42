//! The skills that apply, with the text that a sync installs: for those who read them without a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Inputs;
use crate::agents::Agent;
use crate::config::Choice;
use crate::skills::content::Content;
use crate::skills::discover::SKILL_FILE;
use crate::skills::files::collect;
use crate::skills::naming::assign_names;
use crate::skills::{Skill, SkillOrigin};
use crate::sync::request::{SyncContext, configured_agents};
use crate::sync::run::{Planned, plan_skills};
use crate::sync::shown_origin;
use crate::text::same_crate;
use crate::workspace::Observer;

/// A skill that applies.
#[derive(Debug)]
pub(crate) struct OfferedSkill {
    /// The name that it is installed under.
    pub name: String,
    pub description: String,
    /// Where it comes from, for people.
    pub origin: String,
    /// The folder of its files: the installed copy, or what a sync would copy.
    pub dir: PathBuf,
    content: Arc<Content>,
}

/// A skill in a dependency's sources that does not apply.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WithheldSkill {
    pub name: String,
    pub crate_name: String,
    /// The crate and its version, for people.
    pub origin: String,
    pub because: Because,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Because {
    /// The user said no.
    Declined,
    /// Nobody vouches for it, and the user has not said anything yet.
    Undecided,
    /// A gate does not hold, or it can't be used.
    NotForHere,
}

impl OfferedSkill {
    /// Its `SKILL.md`.
    pub(crate) fn text(&self) -> String {
        let file = self.content.files.get(SKILL_FILE);
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default()
    }

    /// What it has beside its `SKILL.md`.
    pub(crate) fn more_files(&self) -> impl Iterator<Item = &str> {
        self.content.files.keys().map(String::as_str).filter(|path| *path != SKILL_FILE)
    }
}

impl Inputs {
    /// The skills that apply, by name, and those of dependencies that do not. Without configured
    /// agents it is as if all were.
    pub(crate) fn offered(&self) -> (Vec<OfferedSkill>, Vec<WithheldSkill>) {
        let Some(loaded) = &self.loaded else { return (Vec::new(), Vec::new()) };
        let sync = SyncContext::new(&self.sym, &self.request, loaded);
        let mut agents = configured_agents(&self.sym);
        if agents.is_empty() {
            agents = Agent::ALL.to_vec();
        }
        let planned = plan_skills(&sync, &self.registry, &agents);
        let mut offered = chosen(&planned, sync.root());
        offered.extend(unplaced(&planned, &offered, &sync.observer));
        let mut offered: Vec<_> = offered.into_values().collect();
        offered.sort_by(|one, other| one.name.cmp(&other.name));
        let withheld = self.withheld(&planned, sync.root());
        (offered, withheld)
    }

    fn withheld(&self, planned: &Planned<'_>, root: &Path) -> Vec<WithheldSkill> {
        let facts = &planned.facts;
        let mut withheld = Vec::new();
        for shipped in self.shipped() {
            let is_it = |skill: &Skill| {
                matches!(&skill.origin, SkillOrigin::Crate { name, version, path }
                    if same_crate(name, &shipped.crate_name)
                        && *version == shipped.version
                        && *path == shipped.folder)
            };
            if facts.skills.iter().any(is_it) {
                continue;
            }
            let crate_name = shipped.crate_name;
            let choice = self.sym.config.plugins.choice_for(&crate_name, Some(root));
            let mut candidates = facts.candidates.iter();
            let because = match choice {
                Some((Choice::Disable, _)) => Because::Declined,
                _ if candidates.any(|it| same_crate(&it.name, &crate_name)) => Because::Undecided,
                _ => Because::NotForHere,
            };
            let origin = format!("{crate_name} {}", shipped.version);
            let name = shipped.names.into_iter().next_back().unwrap_or_default();
            withheld.push(WithheldSkill { name, crate_name, origin, because });
        }
        withheld.sort();
        withheld
    }
}

/// What a sync installs.
fn chosen(planned: &Planned<'_>, root: &Path) -> BTreeMap<SkillOrigin, OfferedSkill> {
    let chosen = planned.chosen.wanted.skills.iter().zip(&planned.chosen.skills);
    let offered = chosen.map(|(wanted, skill)| {
        let parents = wanted.parents.iter().filter_map(|index| planned.parents.list.get(*index));
        let mut copies =
            parents.map(|parent| root.join(&parent.shown).join("skills").join(&wanted.name));
        let copy = copies.find(|copy| copy.join(SKILL_FILE).is_file());
        let offered = OfferedSkill {
            name: wanted.name.clone(),
            description: skill.description.clone(),
            origin: wanted.origin.clone(),
            dir: copy.unwrap_or_else(|| skill.dir.clone()),
            content: Arc::clone(&wanted.content),
        };
        (skill.origin.clone(), offered)
    });
    offered.collect()
}

/// What applies and has no copy: the workspace's own skills that agents read where they are, and
/// everything where nothing can be installed.
fn unplaced(
    planned: &Planned<'_>,
    placed: &BTreeMap<SkillOrigin, OfferedSkill>,
    observer: &Observer,
) -> Vec<(SkillOrigin, OfferedSkill)> {
    let all = planned.facts.own_skills.iter().chain(&planned.facts.skills);
    let rest = all.filter(|skill| !placed.contains_key(&skill.origin)).cloned().collect();
    let taken: BTreeSet<String> = placed.values().map(|skill| skill.name.clone()).collect();
    let mut offered = Vec::new();
    for named in assign_names(rest, &taken) {
        // One that can't be read is told by `status`, and was left out above for the same reason.
        let Ok(files) = collect(&named.skill, &named.install_name, observer) else { continue };
        let skill = OfferedSkill {
            name: named.install_name,
            description: named.skill.description.clone(),
            origin: shown_origin(&named.skill),
            dir: named.skill.dir.clone(),
            content: Arc::new(files.content),
        };
        offered.push((named.skill.origin, skill));
    }
    offered
}
