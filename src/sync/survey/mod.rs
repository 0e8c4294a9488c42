//! What a sync would find and do, for those who only want to know: `status`, `why`, `doctor`.
//!
//! A [`Inputs`] is what was read, a [`Survey`] what follows from it. Nothing is fetched, installed
//! or told, and no file of the user's or the workspace's is written.

mod checkup;
mod offered;
mod programs;
mod registered;
mod shipped;
mod skills;

use std::path::Path;

use crate::Symposium;
use crate::agents::Agent;
use crate::config::team::Team;
use crate::plugins::model::Plugin;
use crate::plugins::predicate::Facts as GateFacts;
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::report::Change;
use crate::symposium::Options;
use crate::sync::placing::reasons::by_hand;
use crate::sync::registration::duplicates::{self, Duplicate};
use crate::sync::registration::register::{desired_by_sync, register};
use crate::sync::registration::setup::Setup;
use crate::sync::registration::{Desired, Registered, Registrar, hooks, servers};
use crate::sync::request::{Caller, Mode, Request, Sweep, SyncContext, configured_agents};
use crate::sync::run::{Planned, plan_skills};
use crate::text::Diagnostic;
use crate::workspace::{Loaded, Workspace};

pub(crate) use super::placing::reasons::ByHand;
pub(crate) use offered::{Because, OfferedSkill, WithheldSkill};
pub(crate) use programs::Obstructed;
pub(crate) use registered::Health;
pub(crate) use skills::{SkillView, described, described_on_disk};

/// What was read.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// A context of its own, which tells nobody and stays offline.
    pub sym: Symposium,
    /// The workspace, in one.
    pub loaded: Option<Loaded>,
    /// Why there is no workspace though there is a manifest.
    pub trouble: Option<Diagnostic>,
    /// What the sources offer, as far as it is on disk.
    pub registry: Registry,
    request: Request,
}

/// What follows from it.
#[derive(Debug)]
pub(crate) struct Survey<'g> {
    /// What was read.
    pub inputs: &'g Inputs,
    pub agents: Vec<Agent>,
    /// What applies to the workspace, in one.
    pub planned: Option<Planned<'g>>,
    /// How the agents call us, and which of their files are meant.
    pub setup: Setup<'g>,
    pub desired: Desired,
    /// What would change in agents' files, and what stands in the way.
    pub registered: Registered,
    /// What people should know about how we are called.
    pub notes: Vec<Diagnostic>,
    /// Hooks of ours besides those at the configured scope.
    pub duplicates: Vec<Duplicate>,
    pub damaged: Vec<Diagnostic>,
}

impl Inputs {
    /// Reads everything for the folder `start`. A broken workspace is no error: it is in
    /// [`Inputs::trouble`].
    ///
    /// # Errors
    /// When there is nowhere to keep our files.
    pub(crate) fn read(sym: &Symposium, start: &Path) -> anyhow::Result<Self> {
        let options = Options { offline: true, update: None, ..sym.options };
        let mut sym = sym.telling(sym.report.without_messages(), options)?;
        let (loaded, trouble) = match Workspace::load(start, &sym.env) {
            Ok(loaded) => (loaded, None),
            Err(problem) => (None, Some(problem)),
        };
        let root = loaded.as_ref().map(|loaded| loaded.workspace.root.as_path());
        root.into_iter().for_each(|root| sym.enter(root));
        let mut registry = Registry::load(&sym, &Refresh::cached());
        registry.wake(&sym.config.plugins, root);
        let request = Request {
            start: start.to_path_buf(),
            mode: Mode::Plan,
            caller: Caller::Survey,
            sweep: Sweep::Everything,
            ..Request::default()
        };
        Ok(Self { sym, loaded, trouble, registry, request })
    }

