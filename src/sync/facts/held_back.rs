//! Skills whose texts have commands that an agent runs, and that wait for the user's word.

use super::{Facts, Waiting};
use crate::plugins::trust::Trust;
use crate::plugins::trust::files::TooMany;
use crate::plugins::trust::part::{Part, PartKind};
use crate::plugins::trust::record::{CRATES, Owner};
use crate::report::{Kind, Verdict};
use crate::skills::resolve::read_source;
use crate::skills::{Skill, SkillOrigin, runs_unasked};
use crate::workspace::Observer;

impl Facts<'_> {
    /// The skills whose texts have commands, those that wait and those that apply, and who brought each.
    pub(crate) fn skills_that_run(&self, observer: &Observer) -> Vec<(Owner, Part)> {
        let applying = self.skills.iter().filter_map(|skill| {
            let commands = commands(skill, observer);
            (!commands.is_empty())
                .then(|| (self.owner(skill), part(skill, commands, observer).ok()))
        });
        let applying = applying.filter_map(|(owner, part)| Some((owner, part?)));
        let withheld = self.withheld.iter().map(|(_, owner, part)| (owner.clone(), part.clone()));
        applying.chain(withheld).collect()
    }

    /// The skills that apply and wait for the user's word.
    pub(crate) fn held_back(&self) -> impl Iterator<Item = &Skill> {
        self.withheld.iter().map(|(skill, ..)| skill)
    }

    /// Leaves out the skills with commands that the user did not allow as they are.
    pub(super) fn hold_back(&mut self, trust: &Trust<'_>, observer: &Observer) {
        if trust.is_open() {
            return;
        }
        for skill in std::mem::take(&mut self.skills) {
            let commands = commands(&skill, observer);
            if commands.is_empty() {
                self.skills.push(skill);
                continue;
            }
            let owner = self.owner(&skill);
            let part = part(&skill, commands, observer);
            let why = trust.skill_waits(&owner, part.as_ref().map_err(|problem| *problem));
            let Some(why) = why else {
                self.skills.push(skill);
                continue;
            };
            let told = why.told(&owner.name);
            self.explain(Kind::Skill, &skill.name, Verdict::Disabled, told);
            let (kind, name) = (PartKind::Skill, skill.name.clone());
            self.waiting.push(Waiting { owner: owner.clone(), kind, name, why });
            self.withheld.extend(part.ok().map(|part| (skill, owner, part)));
        }
    }

    /// Under whose name a skill is allowed: that of the plugin that brought it, else that of the crate,
    /// else its own.
    fn owner(&self, skill: &Skill) -> Owner {
        if let Some(name) = &skill.plugin
            && let Some(plugin) = self.active.iter().find(|plugin| plugin.name == *name)
        {
            return Owner::of(plugin);
        }
        match &skill.origin {
            SkillOrigin::Crate { name, .. } => Owner::new(CRATES, name),
            SkillOrigin::Source { source, .. } => Owner::new(source, &skill.name),
            SkillOrigin::Git { .. } | SkillOrigin::Workspace { .. } => {
                Owner::new(CRATES, &skill.name)
            }
        }
    }
}

fn part(skill: &Skill, commands: Vec<String>, observer: &Observer) -> Result<Part, TooMany> {
    Part::of_skill(&skill.name, commands, (&skill.dir, &skill.root), observer)
}

/// What of its text an agent runs.
fn commands(skill: &Skill, observer: &Observer) -> Vec<String> {
    if skill.written.is_some() {
        return Vec::new();
    }
    let read = read_source(&skill.root, &skill.dir, observer);
    read.map(|source| runs_unasked(&source.text)).unwrap_or_default()
}
