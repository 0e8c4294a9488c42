//! Codex runs a hook only once the user trusts it: whether to ask, and what follows the answer.
//!
//! How trust is written and taken back is `sync::registration::trust`'s business.

use std::path::Path;

use crate::Symposium;
use crate::agents::Agent;
use crate::config::HookScope;
use crate::report::{Change, Event};
use crate::sync::registration::Registrar;
use crate::sync::registration::desired::Consent;
use crate::sync::registration::lock::{self, RegistrationLock};
use crate::sync::registration::setup::Setup;
use crate::sync::registration::trust;

const AGENT: Agent = Agent::Codex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrustChoice {
    Give,
    /// It is not; where it is missing, people are told how to give it.
    Remind,
}

/// Why the user should be asked; `None` where there is nothing to ask: Codex is not among `agents`,
/// no hooks will be registered here, or what is registered is trusted.
pub(super) fn is_open(
    sym: &Symposium,
    agents: &[String],
    scope: HookScope,
) -> anyhow::Result<Option<&'static str>> {
    if !agents.iter().any(|name| name == AGENT.name()) {
        return Ok(None);
    }
    let root = workspace(sym);
    if scope == HookScope::Project && root.is_none() {
        return Ok(None);
    }
    let setup = Setup::new(sym, root.as_deref(), false)?;
    let mut settled = false;
    let mut why = None;
    setup.each_placement(&mut |agent, placement| {
        if agent == AGENT && placement.scope == scope {
            let standing = trust::standing(&setup, agent, placement);
            settled |= standing.as_ref().is_some_and(|it| it.given || it.untrusted == Some(0));
            why = standing.map(|it| it.why);
        }
    });
    Ok(why.filter(|_| !settled))
}

/// Gives trust, or says how to. Says whether something failed.
pub(super) fn follow(
    sym: &Symposium,
    root: Option<&Path>,
    choice: TrustChoice,
    tell: &mut dyn FnMut(Change),
) -> anyhow::Result<bool> {
    if !known_agents(sym).contains(&AGENT) {
        if choice == TrustChoice::Give {
            sym.report.warn("codex is not among your agents, so there are no hooks to trust");
        }
        return Ok(false);
    }
    let setup = Setup::new(sym, root, false)?;
    let mut failed = false;
    if choice == TrustChoice::Give {
        let _registration = RegistrationLock::beside_others(sym, lock::LOCK_TIMEOUT)?;
        let (mut registrar, _) = Registrar::open(sym, root, true);
        registrar.under_callers_lock();
        let trusted = trust::reconcile(&setup, &mut registrar, &known_agents(sym), Consent::Yes);
        failed = trusted.failed();
        sym.report.diagnostics(&trusted.diagnostics);
        trusted.changes.into_iter().for_each(tell);
    }
    setup.each_placement(&mut |agent, placement| {
        if agent == AGENT && placement.scope == sym.config.hook_scope {
            let standing = trust::standing(&setup, agent, placement);
            if let Some(standing) = standing.filter(|it| it.untrusted.unwrap_or(0) > 0) {
                let remedy = format!("{} To let it, {}.", standing.why, standing.by_hand);
                sym.report.event(&Event::status("Note", remedy));
            }
        }
    });
    Ok(failed)
}

fn known_agents(sym: &Symposium) -> Vec<Agent> {
    sym.config.agents.iter().filter_map(|name| Agent::from_name(name)).collect()
}

fn workspace(sym: &Symposium) -> Option<std::path::PathBuf> {
    crate::workspace::locate(sym.env.cwd()?, &sym.env).ok().flatten()
}
