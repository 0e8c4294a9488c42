//! From skills that apply to skill folders that should exist.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parents::Parents;
use super::plan::{Disk, Found, Plan, UnreadSkills, Wanted, WantedSkill};
use super::targets;
use crate::Symposium;
use crate::agents::Agent;
use crate::report::{Event, Kind, Verdict};
use crate::skills::content::Content;
use crate::skills::files::collect;
use crate::skills::naming::{NamedSkill, assign_names};
use crate::skills::resolve::Unread;
use crate::skills::{Skill, SkillOrigin};
use crate::sync::bounds::NEUTRAL;
use crate::sync::facts::Facts;
use crate::text::{Diagnostic, Severity};
use crate::workspace::Observer;

/// What is wanted, with what people and the snapshot should know.
#[derive(Debug, Default)]
pub(crate) struct DesiredSkills {
    pub wanted: Wanted,
    /// Each wanted skill's description, in the order of `wanted.skills`.
    pub descriptions: Vec<String>,
    /// What each wanted skill was resolved from, in the same order.
    pub skills: Vec<Skill>,
    /// Agents that read more than one of the folders, and so see each skill twice.
    pub twice: Vec<Agent>,
    pub diagnostics: Vec<Diagnostic>,
    /// What stands in the way of folders that matter here.
    pub blocked: Vec<Diagnostic>,
    /// Whether a copy stays since its skill can't be read any more.
    pub is_stale: bool,
    /// Why some things are as they are.
    pub explanations: Vec<Event>,
}

/// Chooses folders and names for `facts`' skills.
pub(crate) fn choose(
    sym: &Symposium,
    facts: &Facts<'_>,
    agents: &[Agent],
    (parents, disk): (&Parents, &Disk),
    observer: &Observer,
) -> DesiredSkills {
    let reads: Vec<_> = agents.iter().map(|agent| (*agent, agent.identity().skill_dirs)).collect();
    let targets = targets::choose(&reads);
    let mut chosen = DesiredSkills::default();
    let indices: Vec<usize> = unique(targets.dirs.iter().filter_map(|dir| parents.index(dir)));
    // The workspace's own skills are read from the neutral folder.
    let reads_own = sym.config.agents_syncing && !agents.is_empty();
    chosen.note_blocked(parents, &targets.dirs, reads_own);
    let taken = taken_names(disk, &indices, facts);
    for named in assign_names(without_twins(&facts.skills, observer), &taken) {
        chosen.add(
            &named.skill,
            &named.install_name,
            source_of(facts, &named.skill.origin, named.skill.plugin.as_deref()),
            (indices.clone(), observer),
        );
    }
    let own = own_skills(sym, facts, &reads, parents);
    for (named, indices) in own {
        chosen.add(&named.skill, &named.install_name, String::new(), (indices, observer));
    }
    chosen.twice = targets.twice.clone();
    chosen.twice.retain(|agent| {
        let dirs = agent.identity().skill_dirs.iter();
        let read = dirs.filter(|dir| targets.dirs.contains(dir));
        unique(read.filter_map(|dir| parents.index(dir))).len() > 1
    });
    for agent in &chosen.twice {
        chosen.explanations.push(Event::explain(
            Kind::Group,
            agent.name(),
            Verdict::Matched,
            format!("it reads {} and sees each skill twice", targets.dirs.join(" and ")),
        ));
    }
    chosen.wanted.parents.clone_from(&parents.list);
    chosen.wanted.ignore = sym.config.skill_ignore;
    chosen.wanted.unread = facts.unread.iter().map(|unread| copies_of(facts, unread)).collect();
    chosen.budget(agents, parents);
    Diagnostic::each_once(&mut chosen.diagnostics);
    chosen
}

/// The skills, with one in place of several of the same name and bytes that crates bring: an agent
/// should not read the same twice.
fn without_twins(skills: &[Skill], observer: &Observer) -> Vec<Skill> {
    let mut kept: Vec<Skill> = Vec::new();
    let is_of_crate = |skill: &Skill| matches!(skill.origin, SkillOrigin::Crate { .. });
    let content = |skill: &Skill| collect(skill, &skill.name, observer).ok();
    for skill in skills {
        let twin = kept.iter_mut().find(|known| {
            known.name == skill.name
                && known.origin != skill.origin
                && is_of_crate(known)
                && is_of_crate(skill)
                && content(known)
                    .zip(content(skill))
                    .is_some_and(|(one, other)| one.content == other.content)
        });
        match twin {
            Some(twin) => twin.same_as.push(skill.origin.clone()),
            None => kept.push(skill.clone()),
        }
    }
    kept
}

