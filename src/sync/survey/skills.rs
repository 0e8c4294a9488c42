//! The skills that apply: where they are, and who sees them; and those that are on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::{Inputs, Planned, Survey};
use crate::agents::Agent;
use crate::files::{Limit, read_source};
use crate::report::Action;
use crate::skills::discover::SKILL_FILE;
use crate::skills::document::SkillDocument;
use crate::skills::{Skill, SkillOrigin};
use crate::sync::bounds::Bounds;
use crate::sync::current::remembered_root;
use crate::sync::placing::marker::{MARKER, STAGING};
use crate::sync::placing::parents::Parents;

/// One skill that applies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SkillView<'s> {
    /// The name it is installed under.
    pub name: String,
    pub skill: &'s Skill,
    /// Folders that hold it (or will), relative to the workspace: `.claude/skills/widget`.
    pub folders: Vec<String>,
    /// The configured agents that read one of them.
    pub agents: Vec<Agent>,
    /// Those of them that find a copy there now.
    pub placed: Vec<Agent>,
    /// What the next sync does to some copy: copies may differ.
    pub pending: Option<Action>,
    /// Why some copy stays as it is: it was edited, or something of the user's is in the way.
    pub left_alone: Option<String>,
    /// How many files the copies have beside their `SKILL.md`.
    pub more_files: usize,
}

impl Survey<'_> {
    /// The skills that apply, by name.
    pub(crate) fn skills(&self) -> Vec<SkillView<'_>> {
        let Some(planned) = &self.planned else { return Vec::new() };
        let mut views: Vec<SkillView<'_>> = Vec::new();
        // The workspace's own are where the user put them, copied or not.
        for skill in &planned.facts.own_skills {
            views.push(self.view(
                planned,
                skill,
                &skill.name,
                planned.parents.neutral().into_iter(),
            ));
        }
        for (wanted, skill) in planned.chosen.wanted.skills.iter().zip(&planned.chosen.skills) {
            let mut copies =
                self.view(planned, skill, &wanted.name, wanted.parents.iter().copied());
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
        planned: &'s Planned<'_>,
        skill: &'s Skill,
        name: &str,
        parents: impl Iterator<Item = usize>,
    ) -> SkillView<'s> {
        let parents: BTreeSet<usize> = parents.collect();
        let reads_of = |agent: Agent, parents: &BTreeSet<usize>| {
            let mut dirs = agent.identity().skill_dirs.iter();
            dirs.any(|dir| planned.parents.index(dir).is_some_and(|index| parents.contains(&index)))
        };
        let reads = |parents: &BTreeSet<usize>| -> Vec<Agent> {
            self.agents.iter().copied().filter(|agent| reads_of(*agent, parents)).collect()
        };
        let folder = |index: &usize| {
            planned.parents.list.get(*index).map(|parent| format!("{}/skills/{name}", parent.shown))
        };
        let (mut pending, mut left_alone) = (None, None);
        let own = matches!(skill.origin, SkillOrigin::Workspace { .. });
        // The workspace's own is where the user put it.
        let is_users = own && planned.parents.neutral().is_some_and(|at| parents.contains(&at));
        let steps = planned.plan.steps.iter().filter(|step| step.name == name && !is_users);
        let mut there = parents.clone();
        for step in steps {
            if matches!(step.action, Action::Install | Action::Skip) {
                there.retain(|index| planned.parents.list.get(*index) != Some(&step.parent));
            }
            match (step.action, &step.reason) {
                (Action::Keep | Action::Skip, reason) => left_alone.clone_from(reason),
                (Action::Remove, _) => {}
                (action, _) => pending = Some(action),
            }
        }
        SkillView {
            name: name.to_owned(),
            skill,
            folders: parents.iter().filter_map(folder).collect(),
            agents: reads(&parents),
            placed: reads(&there),
            pending,
            left_alone,
            more_files: 0,
        }
    }
}

impl Inputs {
    /// The folders of the skills that `agent` finds in this workspace now, by name: ours, whether they
    /// still apply or not, and the workspace's own. In a workspace that can't be read they are where they
    /// were.
    pub(crate) fn found_by(&self, agent: Agent) -> BTreeMap<String, PathBuf> {
        let (env, dirs) = (&self.sym.env, &self.sym.dirs);
        let unread = || remembered_root(env, dirs, &self.request.start);
        let unread = self.trouble.as_ref().and_then(|_| unread());
        let mut found = BTreeMap::new();
        let Some(root) = self.root().or(unread.as_deref()) else { return found };
        let bounds = Bounds::of(root, env.home().as_deref());
        let parents = Parents::of(root, bounds.as_ref(), env);
        for index in parents.read_by([agent]) {
            let entries = parents.list.get(index).map(|parent| fs::read_dir(&parent.path));
            for entry in entries.into_iter().flatten().flatten().flatten() {
                let (Ok(name), dir) = (entry.file_name().into_string(), entry.path()) else {
                    continue;
                };
                let counts = parents.neutral() == Some(index) || dir.join(MARKER).is_file();
                if counts && !name.starts_with(STAGING) && dir.join(SKILL_FILE).is_file() {
                    found.entry(name).or_insert(dir);
                }
            }
        }
        found
    }
}

/// Characters of the names and descriptions of the skills in these folders.
pub(crate) fn described_on_disk(found: &BTreeMap<String, PathBuf>) -> usize {
    let characters = |(name, dir): (&String, &PathBuf)| {
        let source = read_source(&dir.join(SKILL_FILE), Limit::MANIFEST).ok();
        let document = source.and_then(|source| SkillDocument::parse(source).ok());
        let description = document.map(|(document, _)| document.description.value.chars().count());
        name.chars().count() + description.unwrap_or_default()
    };
    found.iter().map(characters).sum()
}

/// Characters of the names and descriptions of skills that `agent` lists, as far as they are among
/// `views`: skills of the user's own elsewhere count for the agent, too, and are not looked at.
pub(crate) fn described(views: &[SkillView<'_>], agent: Agent) -> usize {
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
        for agent in copies.placed {
            if !self.placed.contains(&agent) {
                self.placed.push(agent);
            }
        }
        self.pending = self.pending.or(copies.pending);
        self.left_alone = self.left_alone.take().or(copies.left_alone);
    }
}
