//! Putting one file or folder in another's place, by the means of each system.
//!
//! On Windows a file that a program has open may be neither renamed nor removed, unless that program
//! allows it, and scanners open each new file for some milliseconds. There such a step is tried again
//! for a moment, in silence. Elsewhere an open file is in nobody's way.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempPath;

/// Renames a file or a folder; where a file stands at `to`, it is replaced.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    while_in_use(|| fs::rename(from, to))
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    while_in_use(|| fs::remove_file(path))
}

/// Moves `temporary` to `target`, where a file may stand.
pub(super) fn persist(temporary: TempPath, target: &Path) -> io::Result<()> {
    // `persist` renames over no file that is open.
    #[cfg(windows)]
    if exchange(&temporary, target).is_ok() {
        return Ok(());
    }
    let mut temporary = Some(temporary);
    while_in_use(|| {
        let Some(path) = temporary.take() else { return Ok(()) };
        path.persist(target).map_err(|failed| {
            temporary = Some(failed.path);
            failed.error
        })
    })
}

/// Exchanges two files in one step.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] when one of them is not there; where the system or the file system
/// can't, another one. Both are then what they were.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(temporary: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, temporary, CWD, target, RenameFlags::EXCHANGE)?)
}

/// As elsewhere, in two steps: what is there gets a second name, and is renamed over. Who reads the
/// target finds the old text or the new one; what others still write into the old file is seen.
///
/// `ReplaceFileW` would be one call, but leaves no file at all there for a moment.
///
/// Our own processes take turns: one that renamed between the two steps of another would lose its
/// text without a trace. Where no turn can be had the steps are taken all the same.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
#[allow(clippy::disallowed_methods, reason = "one lock for all targets, and nothing beside them")]
pub(super) fn exchange(temporary: &Path, target: &Path) -> io::Result<()> {
    let turns = std::env::temp_dir().join("symposium-exchange.lock");
    let _turn = super::lock::Lock::acquire(&turns, Duration::from_secs(2));
    let displaced = temporary.with_extension("before.tmp");
    fs::hard_link(target, &displaced)?;
    if let Err(error) = rename(temporary, target) {
        let _ = remove_file(&displaced);
        return Err(error);
    }
    rename(&displaced, temporary).or_else(|_| fs::copy(&displaced, temporary).map(drop))
}

/// Tries `step` again while it fails because another program has a file open, a second at most.
fn while_in_use<T>(mut step: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let until = Instant::now() + Duration::from_secs(1);
    let mut pause = Duration::from_millis(1);
    loop {
        match step() {
            Err(error) if is_in_use(&error) && Instant::now() < until => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

/// Whether Windows means that a program has the file open.
fn is_in_use(error: &io::Error) -> bool {
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    const ERROR_LOCK_VIOLATION: i32 = 33;
    let codes = [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION];
    cfg!(windows) && error.raw_os_error().is_some_and(|code| codes.contains(&code))
}
