//! The snapshot: what hooks, help and subcommands need of a workspace, in one small file.
//!
//! The file is lines of JSON, so that a hook reads only what concerns its event: the header, then
//! one line an event with its hooks, then the rest; after them the fingerprint, in bytes. It is made
//! by a sync and replaced as a whole; a file that is unreadable, of another version or of another
//! program counts as absent.
//!
//! [`remember`] makes it at the end of a sync, with the [`programs`] that its hooks and servers run
//! and with what there is to be told of ([`offers`]); [`subcommands`] reads from it what plugins vend.
//!
//! May use: `facts`, `placing`, `dependencies`. Used by: `registration`, a sync, `hook`, `cli`.

mod changed;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod offers;
pub(crate) mod programs;
pub(crate) mod remember;
pub(crate) mod subcommands;

use std::collections::BTreeMap;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use symposium_hook::Event;

use crate::config::{Dirs, Environment};
use crate::files::{Limit, read_bytes};
use crate::plugins::model::{Audience, OnFailure};
use crate::symposium::VERSION;
use crate::sync::dependencies::changes::{DependencyChange, KnownDependency};
use crate::workspace::Fingerprint;

/// Version of the file's layout: whatever changes the bytes raises it; a test tells.
const LAYOUT: u32 = 11;

/// The lines of JSON: the header, the events, the offer and the member_entry_dirs.
const LINES: usize = Event::ALL.len() + 3;

/// What stands in the first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub layout: u32,
    /// Version of the program that wrote it.
    pub program: String,
    pub root: PathBuf,
    /// What must not have changed since; it stands after everything else, in bytes that are
    /// checked as they are read.
    #[serde(skip)]
    pub fingerprint: Fingerprint,
    /// Environment variables that gates looked at, as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, Option<String>)>,
    /// When the last sync that changed something ended, in milliseconds since 1970: what a session
    /// has not heard of is newer than what it has.
    pub changed_at: u64,
    /// Names of the servers, to tell a server's tool by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Whether there are sources or programs that a refresh in the background could fetch.
    pub refreshable: bool,
    /// Whether this is no workspace: see [`Snapshot::outside`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// Whether the workspace was never synced, only looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsynced: bool,
    /// Whether the sync could not do all it should: the next session tries again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// How many hooks each event has, by its manifest name.
    pub hooks: BTreeMap<String, usize>,
}

/// A hook that applies to the workspace, ready to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SnapshotHook {
    pub plugin: String,
    pub name: String,
    /// A regular expression over the whole tool name; `None`: all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Only for this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `symposium`, or the agent whose format it speaks: with that one only, or with all.
    pub format: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_portable: bool,
    /// How long it may take, in milliseconds.
    pub timeout: u64,
    /// What a failure means.
    pub on_failure: OnFailure,
    /// Whether processes that it leaves behind go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detach: bool,
    /// What to run.
    pub run: Run,
    /// The files that it could run, with the SHA-256 of each that the user allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_files: Vec<(PathBuf, String)>,
}

/// A program, resolved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The program and its arguments; `None` while it is not on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Variables it gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Folders that go before `PATH`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathBuf>,
    /// The plugin's manifest and the installation's name, to get it with while it is missing.
    pub manifest: PathBuf,
    pub installation: String,
    /// Whether a program that is missing can be got: it is no file of the plugin itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fetchable: bool,
    /// Why there is nothing to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Requirements that can be got and are missing. The program is run without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
    /// Installations that were tried and failed, each with why: nobody is at them any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<(String, String)>,
}

impl Run {
    /// What keeps the program from being started: it was not there when the snapshot was made, or
    /// is gone since. Looked for here because `sh` would answer with a code that says nothing.
    pub(crate) fn missing(&self) -> Option<String> {
        let Some(argv) = self.argv.as_deref().filter(|argv| !argv.is_empty()) else {
            let problem = self.problem.clone().filter(|_| !self.fetchable);
            return Some(problem.unwrap_or_else(|| "its program is not installed yet".to_owned()));
        };
        let file = match argv {
            [shell, script, ..] if shell == "sh" => script,
            _ => &argv[0],
        };
        let path = Path::new(file);
        (path.is_absolute() && !path.exists()).then(|| format!("there is no {file}"))
    }
}

/// A subcommand some plugin vends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SnapshotSubcommand {
    pub name: String,
    pub plugin: String,
    pub source: String,
    /// One line.
    pub description: String,
    /// Whom it is for.
    pub audience: Audience,
    /// What to run; `None` when it does not apply here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Why it does not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// When it began to apply, in milliseconds since 1970; 0: it did when we first looked.
    #[serde(default)]
    pub since: u64,
}

/// A skill that was placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SnapshotSkill {
    pub name: String,
    pub description: String,
    /// Folders that hold it, relative to the root: `.claude/skills/widget`.
    pub dirs: Vec<String>,
    /// When it was first placed, in milliseconds since 1970.
    pub since: u64,
}

/// A server that was registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SnapshotServer {
    pub name: String,
    /// When it was first registered, in milliseconds since 1970.
    pub since: u64,
}

/// What session starts, help and subcommands need.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub skills: Vec<SnapshotSkill>,
    pub servers: Vec<SnapshotServer>,
    /// The subcommands, those that do not apply included.
    pub subcommands: Vec<SnapshotSubcommand>,
    /// Dependencies that ship skills, about which nobody said anything yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Plugins that wait for the user's word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// Whether the team's file waits for the user's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub team_waits: bool,
    /// Plugins that are not, in part, what the user allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What agents are told of the workspace's dependencies; `None` where that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<KnownDependency>>,
    /// How they became so, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependency_changes: Vec<DependencyChange>,
}

