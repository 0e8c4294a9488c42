//! `cargo agents init`.

mod ask;

use crate::report::ExitCode;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::CommandResult;
use super::ask::tell_candidates;
use super::codex_trust::{self, TrustChoice};
use super::grammar::InitArgs;
use super::sync::{in_part, tell_what_to_commit};
use super::team::{self, Settled};
use super::terminal::INTERRUPTED;
use super::uninstall;
use crate::Symposium;
use crate::agents::Agent;
use crate::config::{AutoUpdate, Config, ConfigState, HookScope};
use crate::documents::Outcome;
use crate::documents::user_config::{self, UserConfig};
use crate::files::{Lock, LockError};
use crate::report::{Action, Change, Event, Kind};
use crate::sync::registration::lock::RegistrationLock;
use crate::sync::registration::register::register;
use crate::sync::registration::setup::Setup;
use crate::sync::registration::{Registrar, hooks, servers};
use crate::sync::{Mode, Request, Sweep, Synced, configured_agents, forget_leaving, remove, sync};
use crate::text::Diagnostic;
use ask::Asked;

/// How long another `init` may take.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);

/// The configuration's key that says whether our own MCP server is registered.
const REGISTER_MCP: &str = "mcp.register";

#[derive(Debug, Clone, PartialEq)]
struct Choices {
    agents: Agents,
    /// `None`: as it is.
    scope: Option<HookScope>,
    /// `None`: as it is.
    auto_update: Option<AutoUpdate>,
    /// Whether our own MCP server is wanted; `None`: as it is.
    mcp: Option<bool>,
    trust: TrustChoice,
}

#[derive(Debug, Clone, PartialEq)]
enum Agents {
    Exactly(Vec<String>),
    /// Those that are by then, with some more and some less: another `init` may be at work.
    Changed {
        added: Vec<String>,
        removed: Vec<String>,
    },
}

impl Agents {
    /// The names, where `now` are configured.
    fn of(&self, now: Vec<String>) -> Vec<String> {
        match self {
            Self::Exactly(names) => names.clone(),
            Self::Changed { added, removed } => now
                .into_iter()
                .chain(added.clone())
                .filter(|name| !removed.contains(name))
                .collect(),
        }
    }
}

pub(super) fn run(sym: &mut Symposium, args: &InitArgs) -> CommandResult {
    check_preconditions(sym)?;
    let choices = if args.is_empty() {
        match ask::ask(sym)? {
            Asked::Chosen(choices) => choices,
            Asked::Cancelled => return Ok(cancelled(sym, ExitCode::FAILURE)),
            Asked::Interrupted => return Ok(cancelled(sym, ExitCode::from(INTERRUPTED))),
        }
    } else {
        choose(sym, args)?
    };
    if team::settle(sym, &args.team, Mode::Apply)? == Settled::Interrupted {
        return Ok(cancelled(sym, ExitCode::from(INTERRUPTED)));
    }
    // The clock does not run while people think.
    let start = Instant::now();
    super::record_start(sym, "init");
    // What is registered is what the configuration says by then, not what it said meanwhile.
    let lock = acquire_lock(sym)?;
    let before = Config::load(&sym.dirs).config;
    let saved = {
        let _registration = RegistrationLock::alone(sym)?;
        save(sym, &choices)?
    };
    *sym = sym.reread();
    let mut tally = Tally::default();
    if saved != Outcome::Unchanged {
        tally.tell(sym, config_change(sym));
    }
    if sym.config.agents.is_empty() && !before.agents.is_empty() {
        return uninstall::last_agent(sym, start);
    }
    if sym.config.agents.is_empty() && args.is_empty() {
        let summary = "no agents were chosen, so nothing was changed";
        sym.report.finished(start, summary, Change::count(&tally.changes), false);
        return Ok(tally.code());
    }
    forget_leaving(sym, None);
    let asked = args.is_empty() || args.hook_scope.is_some();
    let sweep = if asked { Sweep::Everything } else { Sweep::Recorded };
    let init = Init { sym, sweep, start, asks: args.is_empty() };
    let (code, synced) = init.register(before.hook_scope, choices.trust, tally)?;
    // Others need not wait while people think.
    drop(lock);
    match synced.filter(|_| args.is_empty()) {
        None => Ok(code),
        Some(synced) => {
            let request = Request { start: synced.root.clone(), ..Request::default() };
            let failed = |synced: Synced| synced.failed;
            Ok(match super::sync::settle(sym, &request, synced)?.map(failed) {
                None => ExitCode::from(INTERRUPTED),
                Some(true) => ExitCode::FAILURE,
                Some(false) => code,
            })
        }
    }
}

