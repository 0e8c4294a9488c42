//! What a child left behind in process groups of its own (`setsid`, daemons).
//!
//! On Linux a process can ask for the orphans among its descendants: whatever loses its parent becomes
//! our child instead of the system's, and can be found and ended. Children that we started ourselves
//! are registered, so that a background process of ours is not taken for an orphan. Other systems have
//! no such thing; there only a child's group ends.

use std::io;

/// Starts a child of our own, which is no orphan.
pub(super) fn registered<T>(
    start: impl FnOnce() -> io::Result<T>,
    id: impl FnOnce(&T) -> u32,
) -> io::Result<T> {
    // Locked meanwhile: nobody may find the child before it is registered.
    #[cfg(target_os = "linux")]
    let mut own = linux::own_children();
    let started = start()?;
    #[cfg(target_os = "linux")]
    own.insert(id(&started));
    #[cfg(not(target_os = "linux"))]
    let _ = id;
    Ok(started)
}

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end};

/// From now on the orphans of our descendants are ours.
#[cfg(not(target_os = "linux"))]
pub(super) fn adopt() {}

/// Ends all orphans, and what they started.
#[cfg(not(target_os = "linux"))]
pub(super) fn end() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper,
        waitid, waitpid,
    };

    use crate::files::{Limit, read_bytes};

    /// The children that we started.
    static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    /// Whether orphans become our children.
    static ADOPTS: AtomicBool = AtomicBool::new(false);

    /// How long it may take to end what starts new processes all the time.
    const LIMIT: Duration = Duration::from_millis(500);
    /// How long a killed process is given to vanish before it is looked for again.
    const PAUSE: Duration = Duration::from_millis(1);

    pub(super) fn own_children() -> MutexGuard<'static, BTreeSet<u32>> {
        OWN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the orphans of our descendants are ours.
    pub(in crate::process) fn adopt() {
        if !ADOPTS.load(Ordering::SeqCst) && set_child_subreaper(Some(getpid())).is_ok() {
            ADOPTS.store(true, Ordering::SeqCst);
        }
    }

    /// Ends all orphans, and what they started.
    pub(in crate::process) fn end() {
        if !ADOPTS.load(Ordering::SeqCst) {
            return;
        }
        let end = Instant::now() + LIMIT;
        while has_children() {
            let own = own_children();
            let mut is_left = false;
            for pid in orphans(&own) {
                // What became another user's can't be ended by us.
                is_left |= kill_process(pid, Signal::KILL) != Err(Errno::PERM);
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            drop(own);
            if !is_left {
                return;
            }
            if Instant::now() >= end {
                tracing::warn!("processes that a program left behind could not all be ended");
                return;
            }
            sleep(PAUSE);
        }
    }

    /// Whether there is any child. It costs one system call, and nearly always there is none.
    fn has_children() -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
    }

    /// The children that are not our own, and all that they started.
    fn orphans(own: &BTreeSet<u32>) -> Vec<Pid> {
        let ourselves = std::process::id();
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (child, parent) in processes() {
            if parent != ourselves || !own.contains(&child) {
                children.entry(parent).or_default().push(child);
            }
        }
        let mut found = children.remove(&ourselves).unwrap_or_default();
        let mut next = 0;
        while let Some(process) = found.get(next) {
            found.extend(children.remove(process).unwrap_or_default());
            next += 1;
        }
        found.into_iter().filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?)).collect()
    }

    /// Each process with its parent.
    fn processes() -> Vec<(u32, u32)> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let process = |name: String| {
            let id = name.parse().ok()?;
            let file = format!("/proc/{name}/stat");
            let stat = read_bytes(Path::new(&file), Limit::OURS).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            // `id (name) state parent …`; the name may hold anything, parentheses too.
            let (_, fields) = stat.rsplit_once(')')?;
            Some((id, fields.split_whitespace().nth(1)?.parse().ok()?))
        };
        entries.filter_map(|entry| process(entry.file_name().into_string().ok()?)).collect()
    }
}