/// A whole snapshot, to be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    /// The first line.
    pub header: Header,
    /// Hooks by event, in the order in which they run.
    pub hooks: BTreeMap<Event, Vec<SnapshotHook>>,
    pub offer: Offer,
    /// Folders of members from which the workspace is found.
    pub member_entry_dirs: Vec<PathBuf>,
}

impl Snapshot {
    /// Where the snapshot of the workspace at `root` is.
    pub(crate) fn path(dirs: &Dirs, root: &Path) -> PathBuf {
        dirs.snapshots().join(format!("{:016x}.jsonl", short_hash(root)))
    }

    /// Stands for the root where there is no workspace: a folder of ours that is never there.
    pub(crate) fn outside(dirs: &Dirs) -> PathBuf {
        dirs.cache().join("no-workspace")
    }

    /// The snapshot as it is stored and read, its fingerprint [settled](Fingerprint::settled).
    ///
    /// # Errors
    /// A path in it that is no Unicode.
    pub(crate) fn store(self) -> serde_json::Result<Stored> {
        let mut header = self.header;
        header.layout = LAYOUT;
        header.fingerprint = header.fingerprint.settled();
        header.hooks = Event::ALL
            .iter()
            .map(|event| (event.name().to_owned(), self.hooks.get(event).map_or(0, Vec::len)))
            .collect();
        let mut text = serde_json::to_string(&header)?;
        for event in Event::ALL {
            text.push('\n');
            let hooks = self.hooks.get(&event).map(Vec::as_slice).unwrap_or_default();
            text.push_str(&serde_json::to_string(hooks)?);
        }
        text.push('\n');
        text.push_str(&serde_json::to_string(&self.offer)?);
        text.push('\n');
        text.push_str(&serde_json::to_string(&self.member_entry_dirs)?);
        text.push('\n');
        let mut bytes = text.into_bytes();
        bytes.extend(header.fingerprint.to_bytes());
        Ok(Stored { bytes, header, is_outdated: false })
    }
}

/// FNV-1a, 64 bits: a hook computes it for some folders at every event. The file says whose it is.
fn short_hash(folder: &Path) -> u64 {
    folder.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A snapshot as read: the header understood, the rest on demand.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    bytes: Vec<u8>,
    /// The first line.
    pub header: Header,
    /// Whether something that it was made from is not as it was, and it serves for want of a newer one.
    pub is_outdated: bool,
}

impl Stored {
    /// The snapshot of the workspace at `root` as it is on disk now, whether or not it still holds.
    pub(crate) fn of(dirs: &Dirs, root: &Path) -> Option<Self> {
        Self::load(&Snapshot::path(dirs, root), VERSION, root)
    }

    /// Reads the file; `None` when it is absent or not ours to understand.
    fn load(path: &Path, program: &str, root: &Path) -> Option<Self> {
        let stored = Self::parse(read_bytes(path, Limit::OURS).ok()?)?;
        let fits = stored.header.program == program && stored.header.root == root;
        fits.then_some(stored)
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let header: Header = serde_json::from_slice(line_of(&bytes, 0)).ok()?;
        (header.layout == LAYOUT).then_some(Self { bytes, header, is_outdated: false })
    }

    /// Writes the file in one step.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        crate::files::replace_cache(path, &self.bytes)
    }

    /// Whether the files of both would be the same.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }

    /// Whether everything it was made from is as it was.
    pub(crate) fn holds(&self, env: &Environment) -> bool {
        let same_env =
            |(name, value): &(String, Option<String>)| env.text(name) == value.as_deref();
        self.header.env.iter().all(same_env) && Fingerprint::is_current(self.fingerprint())
    }

    /// What stands behind the lines: the header, the events, the offer and the member_entry_dirs.
    fn fingerprint(&self) -> &[u8] {
        from_line(&self.bytes, LINES)
    }

    /// How many hooks handle `event`.
    pub(crate) fn count(&self, event: Event) -> usize {
        self.header.hooks.get(event.name()).copied().unwrap_or(0)
    }

    /// The hooks of `event`; a line that can't be understood counts as none.
    pub(crate) fn hooks(&self, event: Event) -> Vec<SnapshotHook> {
        let index = Event::ALL.iter().position(|known| *known == event).unwrap_or(0);
        self.line(index + 1)
    }

    pub(crate) fn offer(&self) -> Offer {
        self.line(Event::ALL.len() + 1)
    }

    /// Whether a search for the workspace that begins with the manifest in `folder` ends here, as
    /// long as the snapshot holds.
    pub(crate) fn is_found_from(&self, folder: &Path) -> bool {
        let door = || self.line::<Vec<PathBuf>>(Event::ALL.len() + 2);
        folder == self.header.root || door().iter().any(|door| door == folder)
    }

    fn line<T: for<'de> Deserialize<'de> + Default>(&self, index: usize) -> T {
        serde_json::from_slice(line_of(&self.bytes, index)).unwrap_or_default()
    }
}

/// What stands from the line with this number on, counted from zero.
fn from_line(mut bytes: &[u8], number: usize) -> &[u8] {
    for _ in 0..number {
        // A slice can be read without errors.
        let _ = bytes.skip_until(b'\n');
    }
    bytes
}

/// The line with this number, counted from zero, with its end; an empty one where there are fewer.
fn line_of(bytes: &[u8], number: usize) -> &[u8] {
    let line = from_line(bytes, number);
    let length = { line }.skip_until(b'\n').unwrap_or(0);
    line.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests;
