//! What should be registered where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ledgers::LedgerKind;
use super::remarks::Remarks;
use crate::agents::Agent;
use crate::agents::command::PROGRAM;
use crate::agents::places::{FileFormat, HookPlace, HookShape, Placement, ServerPlace, Trust};
use crate::config::HookScope;
use crate::documents::Record;
use crate::plugins::model::McpServer;
use crate::sync::bounds;
use crate::text::Diagnostic;

/// An array of hooks, and what we would have in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slot {
    /// Keys that lead to the array.
    pub array: Vec<String>,
    /// The entry: a matcher group. `None` where only the ledger knows of the array.
    pub group: Option<Value>,
}

/// A part of a shared file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DesiredEntry {
    /// Hook entries of one agent: each once, in its array, and no others of ours beside it.
    Hooks {
        agent: Agent,
        slots: Vec<Slot>,
        /// Whether the entries should be there, or go.
        wanted: bool,
    },
    Server {
        agent: Agent,
        name: String,
        /// Keys that lead to the table.
        table: Vec<String>,
        value: Value,
        /// Keys of it that are the user's.
        users_keys: &'static [&'static str],
        /// A file that the agent merges with this one: an entry of that name in it is the user's, too.
        merged_with: Option<PathBuf>,
    },
    Trust(DesiredTrust),
}

impl DesiredEntry {
    /// Whether something should be there.
    pub(crate) fn is_wanted(&self) -> bool {
        match self {
            Self::Hooks { wanted, .. } => *wanted,
            Self::Server { .. } => true,
            Self::Trust(trust) => !trust.trust.entries.is_empty(),
        }
    }
}

/// Whether the user agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Nobody was asked: trust that was given is kept in step, and none is given.
    AsGiven,
    /// The user just said so.
    Yes,
}

/// One agent's trust in our hooks at one scope, as its file should say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DesiredTrust {
    pub agent: Agent,
    /// Where the file keeps trust, and what it must say of each hook.
    pub trust: Trust,
    /// Whether the user agrees.
    pub consent: Consent,
    /// The file, as people read it.
    pub shown: String,
    /// How it is said that trust is given: `trusted`, or `to trust`.
    pub verb: &'static str,
}

/// Everything about one shared file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileWork {
    pub path: PathBuf,
    /// What kind of file it is.
    pub format: FileFormat,
    /// What should be in it, and who remembers it.
    pub entries: Vec<(LedgerKind, DesiredEntry)>,
}

/// A file that is ours alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnWork {
    pub agent: Agent,
    pub path: PathBuf,
    /// Its text; `None`: it goes.
    pub text: Option<String>,
    /// Texts that we would write in other circumstances: a file that holds one is ours.
    pub known: Vec<String>,
    /// Who remembers it.
    pub which: LedgerKind,
}

/// Everything that should be registered.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Desired {
    pub agents: Vec<Agent>,
    /// Shared files, by path.
    pub files: BTreeMap<PathBuf, FileWork>,
    pub own: Vec<OwnWork>,
    /// Whether hooks that only the home folder's ledger knows are somebody else's business.
    pub leave_home_hooks: bool,
    /// Whether nothing else is touched: everything that the ledgers know besides stays.
    pub is_partial: bool,
    /// Why some of it can't be had.
    pub troubles: Vec<Diagnostic>,
    /// Records that stay as they are, whatever is desired.
    pub kept: Vec<(LedgerKind, Record)>,
    /// What an agent can't do, and what people should know.
    pub remarks: Remarks,
}

impl Desired {
    /// The work on the shared file at `path`.
    pub(super) fn file(&mut self, path: &Path, format: FileFormat) -> &mut FileWork {
        self.files.entry(path.to_path_buf()).or_insert_with(|| FileWork {
            path: path.to_path_buf(),
            format,
            entries: Vec::new(),
        })
    }

    /// Adds one agent's hooks at the placement's scope. A file that is worked on for its hooks
    /// already stays with what was said first: the home folder may be a workspace, too.
    pub(crate) fn hooks(&mut self, agent: Agent, placement: &Placement<'_>, wanted: bool) {
        let which = ledger_of(placement.scope);
        let places = agent.registration().hooks(placement);
        // Another layout of the same agent (its files differ between versions) must not stay.
        for place in agent.all_hook_places(placement) {
            if let HookShape::Own { text } = place.shape
                && !places.iter().any(|known| known.path == place.path)
                && !self.has_own(&place.path)
            {
                let (path, known) = (place.path, vec![text]);
                self.own.push(OwnWork { agent, path, text: None, known, which });
            }
        }
        for HookPlace { path, shape } in places {
            match shape {
                HookShape::Shared { rules, entries } => {
                    let file = self.file(&path, FileFormat::Json(rules));
                    let same = |entry: &DesiredEntry| matches!(entry, DesiredEntry::Hooks { agent: known, .. } if *known == agent);
                    if file.entries.iter().any(|(_, entry)| same(entry)) {
                        continue;
                    }
                    let slots = entries
                        .into_iter()
                        .map(|entry| Slot { array: entry.array, group: Some(entry.group) })
                        .collect();
                    file.entries.push((which, DesiredEntry::Hooks { agent, slots, wanted }));
                }
                HookShape::Own { .. } if self.has_own(&path) => {}
                HookShape::Own { text } => {
                    let mut known = other_spellings(agent, placement, &path);
                    known.push(text.clone());
                    let text = wanted.then_some(text);
                    self.own.push(OwnWork { agent, path, text, known, which });
                }
            }
        }
    }

