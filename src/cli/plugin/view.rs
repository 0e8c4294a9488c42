//! What `list` and `show` look at: the registry, and the workspace we are in, if any.

use semver::Version;

use crate::Symposium;
use crate::fetch::git::Policy;
use crate::plugins::model::Gate;
use crate::plugins::predicate::{Evaluation, Facts, NewestAdmitted, evaluate_all, evaluate_plugin};
use crate::plugins::registry::{PluginEntry, Registry, StandaloneSkill};
use crate::plugins::source::Refresh;
use crate::report::Verdict;
use crate::skills::crate_source::{CrateDisk, Newest};
use crate::sync::facts::gates::users_word;
use crate::sync::facts::{Gatherer, PluginFate};
use crate::workspace::{Dependency, UNOBSERVED, UNREAD_WORKSPACE, Workspace};

/// Everything there is, and where we stand.
pub(super) struct View<'a> {
    pub(super) sym: &'a Symposium,
    pub(super) registry: Registry,
    /// Empty outside of one.
    pub(super) workspace: Workspace,
    is_workspace: bool,
    /// Whether there is one that can't be read.
    is_unread: bool,
    /// How each plugin of the registry stands in the workspace, as `status` says; none outside of one.
    standings: Vec<Standing>,
}

/// Whether something is in force here, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Standing {
    #[serde(rename = "verdict")]
    pub(super) state: Verdict,
    pub(super) reason: String,
}

impl Standing {
    pub(super) fn is_active(&self) -> bool {
        self.state == Verdict::Matched
    }

    pub(super) fn label(&self) -> &'static str {
        match self.state {
            Verdict::Matched => "active",
            Verdict::Skipped => "inactive",
            Verdict::Shadowed => "shadowed",
            Verdict::Unavailable => "unavailable",
            Verdict::Disabled => "disabled",
        }
    }
}

impl NewestAdmitted for View<'_> {
    fn newest_admitted(&self, dependency: &Dependency) -> Option<Version> {
        let disk = CrateDisk::new(&self.workspace, &self.sym.env, &self.sym.dirs);
        Newest(&disk).newest_admitted(dependency)
    }
}

impl<'a> View<'a> {
    /// Opens the sources as the command line says. A workspace that can't be read is told, and
    /// counts as none.
    pub(super) fn load(sym: &'a Symposium) -> Self {
        Self::of(sym, Registry::load(sym, &Refresh::for_command(sym)))
    }

    /// As [`Self::load`], of sources that were opened already.
    pub(super) fn of(sym: &'a Symposium, mut registry: Registry) -> Self {
        let found = sym.env.cwd().map(|cwd| Workspace::load(cwd, &sym.env));
        let is_unread = matches!(found, Some(Err(_)));
        let loaded = match found {
            Some(Ok(loaded)) => loaded,
            Some(Err(mut problem)) => {
                problem.severity = crate::text::Severity::Warning;
                sym.report.diagnostic(&problem.note("no plugin can be matched with it"));
                None
            }
            None => None,
        };
        let is_workspace = loaded.is_some();
        let root = loaded.as_ref().map(|loaded| loaded.workspace.root.as_path());
        registry.wake(&sym.config.plugins, root);
        let workspace = loaded.map(|loaded| loaded.workspace).unwrap_or_default();
        let standings = Vec::new();
        let mut view = Self { sym, registry, workspace, is_workspace, is_unread, standings };
        if is_workspace {
            view.standings = view.standings();
        }
        view
    }

    /// What a sync makes of the plugins, as far as everything is on this machine.
    fn standings(&self) -> Vec<Standing> {
        let Self { sym, workspace, .. } = self;
        let disk = CrateDisk::new(workspace, &sym.env, &sym.dirs);
        let (policy, observer) = (Policy::cached(), &UNOBSERVED);
        let gatherer = Gatherer { sym, workspace, crates: &disk, on_disk: &disk, policy, observer };
        let fates = gatherer.gather(&self.registry).plugins;
        let standing = |fate: PluginFate<'_>| Standing { state: fate.verdict, reason: fate.reason };
        fates.into_iter().map(standing).collect()
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            dependencies: &self.workspace.dependencies,
            newest: self,
            members: &self.workspace.members,
            root: self.is_workspace.then_some(self.workspace.root.as_path()),
            env: &self.sym.env,
            observer: &UNOBSERVED,
        }
    }

    /// Whether all of `gates` hold here.
    pub(super) fn standing(&self, gates: &[&Gate]) -> Standing {
        standing(evaluate_all(gates, &self.facts()))
    }

    /// How a skill by itself stands that does not say what it is for.
    pub(super) fn standing_of_bare(&self, skill: &StandaloneSkill) -> Standing {
        let facts = self.facts();
        let word = users_word(&self.registry, skill, (&self.sym.config.plugins, &facts));
        match word.refusal(skill.folder_name().unwrap_or_default()) {
            Some(reason) => Standing { state: Verdict::Skipped, reason },
            None => {
                let reason = "the configuration takes it".to_owned();
                Standing { state: Verdict::Matched, reason }
            }
        }
    }

    /// Why the user does not want a plugin or skill here, where that is so.
    pub(super) fn disabled_by(&self, name: &str) -> Option<&'static str> {
        self.sym.config.plugins.disabled_by(name, self.facts().root)
    }

    /// How a plugin stands as a whole.
    pub(super) fn plugin(&self, entry: &PluginEntry) -> Standing {
        let index = self.registry.plugins.iter().position(|known| std::ptr::eq(known, entry));
        if let Some(standing) = index.and_then(|index| self.standings.get(index)) {
            return standing.clone();
        }
        let plugin = &entry.plugin;
        if let Some(shadow) = &entry.shadowed_by {
            return Standing { state: Verdict::Shadowed, reason: shadow.to_string() };
        }
        match self.disabled_by(&plugin.name) {
            Some(reason) => Standing { state: Verdict::Disabled, reason: reason.to_owned() },
            None => {
                let mut own = standing(evaluate_plugin(plugin, &self.facts()));
                if self.is_unread && !own.is_active() {
                    UNREAD_WORKSPACE.clone_into(&mut own.reason);
                }
                own
            }
        }
    }
}

fn standing(evaluation: Evaluation) -> Standing {
    let state = if evaluation.holds { Verdict::Matched } else { Verdict::Skipped };
    Standing { state, reason: evaluation.reason }
}
