//! How the agents call us, and which of their files carry our hooks.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;

use super::registration::desired::Presence;
use super::registration::edit::Ledgers;
use super::registration::{Desired, Which};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::command::{PROGRAM, ProgramFacts, choose_program};
use crate::agents::places::{HookShape, Placement};
use crate::config::HookScope;
use crate::documents::exclude;
use crate::process::{Child, find_program, run};
use crate::text::Diagnostic;

/// Folders that a program started from a desktop has on its `PATH`.
const MINIMAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What placing things in agents' files needs to know.
#[derive(Debug)]
pub struct Setup<'a> {
    sym: &'a Symposium,
    home: PathBuf,
    root: Option<PathBuf>,
    git_root: Option<PathBuf>,
    /// Versions of agent programs that were asked for.
    versions: Vec<(Agent, Version)>,
}

/// What of the other scope is cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// What the ledger knows.
    Recorded,
    /// All that is ours by its shape: the user chose the scope just now.
    Everything,
}

impl<'a> Setup<'a> {
    /// Looks around. `ask` lets agents' programs be asked for their version, where it matters.
    ///
    /// # Errors
    /// When there is no home folder.
    pub fn new(sym: &'a Symposium, root: Option<&Path>, ask: bool) -> anyhow::Result<Self> {
        let home = sym.env.home().ok_or(crate::config::NoHome)?;
        let git_root = root.and_then(exclude::find).map(|checkout| checkout.top);
        let mut setup =
            Self { sym, home, root: root.map(Path::to_path_buf), git_root, versions: Vec::new() };
        if ask {
            setup.ask_versions();
        }
        Ok(setup)
    }

    /// Kiro's version decides which file it reads.
    fn ask_versions(&mut self) {
        let agent = Agent::Kiro;
        if !self.sym.config.agents.iter().any(|name| name == agent.name()) {
            return;
        }
        let found = agent.spec().programs().iter().find_map(|program| self.find(program));
        let Some(program) = found else { return };
        let child = Child::new(program).args(["--version"]).limit(Duration::from_secs(5));
        let Ok(output) = run(&child) else { return };
        let version = output
            .stdout_text()
            .split_whitespace()
            .find_map(|word| Version::parse(word.trim_start_matches('v')).ok());
        self.versions.extend(version.map(|version| (agent, version)));
    }

    /// Where a program is on the user's own `PATH`.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.sym.env.var("PATH")?;
        find_program(OsStr::new(program), path, &self.home)
    }

    /// How `agent` calls us at `scope`, with what people should know about it. In a project's
    /// shared files it is the bare name: a path of this machine is nobody else's.
    pub fn program(&self, agent: Agent, scope: HookScope) -> (String, Option<Diagnostic>) {
        if scope == HookScope::Project {
            return (PROGRAM.to_owned(), None);
        }
        let windows = cfg!(windows);
        let minimal = if windows {
            self.sym.env.var("PATH").map(OsStr::to_owned).unwrap_or_default()
        } else {
            MINIMAL_PATH.into()
        };
        let facts = ProgramFacts {
            exe: own_program(),
            on_minimal_path: find_program(OsStr::new(PROGRAM), &minimal, &self.home).is_some(),
            windows,
            shell: agent.spec().shell(windows),
        };
        let program = choose_program(&facts);
        (program.text, program.warning)
    }

    /// What `agent`'s file needs to know.
    pub fn placement<'p>(
        &'p self,
        agent: Agent,
        scope: HookScope,
        program: &'p str,
    ) -> Placement<'p> {
        Placement {
            home: &self.home,
            env: &self.sym.env,
            root: self.root.as_deref(),
            git_root: self.git_root.as_deref(),
            scope,
            program,
            version: self
                .versions
                .iter()
                .find(|(known, _)| *known == agent)
                .map(|(_, version)| version),
        }
    }

    /// Adds the hooks of `agents` at the configured scope, the absence of those of all others, and
    /// the absence of ours in the other scope. Gives back what people should know.
    pub fn hooks(
        &self,
        desired: &mut Desired,
        agents: &[Agent],
        ledgers: &Ledgers,
        sweep: Sweep,
    ) -> Vec<Diagnostic> {
        let mut notes: Vec<Diagnostic> = Vec::new();
        let scope = self.sym.config.hook_scope;
        let other = match scope {
            HookScope::Global => HookScope::Project,
            HookScope::Project => HookScope::Global,
        };
        for agent in Agent::ALL {
            let wanted = agents.contains(&agent);
            let presence = if wanted { Presence::Wanted } else { Presence::Unwanted };
            if scope == HookScope::Global || self.root.is_some() {
                let (program, warning) = self.program(agent, scope);
                if wanted
                    && let Some(warning) = warning
                    && !notes.iter().any(|known| known.message == warning.message)
                {
                    notes.push(warning);
                }
                desired.hooks(agent, &self.placement(agent, scope, &program), presence);
            }
            if other == HookScope::Global || self.root.is_some() {
                let (program, _) = self.program(agent, other);
                let placement = self.placement(agent, other, &program);
                if sweep == Sweep::Everything || is_recorded(agent, &placement, ledgers) {
                    desired.hooks(agent, &placement, Presence::Unwanted);
                }
            }
        }
        notes
    }
}

fn is_recorded(agent: Agent, placement: &Placement<'_>, ledgers: &Ledgers) -> bool {
    agent.spec().hooks(placement).iter().any(|place| {
        [Which::Home, Which::Workspace].iter().any(|which| {
            ledgers.of(*which).is_some_and(|ledger| {
                ledger.records_at(&place.path).any(|record| {
                    record.agent == agent.name()
                        && !matches!(record.entry, crate::documents::Entry::KeyEntry { .. })
                })
            })
        })
    })
}

/// Texts that `agent`'s own files would have if we were called by other names.
pub fn other_spellings(agent: Agent, placement: &Placement<'_>, path: &Path) -> Vec<String> {
    let bare = Placement { program: PROGRAM, ..*placement };
    let places = agent.spec().hooks(&bare).into_iter();
    places
        .filter(|place| place.path == path)
        .filter_map(|place| match place.shape {
            HookShape::Own { text } => Some(text),
            HookShape::Shared { .. } => None,
        })
        .collect()
}

#[allow(clippy::disallowed_methods, reason = "the one place that asks which program this is")]
fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_default()
}