/// Names that are the user's in one of the folders, and those of the workspace's own skills.
fn taken_names(disk: &Disk, indices: &[usize], facts: &Facts<'_>) -> BTreeSet<String> {
    let theirs = indices.iter().filter_map(|index| disk.get(*index)).flatten();
    let mut taken: BTreeSet<String> = theirs
        .filter(|(_, found)| matches!(found, Found::Theirs))
        .map(|(name, _)| name.clone())
        .collect();
    taken.extend(facts.own_skills.iter().map(|skill| skill.name.clone()));
    taken
}

/// The workspace's own skills, for agents that do not read the neutral folder.
fn own_skills(
    sym: &Symposium,
    facts: &Facts<'_>,
    reads: &[(Agent, &'static [&'static str])],
    parents: &Parents,
) -> Vec<(NamedSkill, Vec<usize>)> {
    if !sym.config.agents_syncing {
        return Vec::new();
    }
    let needy: Vec<_> =
        reads.iter().filter(|(_, dirs)| !dirs.contains(&NEUTRAL)).copied().collect();
    let neutral = parents.neutral();
    let indices: Vec<usize> = unique(
        targets::choose(&needy)
            .dirs
            .iter()
            .filter_map(|dir| parents.index(dir))
            .filter(|index| Some(*index) != neutral),
    );
    if indices.is_empty() {
        return Vec::new();
    }
    let named = assign_names(facts.own_skills.clone(), &BTreeSet::new());
    named.into_iter().map(|named| (named, indices.clone())).collect()
}

/// The plugin source that brought a skill; empty for none.
fn source_of(facts: &Facts<'_>, origin: &SkillOrigin, plugin: Option<&str>) -> String {
    if let SkillOrigin::Source { source, .. } = origin {
        return source.clone();
    }
    let found = facts.active.iter().find(|active| plugin == Some(active.name.as_str()));
    found.map(|plugin| plugin.source.clone()).unwrap_or_default()
}

/// The skill as it is now, for a copy under the name `install_name`; `None` where it can't be read.
pub(super) fn copy_of(
    facts: &Facts<'_>,
    skill: &Skill,
    install_name: &str,
    observer: &Observer,
) -> Option<WantedSkill> {
    let files = collect(skill, install_name, observer).ok()?;
    let source = source_of(facts, &skill.origin, skill.plugin.as_deref());
    Some(wanted_skill(skill, install_name, files.content, source))
}

fn wanted_skill(skill: &Skill, name: &str, content: Content, source: String) -> WantedSkill {
    WantedSkill {
        name: name.to_owned(),
        content: Arc::new(content),
        origin: shown(skill),
        path: skill.origin.path().to_owned(),
        source,
        parents: Vec::new(),
    }
}

/// What copies of skills that can't be read look like.
fn copies_of(facts: &Facts<'_>, unread: &Unread) -> UnreadSkills {
    let (origin, plugin) = (&unread.origin, unread.plugin.as_deref());
    UnreadSkills {
        origin: origin_text(origin, plugin),
        is_versioned: matches!(origin, SkillOrigin::Crate { .. } | SkillOrigin::Git { .. }),
        source: source_of(facts, origin, plugin),
        path: origin.path().to_owned(),
        is_skill: unread.is_skill,
    }
}

fn unique(indices: impl Iterator<Item = usize>) -> Vec<usize> {
    indices.collect::<BTreeSet<_>>().into_iter().collect()
}

impl DesiredSkills {
    fn add(
        &mut self,
        skill: &Skill,
        install_name: &str,
        source: String,
        (parents, observer): (Vec<usize>, &Observer),
    ) {
        if parents.is_empty() {
            return;
        }
        match collect(skill, install_name, observer) {
            Ok(files) => {
                self.diagnostics.extend(files.warnings);
                self.descriptions.push(skill.description.clone());
                self.skills.push(skill.clone());
                let wanted = wanted_skill(skill, install_name, files.content, source);
                self.wanted.skills.push(WantedSkill { parents, ..wanted });
            }
            Err(error) => self.leave_out(skill, &error),
        }
    }

