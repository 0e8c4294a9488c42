//! What should be registered where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agents::Agent;
use crate::agents::places::{FileFormat, HookEntry, HookShape, Placement, ServerPlace};
use crate::config::HookScope;
use crate::documents::Record;
use crate::plugins::model::McpServer;
use crate::sync::setup::other_spellings;
use crate::text::Diagnostic;

/// Which ledger remembers a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// The home folder's.
    Home,
    /// The workspace's.
    Workspace,
}

/// A part of a shared file.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// Hook entries of one agent: each once, in its array, and no others of ours in any array of
    /// the agent's events. Without entries, ours go.
    Hooks {
        /// The agent.
        agent: Agent,
        /// The entries.
        entries: Vec<HookEntry>,
        /// The arrays of the agent's events.
        arrays: Vec<Vec<String>>,
    },
    /// A server's entry.
    Server {
        /// The agent.
        agent: Agent,
        /// The server's name.
        name: String,
        /// Keys that lead to the table.
        table: Vec<String>,
        /// The entry.
        value: Value,
        /// Keys of it that are the user's.
        users_keys: &'static [&'static str],
    },
}

/// Everything about one shared file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileWork {
    /// The file.
    pub path: PathBuf,
    /// What kind of file it is.
    pub format: FileFormat,
    /// What should be in it, and who remembers it.
    pub wishes: Vec<(Which, Wish)>,
}

/// A file that is ours alone.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnWork {
    /// The agent.
    pub agent: Agent,
    /// The file.
    pub path: PathBuf,
    /// Its text; `None`: it goes.
    pub text: Option<String>,
    /// Texts that we would write in other circumstances: a file that holds one is ours.
    pub known: Vec<String>,
    /// Who remembers it.
    pub which: Which,
}

/// Everything that should be registered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Desired {
    /// Shared files, by path.
    pub files: BTreeMap<PathBuf, FileWork>,
    /// Files of our own.
    pub own: Vec<OwnWork>,
    /// Records that stay as they are, whatever is wished.
    pub kept: Vec<(Which, Record)>,
    /// What an agent can't do, and what people should know.
    pub notes: Vec<Diagnostic>,
}

/// Whether our registrations in a scope are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// They should be there.
    Wanted,
    /// They should go.
    Unwanted,
}

impl Desired {
    fn file(&mut self, path: PathBuf, format: FileFormat) -> &mut FileWork {
        self.files.entry(path.clone()).or_insert_with(|| FileWork {
            path,
            format,
            wishes: Vec::new(),
        })
    }

    /// Adds one agent's hooks at the placement's scope.
    pub fn hooks(&mut self, agent: Agent, placement: &Placement<'_>, presence: Presence) {
        let which = match placement.scope {
            HookScope::Global => Which::Home,
            HookScope::Project => Which::Workspace,
        };
        let spec = agent.spec();
        let places = spec.hooks(placement);
        // Another layout of the same agent (its files differ between versions) must not stay.
        let newer = semver::Version::new(3, 0, 0);
        for version in [None, Some(&newer)] {
            for place in spec.hooks(&Placement { version, ..*placement }) {
                if let HookShape::Own { text } = place.shape
                    && !places.iter().any(|known| known.path == place.path)
                    && !self.own.iter().any(|known| known.path == place.path)
                {
                    let (path, known) = (place.path, vec![text]);
                    self.own.push(OwnWork { agent, path, text: None, known, which });
                }
            }
        }
        for place in places {
            match place.shape {
                HookShape::Shared { rules, entries } => {
                    let arrays = entries.iter().map(|entry| entry.array.clone()).collect();
                    let entries = if presence == Presence::Wanted { entries } else { Vec::new() };
                    let wish = Wish::Hooks { agent, entries, arrays };
                    self.file(place.path, FileFormat::Json(rules)).wishes.push((which, wish));
                }
                HookShape::Own { text } => {
                    let mut known = other_spellings(agent, placement, &place.path);
                    known.push(text.clone());
                    let text = (presence == Presence::Wanted).then_some(text);
                    self.own.push(OwnWork { agent, path: place.path, text, known, which });
                }
            }
        }
    }

    /// Adds one server for one agent.
    pub fn server(
        &mut self,
        agent: Agent,
        server: &McpServer,
        everywhere: bool,
        placement: &Placement<'_>,
    ) {
        match agent.spec().server(server, everywhere, placement) {
            ServerPlace::Entry { path, format, table, value, users_keys, note } => {
                let which = if everywhere { Which::Home } else { Which::Workspace };
                let name = server.name.clone();
                let wish = Wish::Server { agent, name, table, value, users_keys };
                if let Some(note) = note {
                    self.notes.push(about(agent, server, &note).in_file(&path));
                }
                self.file(path, format).wishes.push((which, wish));
            }
            ServerPlace::Unsupported { reason } => self.notes.push(about(agent, server, &reason)),
        }
    }

    /// Files of the workspace itself, relative to nothing: what must be kept out of git.
    pub fn inside<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = &'a Path> {
        let shared = self.files.keys().map(PathBuf::as_path);
        let own = self.own.iter().map(|work| work.path.as_path());
        shared.chain(own).filter(move |path| path.starts_with(root))
    }
}

fn about(agent: Agent, server: &McpServer, text: &str) -> Diagnostic {
    Diagnostic::warning(format!("server `{}` and {}: {text}", server.name, agent.spec().title()))
}
