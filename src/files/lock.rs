//! Advisory locks between our own processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::private_folders;

/// A held lock; dropping it lets go. The lock file stays where it is: removing it would let two
/// processes hold "the" lock at once.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("another process holds {} (waited {} ms)", path.display(), waited.as_millis())]
    Busy { path: PathBuf, waited: Duration },
    #[error("can't lock {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Lock {
    /// Takes the lock at `path` (created, with its parents) alone, waiting for `patience` at most.
    ///
    /// # Errors
    /// [`LockError::Busy`] when the time is up, [`LockError::Io`] when there can be no such file.
    pub(crate) fn acquire(path: &Path, patience: Duration) -> Result<Self, LockError> {
        Self::acquire_by(File::try_lock, path, patience)
    }

    /// Takes the lock at `path` beside others that take it this way; those that take it alone keep
    /// them out, and are kept out by them.
    pub(crate) fn acquire_shared(path: &Path, patience: Duration) -> Result<Self, LockError> {
        Self::acquire_by(File::try_lock_shared, path, patience)
    }

    /// Takes the folder at `path` itself alone: nothing is written, and whoever sees the folder sees
    /// the lock, whatever their home folder is.
    ///
    /// # Errors
    /// As [`Lock::acquire`]; where the system locks no folders, [`LockError::Io`].
    pub(crate) fn folder(path: &Path, patience: Duration) -> Result<Self, LockError> {
        // As a folder: nothing else is opened, and so nothing is waited for.
        let opened = OpenOptions::new().read(true).open(path.join("."));
        let file = opened.map_err(|source| LockError::Io { path: path.to_path_buf(), source })?;
        Self::wait(file, File::try_lock, path, patience)
    }

    /// The lock file, for what its holders tell each other.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    fn acquire_by(
        take: impl Fn(&File) -> Result<(), TryLockError>,
        path: &Path,
        patience: Duration,
    ) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_path_buf(), source };
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        // What stands in it is nobody else's business.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = with_parents(path, || options.open(path)).map_err(failed)?;
        Self::wait(file, take, path, patience)
    }

    fn wait(
        file: File,
        take: impl Fn(&File) -> Result<(), TryLockError>,
        path: &Path,
        patience: Duration,
    ) -> Result<Self, LockError> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match take(&file) {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::Error(source)) => {
                    return Err(LockError::Io { path: path.to_path_buf(), source });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = start.elapsed();
            if waited >= patience {
                return Err(LockError::Busy { path: path.to_path_buf(), waited });
            }
            std::thread::sleep(pause.min(patience - waited));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

/// Between its fork and its program a child has every descriptor of ours, those of locks too: closing alone
/// would leave the lock to it for that moment.
impl Drop for Lock {
    fn drop(&mut self) {
        // What can't be unlocked is unlocked by being closed.
        let _ = self.file.unlock();
    }
}

/// Does what makes a file at `path`, and makes its parents first if that fails for want of them: they
/// are nearly always there.
pub(crate) fn with_parents<T>(path: &Path, make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match make() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private_folders(path.parent().unwrap_or(Path::new(".")))?;
            make()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_busy_and_free_after_drop() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("x/lock");
        let held = Lock::acquire(&path, Duration::ZERO).expect("free");
        let second = Lock::acquire(&path, Duration::from_millis(5));
        assert!(matches!(second, Err(LockError::Busy { .. })));
        drop(held);
        assert!(Lock::acquire(&path, Duration::ZERO).is_ok());
    }

    /// As it is between a fork and the child's program.
    #[cfg(unix)]
    #[test]
    fn a_lock_is_free_after_drop_though_somebody_has_its_descriptor() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path, Duration::ZERO).expect("free");
        let childs = held.file().try_clone().expect("copies");
        assert!(Lock::acquire(&path, Duration::ZERO).is_err());
        drop(held);
        assert!(Lock::acquire(&path, Duration::ZERO).is_ok());
        drop(childs);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_a_lock_that_leaves_no_trace() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let held = Lock::folder(dir.path(), Duration::ZERO).expect("free");
        let second = Lock::folder(dir.path(), Duration::from_millis(5));
        assert!(matches!(second, Err(LockError::Busy { .. })));
        drop(held);
        assert!(Lock::folder(dir.path(), Duration::ZERO).is_ok());
        assert_eq!(std::fs::read_dir(dir.path()).expect("lists").count(), 0);
    }
}
