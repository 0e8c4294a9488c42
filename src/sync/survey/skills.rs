//! The skills that apply: where they are, and who sees them.

use std::collections::BTreeSet;

use super::{Known, Survey};
use crate::agents::Agent;
use crate::report::Action;
use crate::skills::{Skill, SkillOrigin};

/// How a skill's copies stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillState {
    /// As they should be.
    Installed,
    /// The next sync does this.
    Pending(Action),
    /// One was edited or is in the way, and stays as it is.
    LeftAlone(String),
}

/// One skill that applies.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillView<'s> {
    /// The name it is installed under.
    pub name: String,
    /// What it was resolved from.
    pub skill: &'s Skill,
    /// Folders that hold it (or will), relative to the workspace: `.claude/skills/widget`.
    pub folders: Vec<String>,
    /// The configured agents that read one of them.
    pub agents: Vec<Agent>,
    /// How the copies stand.
    pub state: SkillState,
    /// How many files the copies have beside their `SKILL.md`.
    pub more_files: usize,
}

impl Survey<'_> {
    /// The skills that apply, by name.
    pub fn skills(&self) -> Vec<SkillView<'_>> {
        let Some(known) = &self.known else { return Vec::new() };
        let mut views: Vec<SkillView<'_>> = Vec::new();
        // The workspace's own are where the user put them, copied or not.
        for skill in &known.facts.own_skills {
            views.push(self.view(known, skill, &skill.name, known.parents.neutral().into_iter()));
        }
        for (wanted, skill) in known.chosen.wanted.skills.iter().zip(&known.chosen.skills) {
            let mut copies = self.view(known, skill, &wanted.name, wanted.parents.iter().copied());
            copies.more_files = wanted.content.files.len().saturating_sub(1);
            let own = views.iter_mut().find(|view| view.skill.origin == skill.origin);
            match own {
                Some(view) => view.join(copies),
                None => views.push(copies),
            }
        }
        for view in &mut views {
            view.agents.sort_by_key(|agent| self.agents.iter().position(|known| known == agent));
        }
        views.sort_by(|one, other| one.name.cmp(&other.name));
        views
    }

    fn view<'s>(
        &self,
        known: &'s Known<'_>,
        skill: &'s Skill,
        name: &str,
        parents: impl Iterator<Item = usize>,
    ) -> SkillView<'s> {
        let parents: BTreeSet<usize> = parents.collect();
        let reads = |agent: &&Agent| {
            let mut dirs = agent.spec().skill_dirs().project.iter();
            dirs.any(|dir| known.parents.index(dir).is_some_and(|index| parents.contains(&index)))
        };
        let folder = |index: &usize| {
            known.parents.list.get(*index).map(|parent| format!("{}/skills/{name}", parent.shown))
        };
        let mut state = SkillState::Installed;
        let own = matches!(skill.origin, SkillOrigin::Workspace { .. });
        let steps = known.plan.steps.iter().filter(|step| step.name == name);
        for step in steps
            .filter(|_| !own || known.parents.neutral().is_none_or(|at| !parents.contains(&at)))
        {
            state = match (step.action, &step.reason) {
                (Action::Keep | Action::Skip, Some(reason)) => {
                    SkillState::LeftAlone(reason.clone())
                }
                (Action::Remove, _) => continue,
                (action, _) => SkillState::Pending(action),
            };
        }
        SkillView {
            name: name.to_owned(),
            skill,
            folders: parents.iter().filter_map(folder).collect(),
            agents: self.agents.iter().filter(reads).copied().collect(),
            state,
            more_files: 0,
        }
    }
}

/// Characters of the names and descriptions of skills that `agent` lists, as far as they are among
/// `views`: skills of the user's own elsewhere count for the agent, too, and are not looked at.
pub fn described(views: &[SkillView<'_>], agent: Agent) -> usize {
    let seen = views.iter().filter(|view| view.agents.contains(&agent));
    seen.map(|view| view.name.chars().count() + view.skill.description.chars().count()).sum()
}

impl SkillView<'_> {
    fn join(&mut self, copies: Self) {
        self.folders.extend(copies.folders);
        for agent in copies.agents {
            if !self.agents.contains(&agent) {
                self.agents.push(agent);
            }
        }
        if self.state == SkillState::Installed {
            self.state = copies.state;
        }
    }
}