    /// Notes what stands in the way of folders that skills go into, or own ones come from.
    fn note_blocked(&mut self, parents: &Parents, targets: &[&str], reads_own: bool) {
        for (dir, problem) in parents.blocked() {
            let is_target = targets.contains(&dir);
            let is_read = reads_own && dir == NEUTRAL;
            if !is_target && !is_read {
                continue;
            }
            let severity = if is_target { problem.severity } else { Severity::Warning };
            match self.blocked.iter_mut().find(|known| known.message == problem.message) {
                Some(known) if is_target => known.severity = severity,
                Some(_) => {}
                None => self.blocked.push(Diagnostic { severity, ..problem.clone() }),
            }
        }
    }

    /// A skill that can't be read is no reason to stop.
    fn leave_out(&mut self, skill: &Skill, error: &Diagnostic) {
        let mut warning = error.clone();
        warning.severity = Severity::Warning;
        self.diagnostics.push(warning.note(format!("the skill `{}` is not installed", skill.name)));
    }

    /// Tells of skills that can't be read, by what the plan does to their copies.
    pub(crate) fn tell_unread(&mut self, facts: &Facts<'_>, plan: &Plan) {
        for (index, unread) in facts.unread.iter().enumerate() {
            let problems = unread.problems.iter().cloned();
            match plan.unread.get(&index) {
                Some(true) => {
                    self.is_stale = true;
                    self.diagnostics.extend(problems.map(|mut problem| {
                        problem.severity = Severity::Error;
                        problem.remark(match unread.is_skill {
                            true => "its copy stays as it is",
                            false => "what was installed from there stays as it is",
                        })
                    }));
                }
                Some(false) => self.diagnostics.extend(problems.map(|mut problem| {
                    problem.severity = Severity::Warning;
                    problem.remark("the copy of another version stays as it is")
                })),
                None => self.diagnostics.extend(unread.problems_without_copy()),
            }
        }
    }

    /// Warns when an agent would cut the list of descriptions.
    fn budget(&mut self, agents: &[Agent], parents: &Parents) {
        for agent in agents {
            let known = agent.identity();
            let Some(budget) = known.description_budget else { continue };
            let reads: Vec<usize> =
                known.skill_dirs.iter().filter_map(|dir| parents.index(dir)).collect();
            let total: usize = self
                .wanted
                .skills
                .iter()
                .zip(&self.descriptions)
                .filter(|(skill, _)| skill.parents.iter().any(|parent| reads.contains(parent)))
                .map(|(skill, description)| {
                    skill.name.chars().count() + description.chars().count()
                })
                .sum();
            if total > budget {
                self.diagnostics.push(
                    Diagnostic::warning(format!(
                        "the skills' descriptions take {total} characters, and {} lists about {budget}: \
                         some will not be seen",
                        agent.name()
                    ))
                    .note("`[plugins] disable = [\"name\"]` in the configuration leaves a plugin out"),
                );
            }
        }
    }
}

/// Where a skill comes from, for people.
pub(crate) fn shown(skill: &Skill) -> String {
    let plugin = skill.plugin.as_deref();
    let origins = std::iter::once(&skill.origin).chain(&skill.same_as);
    let origins: Vec<String> = origins.map(|origin| origin_text(origin, plugin)).collect();
    origins.join(" and ")
}

fn origin_text(origin: &SkillOrigin, plugin: Option<&str>) -> String {
    match origin {
        SkillOrigin::Crate { name, version, .. } => format!("{name} {version}"),
        SkillOrigin::Git { repo, commit, .. } => {
            format!("{repo} {}", commit.get(..8).unwrap_or(commit))
        }
        SkillOrigin::Source { source, .. } => match plugin {
            Some(plugin) if plugin != source => format!("{plugin} ({source})"),
            _ => source.clone(),
        },
        SkillOrigin::Workspace { .. } => "this workspace".to_owned(),
    }
}
