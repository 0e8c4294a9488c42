//! One sync, from start to end.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::candidates::told_absent;
use super::facts::{Facts, Gatherer, Waiting};
use super::lockfile::take_inventory;
use super::placing::apply::apply_and_tell;
use super::placing::desired_skills::{self, DesiredSkills};
use super::placing::folders;
use super::placing::observe::observe;
use super::placing::parents::Parents;
use super::placing::plan::{Plan, plan};
use super::placing::reasons::{Inquest, by_hand};
use super::programs::{prefetch, prepare, tell_unprepared};
use super::registration::{lock::lock, opt_out, register::register_for_sync};
use super::request::{
    Caller, Mode, Request, SyncContext, Synced, configured_agents, refuse_broken,
};
use super::snapshot::remember::{Observed, remember};
use super::summary::summary;
use crate::Symposium;
use crate::agents::Agent;
use crate::files::Lock;
use crate::installations::{FoundPrograms, sweep_outdated};
use crate::plugins::registry::{Briefly, Registry};
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
        let loaded = load(sym, request)?;
        let sync = SyncContext::new(sym, request, &loaded);
        let registry = load_registry(&sync);
        prefetch(&sync, &gather(&sync, &registry));
    }
    let started = start(sym, request)?;
    run(&SyncContext::new(&started.sym, request, &started.loaded))
}

/// As [`sync`], but for the case that another process did it while we waited for the lock: then
/// `is_current` says so, and there is nothing to do.
pub(in crate::sync) fn sync_unless(
    sym: &Symposium,
    request: &Request,
    is_current: impl FnOnce() -> bool,
) -> anyhow::Result<Option<Synced>> {
    let started = start(sym, request)?;
    if is_current() {
        return Ok(None);
    }
    run(&SyncContext::new(&started.sym, request, &started.loaded)).map(Some)
}

/// What applies where the request begins, were no workspace there: what is for all of them.
pub(in crate::sync) fn look_beyond(sym: &Symposium, request: &Request) -> anyhow::Result<Synced> {
    run(&SyncContext::new(sym, request, &Loaded::unknown(request.start.clone())))
}

pub(super) fn load(sym: &Symposium, request: &Request) -> anyhow::Result<Loaded> {
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
    let mut sym = sym.reread();
    sym.enter(&loaded.workspace.root);
    refuse_broken(&sym, request)?;
    opt_out::check(&sym, &loaded.workspace.root, request)?;
    Ok(Started { sym, loaded, _locks: locks })
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

fn run(sync: &SyncContext<'_>) -> anyhow::Result<Synced> {
    let (sym, mode) = (sync.sym, sync.request.mode);
    tell_workspace(sync);
    let agents = agents(sync);
    let found_programs = FoundPrograms::keep(sym);
    reached("begin");
    let mut registry = load_registry(sync);
    let sources = std::mem::take(&mut registry.fingerprint);
    reached("registry");
    let Planned { facts, chosen, plan, parents } = plan_skills(sync, &registry, &agents);
    reached("planned");
    if let Some(lock) = &sync.request.locked {
        lock.hold(sym, &take_inventory(sym, &registry, &facts).lock)?;
    }
    let mut failed =
        registry.is_stale || chosen.is_stale || chosen.blocked.iter().any(Diagnostic::is_error);
    let mut changes = plan.changes();
    if mode == Mode::Apply {
        folders::remember(sym, sync.root(), &plan);
        failed |= apply_and_tell(sym, &plan, sync.bounds().as_ref(), &mut changes);
        remove_empty_folders(sync, &changes);
    }
    reached("applied");
    let keeps = mode != Mode::Plan && sync.request.named.is_none();
    let prepared = if keeps { prepare(sync, &facts) } else { Vec::new() };
    let registered = register_for_sync(sync, &agents, &facts)?;
    failed |= registered.failed();
    remove_empty_folders(sync, &registered.changes);
    changes.extend(registered.changes);
    reached("registered");
    for change in &changes {
        sym.report.event(&Event::Change(change.clone()));
    }
    if sync.request.caller == Caller::Command {
        Waiting::events(&facts.waiting).iter().for_each(|event| sym.report.event(event));
    }
    let mut synced = Synced {
        summary: summary(
            (&chosen, &facts),
            &agents,
            &registered.nowhere,
            keeps.then_some(&prepared[..]),
        ),
        plan,
        changes,
        failed,
        root: sync.root().to_path_buf(),
        stored: None,
        to_commit: registered.shared,
        candidates: facts.candidates.clone(),
        suggestions: facts.suggestions.clone(),
    };
    if keeps {
        let observed = Observed::by(sync, sources, &synced.plan, &parents);
        let done = (&agents[..], &synced, &prepared[..]);
        synced.stored = remember(sync, &registry, observed, &facts, &chosen, done);
        // Events do not try what failed to be installed again, so the snapshot does not say so.
        synced.failed |= tell_unprepared(sync, &facts, &prepared);
        reached("remembered");
        if mode == Mode::Apply && sync.request.caller == Caller::Command {
            registry.forget_others(&sym.dirs);
        }
        drop(found_programs);
        sweep_outdated(sym);
    }
    Ok(synced)
}

/// Those that it is for.
fn agents(sync: &SyncContext<'_>) -> Vec<Agent> {
    let agents = sync.request.named.clone().unwrap_or_else(|| configured_agents(sync.sym));
    if agents.is_empty() {
        sync.sym.report.event(&Event::status(
            "Note",
            "no agents are configured: `cargo agents init`, or name one with `--agent`",
        ));
    }
    agents
}

fn tell_workspace(sync: &SyncContext<'_>) {
    let workspace = &sync.loaded.workspace;
    let mut names: Vec<_> =
        workspace.dependencies.iter().map(|dependency| &dependency.name).collect();
    names.dedup();
    sync.sym.report.event(&Event::Workspace {
        root: workspace.root.clone(),
        members: workspace.members.len(),
        dependencies: names.len(),
    });
    sync.sym.report.diagnostics(&sync.loaded.diagnostics);
}

/// The plugins that can matter here; all, where people are told of each.
pub(super) fn load_registry(sync: &SyncContext<'_>) -> Registry {
    let sym = sync.sym;
    let refresh = match sync.request.caller {
        Caller::Command => Refresh::for_sync(sym),
        Caller::Background => Refresh::for_plugin_sync(sym, None),
        Caller::Hook | Caller::Survey => Refresh::cached(),
        Caller::Audit => Refresh::for_command(sym).without_a_trace(),
    };
    let (choices, root) = (&sym.config.plugins, Some(sync.root()));
    let mut registry = if sym.report.explains() {
        Registry::load(sym, &refresh)
    } else {
        let dependencies = ByCrate::new(&sync.loaded.workspace.dependencies, |known| &known.name);
        let matters =
            |name: &str| !dependencies.get(name).is_empty() || choices.is_used(name, root);
        Registry::load_for(sym, &refresh, &matters)
    };
    registry.wake(choices, root);
    registry
}

/// What applies to a workspace, and what of it should change in skill folders.
#[derive(Debug)]
pub(crate) struct Planned<'r> {
    /// What applies.
    pub facts: Facts<'r>,
    /// The folders that hold skill folders.
    pub parents: Parents,
    /// What should be in them.
    pub chosen: DesiredSkills,
    /// The difference.
    pub plan: Plan,
}

