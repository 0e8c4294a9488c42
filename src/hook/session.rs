//! What is remembered of an agent's session: never the prompts' text.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::Dirs;
use crate::files::{Lock, is_plain_name, write_if_changed};

/// How long a session that nobody uses is remembered.
const KEEP_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How long another process of the same session may keep us waiting.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many tool uses are remembered, to notice an event that is delivered twice.
const REMEMBERED: usize = 64;

/// One session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Session {
    /// The agent.
    pub agent: String,
    /// When it started, or was first seen, in milliseconds since 1970.
    pub started_at: u64,
    /// The `changed_at` of the last snapshot it has heard of.
    pub heard_of: u64,
    /// How many prompts there were.
    pub prompts: u64,
    /// Names of skills that the agent activated.
    pub activations: Vec<String>,
    /// Which nudges were given.
    pub nudges: Vec<String>,
    /// Names of skills, servers and subcommands that were announced.
    pub announced: Vec<String>,
    /// Context that could not be delivered with its event and waits for the next that can.
    pub pending: Vec<String>,
    /// Events that were answered: event and tool use.
    pub answered: Vec<String>,
}

/// Where a session is remembered.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    lock: PathBuf,
}

impl Store {
    /// The place for the session `id`. An id that is no plain file name is hashed.
    pub fn new(dirs: &Dirs, id: &str) -> Self {
        let name = if is_plain_name(id) && id.len() <= 128 && !id.starts_with('.') {
            id.to_owned()
        } else {
            crate::sync::content::hex(&Sha256::digest(id.as_bytes()))
        };
        Self {
            path: dirs.sessions().join(format!("{name}.json")),
            lock: dirs.locks().join(format!("session-{name}.lock")),
        }
    }

    /// What is remembered, if anything.
    pub fn read(&self) -> Option<Session> {
        let text = fs::read(&self.path).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Changes what is remembered, alone; written only when it differs. When another process holds
    /// the session for too long, or nothing can be written, the change is made and forgotten.
    pub fn update<T>(&self, change: impl FnOnce(&mut Session) -> T) -> T {
        let _held = Lock::acquire(&self.lock, PATIENCE);
        let before = self.read();
        let mut session = before.clone().unwrap_or_default();
        let result = change(&mut session);
        if before.as_ref() != Some(&session)
            && let Ok(bytes) = serde_json::to_vec(&session)
            && let Err(error) = write_if_changed(&self.path, &bytes)
        {
            tracing::debug!("the session is not remembered: {error}");
        }
        result
    }
}

impl Session {
    /// Whether this event is answered for the first time; remembers it.
    pub fn claim(&mut self, event: &str, tool_use: &str) -> bool {
        let key = format!("{event} {tool_use}");
        if self.answered.contains(&key) {
            return false;
        }
        self.answered.push(key);
        let surplus = self.answered.len().saturating_sub(REMEMBERED);
        self.answered.drain(..surplus);
        true
    }
}

/// Forgets sessions that were not touched for long, with their locks.
pub fn prune(dirs: &Dirs) {
    let locks = dirs.locks();
    for dir in [dirs.sessions(), locks.clone()] {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let is_session_lock = entry.file_name().to_string_lossy().starts_with("session-");
            if (dir != locks || is_session_lock) && is_old(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified
        .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > KEEP_FOR))
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_16_a_session_is_written_only_when_something_changes() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        let store = Store::new(&dirs, "abc");
        store.update(|_| ());
        assert!(store.read().is_some(), "a first sight is remembered");
        store.update(|session| session.prompts += 1);
        let before = fs::metadata(&store.path).and_then(|found| found.modified()).expect("a time");
        store.update(|_| ());
        let after = fs::metadata(&store.path).and_then(|found| found.modified()).expect("a time");
        assert_eq!(before, after);
        assert_eq!(store.read().expect("a session").prompts, 1);
    }

    #[test]
    fn a_session_id_names_no_path() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        for id in ["../../evil", "/etc/passwd", "", ".", "a\0b", &"x".repeat(500)] {
            let store = Store::new(&dirs, id);
            assert_eq!(store.path.parent(), Some(dirs.sessions().as_path()), "{id}");
        }
    }

    #[test]
    fn an_event_is_claimed_once() {
        let mut session = Session::default();
        assert!(session.claim("PreToolUse", "1"));
        assert!(!session.claim("PreToolUse", "1"));
        assert!(session.claim("PostToolUse", "1"));
        for number in 0..200 {
            session.claim("PreToolUse", &number.to_string());
        }
        assert!(session.answered.len() <= REMEMBERED);
    }
}