/// What would go wrong later goes wrong now, before anybody is asked anything.
fn check_preconditions(sym: &Symposium) -> Result<(), Diagnostic> {
    if sym.config_state == ConfigState::Broken {
        return Err(Diagnostic::error("the configuration can't be read, so it is not changed")
            .in_file(sym.dirs.config_file())
            .note("mend it (or move it away) and run `cargo agents init` again"));
    }
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    if sym.env.var(variable).is_none() {
        return Err(Diagnostic::error(format!("{variable} is not set"))
            .note("agents' files are in the home folder, and only you know which that is")
            .note(format!("set {variable} and run `cargo agents init` again")));
    }
    Ok(())
}

/// One `init` at a time. Where no lock file can be made we go on without.
fn acquire_lock(sym: &Symposium) -> anyhow::Result<Option<Lock>> {
    match Lock::acquire(&sym.dirs.locks().join("init.lock"), LOCK_TIMEOUT) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Io { .. }) => Ok(None),
        Err(error @ LockError::Busy { .. }) => Err(Diagnostic::error(error.to_string())
            .note("another `cargo agents init` is at work; nothing was changed")
            .into()),
    }
}

fn cancelled(sym: &Symposium, code: ExitCode) -> ExitCode {
    sym.report.event(&Event::status("Cancelled", "nothing was changed"));
    code
}

fn choose(sym: &Symposium, args: &InitArgs) -> anyhow::Result<Choices> {
    for name in &args.add_agent {
        Agent::from_name(name).ok_or_else(|| Agent::unknown(name))?;
        if args.remove_agent.contains(name) {
            return Err(
                Diagnostic::error(format!("`{name}` can't be both added and removed")).into()
            );
        }
    }
    for name in &args.remove_agent {
        // A name that we do not know any more can be removed, too.
        let known = sym.config.agents.contains(name) || Agent::from_name(name).is_some();
        if !known {
            return Err(Agent::unknown(name).into());
        }
    }
    let (added, removed) = (args.add_agent.clone(), args.remove_agent.clone());
    let agents = Agents::Changed { added, removed };
    let trust = if args.trust_codex_hooks { TrustChoice::Give } else { TrustChoice::Remind };
    let mcp = (args.mcp || args.no_mcp).then_some(args.mcp);
    Ok(Choices { agents, scope: args.hook_scope, auto_update: None, mcp, trust })
}

/// Writes what was chosen; what is there already stays as it is written.
fn save(sym: &Symposium, choices: &Choices) -> Result<Outcome, Diagnostic> {
    let scope = choices.scope.map(HookScope::name);
    let update = choices.auto_update.map(|update| match update {
        AutoUpdate::On => "on",
        AutoUpdate::Warn => "warn",
        AutoUpdate::Off => "off",
    });
    user_config::edit(&sym.dirs, &mut |config: &mut UserConfig| {
        for (key, value) in [("hook-scope", scope), ("auto-update", update)] {
            if let Some(value) = value
                && config.get(key)?.is_none_or(|now| now != value)
            {
                config.set_value(key, &value.into())?;
            }
        }
        if let Some(register) = choices.mcp {
            let now = config.get(REGISTER_MCP)?;
            // Where nothing is written it is not registered.
            if now != Some(register.into()) && (register || now.is_some()) {
                config.set_value(REGISTER_MCP, &register.into())?;
            }
        }
        let now = config.agent_names()?;
        config.set_agents(&choices.agents.of(now))
    })
    .map_err(|error| error.note("nothing was registered"))
}

fn config_change(sym: &Symposium) -> Change {
    Change::new(Action::Update, Kind::File, sym.report.path(&sym.dirs.config_file()))
}

/// What was done and told so far.
#[derive(Debug, Default)]
struct Tally {
    changes: Vec<Change>,
    failed: bool,
}

impl Tally {
    fn tell(&mut self, sym: &Symposium, change: Change) {
        sym.report.event(&Event::Change(change.clone()));
        self.changes.push(change);
    }

