//! How the agents call us, and which of their files carry our hooks.

use std::cell::LazyCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use semver::Version;
use serde_json::Value;
use symposium_hook::Event;

use super::{LedgerKind, Ledgers};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::command::{PROGRAM, ProgramFacts, choose_program};
use crate::agents::places::Placement;
use crate::config::{HookScope, own_program};
use crate::documents::checkout::{self, Checkout};
use crate::documents::{Document, Entry, FileFormat, Ledger, Record, read_document, read_text};
use crate::process::{Child, find_program, run};
use crate::sync::bounds::{self, Bounds};
use crate::text::Diagnostic;

/// How long an agent's program may take to tell its version.
const ASK_LIMIT: Duration = Duration::from_secs(5);

/// Entries of an agent's folder that are looked at before it is said to be in use.
const MOST_LOOKED_AT: usize = 1000;

/// Folders that a program started from a desktop has on its `PATH`.
const MINIMAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What placing things in agents' files needs to know.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    sym: &'a Symposium,
    home: PathBuf,
    root: Option<PathBuf>,
    checkout: Option<Checkout>,
    bounds: Option<Bounds>,
    /// The scope of hooks and servers: the configured one, unless the caller says otherwise.
    pub(super) scope: HookScope,
    /// Whether a person waits, so that there is time to look closer.
    pub(super) asks: bool,
    /// What agents' programs said about their version; `None`: there is no such program here. Of an
    /// agent that was not asked or did not answer, the files stay in the layout that they have.
    versions: Vec<(Agent, Option<Version>)>,
    /// Whether a program that was started from a desktop finds ours.
    on_minimal_path: OnceLock<bool>,
    /// Whether a plugin wants to hear of the end of a turn, where that was looked into.
    wants_stop: OnceLock<bool>,
}

impl<'a> Setup<'a> {
    /// Looks around. `ask` lets agents' programs be asked for their version, where it matters.
    pub(crate) fn new(sym: &'a Symposium, root: Option<&Path>, ask: bool) -> anyhow::Result<Self> {
        let home = sym.env.home().ok_or(crate::config::NoHome::Missing)?;
        let bounds = root.and_then(|root| Bounds::of(root, Some(&home)));
        // What stands in a home folder is for everywhere, so that is no workspace to agents.
        let root = root.filter(|_| bounds.is_some());
        let checkout = root.and_then(checkout::find);
        let mut setup = Self {
            sym,
            home,
            bounds,
            root: root.map(Path::to_path_buf),
            checkout,
            scope: sym.config.hook_scope,
            asks: ask,
            versions: Vec::new(),
            on_minimal_path: OnceLock::new(),
            wants_stop: OnceLock::new(),
        };
        if ask {
            setup.ask_versions();
        }
        Ok(setup)
    }

    /// The same with another scope than the configured one.
    #[must_use]
    pub(crate) fn at(mut self, scope: HookScope) -> Self {
        self.scope = scope;
        self
    }

