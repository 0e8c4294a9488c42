//! What is remembered of an agent's session: never the prompts' text.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::skill_read::SkillRead;
use crate::config::Dirs;
use crate::files::{Limit, Lock, LockError, is_plain_name, read_bytes, replace_cache};

/// How long another process of the same session may keep us waiting.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_millis(100);
/// Most entries of each list that are remembered.
const REMEMBERED: usize = 500;

/// One session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Session {
    /// The agent.
    pub agent: String,
    /// The root of the workspace in which it began: what guards there stays in force wherever it
    /// goes. None where it began outside of one.
    pub root: Option<PathBuf>,
    /// When it started, or was first seen, in milliseconds since 1970.
    pub started_at: u64,
    /// The `changed_at` of the last snapshot it has heard of.
    pub heard_of: u64,
    /// How many prompts there were.
    pub prompts: u64,
    /// Names of skills that the agent read, by versions that did not count.
    #[serde(skip_serializing)]
    pub activations: Vec<String>,
    /// Skills that the agent read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skill_reads: Vec<SkillRead>,
    /// Which nudges were given.
    pub nudges: Vec<String>,
    /// Names of skills and servers that were announced.
    pub announced: Vec<String>,
    /// Items of dependencies that were explained when a build failed, with their versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<String>,
    /// How often in a row hooks kept the agent from ending its turn.
    #[serde(skip_serializing_if = "is_zero")]
    pub kept_going: u64,
    /// The prompt, by its number, in whose turn that was.
    #[serde(skip_serializing_if = "is_zero")]
    pub kept_going_at: u64,
    /// Context that could not be delivered with its event and waits for one that can.
    pub pending: Vec<Deferred>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Context that waits for an event that can deliver it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Deferred {
    /// The text.
    pub text: String,
    /// The use of a tool whose result it goes with, under each of the names that it may have by
    /// then; none: it goes with anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
}

/// Where a session is remembered.
#[derive(Debug, Clone)]
pub(super) struct Store {
    path: PathBuf,
    lock: PathBuf,
}

impl Store {
    /// The place for the session `id`. An id that is no plain file name is hashed.
    pub(super) fn new(dirs: &Dirs, id: &str) -> Self {
        let name = if is_plain_name(id) && id.len() <= 128 && !id.starts_with('.') {
            id.to_owned()
        } else {
            crate::text::hex(&Sha256::digest(id.as_bytes()))
        };
        Self {
            path: dirs.sessions().join(format!("{name}.json")),
            lock: dirs.locks().join(format!("session-{name}.lock")),
        }
    }

    /// The lock that whoever changes something of the session holds.
    pub(super) fn lock(&self) -> &Path {
        &self.lock
    }

    /// A file beside the lock, for what need not be kept.
    pub(super) fn beside(&self, extension: &str) -> PathBuf {
        self.lock.with_extension(extension)
    }

    /// What is remembered, if anything.
    pub(super) fn read(&self) -> Option<Session> {
        let text = read_bytes(&self.path, Limit::OURS).ok()?;
        Session::parse(&text).ok()
    }

    /// Changes what is remembered, alone; written only when it differs. When another process holds
    /// the session for too long, or nothing can be written, the change is made and forgotten.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Session) -> T) -> T {
        let held = Lock::acquire(&self.lock, LOCK_TIMEOUT);
        let before = self.read();
        let mut session = before.clone().unwrap_or_default();
        let result = change(&mut session);
        session.forget();
        if before.as_ref() == Some(&session) {
            return result;
        }
        let written = match held {
            // Somebody else is writing.
            Err(error @ LockError::Busy { .. }) => Err(io::Error::other(error)),
            Ok(_) | Err(LockError::Io { .. }) => serde_json::to_vec(&session)
                .map_err(io::Error::from)
                .and_then(|bytes| replace_cache(&self.path, &bytes)),
        };
        if let Err(error) = written {
            tracing::warn!("the session is not remembered: {error}");
        }
        result
    }
}

impl Session {
    /// What a session's file says. Skills of which only the name is noted were read at least once,
    /// and not before the session began.
    pub(super) fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        let mut session: Self = serde_json::from_slice(bytes)?;
        for name in std::mem::take(&mut session.activations) {
            if !session.skill_reads.iter().any(|read| read.name == name) {
                let last_at = session.started_at;
                let read = SkillRead { name, count: 1, last_at, ..SkillRead::default() };
                session.skill_reads.push(read);
            }
        }
        Ok(session)
    }

    /// Keeps a session without end from growing without end.
    fn forget(&mut self) {
        let Self { nudges, announced, explained, .. } = self;
        for list in [nudges, announced, explained] {
            list.drain(..list.len().saturating_sub(REMEMBERED));
        }
        let surplus = self.skill_reads.len().saturating_sub(REMEMBERED);
        self.skill_reads.drain(..surplus);
        let surplus = self.pending.len().saturating_sub(REMEMBERED);
        self.pending.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
    fn a_session_that_another_process_holds_is_left_to_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(&Dirs::under(dir.path()), "s");
        store.update(|session| session.prompts = 1);
        let held = Lock::acquire(store.lock(), Duration::ZERO).expect("is free");
        assert_eq!(
            store.update(|session| {
                session.prompts += 1;
                session.prompts
            }),
            2
        );
        drop(held);
        assert_eq!(store.read().expect("a session").prompts, 1);
    }

    #[test]
    fn a_session_does_not_grow_without_end() {
        let announced = (0..2 * REMEMBERED).map(|number| number.to_string()).collect();
        let mut session = Session { announced, ..Session::default() };
        session.skill_reads = vec![SkillRead::default(); 2 * REMEMBERED];
        session.forget();
        assert_eq!((session.announced.len(), session.skill_reads.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(session.announced.last(), Some(&(2 * REMEMBERED - 1).to_string()));
    }
}