    /// What holds where there is no workspace, or none that can be read: plugins that apply everywhere do
    /// there, too.
    pub(crate) fn outside(&self) -> GateFacts<'_> {
        GateFacts::outside(&self.sym.env)
    }

    /// The team's file, where it brought the plugin.
    pub(crate) fn team_of(&self, plugin: &Plugin) -> Option<&Team> {
        self.sym.team.as_deref().filter(|_| self.sym.config.is_teams(&plugin.source))
    }

    /// The workspace's root, in one.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.loaded.as_ref().map(|loaded| loaded.workspace.root.as_path())
    }

    /// Works out what applies and what would change.
    pub(crate) fn survey(&self) -> anyhow::Result<Survey<'_>> {
        let sym = &self.sym;
        let agents = configured_agents(sym);
        let root = self.root();
        let setup = Setup::new(sym, root, true)?;
        let (mut registrar, damaged) = Registrar::open(sym, root, false);
        let (planned, desired, notes) = match &self.loaded {
            Some(loaded) => {
                let sync = SyncContext::new(sym, &self.request, loaded);
                let planned = plan_skills(&sync, &self.registry, &agents);
                let (desired, notes) =
                    desired_by_sync(&sync, &agents, &planned.facts, &setup, &registrar);
                (Some(planned), desired, notes)
            }
            None => {
                let sweep = self.request.sweep;
                let (mut desired, notes) =
                    hooks::configured(&setup, &agents, registrar.ledgers(), sweep);
                servers::keep(&registrar, &mut desired, |_| true);
                servers::add_own(&setup, &agents, &mut desired);
                (None, desired, notes)
            }
        };
        let duplicates = duplicates::find(&setup, &agents, registrar.ledgers());
        let mut registered = register(&setup, &mut registrar, desired.clone(), &agents, false);
        if let (Some(planned), Some(loaded)) = (&planned, &self.loaded) {
            let here = (sym, &loaded.workspace);
            servers::explain(&mut registered.changes, &planned.facts, &agents, here);
        }
        registered.diagnostics.extend(damaged.iter().cloned());
        Ok(Survey {
            inputs: self,
            agents,
            planned,
            setup,
            desired,
            registered,
            notes,
            duplicates,
            damaged,
        })
    }
}

impl Survey<'_> {
    /// Everything the next sync would change or leave alone, as people see it. Nothing while the
    /// configuration can't be read: then a sync changes nothing either.
    pub(crate) fn changes(&self) -> Vec<Change> {
        if !self.inputs.sym.config_state.is_clear() {
            return Vec::new();
        }
        let mut changes =
            self.planned.as_ref().map(|planned| planned.plan.changes()).unwrap_or_default();
        changes.extend(self.registered.changes.iter().cloned());
        changes
    }

    /// Skills that were placed by hand, for agents that are not configured.
    pub(crate) fn by_hand(&self) -> Vec<ByHand> {
        self.planned.as_ref().map(|planned| by_hand(&planned.chosen.wanted)).unwrap_or_default()
    }

    /// Whether a sync leaves the file as it is, though something of ours should change in it.
    pub(crate) fn stays(&self, file: &Path) -> bool {
        let mut told = self.registered.diagnostics.iter().filter_map(Diagnostic::location);
        told.any(|place| place.path == file)
    }

    /// Every problem that came up, each once, without those of the configuration and without what
    /// [`Survey::servers_of`] tells.
    pub(crate) fn diagnostics(&self) -> Vec<&Diagnostic> {
        let loaded = self.inputs.loaded.iter().flat_map(|loaded| &loaded.diagnostics);
        let planned = self.planned.iter().flat_map(|planned| {
            let facts = planned.facts.diagnostics.iter();
            facts.chain(&planned.chosen.blocked).chain(&planned.chosen.diagnostics)
        });
        let told = self.desired.remarks.diagnostics(&self.registered.changes);
        let mut all: Vec<&Diagnostic> = Vec::new();
        let found =
            self.inputs.trouble.iter().chain(loaded).chain(&self.inputs.registry.diagnostics);
        for diagnostic in found.chain(planned).chain(&self.registered.diagnostics) {
            if !told.contains(diagnostic) && !all.contains(&diagnostic) {
                all.push(diagnostic);
            }
        }
        all
    }
}
