//! What applies to a workspace: plugins by their gates, and what they offer.
//!
//! [`gates`] decides the gates of skills; [`candidates`] finds dependencies that ship skills though
//! nobody vouches for them.
//!
//! May use: `bounds` and `dependencies`. Used by: everything else of `sync`.

pub(crate) mod candidates;
pub(crate) mod gates;
mod held_back;
pub(crate) mod passed_over;
mod plugins;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Symposium;
use crate::config::{Choice, ChoiceScope, Config, HookScope, SkillIgnore};
use crate::fetch::git::{Policy, Repository};
use crate::plugins::git::GitPlace;
use crate::plugins::model::{CrateAtom, Gate, Hook, McpServer, Plugin, Subcommand};
use crate::plugins::predicate::Facts as GateFacts;
use crate::plugins::registry::{Registry, Unavailable};
use crate::plugins::source::BUILTIN;
use crate::plugins::trust::Trust;
use crate::plugins::trust::part::Part as TrustPart;
use crate::plugins::trust::record::Owner;
use crate::report::{Event, Kind, Progress, Verdict};
use crate::skills::crate_source::{CrateRequest, CrateSources, Newest, NotOnDisk};
use crate::skills::resolve::{GitFolder, Resolution, Resolver, Unread};
use crate::skills::{Skill, SkillOrigin};
use crate::symposium::Pin;
use crate::sync::bounds::{Bounds, NEUTRAL};
use crate::sync::dependencies::page::{self, DESCRIPTION, Places};
use crate::sync::dependencies::{self, DirectDependency};
use crate::text::{Diagnostic, same_crate};
use crate::workspace::{Observer, Workspace};
use candidates::{Candidate, Suggestion};
use plugins::UsersWords;
pub(crate) use plugins::Waiting;

/// Everything that applies, with the reasons.
#[derive(Debug, Default)]
pub(crate) struct Facts<'r> {
    /// Skills of plugins and sources, one an origin.
    pub skills: Vec<Skill>,
    pub own_skills: Vec<Skill>,
    /// Hooks whose gates hold, in the order in which they run.
    pub hooks: Vec<(&'r Plugin, &'r Hook)>,
    /// The files that each of them could run, with what was allowed of each; empty where all may run.
    pub hook_files: Vec<Vec<(PathBuf, String)>>,
    /// What applies and does not run, for the user did not allow it as it is.
    pub waiting: Vec<Waiting>,
    /// The skills among it, each with who brought it.
    withheld: Vec<(Skill, Owner, TrustPart)>,
    /// Servers whose gates hold, and whether they are for every workspace.
    pub servers: Vec<(&'r Plugin, &'r McpServer, bool)>,
    /// All subcommands; with the reason, those that do not apply here.
    pub subcommands: Vec<(&'r Plugin, &'r Subcommand, Option<String>)>,
    pub active: Vec<&'r Plugin>,
    /// The repositories that skills come from besides those of sources, at the commits they were taken
    /// at.
    pub pins: Vec<(Repository, Pin)>,
    /// Sources that can't be had now, of which it is not known what they offer.
    pub unavailable: BTreeMap<String, Unavailable>,
    /// Every plugin of the registry and what became of it, in the registry's order.
    pub plugins: Vec<PluginFate<'r>>,
    /// Dependencies that ship skills of their own, about which nobody said anything yet.
    pub candidates: Vec<Candidate>,
    /// Plugins that wait for the user's word.
    pub suggestions: Vec<Suggestion>,
    /// What agents are told of; `None` where the user wants them told nothing.
    pub dependencies: Option<Vec<DirectDependency>>,
    /// Crates whose skills apply, and that can't be had now.
    pub missing: Vec<NotOnDisk>,
    /// Dependencies whose sources are not on this machine: whether they ship skills is not known.
    pub absent: Vec<NotOnDisk>,
    /// Skills that can't be read: what was placed of them stays.
    pub unread: Vec<Unread>,
    /// Why each thing was taken or not.
    pub explanations: Vec<Event>,
    /// Problems; none stops anything else.
    pub diagnostics: Vec<Diagnostic>,
}

