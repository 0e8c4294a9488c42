//! The one process in the background that a workspace has, and what is remembered of a slow one.
//!
//! A sync that takes longer than an event may wait goes on there. From then on no event waits for a
//! sync of that workspace: it goes on with what is known, and the process is started again now and
//! then, the more rarely the longer it takes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::snapshot::Snapshot;
use crate::config::{Dirs, Environment, own_program};
use crate::files::{Limit, Lock, LockError, read_text, replace_cache};
use crate::process::{Child, Detached, end_after, spawn_detached};

/// How long an event waits for its sync. What takes longer goes on in the process.
pub(super) const BUDGET: Duration = Duration::from_secs(2);
/// How long the process may live: cargo may have to build a program for it.
const LIFE: Duration = Duration::from_secs(30 * 60);
/// How long it may itself compute; a sync takes some hundredths of a second, a large one a few seconds.
const CPU_LIMIT: Duration = Duration::from_secs(30);
/// How long a new one waits for one that is about to end.
const HANDOVER: Duration = Duration::from_millis(200);
/// For so many times as long as it took, it is not started again.
const REST: u32 = 10;
/// A workspace that was slow so long ago gets another chance.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// A workspace's process in the background.
#[derive(Debug, Clone)]
pub(crate) struct Background {
    root: PathBuf,
    /// Held by the process as long as it runs.
    lock: PathBuf,
    /// Is there while the workspace counts as slow; holds the milliseconds that the process took.
    slow: PathBuf,
}

impl Background {
    /// That of the workspace at `root`.
    pub(crate) fn of(dirs: &Dirs, root: &Path) -> Self {
        let root = crate::files::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
        let name = Snapshot::path(dirs, &root).with_extension("");
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let lock = dirs.locks().join(format!("background-{name}.lock"));
        Self { slow: lock.with_extension("slow"), lock, root }
    }

    /// Refreshes sources, programs and the workspace in a process that lives on without us, unless
    /// there is one.
    pub(crate) fn start(&self) -> Option<Running> {
        if self.is_running() {
            return Some(Running::Theirs(self.clone()));
        }
        let child = Child::new(own_program().ok()?).args(["sync", "--background"]).cwd(&self.root);
        match spawn_detached(&child) {
            Ok(running) => Some(Running::Ours(running)),
            Err(error) => {
                tracing::warn!("no refresh in the background: {error}");
                None
            }
        }
    }

    /// The process to wait for after one that `ended` and left something undone, if there is one.
    ///
    /// A process that we found running may have looked before the work came up, so another is started.
    /// One that we started ends at once when it finds another at work: that other one is waited for.
    pub(crate) fn follow_up(&self, ended: &Running) -> Option<Running> {
        match ended {
            Running::Theirs(_) => self.start(),
            Running::Ours(_) => self.is_running().then(|| Running::Theirs(self.clone())),
        }
    }

    fn is_running(&self) -> bool {
        matches!(Lock::acquire_shared(&self.lock, Duration::ZERO), Err(LockError::Busy { .. }))
    }

    /// Does the work of the process itself; nothing where there is another.
    pub(crate) fn run<T>(&self, env: &Environment, work: impl FnOnce() -> T) -> Option<T> {
        let switches = env.test_switches();
        end_after(switches.background_life.unwrap_or(LIFE), CPU_LIMIT);
        // Where there can be no locks, nobody is known to be at it.
        let _lock = match Lock::acquire(&self.lock, HANDOVER) {
            Err(LockError::Busy { .. }) => return None,
            lock => lock.ok(),
        };
        let start = Instant::now();
        std::thread::sleep(switches.slow_background);
        let done = work();
        let took = start.elapsed();
        if took < switches.patience(BUDGET) {
            let _ = std::fs::remove_file(&self.slow);
        } else if self.slow.exists() {
            self.remember(&took.as_millis().to_string());
        }
        Some(done)
    }

    /// The workspace took longer than an event waits.
    pub(crate) fn is_slow_from_now(&self) {
        self.remember("");
    }

    fn remember(&self, took: &str) {
        if let Err(error) = replace_cache(&self.slow, took.as_bytes()) {
            tracing::warn!("that this workspace is slow is not remembered: {error}");
        }
    }

    /// Whether no event should wait for it; it is then brought up to date beside them.
    pub(crate) fn goes_on_beside(&self) -> bool {
        let modified = std::fs::metadata(&self.slow).and_then(|found| found.modified());
        let Some(age) = modified.ok().map(|time| time.elapsed().unwrap_or_default()) else {
            return false;
        };
        if age > FORGOTTEN {
            return false;
        }
        let took = read_text(&self.slow, Limit::LINE).ok().and_then(|text| text.parse().ok());
        if age > took.map_or(CPU_LIMIT, Duration::from_millis) * REST && !self.is_running() {
            self.is_slow_from_now();
            let _running = self.start();
        }
        true
    }
}

/// A process in the background.
#[derive(Debug)]
pub(crate) enum Running {
    /// We started it.
    Ours(Detached),
    /// It was there.
    Theirs(Background),
}

impl Running {
    /// Waits for its end, so long at most. Whether it has ended.
    pub(crate) fn ends_within(&self, patience: Duration) -> bool {
        match self {
            Self::Ours(process) => process.ends_within(patience),
            Self::Theirs(process) => {
                std::thread::sleep(patience);
                !process.is_running()
            }
        }
    }
}