/// Nothing is written.
pub(in crate::sync) fn plan_skills<'r>(
    sync: &SyncContext<'_>,
    registry: &'r Registry,
    agents: &[Agent],
) -> Planned<'r> {
    let sym = sync.sym;
    for source in &registry.sources {
        if let Some(event) = source.event() {
            sym.report.event(&event);
        }
    }
    let mut briefly = Briefly::new(&sym.report, registry);
    briefly.tell(&registry.diagnostics);
    let facts = gather(sync, registry);
    briefly.tell(&facts.diagnostics);
    let parents = Parents::of(sync.root(), sync.bounds().as_ref(), &sym.env);
    let mut disk = observe(&parents.list);
    folders::recognise_remainders(sym, sync.root(), &parents.list, &mut disk);
    let mut chosen = desired_skills::choose(sym, &facts, agents, (&parents, &disk), &sync.observer);
    chosen.wanted.force = sync.request.force;
    chosen.wanted.protected = protected(sync, &parents, agents);
    chosen.wanted.missing = facts.missing.iter().map(|missing| missing.name.clone()).collect();
    chosen.wanted.unavailable = unavailable(sym, &facts);
    if !chosen.wanted.skills.is_empty() {
        chosen.blocked.extend(members_outside(sync));
    }
    chosen.wanted.by_hand_for = by_hand_for(sync, &parents, agents);
    let workspace = &sync.loaded.workspace;
    let inquest = Inquest {
        sym,
        workspace,
        registry,
        facts: &facts,
        chosen: &chosen,
        parents: &parents,
        agents,
        observer: &sync.observer,
    };
    chosen.wanted.fates = inquest.fates(&disk);
    if sync.request.caller == Caller::Command {
        for placed in by_hand(&chosen.wanted) {
            let told = format!("{}; {}", placed.told(), placed.remedy());
            sym.report.event(&Event::status("Note", told));
        }
    }
    let plan = plan(&chosen.wanted, &disk);
    chosen.tell_unread(&facts, &plan);
    if sync.request.mode == Mode::Plan {
        chosen.blocked.extend(folders::unwritable(&plan));
    }
    briefly.finish();
    sym.report.diagnostics(chosen.blocked.iter().chain(&chosen.diagnostics));
    for event in facts.explanations.iter().chain(&chosen.explanations) {
        sym.report.event(event);
    }
    Planned { facts, parents, chosen, plan }
}

