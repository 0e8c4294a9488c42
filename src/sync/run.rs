//! One sync, from start to end.

use super::bounds::Bounds;
use super::facts::{Facts, Gatherer};
use super::placing::apply::apply;
use super::placing::desired_skills::{self, DesiredSkills};
use super::placing::folders;
use super::placing::observe::observe;
use super::placing::parents::Parents;
use super::placing::plan::{Plan, plan};
use super::registration::lock::lock;
use super::registration::opt_out;
use super::request::{Caller, Mode, Request, Sync, Synced, configured_agents, refuse_broken};
use super::snapshot::programs::resolve_server;
use crate::Symposium;
use crate::agents::Agent;
use crate::fetch::git::Policy;
use crate::files::Lock;
use crate::installations::{Acquirer, Mode as InstallMode, Network, sweep_outdated};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::report::{Action, Change, Event, Kind, Verdict};
use crate::skills::crate_source::fetch::Fetcher;
use crate::skills::crate_source::{CrateDisk, CrateSources, OnDemand};
use crate::text::Diagnostic;
use crate::workspace::{ByCrate, Loaded, Workspace};

/// Brings a workspace's agents up to date.
///
/// # Errors
/// When there is no workspace, its manifests or the configuration are broken, or another sync holds
/// it for too long.
/// What concerns single skills, plugins or files is told and does not stop the rest.
pub(crate) fn sync(sym: &Symposium, request: &Request) -> anyhow::Result<Synced> {
    if request.caller == Caller::Background {
        Sync::new(sym, request, &load(sym, request)?).prefetch();
    }
    let started = start(sym, request)?;
    Sync::new(&started.sym, request, &started.loaded).run()
}

/// As [`sync`], but for the case that another process did it while we waited for our turn: then
/// `is_current` says so, and there is nothing to do.
///
/// # Errors
/// As [`sync`].
pub(in crate::sync) fn sync_unless(
    sym: &Symposium,
    request: &Request,
    is_current: impl FnOnce() -> bool,
) -> anyhow::Result<Option<Synced>> {
    let started = start(sym, request)?;
    if is_current() {
        return Ok(None);
    }
    Sync::new(&started.sym, request, &started.loaded).run().map(Some)
}

/// What applies where the request begins, were no workspace there: what is for all of them.
///
/// # Errors
/// As [`sync`].
pub(in crate::sync) fn look_beyond(sym: &Symposium, request: &Request) -> anyhow::Result<Synced> {
    let loaded = Loaded::unknown(request.start.clone());
    Sync::new(sym, request, &loaded).run()
}

fn load(sym: &Symposium, request: &Request) -> anyhow::Result<Loaded> {
    let loaded = Workspace::load(&request.start, &sym.env)?;
    Ok(loaded.ok_or_else(|| {
        Diagnostic::error(format!("there is no Rust workspace in {}", request.start.display()))
            .note("run it in a folder with a Cargo.toml, or below one")
    })?)
}

/// The workspace, and the right to change something in it.
struct Started {
    /// The context, with the configuration as it is now that we hold the lock: one from before would
    /// take away what another process was just told to bring.
    sym: Symposium,
    loaded: Loaded,
    _locks: Vec<Lock>,
}

fn start(sym: &Symposium, request: &Request) -> anyhow::Result<Started> {
    let acts = request.mode == Mode::Apply;
    refuse_broken(sym, request)?;
    let loaded = load(sym, request)?;
    let locks = if acts { lock(sym, &loaded.workspace.root, request.caller)? } else { Vec::new() };
    let sym = sym.reread();
    refuse_broken(&sym, request)?;
    opt_out::check(&sym, &loaded.workspace.root, request)?;
    Ok(Started { sym, loaded, _locks: locks })
}

/// What applies to a workspace, and what of it should change in skill folders.
#[derive(Debug)]
pub(crate) struct Known<'r> {
    /// What applies.
    pub facts: Facts<'r>,
    /// The folders that hold skill folders.
    pub parents: Parents,
    /// What should be in them.
    pub chosen: DesiredSkills,
    /// The difference.
    pub plan: Plan,
}

#[cfg(test)]
type AtStep = Box<dyn FnMut(&str)>;

#[cfg(test)]
thread_local! {
    /// Called with the name of each step of a sync in this thread when it is done.
    pub(in crate::sync) static AT: std::cell::RefCell<Option<AtStep>> =
        const { std::cell::RefCell::new(None) };
}

/// Lets a test change something between two steps.
fn reached(step: &str) {
    #[cfg(test)]
    AT.with_borrow_mut(|at| at.iter_mut().for_each(|at| at(step)));
    let _ = step;
}