    fn code(&self) -> ExitCode {
        if self.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

/// The configuration says what is wanted; this brings it about.
struct Init<'a> {
    sym: &'a Symposium,
    sweep: Sweep,
    start: Instant,
    /// Whether people are asked what they want.
    asks: bool,
}

impl Init<'_> {
    fn register(
        &self,
        was: HookScope,
        trust: TrustChoice,
        mut tally: Tally,
    ) -> anyhow::Result<(ExitCode, Option<Synced>)> {
        let sym = self.sym;
        let root = self.root(&mut tally);
        if let Some(root) = root.as_deref().filter(|_| was != sym.config.hook_scope) {
            let removed = remove::remove_from_project(sym, root)?;
            tally.failed |= removed.failed;
            removed.changes.into_iter().for_each(|change| tally.tell(sym, change));
        }
        let synced = match &root {
            Some(root) => self.sync(root, &mut tally),
            None => None,
        };
        if synced.is_none() {
            self.register_alone(&mut tally)?;
        }
        codex_trust::follow(sym, root.as_deref(), trust, &mut |change| tally.tell(sym, change))
            .map(|failed| tally.failed |= failed)?;
        self.finish(synced.as_ref(), &tally);
        Ok((tally.code(), synced))
    }

    /// The workspace that this runs in. One that can't be read is no reason not to register hooks.
    fn root(&self, tally: &mut Tally) -> Option<PathBuf> {
        crate::workspace::locate(self.sym.env.cwd()?, &self.sym.env).unwrap_or_else(|error| {
            super::errors::fail(&self.sym.report, &error.into());
            tally.failed = true;
            None
        })
    }

    /// Syncs the workspace, hooks included; `None` when that could not be begun.
    fn sync(&self, root: &Path, tally: &mut Tally) -> Option<Synced> {
        let request =
            Request { start: root.to_path_buf(), sweep: self.sweep, ..Request::default() };
        match sync(self.sym, &request) {
            Ok(synced) => {
                tally.failed |= synced.failed;
                tally.changes.extend(synced.changes.iter().cloned());
                Some(synced)
            }
            Err(error) => {
                super::errors::fail(&self.sym.report, &error);
                tally.failed = true;
                None
            }
        }
    }

    /// Registers hooks and the servers of every workspace outside any. Servers of agents that stay,
    /// stay.
    fn register_alone(&self, tally: &mut Tally) -> anyhow::Result<()> {
        let sym = self.sym;
        let setup = Setup::new(sym, None, true)?;
        let (mut registrar, diagnostics) = Registrar::open(sym, None, true);
        sym.report.diagnostics(&diagnostics);
        let agents = configured_agents(sym);
        let (mut desired, notes) =
            hooks::configured(&setup, &agents, registrar.ledgers(), self.sweep);
        servers::keep(&registrar, &mut desired, |_| true);
        servers::add_own(&setup, &agents, &mut desired);
        servers::add_everywhere(&setup, &registrar, &agents, &mut desired);
        sym.report.diagnostics(&notes);
        let registered = register(&setup, &mut registrar, desired, &agents, true);
        sym.report.diagnostics(&registered.diagnostics);
        tally.failed |= registered.failed();
        registered.changes.into_iter().for_each(|change| tally.tell(sym, change));
        Ok(())
    }

    fn finish(&self, synced: Option<&Synced>, tally: &Tally) {
        let sym = self.sym;
        let names: Vec<&str> = sym
            .config
            .agents
            .iter()
            .filter_map(|name| Agent::from_name(name))
            .map(Agent::name)
            .collect();
        let changes = Change::count(&tally.changes);
        let agents = match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        };
        let outside = match sym.config.hook_scope {
            _ if names.is_empty() => "no agents are configured".to_owned(),
            HookScope::Global => format!("start {agents} in a Rust project"),
            HookScope::Project => {
                "run `cargo agents sync` in each project, to register hooks there".to_owned()
            }
        };
        let summary = match (synced, changes) {
            _ if tally.failed => in_part(&tally.changes),
            (Some(synced), 0) => format!("nothing to do ({})", synced.summary),
            (Some(synced), _) => synced.summary.clone(),
            (None, 0) => format!("nothing to do; {outside}"),
            (None, _) => outside,
        };
        if let Some(synced) = synced {
            if !self.asks {
                tell_candidates(sym, synced);
            }
            tell_what_to_commit(sym, &synced.to_commit);
        }
        sym.report.finished(self.start, summary, changes, false);
        if synced.is_some() && changes > 0 && !tally.failed && !names.is_empty() {
            let next = format!("start {agents} here; `cargo agents status` shows what it gets");
            sym.report.event(&Event::status("Next", next));
        }
    }
}
