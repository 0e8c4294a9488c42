//! Crates: whether the workspace depends on them, and what became of their skills.

use super::Inquiry;
use super::model::Trail;
use crate::config::{Choice, ChoiceScope};
use crate::plugins::model::Plugin;
use crate::plugins::packages::beside_skills;
use crate::report::Kind;
use crate::skills::SkillOrigin;
use crate::sync::facts::candidates::{endorsers, ships, takes_crate};
use crate::text::same_crate;
use crate::workspace::{Dependency, DependencyOrigin, dependents};

/// Crates that are named as those another one comes through.
const NAMED: usize = 3;

impl Inquiry<'_> {
    /// The crate of that name, when it is in the workspace's graph or some plugin speaks of it.
    pub(super) fn of_crate(&self) -> Vec<Trail> {
        let Some(loaded) = &self.survey.inputs.loaded else { return Vec::new() };
        let workspace = &loaded.workspace;
        let direct: Vec<&Dependency> = workspace
            .dependencies
            .iter()
            .filter(|found| same_crate(&found.name, &self.name))
            .collect();
        if !direct.is_empty() {
            return direct.into_iter().map(|found| self.of_dependency(found)).collect();
        }
        let verdict = "is no direct dependency of this workspace";
        let mut trail = Trail::new(Kind::Crate, &self.name, false, verdict);
        if let Some(text) = self.transitive(&self.name) {
            trail.step("but", text);
        } else if workspace.members.iter().any(|member| same_crate(&member.name, &self.name)) {
            trail.step("but", "it is a member, on which no other member depends");
        }
        let registry = &self.survey.inputs.registry;
        let named = registry.active().filter(|plugin| names_crate(plugin, &self.name));
        for plugin in named {
            trail.step("plugin", format!("{} (source {}) is about it", plugin.name, plugin.source));
        }
        if trail.steps.is_empty() { Vec::new() } else { vec![trail] }
    }

    fn of_dependency(&self, dependency: &Dependency) -> Trail {
        let version =
            dependency.version.as_ref().map(|found| format!(" {found}")).unwrap_or_default();
        let brought: Vec<_> = self
            .survey
            .skills()
            .into_iter()
            .filter(|view| {
                matches!(&view.skill.origin, SkillOrigin::Crate { name, version, .. }
                    if same_crate(name, &dependency.name)
                        && dependency.version.as_ref().is_none_or(|known| known == version))
            })
            .map(|view| view.name)
            .collect();
        let in_force = !brought.is_empty();
        let verdict = if in_force {
            "is a direct dependency, and its own skills are in use"
        } else {
            "is a direct dependency; no skills of its own are in use"
        };
        let name = format!("{}{version}", dependency.name);
        let mut trail = Trail::new(Kind::Crate, name, in_force, verdict);
        trail.step("from", self.origin(dependency));
        let located = self.survey.inputs.locate(dependency);
        match &located {
            Ok(located) => trail.step("sources", self.path(&located.dir)),
            Err(problem) => {
                trail.step("sources", format!("{problem}; `cargo fetch` gets them"));
            }
        }
        let shipped = located.as_ref().ok().map(ships);
        match &shipped {
            Some(Some(folders)) if folders.is_empty() => {
                trail.step("ships", "its metadata points to the skills of another crate");
            }
            Some(Some(folders)) => trail.step("ships", folders.join(", ")),
            Some(None) => trail.step("ships", "no skills of its own"),
            None => {}
        }
        if let Ok(located) = &located {
            if let Some(left) = beside_skills(&located.dir) {
                trail.step("not taken", left);
            }
            let of_crate = self.survey.diagnostics().into_iter().filter(|found| {
                found.location().is_some_and(|place| place.path.starts_with(&located.dir))
            });
            self.tell(&mut trail, of_crate);
        }
        self.endorsement_steps(&mut trail, &dependency.name, matches!(shipped, Some(Some(_))));
        for name in brought {
            trail.step("skill", name);
        }
        trail
    }

    fn endorsement_steps(&self, trail: &mut Trail, name: &str, ships: bool) {
        let registry = &self.survey.inputs.registry;
        let mut endorsed = false;
        for plugin in endorsers(registry, name) {
            endorsed = true;
            let reason = self.fate(plugin).map(|fate| fate.reason.clone()).unwrap_or_default();
            trail.step(
                "vouched by",
                format!("plugin {} (source {}): {reason}", plugin.name, plugin.source),
            );
        }
        for plugin in registry.active() {
            let about = plugin.gate.crates_named().iter().any(|named| same_crate(named, name));
            if about
                && !endorsers(registry, name).any(|endorser| endorser.manifest == plugin.manifest)
            {
                let reason = self.fate(plugin).map(|fate| fate.reason.clone()).unwrap_or_default();
                trail.step("plugin", format!("{} is about it: {reason}", plugin.name));
            }
        }
        if self.choice_step(trail, name).is_none() && ships && !endorsed {
            trail.step("vouched by", "no plugin source, and you have not said anything yet");
            let remedy = "takes its skills, `--remove` declines them";
            trail.step("remedy", format!("`cargo agents use {name}` {remedy}"));
        }
    }

    /// What the user said of the crate's skills.
    pub(super) fn choice_step(&self, trail: &mut Trail, name: &str) -> Option<Choice> {
        let choices = &self.survey.inputs.sym.config.plugins;
        let (choice, scope) = choices.choice_for(name, self.survey.inputs.root())?;
        let (who, place) = match scope {
            ChoiceScope::Workspace => ("you said", "for this workspace"),
            ChoiceScope::Everywhere => ("you said", "for every workspace"),
            ChoiceScope::Team => ("team said", "in symposium.toml, which you accepted"),
        };
        match choice {
            Choice::Use => trail.step(who, format!("yes, {place}")),
            Choice::Disable => {
                trail.step(who, format!("no, {place}"));
                trail.step("remedy", format!("`cargo agents use {name}` takes that back"));
            }
        }
        Some(choice)
    }

    /// Through which crates a crate comes that is in the lock file and no direct dependency.
    pub(super) fn transitive(&self, name: &str) -> Option<String> {
        let workspace = &self.survey.inputs.loaded.as_ref()?.workspace;
        let is_direct = |found: &Dependency| same_crate(&found.name, name);
        if workspace.dependencies.iter().any(is_direct) {
            return None;
        }
        let locked = workspace.locked.iter().find(|package| same_crate(&package.name, name))?;
        if workspace.members.iter().any(|member| same_crate(&member.name, name)) {
            return None;
        }
        let mut through = dependents(workspace.lock_file.as_ref()?, name, &locked.version);
        let more = through.len().saturating_sub(NAMED);
        through.truncate(NAMED);
        let mut text = format!("{} {} is in Cargo.lock", locked.name, locked.version);
        if !through.is_empty() {
            text.push_str(&format!(", through {}", through.join(", ")));
        }
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        text.push_str("; only direct dependencies count");
        Some(text)
    }

    fn origin(&self, dependency: &Dependency) -> String {
        let asked = match &dependency.origin {
            DependencyOrigin::Registry { index: None, .. } => return "crates.io".to_owned(),
            DependencyOrigin::Registry { index: Some(index), .. } => {
                return format!("the registry {index}");
            }
            DependencyOrigin::Git { url, commit } => {
                return format!("{url} at {}", commit.get(..7).unwrap_or(commit));
            }
            DependencyOrigin::Path(dir) => return format!("the folder {}", dir.display()),
            DependencyOrigin::Unresolved(asked) => asked,
        };
        let loaded = self.survey.inputs.loaded.iter();
        let mut locked = loaded.flat_map(|loaded| &loaded.workspace.locked);
        match (asked, locked.find(|package| same_crate(&package.name, &dependency.name))) {
            (Some(asked), Some(locked)) => format!(
                "nowhere yet: Cargo.lock is behind the manifest, it has {} {}, which `{}` does not \
                 admit; `cargo check` updates it",
                locked.name, locked.version, asked.requirement
            ),
            _ => "nowhere yet: it is not in Cargo.lock; `cargo check` puts it there".to_owned(),
        }
    }
}

/// Whether a plugin, or something that it offers, is about the crate.
fn names_crate(plugin: &Plugin, name: &str) -> bool {
    let parts = plugin.hooks.iter().map(|hook| &hook.gate);
    let parts = parts.chain(plugin.servers.iter().map(|server| &server.gate));
    let parts = parts.chain(plugin.subcommands.iter().map(|command| &command.gate));
    let groups = plugin.skills.iter().map(|group| &group.gate);
    let mut gates = std::iter::once(&plugin.gate).chain(parts).chain(groups);
    takes_crate(plugin, name)
        || gates.any(|gate| gate.crates_named().iter().any(|named| same_crate(named, name)))
}
