//! The snapshot: what hooks, help and subcommands need of a workspace, in one small file.
//!
//! The file is lines of JSON, so that a hook reads only what concerns its event: the header, then
//! one line an event with its hooks, then the rest. It is made by a sync and replaced as a whole; a
//! file that is unreadable, of another version or of another program counts as absent.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use symposium_hook::Event;

use super::content::hex;
use crate::config::{Dirs, Environment};
use crate::plugins::model::{Audience, OnFailure};
use crate::workspace::Fingerprint;

/// Version of the file's layout.
const LAYOUT: u32 = 1;

/// What stands in the first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the layout.
    pub layout: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// The workspace's root.
    pub root: PathBuf,
    /// What must not have changed since.
    pub fingerprint: Fingerprint,
    /// Environment variables that gates looked at, as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, Option<String>)>,
    /// When the last sync that changed something ended, in milliseconds since 1970: what a session
    /// has not heard of is newer than what it has.
    pub changed_at: u64,
    /// How many hooks each event has, by its manifest name.
    pub hooks: BTreeMap<String, usize>,
}

/// A hook that applies to the workspace, ready to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotHook {
    /// Its plugin.
    pub plugin: String,
    /// Its name.
    pub name: String,
    /// A regular expression over the whole tool name; `None`: all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Only for this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `symposium`, or the agent whose format it speaks.
    pub format: String,
    /// How long it may take, in milliseconds.
    pub timeout: u64,
    /// What a failure means.
    pub on_failure: OnFailure,
    /// What to run.
    pub run: Run,
}

/// A program, resolved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
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
    /// The installation.
    pub installation: String,
}

/// A subcommand some plugin vends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotSubcommand {
    /// Its name.
    pub name: String,
    /// Its plugin.
    pub plugin: String,
    /// The plugin's source.
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
}

/// A skill that was placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotSkill {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Folders that hold it, relative to the root: `.claude/skills/widget`.
    pub dirs: Vec<String>,
    /// When it was first placed, in milliseconds since 1970.
    pub since: u64,
}

/// A server that was registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotServer {
    /// Its name.
    pub name: String,
    /// When it was first registered, in milliseconds since 1970.
    pub since: u64,
}

/// What session starts, help and subcommands need.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// The skills.
    pub skills: Vec<SnapshotSkill>,
    /// The servers.
    pub servers: Vec<SnapshotServer>,
    /// The subcommands, those that do not apply included.
    pub subcommands: Vec<SnapshotSubcommand>,
}

/// A whole snapshot, to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The first line.
    pub header: Header,
    /// Hooks by event, in the order in which they run.
    pub hooks: BTreeMap<Event, Vec<SnapshotHook>>,
    /// The rest.
    pub offer: Offer,
}

impl Snapshot {
    /// Where the snapshot of the workspace at `root` is.
    pub fn path(dirs: &Dirs, root: &Path) -> PathBuf {
        let hash = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
        dirs.snapshots().join(format!("{}.jsonl", &hash[..32]))
    }

    /// Writes the file in one step.
    ///
    /// # Errors
    /// Trouble writing it.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut header = self.header.clone();
        header.layout = LAYOUT;
        header.hooks = Event::ALL
            .iter()
            .map(|event| (event.name().to_owned(), self.hooks.get(event).map_or(0, Vec::len)))
            .collect();
        let mut text = serde_json::to_string(&header)?;
        for event in Event::ALL {
            text.push('\n');
            match self.hooks.get(&event) {
                Some(hooks) => text.push_str(&serde_json::to_string(hooks)?),
                None => text.push_str("[]"),
            }
        }
        text.push('\n');
        text.push_str(&serde_json::to_string(&self.offer)?);
        text.push('\n');
        crate::files::write_atomic(path, text.as_bytes())
    }
}

/// A snapshot as read: the header understood, the rest on demand.
#[derive(Debug, Clone)]
pub struct Stored {
    text: String,
    /// The first line.
    pub header: Header,
}

impl Stored {
    /// Reads the file; `None` when it is absent or not ours to understand.
    pub fn load(path: &Path, program: &str, root: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let header: Header = serde_json::from_str(text.lines().next()?).ok()?;
        let fits = header.layout == LAYOUT && header.program == program && header.root == root;
        fits.then_some(Self { text, header })
    }

    /// Whether everything it was made from is as it was.
    pub fn holds(&self, env: &Environment) -> bool {
        let same_env =
            |(name, value): &(String, Option<String>)| env.text(name) == value.as_deref();
        self.header.env.iter().all(same_env) && self.header.fingerprint.still_holds()
    }

    /// How many hooks handle `event`.
    pub fn count(&self, event: Event) -> usize {
        self.header.hooks.get(event.name()).copied().unwrap_or(0)
    }

    /// The hooks of `event`; a line that can't be understood counts as none.
    pub fn hooks(&self, event: Event) -> Vec<SnapshotHook> {
        let index = Event::ALL.iter().position(|known| *known == event).unwrap_or(0);
        self.line(index + 1)
    }

    /// The rest.
    pub fn offer(&self) -> Offer {
        self.line(Event::ALL.len() + 1)
    }

    fn line<T: for<'de> Deserialize<'de> + Default>(&self, index: usize) -> T {
        let line = self.text.lines().nth(index).unwrap_or_default();
        serde_json::from_str(line).unwrap_or_default()
    }
}
