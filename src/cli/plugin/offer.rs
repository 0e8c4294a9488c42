//! What a plugin offers, as far as it is on this machine: nothing is fetched.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::view::{Standing, View};
use crate::fetch::git::Policy;
use crate::plugins::git::GitPlace;
use crate::plugins::model::{Plugin, SkillGroup, SkillSource};
use crate::plugins::predicate::matched_crates;
use crate::plugins::registry::StandaloneSkill;
use crate::report::Verdict;
use crate::skills::crate_source::CrateDisk;
use crate::skills::discover::{SKILL_FILE, discover_at};
use crate::skills::resolve::{Gates as _, Resolver, read_source};
use crate::skills::{Hidden, SkillDocument, scan_skill};
use crate::sync::facts::checkout;
use crate::workspace::UNOBSERVED;

/// A group of skills.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct GroupOffer {
    /// Where its skills come from, for people.
    pub(super) from: String,
    #[serde(flatten)]
    pub(super) standing: Standing,
    pub(super) skills: Vec<SkillOffer>,
    /// Why there are fewer than there could be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) missing: Vec<String>,
    /// What of `missing` is a skill that can't be read.
    #[serde(skip)]
    pub(super) unread: Vec<String>,
}

/// A skill.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct SkillOffer {
    pub(super) name: String,
    pub(super) description: String,
    /// Its `SKILL.md`.
    pub(super) path: PathBuf,
    #[serde(flatten)]
    pub(super) standing: Standing,
    /// Whether it says itself what it is for.
    #[serde(skip)]
    pub(super) has_gate: bool,
    /// What of it can run without a question, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) runs: Vec<String>,
    /// What of it can't be read.
    #[serde(skip)]
    pub(super) unread: Vec<String>,
}

impl View<'_> {
    /// The groups of a plugin, in file order.
    pub(super) fn groups(&self, plugin: &Plugin) -> Vec<GroupOffer> {
        plugin.skills.iter().map(|group| self.group(plugin, group)).collect()
    }

    fn group(&self, plugin: &Plugin, group: &SkillGroup) -> GroupOffer {
        let standing = self.standing(&[&plugin.gate, &group.gate]);
        let (from, skills, missing) = (origin(group), Vec::new(), Vec::new());
        let mut offer = GroupOffer { from, standing, skills, missing, unread: Vec::new() };
        match &group.source {
            // These can be listed wherever we are.
            SkillSource::Path(path) => self.of_folder(plugin, path, &mut offer),
            _ if offer.standing.is_active() => self.resolved(plugin, group, &mut offer),
            _ => {}
        }
        offer
    }

    fn of_folder(&self, plugin: &Plugin, path: &str, offer: &mut GroupOffer) {
        match plugin.resolve(path) {
            Ok(start) if start.is_dir() => {
                let (root, depths) = (plugin.boundary(), plugin.skill_depths());
                let found = discover_at(depths, (root, &start), &UNOBSERVED).skills;
                for skill in found {
                    match self.skill(root, &skill.dir) {
                        Ok(skill) => offer.skills.push(skill),
                        Err(problem) => offer.unread.push(problem),
                    }
                }
                offer.missing.extend(offer.unread.iter().cloned());
            }
            Ok(_) => offer.missing.push(format!("there is no folder `{path}`")),
            Err(escape) => offer.missing.push(escape.to_string()),
        }
    }

    fn resolved(&self, plugin: &Plugin, group: &SkillGroup, offer: &mut GroupOffer) {
        let (sym, workspace) = (self.sym, &self.workspace);
        let disk = CrateDisk::new(workspace, &sym.env, &sym.dirs);
        let checkouts = |place: &GitPlace| checkout(sym, &Policy::cached(), place);
        let facts = self.facts();
        let matched = matched_crates(&[&plugin.gate, &group.gate], &facts);
        let mut resolver = Resolver::new(&facts, &disk, &checkouts, &UNOBSERVED);
        let lacks = resolver.group(plugin, group, &matched);
        let done = resolver.finish();
        for skill in &done.skills {
            offer.skills.extend(self.skill(&skill.root, &skill.dir).ok());
        }
        offer.missing.extend(done.missing.iter().map(ToString::to_string));
        let unread = done.unread.iter().flat_map(|unread| &unread.problems);
        offer.unread.extend(unread.map(ToString::to_string));
        offer.missing.extend(done.problems().map(|problem| problem.to_string()));
        if offer.missing.is_empty() {
            offer.missing.extend(lacks);
        }
    }

    /// A skill that lies in a source by itself.
    ///
    /// # Errors
    /// Why it can't be read, for people.
    pub(super) fn alone(&self, skill: &StandaloneSkill) -> Result<SkillOffer, String> {
        let mut offer = self.skill(&skill.source_root, &skill.dir)?;
        if !offer.has_gate {
            offer.standing = self.standing_of_bare(skill);
        }
        Ok(offer)
    }

    /// A skill's folder as an offer.
    ///
    /// # Errors
    /// Why it can't be read, for people.
    pub(super) fn skill(&self, root: &Path, dir: &Path) -> Result<SkillOffer, String> {
        let read = read_source(root, dir, &UNOBSERVED).and_then(SkillDocument::parse);
        let (document, _) = read.map_err(|problem| problem.to_string())?;
        let mut unread = Vec::new();
        let standing = match self.facts().read(&document.gate, &document.source) {
            Ok(gate) => self.standing(&[&gate]),
            Err(problems) => {
                unread.extend(problems.iter().map(ToString::to_string));
                let reason = problems.first().map(|problem| problem.message.clone());
                Standing { state: Verdict::Skipped, reason: reason.unwrap_or_default() }
            }
        };
        Ok(SkillOffer {
            name: document.install_name.clone(),
            description: document.description.value.clone(),
            path: dir.join(SKILL_FILE),
            has_gate: !document.gate.is_empty(),
            standing,
            runs: runs(&document.source.text),
            unread,
        })
    }
}

/// The skills of `groups`, each with what of its text can run.
pub(super) fn running(groups: &[GroupOffer]) -> impl Iterator<Item = (&str, &str)> {
    let skills = groups.iter().flat_map(|group| &group.skills);
    skills.flat_map(|skill| skill.runs.iter().map(|runs| (skill.name.as_str(), runs.as_str())))
}

/// What of a skill's text can run without a question.
pub(super) fn runs(text: &str) -> Vec<String> {
    let findings = scan_skill(text);
    let told = findings.iter().filter_map(|finding| match finding.kind {
        Hidden::Command => Some(format!("runs {}", finding.excerpt)),
        Hidden::AllowedTools => Some(format!("allows {}", finding.excerpt)),
        _ => None,
    });
    told.collect()
}

/// Where a group's skills come from, for people.
pub(super) fn origin(group: &SkillGroup) -> String {
    match &group.source {
        SkillSource::Path(path) => format!("folder `{path}`"),
        SkillSource::Git(place) => git(place),
        SkillSource::Crate { tried_first: None } => "the matched crates".to_owned(),
        SkillSource::Crate { tried_first: Some(dir) } => format!("`{dir}` of the matched crates"),
        SkillSource::NamedCrate { name, requirement: None } => format!("crate {name}"),
        SkillSource::NamedCrate { name, requirement: Some(version) } => {
            format!("crate {name} {version}")
        }
    }
}

fn git(place: &GitPlace) -> String {
    let mut text = format!("git {}", place.url);
    for (key, value) in [("rev", &place.rev), ("subdir", &place.subdir)] {
        if let Some(value) = value {
            text.push_str(&format!(", {key} {value}"));
        }
    }
    text
}