    /// `path` as people read it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let home = (!self.sym.report.shows_whole_paths()).then_some(self.home.as_path());
        crate::report::short_path(path, home)
    }

    pub(crate) fn symposium(&self) -> &'a Symposium {
        self.sym
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// See [`Bounds::check`].
    pub(in crate::sync) fn check(&self, path: &Path) -> Result<(), Diagnostic> {
        bounds::check(self.bounds.as_ref(), path)
    }

    /// The text of an agent's file; `None` when there is none.
    ///
    /// # Errors
    /// As [`read_text`]; a file that is out of bounds.
    pub(in crate::sync) fn read(&self, path: &Path) -> Result<Option<String>, Diagnostic> {
        self.check(path).and_then(|()| read_text(path))
    }

    /// The document in an agent's file; `None` when there is none, or what it says is not known.
    pub(in crate::sync) fn document(&self, path: &Path, format: FileFormat) -> Option<Document> {
        self.check(path).ok()?;
        read_document(path, format).ok()?
    }

    /// What a table's member that the ledger knows says now.
    pub(in crate::sync) fn entry_of(&self, record: &Record) -> Option<Value> {
        let Entry::Member { table, key, .. } = &record.entry else { return None };
        let document = self.document(&record.path, FileFormat::of_path(&record.path)?)?;
        let path: Vec<String> = table.iter().cloned().chain([key.clone()]).collect();
        document.get(&path).ok()?
    }

    fn ask_versions(&mut self) {
        let configured = self.sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
        for agent in configured {
            let Some(layout) = &agent.identity().new_layout else { continue };
            let Some(program) = self.find(layout.program) else {
                self.versions.push((agent, None));
                continue;
            };
            let title = agent.title();
            let _busy = self.sym.report.spin("Asking", &format!("{title} for its version"));
            let output = run(&Child::version(&program).limit(ASK_LIMIT)).ok();
            let version = output.and_then(|output| version_in(&output.stdout_text()));
            self.versions.extend(version.map(|version| (agent, Some(version))));
        }
    }

    /// Whether the agent seems to be used here: a program of it is on the `PATH`, or something in its
    /// folder in the home folder is neither ours nor another agent's.
    pub(crate) fn is_found(&self, agent: Agent) -> bool {
        let known = agent.identity();
        if known.programs.iter().any(|program| self.find(program).is_some()) {
            return true;
        }
        let (ledger, _) = Ledger::home(&self.sym.dirs);
        let others = Agent::ALL.into_iter().filter(|other| *other != agent);
        let others = others.map(|other| self.home.join(other.identity().home_folder)).collect();
        Foreign { ledger, others, left: MOST_LOOKED_AT }.is_in(&self.home.join(known.home_folder))
    }

    /// Where a program is on the user's own `PATH`.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.sym.env.var("PATH")?;
        find_program(OsStr::new(program), path, &self.home)
    }

    /// The file of the program that runs now.
    pub(crate) fn own_program(&self) -> PathBuf {
        own_program().unwrap_or_default()
    }

    /// How `agent` calls us at `scope`, with what people should know about it. In a project's
    /// shared files it is the bare name: a path of this machine is nobody else's.
    pub(crate) fn program(&self, agent: Agent, scope: HookScope) -> (String, Option<Diagnostic>) {
        if scope == HookScope::Project {
            return (PROGRAM.to_owned(), None);
        }
        let windows = cfg!(windows);
        let mut facts = ProgramFacts {
            exe: self.own_program(),
            on_minimal_path: *self
                .on_minimal_path
                .get_or_init(|| self.find_from_desktop(PROGRAM).is_some()),
            windows,
            shell: agent.registration().shell(windows),
        };
        let program = choose_program(&facts);
        if agent.identity().wants_path && facts.on_minimal_path {
            facts.on_minimal_path = false;
            let by_path = choose_program(&facts);
            if by_path.warning.is_none() {
                return (by_path.text, None);
            }
        }
        (program.text, program.warning)
    }

    /// What `agent`'s file needs to know.
    pub(crate) fn placement<'p>(
        &'p self,
        agent: Agent,
        scope: HookScope,
        program: &'p str,
    ) -> Placement<'p> {
        Placement {
            home: &self.home,
            env: &self.sym.env,
            root: self.root.as_deref(),
            git_root: self.checkout.as_ref().map(|checkout| checkout.top.as_path()),
            main_checkout: self.checkout.as_ref().map(Checkout::main),
            scope,
            program,
            windows: cfg!(windows),
            version: self.version(agent).flatten(),
            // Plugins are each member's own, a project's files the team's: a turn's end is always
            // among their events, so that members do not undo each other's files.
            stop: scope == HookScope::Project,
        }
    }

    /// Takes note of whether a plugin wants to hear of the end of a turn.
    pub(in crate::sync) fn note_stop(&self, wanted: bool) {
        let _ = self.wants_stop.set(wanted);
    }

    /// `placement` with the end of a turn among its events: where a plugin wants to hear of it, and
    /// where nobody looked, if it is there now.
    pub(super) fn with_stop<'p>(&self, agent: Agent, placement: Placement<'p>) -> Placement<'p> {
        match self.wants_stop.get() {
            Some(stop) => Placement { stop: *stop || placement.stop, ..placement },
            None if placement.stop => placement,
            None => self.as_there(agent, placement),
        }
    }

    /// `placement` with the end of a turn among its events if it is there now.
    pub(super) fn as_there<'p>(&self, agent: Agent, placement: Placement<'p>) -> Placement<'p> {
        let with = Placement { stop: true, ..placement };
        let places = agent.registration().hooks(&with);
        let mut texts = places.iter().filter_map(|place| self.read(&place.path).ok()?);
        Placement { stop: texts.any(|text| tells_of_stop(agent, &text)), ..placement }
    }

    fn version(&self, agent: Agent) -> Option<Option<&Version>> {
        let known = self.versions.iter().find(|(known, _)| *known == agent);
        known.map(|(_, version)| version.as_ref())
    }

    /// The placements of `agent` at `scope`, one for each layout that its files can have.
    pub(super) fn layouts<'p>(
        &'p self,
        agent: Agent,
        scope: HookScope,
        program: &'p str,
    ) -> Vec<Placement<'p>> {
        let placement = self.placement(agent, scope, program);
        let mut layouts = vec![placement];
        if agent.identity().new_layout.is_some() {
            layouts.extend(agent.layouts(&placement));
        }
        layouts
    }

    /// The placement of hooks: in the layout that the agent's program told; without a word from it,
    /// in the layout that is there.
    pub(super) fn hook_placement<'p>(
        &'p self,
        agent: Agent,
        scope: HookScope,
        program: &'p str,
        ledgers: &Ledgers,
    ) -> Placement<'p> {
        let placement = self.placement(agent, scope, program);
        if self.version(agent).is_some() {
            return placement;
        }
        let mut layouts = self.layouts(agent, scope, program).into_iter();
        layouts.find(|layout| is_recorded(agent, layout, ledgers)).unwrap_or(placement)
    }

    /// Whether there is somewhere to register at `scope`.
    pub(super) fn has(&self, scope: HookScope) -> bool {
        scope == HookScope::Global || self.root.is_some()
    }

    /// Calls `visit` for every agent, scope and layout that there is here.
    pub(crate) fn each_placement(&self, visit: &mut dyn FnMut(Agent, &Placement<'_>)) {
        for agent in Agent::ALL {
            for scope in [HookScope::Global, HookScope::Project] {
                if self.has(scope) {
                    let layouts = self.layouts(agent, scope, PROGRAM);
                    layouts.iter().for_each(|placement| visit(agent, placement));
                }
            }
        }
    }

    /// Where a program is that is started from a desktop, whose `PATH` is short.
    pub(crate) fn find_from_desktop(&self, program: &str) -> Option<PathBuf> {
        find_program(OsStr::new(program), &self.minimal_path(), &self.home)
    }

    fn minimal_path(&self) -> std::ffi::OsString {
        if cfg!(windows) {
            self.sym.env.var("PATH").map(OsStr::to_owned).unwrap_or_default()
        } else {
            MINIMAL_PATH.into()
        }
    }
}

