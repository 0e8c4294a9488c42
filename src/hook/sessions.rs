//! All sessions together: old ones are forgotten, and how often their skills were read is kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::session::{LOCK_TIMEOUT, Session};
use crate::config::Dirs;
use crate::files::{Limit, Lock, is_absent, read_bytes, read_optional, replace_cache};

/// How long a session that nobody uses is remembered.
const KEEP_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Most skills of workspaces that are kept of forgotten sessions, those that were read last.
const KEPT: usize = 2_000;

/// How often an agent read a skill of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Past {
    root: PathBuf,
    name: String,
    agent: String,
    count: u64,
    /// In milliseconds since 1970.
    last_at: u64,
}

/// What is kept of forgotten sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Table {
    /// When the first of them began, in milliseconds since 1970; 0: there was none.
    since: u64,
    reads: Vec<Past>,
}

/// How often skills were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SkillReads {
    /// When the first session began of which something is known, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Readings of the workspace's skills, once a skill and agent.
    pub reads: Vec<AgentReads>,
    /// Files that can't be read, so that what they note is not counted, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// How often an agent read a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentReads {
    pub name: String,
    pub agent: String,
    pub count: u64,
    /// When last, in milliseconds since 1970.
    pub last_at: u64,
}

impl Table {
    fn path(dirs: &Dirs) -> PathBuf {
        dirs.config().join("skill-reads.json")
    }

    fn read(dirs: &Dirs) -> io::Result<Self> {
        match read_optional(&Self::path(dirs), Limit::OURS)? {
            Some(bytes) => Ok(serde_json::from_slice(&bytes)?),
            None => Ok(Self::default()),
        }
    }

    fn add(&mut self, session: &Session) {
        if session.started_at != 0 && (self.since == 0 || session.started_at < self.since) {
            self.since = session.started_at;
        }
        for read in &session.skill_reads {
            let Some(root) = read.root.as_ref().or(session.root.as_ref()) else { continue };
            let known = self.reads.iter_mut().find(|past| {
                past.root == *root && past.name == read.name && past.agent == session.agent
            });
            match known {
                Some(past) => {
                    past.count += read.count;
                    past.last_at = past.last_at.max(read.last_at);
                }
                None => self.reads.push(Past {
                    root: root.clone(),
                    name: read.name.clone(),
                    agent: session.agent.clone(),
                    count: read.count,
                    last_at: read.last_at,
                }),
            }
        }
    }

    /// Keeps it from growing without end.
    fn forget(&mut self) {
        self.reads.sort_by_key(|past| past.last_at);
        self.reads.drain(..self.reads.len().saturating_sub(KEPT));
    }
}

/// How often the skills of the workspace at `root` were read, by the sessions that are remembered
/// and by those that were.
pub(crate) fn skill_reads(dirs: &Dirs, root: &Path) -> SkillReads {
    let mut unreadable = Vec::new();
    let mut table = Table::read(dirs).unwrap_or_else(|error| {
        unreadable.push((Table::path(dirs), error.to_string()));
        Table::default()
    });
    match session_files(dirs) {
        Ok(files) => {
            for path in files {
                match read_session(&path) {
                    Ok(Some(session)) => table.add(&session),
                    // It was forgotten meanwhile.
                    Ok(None) => {}
                    Err(error) => unreadable.push((path, error.to_string())),
                }
            }
        }
        Err(error) => unreadable.push((dirs.sessions(), error.to_string())),
    }
    let here = table.reads.into_iter().filter(|past| past.root == root);
    let here = here.map(|past| AgentReads {
        name: past.name,
        agent: past.agent,
        count: past.count,
        last_at: past.last_at,
    });
    let since = Some(table.since).filter(|since| *since != 0);
    SkillReads { since, reads: here.collect(), unreadable }
}

