//! How the agents call us, and which of their files carry our hooks.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;

use super::registration::desired::{Presence, all_layouts, newer_layout};
use super::registration::{Desired, Ledgers, has_ours, looks_ours};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::command::{PROGRAM, ProgramFacts, choose_program};
use crate::agents::places::{HookPlace, HookShape, Placement};
use crate::config::HookScope;
use crate::documents::{Document, Entry, FileFormat, exclude, read_text};
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
    /// Whether a person waits, so that there is time to look closer.
    ask: bool,
    /// Versions of agents' programs, as far as they are known: `None` where there is no program.
    versions: Vec<(Agent, Option<Version>)>,
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
        let root = root.map(Path::to_path_buf);
        let mut setup = Self { sym, home, root, git_root, ask, versions: Vec::new() };
        if ask {
            setup.ask_versions();
        }
        Ok(setup)
    }

    /// Kiro's version decides which file it reads. Only its command-line program tells: what the
    /// editor answers is the editor's version.
    fn ask_versions(&mut self) {
        let agent = Agent::Kiro;
        if !self.sym.config.agents.iter().any(|name| name == agent.name()) {
            return;
        }
        let found = agent.spec().programs().first().and_then(|program| self.find(program));
        let Some(program) = found else { return self.versions.push((agent, None)) };
        let child = Child::new(program).args(["--version"]).limit(Duration::from_secs(5));
        let Ok(output) = run(&child) else { return };
        let version = output
            .stdout_text()
            .split_whitespace()
            .find_map(|word| Version::parse(word.trim_start_matches('v')).ok());
        self.versions.extend(version.map(|version| (agent, Some(version))));
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
                .and_then(|(_, version)| version.as_ref()),
        }
    }

    /// As [`Setup::placement`]. Where the agent's version is not known, because nobody asked or it
    /// did not say, the layout that is registered stays: `newer` is the version to stand for it.
    fn hook_placement<'p>(
        &'p self,
        agent: Agent,
        scope: HookScope,
        program: &'p str,
        ledgers: &Ledgers,
        newer: &'p Version,
    ) -> Placement<'p> {
        let placement = self.placement(agent, scope, program);
        if self.versions.iter().any(|(known, _)| *known == agent) {
            return placement;
        }
        let other = Placement { version: Some(newer), ..placement };
        let older = agent.spec().hooks(&placement);
        let only_newer: Vec<HookPlace> = agent
            .spec()
            .hooks(&other)
            .into_iter()
            .filter(|place| !older.iter().any(|known| known.path == place.path))
            .collect();
        let registered = only_newer.iter().any(|place| is_recorded(agent, place, ledgers));
        if registered { other } else { placement }
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
        desired.agents = agents.to_vec();
        let scope = self.sym.config.hook_scope;
        let other = match scope {
            HookScope::Global => HookScope::Project,
            HookScope::Project => HookScope::Global,
        };
        let newer = newer_layout();
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
                let placement = self.hook_placement(agent, scope, &program, ledgers, &newer);
                desired.hooks(agent, &placement, presence);
            }
            if other == HookScope::Global || self.root.is_some() {
                let (program, _) = self.program(agent, other);
                let placement = self.hook_placement(agent, other, &program, ledgers, &newer);
                let places = all_layouts(agent, &placement);
                if sweep == Sweep::Everything
                    || places.iter().any(|place| is_recorded(agent, place, ledgers))
                {
                    desired.hooks(agent, &placement, Presence::Unwanted);
                } else if wanted && self.ask && self.home_is_no_workspace() {
                    let found = places.iter().find_map(|place| twice(agent, place, other));
                    notes.extend(found);
                }
            }
        }
        notes
    }

    /// In a home folder that is a workspace both scopes may be the same file.
    fn home_is_no_workspace(&self) -> bool {
        self.root.as_ref() != Some(&self.home)
    }
}

fn is_recorded(agent: Agent, place: &HookPlace, ledgers: &Ledgers) -> bool {
    ledgers.records_at(&place.path).any(|(_, record)| {
        record.agent == agent.name() && !matches!(record.entry, Entry::KeyEntry { .. })
    })
}

/// What people should know where hooks of ours stand at the scope that is not theirs, and the ledger
/// does not know them: somebody committed them, or another Symposium wrote them.
fn twice(agent: Agent, place: &HookPlace, scope: HookScope) -> Option<Diagnostic> {
    let text = read_text(&place.path).ok()??;
    let ours = match &place.shape {
        HookShape::Own { text: known } => looks_ours(agent, &place.path, &text, known),
        HookShape::Shared { rules, entries } => {
            let format = FileFormat::Json(*rules);
            let document = Document::open(&place.path, Some(&text), format).ok()?;
            entries.iter().any(|entry| {
                let array = document.get(&entry.array).ok().flatten();
                has_ours(agent.name(), array.as_ref())
            })
        }
    };
    let (here, keep) = match scope {
        HookScope::Project => ("the project's file", "project"),
        HookScope::Global => ("your own file", "global"),
    };
    let title = agent.spec().title();
    ours.then(|| {
        Diagnostic::warning(format!("hooks for {title} are registered twice: {here} has them, too"))
            .in_file(&place.path)
            .note(format!("take them out there, or keep those with `--hook-scope {keep}`"))
            .note("`cargo agents init --hook-scope …` registers them at one scope only")
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
