//! Skills: those that apply, and those that could.

use super::Inquiry;
use super::model::Trail;
use crate::agents::Agent;
use crate::files::contained;
use crate::plugins::model::{Gate, Plugin, SkillSource};
use crate::report::{Action, Event, Kind, Verdict};
use crate::skills::discover::discover_at;
use crate::sync::facts::candidates::endorsers;
use crate::sync::shown_origin;
use crate::sync::survey::SkillView;
use crate::workspace::UNOBSERVED;

impl Inquiry<'_> {
    /// Every skill of that name: by the name it has here, or by the one it was written with.
    pub(super) fn of_skills(&self) -> Vec<Trail> {
        let views = self.survey.skills();
        let meant =
            |view: &&SkillView<'_>| self.is_meant(&view.name) || self.is_meant(&view.skill.name);
        let mut trails: Vec<Trail> =
            views.iter().filter(meant).map(|view| self.of_view(view)).collect();
        if trails.is_empty() {
            trails.extend(self.refused());
            trails.extend(self.in_plugins());
            if trails.is_empty() {
                trails.extend(self.in_crates());
            }
        }
        trails.extend(self.copies());
        trails
    }

    fn of_view(&self, view: &SkillView<'_>) -> Trail {
        let verdict = match (view.pending, &view.left_alone) {
            (None, None) => "is installed",
            (Some(_), None) => "applies, and the next sync installs it",
            (None, Some(_)) => "applies, but is left as it is",
            (Some(_), Some(_)) => "applies; the next sync installs it where it is not left alone",
        };
        let mut trail = Trail::new(Kind::Skill, &view.name, true, verdict);
        trail.step("from", format!("{}, {}", shown_origin(view.skill), self.path(&view.skill.dir)));
        if let Some(plugin) = view.skill.plugin.as_deref() {
            let registry = &self.survey.inputs.registry;
            if let Some(plugin) = registry.plugin(plugin) {
                self.plugin_steps(&mut trail, plugin, &[]);
            }
        } else if let crate::skills::SkillOrigin::Crate { name, .. } = &view.skill.origin {
            trail.step("asked by", format!("`use` in the configuration names {name}"));
        }
        if view.name != view.skill.name {
            let text = format!("its own name `{}` is claimed by others, too", view.skill.name);
            trail.step("name", text);
        }
        if let Some(reason) = &view.left_alone {
            trail.step("but", reason);
        }
        for folder in &view.folders {
            trail.step("in", folder);
        }
        let names =
            |agents: Vec<Agent>| agents.into_iter().map(Agent::name).collect::<Vec<_>>().join(", ");
        let blind = self.survey.agents.iter().filter(|agent| !view.agents.contains(agent));
        let blind = names(blind.copied().collect());
        let seen = names(view.agents.clone());
        trail
            .step("seen by", if seen.is_empty() { "no configured agent".to_owned() } else { seen });
        if !blind.is_empty() {
            trail.step("not by", format!("{blind}: they read other folders"));
        }
        trail
    }

    /// Copies that no agent of today asks for: placed by hand, or about to go.
    fn copies(&self) -> Vec<Trail> {
        let mut trails = Vec::new();
        for placed in self.survey.by_hand() {
            for name in placed.skills.iter().filter(|name| self.is_meant(name)) {
                let verdict = format!("is placed by hand for {}", placed.agents.join(" and "));
                let mut trail = Trail::new(Kind::Skill, name, true, verdict);
                trail.step("in", format!("{}/{name}", placed.folder));
                trail.step("remedy", placed.remedy());
                trails.push(trail);
            }
        }
        for change in self.survey.changes() {
            if (change.kind, change.action) == (Kind::Skill, Action::Remove)
                && self.is_meant(&change.name)
            {
                let verdict = format!("goes with the next sync ({})", change.shown_places());
                let mut trail = Trail::new(Kind::Skill, &change.name, false, verdict);
                change.origin.iter().for_each(|origin| trail.step("from", origin));
                change.reason.iter().for_each(|reason| trail.step("found", reason));
                trails.push(trail);
            }
        }
        trails
    }

    /// Skills that were looked at, and not taken.
    fn refused(&self) -> Vec<Trail> {
        let facts = self.survey.planned.iter().map(|planned| &planned.facts);
        let mut trails = Vec::new();
        for event in facts.flat_map(|facts| &facts.explanations) {
            if let Event::Explain { kind: Kind::Skill, name, verdict, reason } = event
                && *verdict != Verdict::Matched
                && self.is_meant(name.rsplit('/').next().unwrap_or(name))
            {
                let mut trail = Trail::new(Kind::Skill, name, false, "is not installed");
                trail.step("found", reason);
                let unread = self.survey.planned.iter().flat_map(|known| &known.facts.unread);
                let of_skill = unread.filter(|unread| {
                    let path = unread.origin.path();
                    unread.is_skill && self.is_meant(path.rsplit('/').next().unwrap_or(path))
                });
                self.tell(&mut trail, of_skill.flat_map(|unread| &unread.problems));
                trails.push(trail);
            }
        }
        trails
    }

    /// Skills in folders of plugins that do not apply.
    fn in_plugins(&self) -> Vec<Trail> {
        let mut trails = Vec::new();
        for entry in &self.survey.inputs.registry.plugins {
            for (index, group) in entry.plugin.skills.iter().enumerate() {
                let holds = self.fate(&entry.plugin).is_some_and(|fate| {
                    fate.parts
                        .iter()
                        .any(|part| part.kind == Kind::Group && part.index == index && part.holds)
                });
                if let (false, SkillSource::Path(path)) = (holds, &group.source)
                    && self.has_folder(&entry.plugin, path)
                {
                    trails.push(self.missing(&entry.plugin, index, &group.gate));
                }
            }
        }
        trails
    }

    fn missing(&self, plugin: &Plugin, index: usize, gate: &Gate) -> Trail {
        let mut trail = Trail::new(Kind::Skill, &self.name, false, "is not installed");
        self.plugin_steps(&mut trail, plugin, &[gate]);
        self.part_step(&mut trail, plugin, (Kind::Group, index), gate);
        self.mistake_steps(&mut trail, plugin, Some((Kind::Group, "")));
        trail
    }

    fn has_folder(&self, plugin: &Plugin, path: &str) -> bool {
        let start = contained(&plugin.dir, path).or_else(|_| plugin.resolve(path));
        let Ok(start) = start else { return false };
        let places = (plugin.boundary(), start.as_path());
        let found = discover_at(plugin.skill_depths(), places, &UNOBSERVED).skills;
        found.iter().any(|skill| {
            let folder = skill.dir.file_name().and_then(|name| name.to_str());
            folder.is_some_and(|folder| self.is_meant(folder))
        })
    }

    /// Skills that a dependency ships and that are not here: nobody vouches for them, the user
    /// declined them, or what vouches for them does not apply.
    fn in_crates(&self) -> Vec<Trail> {
        let mut trails = Vec::new();
        for shipped in self.survey.inputs.shipped() {
            if !shipped.names.iter().any(|name| self.is_meant(name)) {
                continue;
            }
            let name = &shipped.crate_name;
            let mut trail = Trail::new(Kind::Skill, &self.name, false, "is not installed");
            let from = format!("{name} {}, a dependency, in {}", shipped.version, shipped.folder);
            trail.step("from", from);
            let said = self.choice_step(&mut trail, name);
            let mut endorsed = false;
            for plugin in endorsers(&self.survey.inputs.registry, name) {
                endorsed = true;
                self.plugin_steps(&mut trail, plugin, &[]);
                for (index, group) in plugin.skills.iter().enumerate() {
                    if matches!(
                        group.source,
                        SkillSource::Crate { .. } | SkillSource::NamedCrate { .. }
                    ) {
                        self.part_step(&mut trail, plugin, (Kind::Group, index), &group.gate);
                    }
                }
            }
            if !endorsed && said.is_none() {
                trail.step("found", "no plugin source vouches for the crate's skills");
                trail.step("remedy", format!("`cargo agents use {name}`"));
            }
            trails.push(trail);
        }
        trails
    }
}