impl Sync<'_> {
    fn run(&self) -> anyhow::Result<Synced> {
        let (sym, workspace) = (self.sym, &self.loaded.workspace);
        self.tell_workspace();
        let agents = self.request.named.clone().unwrap_or_else(|| configured_agents(sym));
        if agents.is_empty() {
            sym.report.event(&Event::status(
                "Note",
                "no agents are configured: `cargo agents init`, or name one with `--agent`",
            ));
        }
        reached("begin");
        let mut registry = self.registry();
        let observed = std::mem::take(&mut registry.fingerprint);
        reached("registry");
        let Known { facts, chosen, plan, parents } = self.know(&registry, &agents);
        reached("known");
        let mut failed =
            registry.is_stale || chosen.is_stale || chosen.blocked.iter().any(Diagnostic::is_error);
        let mut changes = self.apply(&plan, &mut failed);
        reached("applied");
        let registered = self.register(&agents, &facts, &mut failed)?;
        self.reap(&registered.changes);
        changes.extend(registered.changes);
        reached("registered");
        for change in &changes {
            sym.report.event(&Event::Change(change.clone()));
        }
        let mut synced = Synced {
            summary: summary(&chosen, &facts, &agents),
            plan,
            changes,
            failed,
            root: workspace.root.clone(),
            stored: None,
            candidates: facts.candidates.clone(),
        };
        if self.request.mode != Mode::Plan && self.request.named.is_none() {
            let observed = self.observed(observed, &synced.plan, &parents);
            synced.stored = self.remember(&registry, observed, &facts, &chosen, (&agents, &synced));
            reached("remembered");
            sweep_outdated(sym);
        }
        // The process is nearly over: to give back the memory of hundreds of plugins, piece by piece,
        // would only take time.
        std::mem::forget(facts);
        std::mem::forget(registry);
        Ok(synced)
    }

    /// Gets what takes long before the workspace is locked: nobody shall wait for a program that is
    /// being compiled. Afterwards everything is on disk, or known not to be had.
    fn prefetch(&self) {
        let registry = self.registry();
        let facts = self.gather(&registry);
        let fetcher = Network::new(self.sym);
        let acquirer = Acquirer::new(self.sym, &fetcher);
        for (plugin, hook) in &facts.hooks {
            if let Err(error) = acquirer.hook(plugin, hook, InstallMode::Detached) {
                tracing::warn!("{error}");
            }
        }
        for (plugin, server, _) in &facts.servers {
            if let Err(error) = resolve_server(&acquirer, plugin, server, InstallMode::Detached) {
                tracing::warn!("{error}");
            }
        }
    }

    /// What applies, and what of it should change in skill folders. Nothing is written.
    pub(in crate::sync) fn know<'r>(&self, registry: &'r Registry, agents: &[Agent]) -> Known<'r> {
        let sym = self.sym;
        for source in &registry.sources {
            if let Some(event) = source.event() {
                sym.report.event(&event);
            }
        }
        sym.report.diagnostics(&registry.diagnostics);
        let facts = self.gather(registry);
        let parents = self.parents();
        let disk = observe(&parents.list);
        let mut chosen =
            desired_skills::choose(sym, &facts, agents, (&parents, &disk), &self.observer);
        chosen.wanted.force = self.request.force;
        chosen.wanted.protected = self.protected(&parents, agents);
        chosen.wanted.missing = facts.missing.iter().map(|missing| missing.name.clone()).collect();
        chosen.wanted.unavailable = facts.unavailable.keys().cloned().collect();
        if !chosen.wanted.skills.is_empty() {
            chosen.blocked.extend(self.members_outside());
        }
        let plan = plan(&chosen.wanted, &disk);
        chosen.tell_unread(&facts, &plan);
        sym.report.diagnostics(&chosen.blocked);
        sym.report.diagnostics(&chosen.diagnostics);
        for event in facts.explanations.iter().chain(&chosen.explanations) {
            sym.report.event(event);
        }
        Known { facts, parents, chosen, plan }
    }

    /// Tells of members that lie outside of the workspace's folder (`workspace = "../root"`): an
    /// agent looks for skills where it was started and above, so not there.
    fn members_outside(&self) -> Option<Diagnostic> {
        let Workspace { root, members, .. } = &self.loaded.workspace;
        let outside: Vec<_> = members.iter().filter(|it| !it.dir.starts_with(root)).collect();
        let first = outside.first()?;
        let names: Vec<_> = outside.iter().map(|member| format!("`{}`", member.name)).collect();
        let message = format!(
            "an agent that is started in {} does not see what is installed here, for {} outside of \
             the workspace's folder",
            names.join(", "),
            if names.len() == 1 { "it lies" } else { "they lie" }
        );
        let note = format!("start the agent in {}", self.sym.report.path(root));
        Some(Diagnostic::warning(message).in_file(&first.dir).note(note))
    }

    fn tell_workspace(&self) {
        let workspace = &self.loaded.workspace;
        let mut names: Vec<_> =
            workspace.dependencies.iter().map(|dependency| &dependency.name).collect();
        names.dedup();
        self.sym.report.event(&Event::Workspace {
            root: workspace.root.clone(),
            members: workspace.members.len(),
            dependencies: names.len(),
        });
        self.sym.report.diagnostics(&self.loaded.diagnostics);
    }

    fn refresh(&self) -> Refresh<'static> {
        match self.request.caller {
            Caller::Command => Refresh::for_sync(self.sym),
            Caller::Background => Refresh::for_plugin_sync(self.sym, None),
            Caller::Hook | Caller::Survey => Refresh::cached(),
        }
    }

    /// The plugins that can matter here; all, where people are told of each.
    fn registry(&self) -> Registry {
        let (sym, refresh) = (self.sym, self.refresh());
        if sym.report.explains() {
            return Registry::load(sym, &refresh);
        }
        let dependencies = ByCrate::new(&self.loaded.workspace.dependencies, |known| &known.name);
        let depends = |name: &str| !dependencies.get(name).is_empty();
        Registry::load_for(sym, &refresh, &depends)
    }

    fn gather<'r>(&self, registry: &'r Registry) -> Facts<'r> {
        let (sym, workspace) = (self.sym, &self.loaded.workspace);
        let disk = CrateDisk::new(workspace, &sym.env, &sym.dirs);
        let looks_only = matches!(self.request.caller, Caller::Hook | Caller::Survey);
        let fetching = !looks_only && !sym.options.offline;
        let policy = if looks_only { Policy::cached() } else { Policy::for_sync(&sym.options) };
        let on_disk = disk.clone();
        let crates: Box<dyn CrateSources + '_> = if fetching {
            let fetcher = Fetcher {
                env: &sym.env,
                dirs: &sym.dirs,
                limit: sym.options.timeout,
                offline: sym.options.offline,
            };
            Box::new(OnDemand::new(disk, fetcher, false).telling(&sym.report))
        } else {
            Box::new(disk)
        };
        let crates = crates.as_ref();
        let gatherer = Gatherer {
            sym,
            workspace,
            crates,
            on_disk: &on_disk,
            policy,
            observer: &self.observer,
        };
        let facts = gatherer.gather(registry);
        sym.report.diagnostics(&facts.diagnostics);
        for missing in &facts.missing {
            let crate_ = match (&missing.version, &missing.requirement) {
                (Some(version), _) => format!("{} {version}", missing.name),
                (None, Some(requirement)) => format!("{} {requirement}", missing.name),
                (None, None) => missing.name.clone(),
            };
            let reason = missing.reason.as_deref().unwrap_or("its source is not on this machine");
            sym.report.event(&Event::explain(Kind::Crate, &crate_, Verdict::Unavailable, reason));
            if self.request.caller == Caller::Command {
                sym.report.diagnostic(
                    &Diagnostic::warning(format!("no skills of {crate_}: {reason}"))
                        .note(missing.remedy(workspace, sym.options.offline)),
                );
            }
        }
        facts
    }

    fn parents(&self) -> Parents {
        Parents::of(&self.loaded.workspace.root, self.bounds().as_ref())
    }

    fn bounds(&self) -> Option<Bounds> {
        Bounds::of(&self.loaded.workspace.root, self.sym.env.home().as_deref())
    }

    /// With `--agent`, folders of other configured agents are left as they are.
    fn protected(&self, parents: &Parents, agents: &[Agent]) -> std::collections::BTreeSet<usize> {
        if self.request.named.is_none() {
            return std::collections::BTreeSet::new();
        }
        let configured = self.sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
        configured
            .filter(|agent| !agents.contains(agent))
            .flat_map(|agent| agent.identity().skill_dirs.iter())
            .filter_map(|dir| parents.index(dir))
            .collect()
    }

    fn apply(&self, plan: &Plan, failed: &mut bool) -> Vec<Change> {
        let mut changes = plan.changes();
        if self.request.mode != Mode::Apply {
            return changes;
        }
        folders::remember(self.sym, &self.loaded.workspace.root, plan);
        for done in apply(plan, self.bounds().as_ref()) {
            if let Err(error) = done.result {
                *failed = true;
                self.sym.report.diagnostic(&Diagnostic::error(format!(
                    "can't {} the skill `{}`: {error}",
                    done.step.action.future().to_lowercase(),
                    done.step.name
                )));
                changes.retain(|change| change.name != done.step.name);
            }
        }
        for change in &mut changes {
            change.planned = false;
        }
        self.reap(&changes);
        changes
    }

    /// Folders of ours that became empty go, too.
    fn reap(&self, changes: &[Change]) {
        let takes = |action| matches!(action, Action::Remove | Action::Unregister);
        if self.request.mode == Mode::Apply && changes.iter().any(|change| takes(change.action)) {
            folders::reap(self.sym, &self.loaded.workspace.root);
        }
    }
}

fn summary(chosen: &DesiredSkills, facts: &Facts<'_>, agents: &[Agent]) -> String {
    let count =
        |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if !chosen.wanted.skills.is_empty() {
        parts.push(count(chosen.wanted.skills.len(), "skill"));
    }
    if !facts.servers.is_empty() {
        parts.push(count(facts.servers.len(), "server"));
    }
    if !facts.hooks.is_empty() {
        parts.push(count(facts.hooks.len(), "hook"));
    }
    if parts.is_empty() {
        parts.push("no skills apply".to_owned());
    }
    let names: Vec<_> = agents.iter().map(|agent| agent.name()).collect();
    let whom = match names.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" for {last}"),
        Some((last, rest)) => format!(" for {} and {last}", rest.join(", ")),
    };
    format!("{}{whom}", parts.join(", "))
}
