//! What `list` and `show` look at: the registry, and the workspace we are in, if any.

use crate::Symposium;
use crate::plugins::model::{Gate, Plugin};
use crate::plugins::predicate::{Evaluation, Facts, evaluate_all, evaluate_plugin};
use crate::plugins::registry::{PluginEntry, Registry, StandaloneSkill};
use crate::plugins::source::Refresh;
use crate::report::Verdict;
use crate::sync::facts::delivers_nothing;
use crate::sync::facts::gates::users_word;
use crate::workspace::{UNOBSERVED, Workspace};

/// Everything there is, and where we stand.
pub(super) struct View<'a> {
    pub(super) sym: &'a Symposium,
    pub(super) registry: Registry,
    /// Empty outside of one.
    pub(super) workspace: Workspace,
    is_workspace: bool,
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

impl<'a> View<'a> {
    /// Opens the sources as the command line says. A workspace that can't be read is told, and
    /// counts as none.
    pub(super) fn load(sym: &'a Symposium) -> Self {
        Self::of(sym, Registry::load(sym, &Refresh::for_command(sym)))
    }

    /// As [`Self::load`], of sources that were opened already.
    pub(super) fn of(sym: &'a Symposium, mut registry: Registry) -> Self {
        let loaded = match sym.env.cwd().map(|cwd| Workspace::load(cwd, &sym.env)) {
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
        Self { sym, registry, workspace, is_workspace }
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            dependencies: &self.workspace.dependencies,
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
        let plugin = &entry.plugin;
        if let Some(shadow) = &entry.shadowed_by {
            return Standing { state: Verdict::Shadowed, reason: shadow.to_string() };
        }
        if let Some(reason) = self.disabled_by(&plugin.name) {
            return Standing { state: Verdict::Disabled, reason: reason.to_owned() };
        }
        let mut own = standing(evaluate_plugin(plugin, &self.facts()));
        let parts = gates(plugin).map(|gate| {
            let part = self.standing(&[&plugin.gate, gate]);
            (part.is_active(), part.reason)
        });
        if own.is_active()
            && let Some(told) = delivers_nothing(parts)
        {
            own.reason = format!("{}; {told}", own.reason);
        }
        own
    }
}

/// The gates of everything a plugin offers.
fn gates(plugin: &Plugin) -> impl Iterator<Item = &Gate> {
    let groups = plugin.skills.iter().map(|group| &group.gate);
    let hooks = plugin.hooks.iter().map(|hook| &hook.gate);
    let servers = plugin.servers.iter().map(|server| &server.gate);
    let subcommands = plugin.subcommands.iter().map(|subcommand| &subcommand.gate);
    groups.chain(hooks).chain(servers).chain(subcommands)
}

fn standing(evaluation: Evaluation) -> Standing {
    let state = if evaluation.holds { Verdict::Matched } else { Verdict::Skipped };
    Standing { state, reason: evaluation.reason }
}