/// What became of a plugin, and of each thing it offers.
#[derive(Debug)]
pub(crate) struct PluginFate<'r> {
    pub plugin: &'r Plugin,
    /// How it came out.
    pub verdict: Verdict,
    pub reason: String,
    /// What it offers, where it applies: groups, hooks, servers, subcommands.
    pub parts: Vec<Part>,
}

/// What became of one thing that a plugin offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub kind: Kind,
    /// Its place among the plugin's things of that kind.
    pub index: usize,
    pub holds: bool,
    pub reason: String,
    /// Why nothing comes of it although it holds: a group without a skill that applies, a program that
    /// the user did not allow as it is.
    pub lacks: Option<String>,
}

impl Part {
    /// Whether something that applies waits for the user's word to run.
    pub(crate) fn waits(&self) -> bool {
        self.holds && self.kind != Kind::Group && self.lacks.is_some()
    }

    /// Whether something comes of it.
    pub(crate) fn is_in_force(&self) -> bool {
        self.holds && !self.waits()
    }
}

/// Where facts come from.
pub(crate) struct Gatherer<'a> {
    pub sym: &'a Symposium,
    pub workspace: &'a Workspace,
    /// Sources of crates.
    pub crates: &'a dyn CrateSources,
    /// Those of them that are on this machine: nobody is asked about what would have to be fetched.
    pub on_disk: &'a dyn CrateSources,
    /// When git repositories are fetched.
    pub policy: Policy,
    /// Who is told what was read.
    pub observer: &'a Observer,
}

