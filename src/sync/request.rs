//! What is asked of a sync, and what comes of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bounds::Bounds;
use super::facts::candidates::{Candidate, Suggestion};
use super::lockfile::LockFile;
use super::placing::plan::Plan;
use super::snapshot::Stored;
use crate::Symposium;
use crate::agents::Agent;
use crate::config::{ConfigState, now_in_ms, place_of_agent};
use crate::fetch::git::Policy;
use crate::installations::Mode as InstallMode;
use crate::report::Change;
use crate::text::{Diagnostic, Severity};
use crate::workspace::{Loaded, Observer, locate};

/// Whether a sync changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// It only says what it would do.
    Plan,
    /// It only finds out what hooks, help and subcommands need.
    Look,
    /// It does it.
    #[default]
    Apply,
}

/// Who started a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Caller {
    /// The user: it may take its time and use the network.
    #[default]
    Command,
    /// A background process of ours: it may, too, and tells nobody.
    Background,
    /// A hook: quick, and with what is on disk.
    Hook,
    /// Somebody who only wants to know: nothing is fetched, nobody is told.
    Survey,
    /// The same, but for what was never fetched: that is.
    Audit,
}

/// What of our hooks in the other scope is cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweep {
    /// What the ledger knows.
    Recorded,
    /// All that is ours by its shape: the user chose the scope just now.
    Everything,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub start: PathBuf,
    /// Agents to place skills for instead of the configured ones.
    pub named: Option<Vec<Agent>>,
    /// Replace what was edited in place.
    pub force: bool,
    /// Whether something is changed.
    pub mode: Mode,
    pub caller: Caller,
    /// What of our hooks in the other scope is cleaned.
    pub sweep: Sweep,
    /// What must come of it, exactly: anything else is an error, and nothing changes.
    pub locked: Option<LockFile>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            start: PathBuf::new(),
            named: None,
            force: false,
            mode: Mode::Apply,
            caller: Caller::Command,
            sweep: Sweep::Recorded,
            locked: None,
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Synced {
    /// What was, or would be, done to skill folders.
    pub plan: Plan,
    /// All changes, as people see them.
    pub changes: Vec<Change>,
    /// What there is now: `14 skills, 1 server for claude and codex`.
    pub summary: String,
    /// Whether something could not be done.
    pub failed: bool,
    pub root: PathBuf,
    /// What hooks, help and subcommands need now; none of a plan, or for agents that were named.
    pub stored: Option<Stored>,
    /// Files of the project that a team shares and that were written: whoever did not commit them has
    /// them alone.
    pub to_commit: Vec<PathBuf>,
    /// Dependencies with skills of their own that nobody said anything about yet.
    pub candidates: Vec<Candidate>,
    /// Plugins that wait for the user's word.
    pub suggestions: Vec<Suggestion>,
}

impl Synced {
    /// Whether anything changed, or would.
    pub(crate) fn is_change(&self) -> bool {
        self.changes.iter().any(|change| change.action.is_change())
    }
}

/// Takes what is in force of the team's file of the workspace that we are in. A workspace that can't be
/// read is told of by who needs it.
pub(crate) fn enter(sym: &mut Symposium) {
    let root = sym.env.cwd().and_then(|cwd| locate(cwd, &sym.env).ok().flatten());
    if let Some(root) = root {
        sym.enter(&root);
    }
}

/// The configured agents that we know; the others are told about.
pub(crate) fn configured_agents(sym: &Symposium) -> Vec<Agent> {
    let mut agents = Vec::new();
    for name in &sym.config.agents {
        match Agent::from_name(name) {
            Some(agent) => agents.push(agent),
            None => {
                let mut problem = Agent::unknown(name);
                problem.severity = Severity::Warning;
                problem.message.push_str("; the others go on");
                let place = |config: &_| place_of_agent(config, name);
                sym.report.diagnostic(&sym.in_configuration(problem, place));
            }
        }
    }
    agents
}

/// Where it is not known which agents or sources are configured, none would count as such, and what is
/// there for or from them would be removed.
pub(in crate::sync) fn refuse_broken(sym: &Symposium, request: &Request) -> Result<(), Diagnostic> {
    let acts = request.mode == Mode::Apply && request.named.is_none();
    unclear_configuration(sym).filter(|_| acts).map_or(Ok(()), Err)
}

/// Why no sync acts by the configuration, where that is so.
pub(crate) fn unclear_configuration(sym: &Symposium) -> Option<Diagnostic> {
    if sym.config_state.is_clear() {
        return None;
    }
    let (message, remedy) = match sym.config_state {
        ConfigState::Broken => (
            "the configuration can't be read, so nothing is changed",
            "mend it, or move it away and run `cargo agents init`",
        ),
        _ => (
            "which agents and plugin sources are configured can't be read, so nothing is changed",
            "each is a section with a name: `[[agent]]` or `[[plugin-source]]`, and below it \
             `name = \"claude\"`",
        ),
    };
    Some(Diagnostic::error(message).in_file(sym.dirs.config_file()).note(remedy))
}

/// What every step of one sync of one workspace needs.
pub(in crate::sync) struct SyncContext<'a> {
    pub(in crate::sync) sym: &'a Symposium,
    pub(in crate::sync) request: &'a Request,
    pub(in crate::sync) loaded: &'a Loaded,
    pub(in crate::sync) started_at: u64,
    /// What is read of skills, crates and the workspace is read through it.
    pub(in crate::sync) observer: Observer,
}

impl<'a> SyncContext<'a> {
    pub(in crate::sync) fn new(
        sym: &'a Symposium,
        request: &'a Request,
        loaded: &'a Loaded,
    ) -> Self {
        let mut fixed = vec![sym.dirs.cache().to_path_buf()];
        fixed.extend(sym.env.cargo_home().map(|home| home.join("registry")));
        let observer = Observer::except(fixed);
        Self { sym, request, loaded, started_at: now_in_ms(), observer }
    }

    pub(in crate::sync) fn root(&self) -> &'a Path {
        &self.loaded.workspace.root
    }

    /// The workspace's bounds; `None` where it is the home folder.
    pub(in crate::sync) fn bounds(&self) -> Option<Bounds> {
        Bounds::of(self.root(), self.sym.env.home().as_deref())
    }

    /// Whether a person reads what it says.
    pub(in crate::sync) fn is_for_the_user(&self) -> bool {
        matches!(self.request.caller, Caller::Command | Caller::Survey)
    }

    /// When the repositories of skills are fetched.
    pub(in crate::sync) fn policy(&self) -> Policy {
        match self.request.caller {
            Caller::Hook | Caller::Survey => Policy::cached(),
            Caller::Audit => Policy::for_command(&self.sym.options),
            Caller::Command | Caller::Background => Policy::for_sync(&self.sym.options),
        }
    }

    /// How far it goes to get programs that are missing.
    pub(in crate::sync) fn install_mode(&self) -> InstallMode {
        match (self.request.mode, self.request.caller) {
            (Mode::Apply, Caller::Command) => InstallMode::Explicit,
            (Mode::Apply, Caller::Background) => InstallMode::Detached,
            _ => InstallMode::Dispatch { budget: Duration::ZERO },
        }
    }
}
