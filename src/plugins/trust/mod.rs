//! The user's word on what plugins run.
//!
//! With `[trust] programs = "ask"` nothing of a plugin runs until `cargo agents plugin allow` recorded
//! what it is ([`part`]: its entry and the files that it could run, [`files`]); what changed since is
//! inert again, and nothing else. `cargo agents plugin deny` takes all of a plugin's programs back,
//! whatever the configuration says. The same holds for a source that the team's file has in the workspace
//! itself, whatever the user's configuration says of trust. The words are in one file a plugin ([`record`]).

pub(crate) mod files;
pub(crate) mod part;
pub(crate) mod record;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use self::part::{Part, PartKind};
use self::record::{Owner, Record};
use super::model::Plugin;
use super::source::BUILTIN;
use crate::Symposium;
use crate::config::{Config, TrustPrograms};
use crate::workspace::Observer;

/// Why something that applies does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Nobody allowed it yet.
    New,
    /// It is not what was allowed.
    Changed,
    /// The user denied all that the plugin could run.
    Denied,
    /// What the user said of the plugin can't be read.
    Unreadable,
    /// The plugin's folder holds more than can be looked through.
    TooLarge,
}

impl Waits {
    /// Why, and what to do, with the name of the plugin (or crate) that it is of.
    pub(crate) fn told(self, name: &str) -> String {
        let review = format!("`cargo agents plugin review {name}` shows it");
        match self {
            Self::New => format!("it waits until you allow it: {review}"),
            Self::Changed => format!("it changed since you allowed it: {review}"),
            Self::Denied => {
                format!("you denied it: `cargo agents plugin allow {name}` takes that back")
            }
            Self::Unreadable => format!(
                "what you said of it can't be read: `cargo agents plugin allow {name}` or `deny` \
                 says it anew"
            ),
            Self::TooLarge => {
                "its plugin's folder holds too many files, or too many folders in each other, to tell \
                 what it could run"
                    .to_owned()
            }
        }
    }
}

/// For the end of a name: `new`, `changed`.
impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "not allowed yet",
            Self::Changed => "changed since you allowed it",
            Self::Denied => "denied",
            Self::Unreadable => "your word on it can't be read",
            Self::TooLarge => "too many files to look through",
        })
    }
}

/// What of a plugin could run, or why that can't be told.
type Known = Rc<Result<Vec<Part>, Waits>>;

/// What the user said of a plugin; an error where it can't be read.
type Said = Result<Rc<Record>, ()>;

/// What the user allowed and denied, held against what plugins are now.
pub(crate) struct Trust<'a> {
    asks: bool,
    config: &'a Config,
    /// `None` while nothing was ever said.
    records: Option<PathBuf>,
    observer: &'a Observer,
    known: RefCell<HashMap<PathBuf, Known>>,
    said: RefCell<BTreeMap<Owner, Said>>,
}

impl<'a> Trust<'a> {
    /// What is looked at is observed, so that a change of it is no longer what was allowed.
    pub(crate) fn of(sym: &'a Symposium, observer: &'a Observer) -> Self {
        let dir = sym.dirs.trust();
        // A word is a file that comes, goes or takes another's place: the folder tells.
        let records = observer.is_dir(&dir).then_some(dir);
        let asks = sym.config.trust_programs == TrustPrograms::Ask;
        let (known, said) = (RefCell::default(), RefCell::default());
        Self { asks, config: &sym.config, records, observer, known, said }
    }

    /// Whether everything may run: nothing needs to be looked at.
    pub(crate) fn is_open(&self) -> bool {
        !self.asks && self.records.is_none() && !self.config.has_sources_in_checkout()
    }

    /// Whether a source is the team's: what it brings is for one workspace.
    pub(crate) fn is_teams(&self, source: &str) -> bool {
        self.config.is_teams(source)
    }

    /// Whether what the source holds runs only as the user allowed it: a checkout brings it, or the user
    /// wants it so of every source.
    fn asks_of(&self, source: &str) -> bool {
        self.asks || self.config.is_in_checkout(source)
    }

    /// Why the hook, server or subcommand `name` of `plugin` must not run.
    pub(crate) fn waits(&self, plugin: &Plugin, kind: PartKind, name: &str) -> Option<Waits> {
        if plugin.source == BUILTIN {
            return None;
        }
        let owner = Owner::of(plugin);
        self.check(&owner, || match &*self.parts(plugin) {
            Ok(parts) => Ok(parts.iter().find(|part| part.is(kind, name)).cloned()),
            Err(why) => Err(*why),
        })
    }

    /// Why a skill whose text has commands must not be installed.
    pub(crate) fn skill_waits(
        &self,
        owner: &Owner,
        part: Result<&Part, files::TooMany>,
    ) -> Option<Waits> {
        self.check(owner, || part.map(|part| Some(part.clone())).map_err(|_| Waits::TooLarge))
    }

    fn check(
        &self,
        owner: &Owner,
        part: impl FnOnce() -> Result<Option<Part>, Waits>,
    ) -> Option<Waits> {
        if self.is_open() {
            return None;
        }
        let record = match self.record(owner) {
            Ok(record) => record,
            Err(()) => return Some(Waits::Unreadable),
        };
        if record.denied {
            return Some(Waits::Denied);
        }
        if !self.asks_of(&owner.source) {
            return None;
        }
        match part() {
            Err(why) => Some(why),
            Ok(part) => record.judge(&part?),
        }
    }

    /// What was said of `owner`.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn record(&self, owner: &Owner) -> Said {
        let Some(dir) = &self.records else { return Ok(Rc::default()) };
        let mut said = self.said.borrow_mut();
        let load = || record::load(dir, owner).map(Rc::new);
        said.entry(owner.clone()).or_insert_with(load).clone()
    }

    /// What of `plugin` could run by its manifest; its skills are not among it.
    pub(crate) fn parts(&self, plugin: &Plugin) -> Known {
        let mut known = self.known.borrow_mut();
        let parts = || {
            let parts = part::parts(plugin, self.observer);
            Rc::new(parts.map_err(|files::TooMany| Waits::TooLarge))
        };
        Rc::clone(known.entry(plugin.manifest.clone()).or_insert_with(parts))
    }

    /// The files that the hook `name` could run, each with the SHA-256 that was allowed; empty where
    /// the user is not asked.
    pub(crate) fn files_of_hook(&self, plugin: &Plugin, name: &str) -> Vec<(PathBuf, String)> {
        if !self.asks_of(&plugin.source) || plugin.source == BUILTIN {
            return Vec::new();
        }
        let known = self.parts(plugin);
        let parts = known.as_ref().as_ref().map(Vec::as_slice).unwrap_or_default();
        let part = parts.iter().find(|part| part.is(PartKind::Hook, name));
        let files = part.into_iter().flat_map(|part| &part.files);
        files.map(|(path, file)| (absolute(&plugin.dir, path), file.sha256.clone())).collect()
    }
}

/// The place of a file that [`Part::files`] names.
fn absolute(dir: &Path, path: &str) -> PathBuf {
    dir.join(path).components().collect()
}

#[cfg(test)]
mod tests;