impl Gatherer<'_> {
    pub(crate) fn gather<'r>(&self, registry: &'r Registry) -> Facts<'r> {
        let gates = GateFacts {
            dependencies: &self.workspace.dependencies,
            newest: &Newest(self.crates),
            members: &self.workspace.members,
            root: Some(&self.workspace.root),
            env: &self.sym.env,
            observer: self.observer,
        };
        let pins: RefCell<Vec<(Repository, Pin)>> = RefCell::default();
        let checkouts = |place: &GitPlace| {
            let (folder, pin) = pinned_checkout(self.sym, &self.policy, place)?;
            pins.borrow_mut().push(pin);
            Ok(folder)
        };
        let mut facts = Facts { unavailable: registry.unavailable.clone(), ..Facts::default() };
        let mut resolver = Resolver::new(&gates, self.crates, &checkouts, self.observer);
        let trust = Trust::of(self.sym, self.observer);
        self.of_sources(registry, (&gates, &trust), &mut resolver, &mut facts);
        self.asked_for(&mut resolver, &mut facts);
        if let Some(folder) = self.own_skills() {
            resolver.workspace(&self.workspace.root, &folder);
        }
        let resolution = resolver.finish();
        facts.pins = pins.take();
        let delivered = resolution.crates.clone();
        facts.take(resolution);
        facts.hold_back(&trust, self.observer);
        Diagnostic::each_once(&mut facts.diagnostics);
        let choices = &self.sym.config.plugins;
        let (mut found, mut absent) =
            candidates::find(self.workspace, &delivered, choices, (self.on_disk, self.observer));
        let is_told = |crate_: &NotOnDisk| {
            facts.missing.iter().any(|known| same_crate(&known.name, &crate_.name))
        };
        absent.retain(|crate_| !is_told(crate_));
        // A crate that another one's metadata points to came along with that one.
        found.retain(|candidate| !facts.skills.iter().any(|skill| candidate.brought(skill)));
        // One answer is about both.
        let is_named = |suggestion: &Suggestion, crate_: &Candidate| {
            same_crate(&suggestion.name, &crate_.name)
        };
        found.retain(|crate_| !facts.suggestions.iter().any(|plugin| is_named(plugin, crate_)));
        // What was decided, and who vouches, is in the configuration.
        if !self.sym.config_state.is_clear() {
            found.clear();
            facts.suggestions.clear();
        }
        facts.explanations.extend(found.iter().map(Candidate::event));
        facts.candidates = found;
        facts.absent = absent;
        self.map_dependencies(&mut facts);
        facts
    }

    /// Adds what the sources offer: their plugins, then skills that lie there by themselves.
    fn of_sources<'r>(
        &self,
        registry: &'r Registry,
        (gates, trust): (&GateFacts<'_>, &Trust<'_>),
        resolver: &mut Resolver<'_>,
        facts: &mut Facts<'r>,
    ) {
        let root = Some(self.workspace.root.as_path());
        let choices = &self.sym.config.plugins;
        let refused = |name: &str| choices.disabled_by(name, root);
        let words = UsersWords { refused: &refused, trust };
        for entry in &registry.plugins {
            let plugin = &entry.plugin;
            if let Some(shadow) = &entry.shadowed_by {
                // Several may have the name.
                let told = format!("the one of source `{}`: {shadow}", plugin.source);
                facts.explain(Kind::Plugin, &plugin.name, Verdict::Shadowed, told);
                facts.fate(plugin, Verdict::Shadowed, shadow.to_string());
            } else if let Some(reason) = refused(&plugin.name) {
                facts.left_out(plugin, Verdict::Disabled, reason);
            } else {
                facts.plugin(plugin, gates, resolver, words);
            }
        }
        for skill in &registry.skills {
            let name = skill.dir.file_name().unwrap_or_default().to_string_lossy();
            if let Some(reason) = choices.disabled_by(&name, root) {
                facts.explain(Kind::Skill, &name, Verdict::Disabled, reason);
                continue;
            }
            let word = gates::users_word(registry, skill, (choices, gates));
            resolver.standalone(&skill.source, &skill.source_root, &skill.dir, &word);
        }
    }

    /// Adds the skills of dependencies that the user asks for by name.
    fn asked_for(&self, resolver: &mut Resolver<'_>, facts: &mut Facts<'_>) {
        let root = Some(self.workspace.root.as_path());
        for dependency in &self.workspace.dependencies {
            if let Some((Choice::Use, scope)) =
                self.sym.config.plugins.choice_for(&dependency.name, root)
            {
                let reason = match scope {
                    ChoiceScope::Team => "`use` in the team's symposium.toml asks for its skills",
                    _ => "`use` in the configuration asks for its skills",
                };
                facts.explain(Kind::Crate, &dependency.name, Verdict::Matched, reason);
                let (name, version) = (dependency.name.clone(), dependency.version.clone());
                resolver.of_crate(&CrateRequest { name, version, requirement: None });
            }
        }
    }

    /// Adds what the built-in plugin says of the dependencies, where it applies.
    fn map_dependencies(&self, facts: &mut Facts<'_>) {
        let Self { sym, workspace, .. } = self;
        let Some(plugin) = facts.active.iter().find(|plugin| plugin.source == BUILTIN) else {
            return;
        };
        // Of a workspace that can't be read nothing is known, neither that it has no dependencies.
        if !sym.config.defaults.dependencies || workspace.members.is_empty() {
            return;
        }
        let found = dependencies::gather(workspace, self.on_disk, self.observer);
        let (name, root) = (page::NAME, &plugin.source_root);
        let skill = Skill {
            name: name.to_owned(),
            description: DESCRIPTION.to_owned(),
            dir: plugin.dir.clone(),
            root: root.clone(),
            origin: SkillOrigin::Source { source: BUILTIN.to_owned(), path: name.to_owned() },
            plugin: Some(plugin.name.clone()),
            same_as: Vec::new(),
            written: page::write(&found, &facts.skills, places(&sym.config)),
        };
        facts.dependencies = Some(found);
        if skill.written.is_none() {
            return;
        }
        match sym.config.plugins.disabled_by(name, Some(&workspace.root)) {
            Some(reason) => facts.explain(Kind::Skill, name, Verdict::Disabled, reason),
            None => {
                let reason = "written from Cargo.toml and Cargo.lock";
                facts.explain(Kind::Skill, name, Verdict::Matched, reason);
                facts.skills.push(skill);
            }
        }
    }

    /// Adds what the plugins bring that vouch for the crate `name`, where they apply.
    pub(crate) fn endorsed(
        &self,
        registry: &Registry,
        name: &str,
        facts: &GateFacts<'_>,
        resolver: &mut Resolver<'_>,
    ) {
        let refused = |name: &str| self.sym.config.plugins.disabled_by(name, facts.root);
        let trust = Trust::of(self.sym, self.observer);
        let words = UsersWords { refused: &refused, trust: &trust };
        let mut gathered = Facts::default();
        for plugin in candidates::endorsers(registry, name) {
            if refused(&plugin.name).is_none() {
                gathered.plugin(plugin, facts, resolver, words);
            }
        }
    }

    /// Where the workspace's own skills really are.
    fn own_skills(&self) -> Option<PathBuf> {
        let root = &self.workspace.root;
        let neutral = root.join(NEUTRAL);
        neutral.ancestors().take(2).for_each(|dir| self.observer.observe(dir));
        Bounds::of(root, self.sym.env.home().as_deref())?.real(&neutral).ok()
    }
}

