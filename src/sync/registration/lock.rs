//! Who may change what is registered, and what is in a workspace, when.
//!
//! Processes that register something work side by side: each file has a lock of its own. One that
//! takes everything back forgets in the end whatever is still in the ledgers, and one that changes
//! which agents are configured must not be overtaken by one that registers for those that were. So
//! these two are alone.

use std::path::Path;
use std::time::Duration;

use crate::Symposium;
use crate::documents::hash_bytes;
use crate::files::{Lock, LockError};
use crate::sync::request::Caller;
use crate::text::Diagnostic;

/// How long another process of ours may hold a file.
pub(crate) const FILE_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long those that must be alone wait for the others.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(120);

/// The right to change what is registered; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct RegistrationLock {
    _lock: Option<Lock>,
}

impl RegistrationLock {
    /// Beside others that register. Where no lock file can be made, nobody is waited for.
    ///
    /// # Errors
    /// When somebody is alone for longer than `patience`.
    pub(crate) fn beside_others(sym: &Symposium, patience: Duration) -> Result<Self, Diagnostic> {
        Self::of(Lock::acquire_shared(&sym.dirs.locks().join(NAME), patience))
    }

    /// Alone. Where no lock file can be made, nobody is waited for.
    ///
    /// # Errors
    /// When others register for longer than [`LOCK_TIMEOUT`].
    pub(crate) fn alone(sym: &Symposium) -> Result<Self, Diagnostic> {
        Self::of(Lock::acquire(&sym.dirs.locks().join(NAME), LOCK_TIMEOUT))
    }

    /// As part of a turn that the caller holds.
    pub(in crate::sync) fn held_by_caller() -> Self {
        Self { _lock: None }
    }

    fn of(lock: Result<Lock, LockError>) -> Result<Self, Diagnostic> {
        match lock {
            Ok(lock) => Ok(Self { _lock: Some(lock) }),
            Err(LockError::Io { .. }) => Ok(Self { _lock: None }),
            Err(error @ LockError::Busy { .. }) => Err(Diagnostic::error(error.to_string())
                .note("try again when the other command is done")),
        }
    }
}

const NAME: &str = "registrations.lock";

/// The locks that one sync a workspace holds: ours, and the workspace's folder itself, for those who
/// have another home folder. Where there can be none we go on without.
pub(in crate::sync) fn lock(
    sym: &Symposium,
    root: &Path,
    caller: Caller,
) -> anyhow::Result<Vec<Lock>> {
    let hash = hash_bytes(root.as_os_str().as_encoded_bytes());
    let path = sym.dirs.locks().join(format!("workspace-{}.lock", &hash[..16]));
    let patience = match caller {
        Caller::Command => Duration::from_secs(120),
        Caller::Background => Duration::from_secs(30),
        Caller::Hook | Caller::Survey | Caller::Audit => Duration::from_millis(100),
    };
    let mut locks = Vec::new();
    let mut keep = |taken| match taken {
        Ok(lock) => {
            locks.push(lock);
            Ok(())
        }
        Err(LockError::Io { .. }) => Ok(()),
        Err(error @ LockError::Busy { .. }) => Err(error),
    };
    keep(Lock::acquire(&path, patience))?;
    keep(Lock::folder(root, patience))?;
    Ok(locks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_registers_is_beside_others_and_who_takes_back_is_alone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let sym = Symposium::from_dir(dir.path());
        let beside = || RegistrationLock::beside_others(&sym, Duration::ZERO);
        let (one, two) = (beside().expect("free"), beside().expect("side by side"));
        let third = Lock::acquire(&sym.dirs.locks().join(NAME), Duration::ZERO);
        assert!(matches!(third, Err(LockError::Busy { .. })), "not alone");
        drop((one, two));
        let _alone = RegistrationLock::alone(&sym).expect("free");
        assert!(beside().is_err());
    }
}