/// Whether a file of hooks has us called at the end of a turn.
pub(super) fn tells_of_stop(agent: Agent, text: &str) -> bool {
    text.contains(&format!("hook {} {}", agent.name(), Event::Stop.cli_name()))
}

/// A look for files that are not ours.
struct Foreign {
    ledger: Ledger,
    /// Other agents' folders.
    others: Vec<PathBuf>,
    /// How many entries may be looked at.
    left: usize,
}

impl Foreign {
    /// Whether `dir` holds one, at any depth. What is too much to look through can't all be ours.
    fn is_in(&mut self, dir: &Path) -> bool {
        let Ok(entries) = std::fs::read_dir(dir) else { return false };
        for entry in entries.flatten() {
            let path = entry.path();
            if self.left == 0 {
                return true;
            }
            self.left -= 1;
            let is_foreign = match entry.file_type() {
                Ok(kind) if kind.is_dir() => !self.others.contains(&path) && self.is_in(&path),
                _ => !self.ledger.made(&path),
            };
            if is_foreign {
                return true;
            }
        }
        false
    }
}

/// The first version in what a program printed; a part that is left out is a zero.
fn version_in(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches(['v', 'V']).trim_end_matches([',', ')']);
        let dots = word.split(['-', '+']).next().unwrap_or_default().matches('.').count();
        let padded = match dots {
            1 if word.chars().all(|c| c.is_ascii_digit() || c == '.') => format!("{word}.0"),
            _ => word.to_owned(),
        };
        Version::parse(&padded).ok()
    })
}

pub(super) fn is_recorded(agent: Agent, placement: &Placement<'_>, ledgers: &Ledgers) -> bool {
    let ledgers = LedgerKind::ALL.into_iter().filter_map(|which| ledgers.of(which));
    let mut hooks = ledgers.flat_map(|ledger| ledger.records()).filter(|record| {
        record.agent == agent.name() && !matches!(record.entry, Entry::Member { .. })
    });
    // Asked for only where there is something to compare them with.
    let places = LazyCell::new(|| agent.registration().hooks(placement));
    hooks.any(|record| places.iter().any(|place| record.path == place.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_print_them() {
        for (text, wanted) in [
            ("kiro-cli 3.1.0\n", Some("3.1.0")),
            ("v2.0", Some("2.0.0")),
            ("Kiro CLI (version 3.0.1-beta.2)", Some("3.0.1-beta.2")),
            ("usage: kiro", None),
            ("", None),
        ] {
            let wanted = wanted.map(|text| Version::parse(text).expect("a version"));
            assert_eq!(version_in(text), wanted, "{text}");
        }
    }
}