/// The checkout of a repository that a plugin names.
///
/// # Errors
/// It is no URL, a place on this machine, or can't be had.
pub(crate) fn checkout(
    sym: &Symposium,
    policy: &Policy,
    place: &GitPlace,
) -> Result<GitFolder, Box<Diagnostic>> {
    pinned_checkout(sym, policy, place).map(|(folder, _)| folder)
}

fn pinned_checkout(
    sym: &Symposium,
    policy: &Policy,
    place: &GitPlace,
) -> Result<(GitFolder, (Repository, Pin)), Box<Diagnostic>> {
    let asked = place.repository().map_err(|(_, problem)| problem)?;
    let repository = asked.pinned(&sym.pins);
    let shown = repository.shown();
    let progress = std::cell::Cell::new(Progress::default());
    let tell = || progress.set(sym.report.busy("Fetching", &shown));
    let checkout = repository
        .checkout_telling(&sym.dirs.plugin_sources(), policy, &sym.env, &tell)
        .map_err(|error| Diagnostic::error(format!("can't read `{shown}`: {error}")))?;
    let pin = asked.pin(&checkout);
    let folder = GitFolder {
        root: checkout.root,
        start: checkout.subdir,
        repo: repository.identity().to_owned(),
        commit: checkout.commit,
    };
    Ok((folder, (asked, pin)))
}

impl<'r> Facts<'r> {
    /// Takes what became of the skills.
    fn take(&mut self, done: Resolution) {
        let own = |skill: &Skill| matches!(skill.origin, SkillOrigin::Workspace { .. });
        (self.own_skills, self.skills) = done.skills.into_iter().partition(own);
        self.diagnostics.extend(done.diagnostics);
        self.explanations.extend(done.explanations);
        self.missing = done.missing;
        self.unread = done.unread;
    }

    fn explain(&mut self, kind: Kind, name: &str, verdict: Verdict, reason: impl Into<String>) {
        self.explanations.push(Event::explain(kind, name, verdict, reason));
    }

    fn left_out(&mut self, plugin: &'r Plugin, verdict: Verdict, reason: impl Into<String>) {
        let reason = reason.into();
        self.explain(Kind::Plugin, &plugin.name, verdict, &*reason);
        self.fate(plugin, verdict, reason);
    }

    fn fate(&mut self, plugin: &'r Plugin, verdict: Verdict, reason: String) {
        self.plugins.push(PluginFate { plugin, verdict, reason, parts: Vec::new() });
    }
}

/// A project's skill folders may end up in its repository.
fn places(config: &Config) -> Places {
    let is_shared =
        config.hook_scope == HookScope::Project || config.skill_ignore == SkillIgnore::None;
    if is_shared { Places::Hidden } else { Places::Shown }
}

/// Whether a gate holds in every workspace, whatever it depends on.
pub(crate) fn is_everywhere(gate: &Gate) -> bool {
    let any = |atoms: &Vec<CrateAtom>| atoms.contains(&CrateAtom::Any);
    gate.predicates.is_empty() && gate.crates.as_ref().is_none_or(any)
}
