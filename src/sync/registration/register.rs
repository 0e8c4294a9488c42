//! Hooks, servers and trust in the agents' files, in the order that leaves nothing behind.

use symposium_hook::Event;

use super::created::CreatedByUs;
use super::desired::Consent;
use super::hook_files::{HookFiles, describe};
use super::setup::Setup;
use super::{Desired, LedgerKind, Registered, Registrar, hooks, opt_out, servers, trust};
use crate::Symposium;
use crate::agents::Agent;
use crate::config::Config;
use crate::report::{Action, Verdict};
use crate::sync::facts::{Facts, PluginFate};
use crate::sync::request::{Caller, Mode, SyncContext, configured_agents, refuse_broken};
use crate::text::Diagnostic;

/// A sync's hooks and servers, for the configured agents. `--agent` places skills only.
pub(in crate::sync) fn register_for_sync(
    sync: &SyncContext<'_>,
    agents: &[Agent],
    facts: &Facts<'_>,
) -> anyhow::Result<Registered> {
    let SyncContext { sym, request, .. } = sync;
    if request.named.is_some() || request.mode == Mode::Look {
        return Ok(Registered::default());
    }
    let setup = Setup::new(sym, Some(sync.root()), sync.is_for_the_user())?;
    let apply = request.mode == Mode::Apply;
    let (mut registrar, diagnostics) = Registrar::open(sym, Some(sync.root()), apply);
    sym.report.diagnostics(&diagnostics);
    if request.caller == Caller::Hook {
        registrar.for_hook();
    }
    let (desired, notes) = desired_by_sync(sync, agents, facts, &setup, &registrar);
    if request.caller == Caller::Command {
        sym.report.diagnostics(&notes);
    }
    if registrar.begin().is_ok()
        && let Some(sym) = reconfigured(sync)?
    {
        drop(registrar);
        let anew = SyncContext::new(&sym, request, sync.loaded);
        return register_for_sync(&anew, &configured_agents(&sym), facts);
    }
    let mut registered = register(&setup, &mut registrar, desired, agents, apply);
    servers::explain(&mut registered.changes, facts, agents, (sym, &sync.loaded.workspace));
    sym.report.diagnostics(&registered.diagnostics);
    Ok(registered)
}

/// The context as it is by now, when it was configured otherwise since the sync began.
fn reconfigured(sync: &SyncContext<'_>) -> anyhow::Result<Option<Symposium>> {
    opt_out::check(sync.sym, sync.root(), sync.request)?;
    let now = sync.sym.reread();
    let choice = |sym: &Symposium| {
        let Config { agents, hook_scope, register_mcp, .. } = &sym.config;
        (agents.clone(), *hook_scope, *register_mcp)
    };
    if sync.request.mode != Mode::Apply || choice(&now) == choice(sync.sym) {
        return Ok(None);
    }
    refuse_broken(&now, sync.request)?;
    Ok(Some(now))
}

/// The hooks and servers that a sync registers, and what people should know of them.
pub(in crate::sync) fn desired_by_sync(
    sync: &SyncContext<'_>,
    agents: &[Agent],
    facts: &Facts<'_>,
    setup: &Setup<'_>,
    registrar: &Registrar<'_>,
) -> (Desired, Vec<Diagnostic>) {
    let mut plugins = facts.plugins.iter().filter(|fate| fate.verdict != Verdict::Shadowed);
    let wants =
        |fate: &PluginFate<'_>| fate.plugin.hooks.iter().any(|hook| hook.event == Event::Stop);
    let stop = plugins.any(wants);
    let may_serve = facts.unavailable.values().any(|lack| lack.may_serve);
    // What a source wants that is away is not known.
    if stop || !may_serve {
        setup.note_stop(stop);
    }
    let (mut desired, notes) =
        hooks::configured(setup, agents, registrar.ledgers(), sync.request.sweep);
    // Which server came from which source is not recorded.
    if may_serve {
        let applies = |name: &str| facts.servers.iter().any(|(_, server, _)| server.name == name);
        servers::keep(registrar, &mut desired, |name| !applies(name));
    }
    servers::add_own(setup, agents, &mut desired);
    let mode = sync.install_mode();
    servers::add_applicable(setup, registrar, &facts.servers, agents, mode, &mut desired);
    (desired, notes)
}

/// Carries out `desired`, and brings trust in step with it. `agents` are those whose hooks stay at the
/// configured scope.
pub(crate) fn register(
    setup: &Setup<'_>,
    registrar: &mut Registrar<'_>,
    desired: Desired,
    agents: &[Agent],
    apply: bool,
) -> Registered {
    if let Err(busy) = registrar.begin() {
        return Registered { diagnostics: vec![busy], ..Registered::default() };
    }
    let nowhere = desired.nowhere();
    let mut created = CreatedByUs::default();
    let ledgers = registrar.ledgers();
    for ledger in LedgerKind::ALL.into_iter().filter_map(|which| ledgers.of(which)) {
        created.collect(setup.symposium(), ledger);
    }
    if apply {
        created.sweep();
    }
    let mut before = None;
    let mut registered =
        registrar.carry_out_after(desired, &mut || before = Some(HookFiles::of(setup)));
    // Where nothing was written, they are as they were.
    let before = || before.unwrap_or_else(|| HookFiles::of(setup));
    describe(before, setup, (agents, setup.scope), &mut registered.changes);
    // Trust is about where hooks stand, so it follows them.
    registered.extend(trust::reconcile(setup, registrar, agents, Consent::AsGiven));
    if apply && registered.changes.iter().any(|change| change.action == Action::Unregister) {
        // What held several things of ours that went one by one is empty only now.
        created.tidy(setup.symposium(), setup.root());
    }
    registered.nowhere = nowhere;
    registered
}
