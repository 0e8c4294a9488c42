//! The part of a sync that tells agents of hooks and servers.

use super::register::register;
use super::setup::Setup;
use super::{Desired, Registered, Registrar};
use super::{opt_out, servers};
use crate::Symposium;
use crate::agents::Agent;
use crate::plugins::source::SourceKind;
use crate::sync::facts::Facts;
use crate::sync::request::{Caller, Mode, Sync, configured_agents, refuse_broken};
use crate::text::Diagnostic;

impl Sync<'_> {
    /// Hooks and servers of the configured agents. `--agent` places skills only.
    pub(in crate::sync) fn register(
        &self,
        agents: &[Agent],
        facts: &Facts<'_>,
        failed: &mut bool,
    ) -> anyhow::Result<Registered> {
        if self.request.named.is_some() || self.request.mode == Mode::Look {
            return Ok(Registered::default());
        }
        let (sym, root) = (self.sym, &self.loaded.workspace.root);
        let setup = Setup::new(sym, Some(root), self.is_for_the_user())?;
        let apply = self.request.mode == Mode::Apply;
        let (mut registrar, diagnostics) = Registrar::open(sym, Some(root), apply);
        sym.report.diagnostics(&diagnostics);
        if self.request.caller == Caller::Hook {
            registrar.for_hook();
        }
        let (desired, notes) = self.desired_entries(agents, facts, &setup, &registrar);
        if self.request.caller == Caller::Command {
            sym.report.diagnostics(&notes);
        }
        if registrar.begin().is_ok()
            && let Some(sym) = self.overtaken()?
        {
            drop(registrar);
            let anew = Sync::new(&sym, self.request, self.loaded);
            return anew.register(&configured_agents(&sym), facts, failed);
        }
        let registered = register(&setup, &mut registrar, desired, agents, apply);
        *failed |= registered.failed();
        sym.report.diagnostics(&registered.diagnostics);
        Ok(registered)
    }

    /// The context as it is by now, when other agents were configured since this began.
    fn overtaken(&self) -> anyhow::Result<Option<Symposium>> {
        opt_out::check(self.sym, &self.loaded.workspace.root, self.request)?;
        let now = self.sym.reread();
        let choice = |sym: &Symposium| (sym.config.agents.clone(), sym.config.hook_scope);
        if self.request.mode != Mode::Apply || choice(&now) == choice(self.sym) {
            return Ok(None);
        }
        refuse_broken(&now, self.request)?;
        Ok(Some(now))
    }

    /// The hooks and servers that should be registered, and what people should know of them.
    pub(in crate::sync) fn desired_entries(
        &self,
        agents: &[Agent],
        facts: &Facts<'_>,
        setup: &Setup<'_>,
        registrar: &Registrar<'_>,
    ) -> (Desired, Vec<Diagnostic>) {
        let mut desired = Desired::default();
        let notes = setup.hooks(&mut desired, agents, registrar.ledgers(), self.request.sweep);
        // Which server came from which source is not recorded. A repository that was never fetched
        // brought none, one that was fetched stays in the cache.
        if facts.unavailable.values().any(|kind| *kind == SourceKind::Path) {
            let known: Vec<&str> =
                facts.servers.iter().map(|(_, server, _)| server.name.as_str()).collect();
            registrar.keep_servers_beside(&mut desired, &known);
        }
        let mode = self.install_mode();
        servers::desired_entries(setup, registrar, &facts.servers, agents, mode, &mut desired);
        (desired, notes)
    }
}