/// The sessions' files, sorted.
fn session_files(dirs: &Dirs) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = match fs::read_dir(dirs.sessions()) {
        Err(error) if is_absent(&error) => return Ok(files),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// None where there is no such file.
fn read_session(path: &Path) -> io::Result<Option<Session>> {
    match read_bytes(path, Limit::OURS) {
        Ok(bytes) => Ok(Some(Session::parse(&bytes)?)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Forgets sessions that were not touched for long, with their locks.
pub(super) fn prune(dirs: &Dirs) {
    let files = session_files(dirs).unwrap_or_default();
    let old: Vec<PathBuf> = files.into_iter().filter(|path| is_old(path)).collect();
    if !old.is_empty()
        && let Err(error) = forget_sessions(dirs, &old)
    {
        tracing::warn!("old sessions stay, for what they note of skills can't be kept: {error}");
    }
    let Ok(locks) = fs::read_dir(dirs.locks()) else { return };
    for lock in locks.flatten() {
        if lock.file_name().to_string_lossy().starts_with("session-") && is_old(&lock.path()) {
            let _ = fs::remove_file(lock.path());
        }
    }
}

fn forget_sessions(dirs: &Dirs, old: &[PathBuf]) -> io::Result<()> {
    // Two that forget at once would count what is forgotten twice.
    let lock = dirs.locks().join("skill-reads.lock");
    let _lock = Lock::acquire(&lock, LOCK_TIMEOUT).map_err(io::Error::other)?;
    let before = Table::read(dirs)?;
    let mut table = before.clone();
    for path in old {
        // What can't be read now can't be read later either.
        if let Ok(Some(session)) = read_session(path) {
            table.add(&session);
        }
    }
    table.forget();
    if table != before {
        replace_cache(&Table::path(dirs), &serde_json::to_vec(&table)?)?;
    }
    for path in old {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified
        .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > KEEP_FOR))
}

#[cfg(test)]
mod tests {
    use super::super::session::Store;
    use super::super::skill_read::SkillRead;
    use super::*;

    fn age(path: &Path) {
        let file = fs::File::options().write(true).open(path).expect("opens");
        file.set_modified(SystemTime::now() - KEEP_FOR - Duration::from_secs(60)).expect("sets");
    }

    #[test]
    fn decision_16_a_session_that_nobody_used_for_two_weeks_is_forgotten() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        for id in ["old", "new"] {
            Store::new(&dirs, id).update(|session| session.prompts = 1);
        }
        fs::write(dirs.locks().join("workspace-1.lock"), "").expect("writes");
        let old = Store::new(&dirs, "old");
        age(&dirs.sessions().join("old.json"));
        age(old.lock());
        age(&dirs.locks().join("workspace-1.lock"));
        prune(&dirs);
        assert!(old.read().is_none() && !old.lock().exists());
        assert!(Store::new(&dirs, "new").read().is_some());
        assert!(dirs.locks().join("workspace-1.lock").exists(), "not a session's");
    }

    fn read(name: &str, count: u64, last_at: u64) -> SkillRead {
        SkillRead { name: name.to_owned(), count, last_at, ..SkillRead::default() }
    }

    fn session(dirs: &Dirs, id: &str, reads: Vec<SkillRead>) {
        Store::new(dirs, id).update(|session| {
            session.agent = "claude".to_owned();
            session.root = Some("/w".into());
            session.started_at = 5;
            session.skill_reads = reads;
        });
    }

    #[test]
    fn what_a_forgotten_session_read_is_kept_and_counted_once() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        session(&dirs, "old", vec![read("a", 2, 10), read("b", 1, 11)]);
        session(&dirs, "new", vec![read("a", 3, 20)]);
        let told = skill_reads(&dirs, Path::new("/w"));
        age(&dirs.sessions().join("old.json"));
        for _ in 0..2 {
            prune(&dirs);
            let mut now = skill_reads(&dirs, Path::new("/w"));
            now.reads.sort_by(|one, other| one.name.cmp(&other.name));
            assert_eq!(now.reads.iter().map(|read| read.count).collect::<Vec<_>>(), [5, 1]);
            assert_eq!((now.since, now.reads[0].last_at), (told.since, 20));
        }
        assert!(skill_reads(&dirs, Path::new("/other")).reads.is_empty());
    }

    #[test]
    fn where_it_cant_be_kept_an_old_session_stays() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(dir.path());
        session(&dirs, "old", vec![read("a", 2, 10)]);
        age(&dirs.sessions().join("old.json"));
        fs::write(Table::path(&dirs), "{").expect("writes");
        prune(&dirs);
        let told = skill_reads(&dirs, Path::new("/w"));
        assert_eq!((told.reads.len(), told.unreadable.len()), (1, 1));
        assert!(told.unreadable[0].0.ends_with("skill-reads.json"));
    }

    #[test]
    fn what_is_kept_does_not_grow_without_end() {
        let reads = (0..KEPT as u64 + 10).map(|number| read(&number.to_string(), 1, number));
        let session =
            Session { root: Some("/w".into()), skill_reads: reads.collect(), ..Session::default() };
        let mut table = Table::default();
        table.add(&session);
        table.forget();
        assert_eq!((table.reads.len(), table.reads[0].last_at), (KEPT, 10));
    }
}