/// Tells of members that lie outside of the workspace's folder (`workspace = "../root"`): an
/// agent looks for skills where it was started and above, so not there.
fn members_outside(sync: &SyncContext<'_>) -> Option<Diagnostic> {
    let Workspace { root, members, .. } = &sync.loaded.workspace;
    let outside: Vec<_> = members.iter().filter(|it| !it.dir.starts_with(root)).collect();
    let first = outside.first()?;
    let names: Vec<_> = outside.iter().map(|member| format!("`{}`", member.name)).collect();
    let message = format!(
        "an agent that is started in {} does not see what is installed here, for {} outside of \
         the workspace's folder",
        names.join(", "),
        if names.len() == 1 { "it lies" } else { "they lie" }
    );
    let note = format!("start the agent in {}", sync.sym.report.path(root));
    Some(Diagnostic::warning(message).in_file(&first.dir).note(note))
}

pub(super) fn gather<'r>(sync: &SyncContext<'_>, registry: &'r Registry) -> Facts<'r> {
    let (sym, workspace) = (sync.sym, &sync.loaded.workspace);
    let on_disk = CrateDisk::new(workspace, &sym.env, &sym.dirs);
    let looks_only = matches!(sync.request.caller, Caller::Hook | Caller::Survey);
    let policy = sync.policy();
    let on_demand = (!looks_only).then(|| {
        let fetcher = Fetcher {
            env: &sym.env,
            dirs: &sym.dirs,
            limit: sym.options.timeout,
            offline: sym.options.offline,
        };
        OnDemand::new(on_disk.clone(), fetcher, false).telling(&sym.report)
    });
    let crates: &dyn CrateSources = match &on_demand {
        Some(on_demand) => on_demand,
        None => &on_disk,
    };
    let observer = &sync.observer;
    let gatherer = Gatherer { sym, workspace, crates, on_disk: &on_disk, policy, observer };
    let facts = gatherer.gather(registry);
    if sync.request.caller == Caller::Command {
        on_demand.iter().for_each(|sources| sym.report.diagnostics(&sources.made_do()));
    }
    for missing in &facts.missing {
        let crate_ = match (&missing.version, &missing.requirement) {
            (Some(version), _) => format!("{} {version}", missing.name),
            (None, Some(requirement)) => format!("{} {requirement}", missing.name),
            (None, None) => missing.name.clone(),
        };
        let reason = missing.reason.as_deref().unwrap_or("its source is not on this machine");
        sym.report.event(&Event::explain(Kind::Crate, &crate_, Verdict::Unavailable, reason));
        if sync.request.caller == Caller::Command {
            sym.report.diagnostic(
                &Diagnostic::warning(format!("no skills of {crate_}: {reason}"))
                    .note(missing.remedy(workspace, sym.options.offline)),
            );
        }
    }
    if sync.request.caller == Caller::Command {
        for (told, remedy) in told_absent(&facts.absent) {
            sym.report.event(&Event::status("Note", format!("{told}; {remedy}")));
        }
    }
    facts
}

/// The sources of which it is not known what they bring, each with why.
fn unavailable(sym: &Symposium, facts: &Facts<'_>) -> BTreeMap<String, String> {
    let sources = facts.unavailable.iter().map(|(name, lack)| {
        let why = match &lack.gap {
            Some(gap) => {
                format!("not all of its source `{name}` can be read: {}", sym.report.path(gap))
            }
            None => format!("its source `{name}` can't be read now"),
        };
        (name.clone(), why)
    });
    sources.collect()
}

/// With `--agent`, folders of other configured agents are left as they are.
fn protected(sync: &SyncContext<'_>, parents: &Parents, agents: &[Agent]) -> BTreeSet<usize> {
    if sync.request.named.is_none() {
        return BTreeSet::new();
    }
    let configured = sync.sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
    parents.read_by(configured.filter(|agent| !agents.contains(agent)))
}

/// With `--agent`, the agents that a person places skills for though they are not configured, for each
/// folder that no configured agent reads.
fn by_hand_for(
    sync: &SyncContext<'_>,
    parents: &Parents,
    agents: &[Agent],
) -> BTreeMap<usize, Vec<String>> {
    let mut folders: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    if sync.request.named.is_none() {
        return folders;
    }
    let configured = sync.sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
    let theirs = parents.read_by(configured);
    for agent in agents {
        for index in parents.read_by([*agent]).difference(&theirs) {
            folders.entry(*index).or_default().push(agent.name().to_owned());
        }
    }
    folders
}

/// Folders of ours that became empty go, too.
fn remove_empty_folders(sync: &SyncContext<'_>, changes: &[Change]) {
    let takes = |action| matches!(action, Action::Remove | Action::Unregister);
    if sync.request.mode == Mode::Apply && changes.iter().any(|change| takes(change.action)) {
        folders::reap(sync.sym, sync.root());
    }
}