    fn has_own(&self, path: &Path) -> bool {
        self.own.iter().any(|work| work.path == path)
    }

    /// Servers that none of the agents can have.
    pub(super) fn nowhere(&self) -> Vec<String> {
        let has = |name: &String| {
            let mut entries = self.files.values().flat_map(|work| &work.entries);
            entries.any(|(_, entry)| {
                matches!(entry, DesiredEntry::Server { name: known, .. } if known == name)
            })
        };
        self.remarks.unsupported_servers().filter(|name| !has(name)).cloned().collect()
    }

    /// Adds one server for one agent. At project scope a server for every workspace is the
    /// project's, too: nothing in the home folder is touched then.
    pub(crate) fn server(
        &mut self,
        agent: Agent,
        server: &McpServer,
        everywhere: bool,
        placement: &Placement<'_>,
    ) {
        let everywhere = everywhere && placement.scope == HookScope::Global;
        match agent.registration().place_server(
            &server.name,
            &server.transport,
            everywhere,
            placement,
        ) {
            ServerPlace::Entry { path, table, .. }
                if !everywhere && is_users_own(agent, server, (&path, &table), placement) =>
            {
                let shown = path.display();
                let reason = format!(
                    "{shown} is your own file for everywhere, and the server is for this workspace"
                );
                self.remarks.unsupported(agent, &server.name, reason);
            }
            ServerPlace::Entry { path, format, table, value, users_keys, note, merged_with } => {
                let which = if everywhere { LedgerKind::Home } else { LedgerKind::Workspace };
                let name = server.name.clone();
                let entry =
                    DesiredEntry::Server { agent, name, table, value, users_keys, merged_with };
                let file = self.file(&path, format);
                if file.entries.iter().any(|(_, known)| is_same_server(known, &entry)) {
                    return self.remarks.taken(&server.name);
                }
                file.entries.push((which, entry));
                if let Some(note) = note {
                    self.remarks.about_entry(agent, &server.name, &path, note);
                }
            }
            ServerPlace::Unsupported { reason } => {
                self.remarks.unsupported(agent, &server.name, reason);
            }
        }
    }
}

/// Whether the workspace's entry in `table` of `path` would be in force everywhere: a link or a
/// variable makes the file the one that `agent` reads in every workspace.
fn is_users_own(
    agent: Agent,
    server: &McpServer,
    (path, table): (&Path, &[String]),
    placement: &Placement<'_>,
) -> bool {
    let below = placement.root.and_then(|root| Some((root, path.strip_prefix(root).ok()?)));
    if let Some((root, below)) = below
        && below.parent().is_some_and(|folder| bounds::is_users_own(placement.home, root, folder))
    {
        return true;
    }
    let home = Placement { scope: HookScope::Global, ..*placement };
    let own = agent.registration().place_server(&server.name, &server.transport, true, &home);
    let real = |path: &Path| {
        let folder = crate::files::canonicalize(path.parent()?).ok()?;
        crate::files::canonicalize(path).ok().or_else(|| Some(folder.join(path.file_name()?)))
    };
    match own {
        ServerPlace::Entry { path: own, table: keys, .. } => {
            keys == table
                && (own == path || real(path).is_some_and(|here| real(&own) == Some(here)))
        }
        ServerPlace::Unsupported { .. } => false,
    }
}

/// Whether one agent would have both under one key.
fn is_same_server(known: &DesiredEntry, entry: &DesiredEntry) -> bool {
    match (known, entry) {
        (
            DesiredEntry::Server { agent: one, name: first, table: here, .. },
            DesiredEntry::Server { agent: two, name: second, table: there, .. },
        ) => (one, first, here) == (two, second, there),
        _ => false,
    }
}

/// The ledger that remembers hooks at `scope`.
fn ledger_of(scope: HookScope) -> LedgerKind {
    match scope {
        HookScope::Global => LedgerKind::Home,
        HookScope::Project => LedgerKind::Workspace,
    }
}

/// Texts that `agent`'s own files would have if we were called by other names, or at other events.
fn other_spellings(agent: Agent, placement: &Placement<'_>, path: &Path) -> Vec<String> {
    let programs = [PROGRAM, placement.program].into_iter();
    let others = programs
        .flat_map(|program| [true, false].map(|stop| Placement { program, stop, ..*placement }));
    let places = others.flat_map(|other| agent.registration().hooks(&other));
    places
        .filter(|place| place.path == path)
        .filter_map(|place| match place.shape {
            HookShape::Own { text } => Some(text),
            HookShape::Shared { .. } => None,
        })
        .collect()
}
