//! What this process can find out about itself: which program it is, and what time it is.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The file of the program that runs now, as it was when it was started.
#[allow(clippy::disallowed_methods, reason = "the one place that asks which program this is")]
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Whether the program `exe` was built in a checkout: cargo's builds lie in `<anything>/<profile>/`,
/// with files of cargo's beside that folder.
pub(crate) fn is_cargo_build(exe: &Path) -> bool {
    exe.ancestors().skip(1).take(3).any(|dir| dir.join("CACHEDIR.TAG").exists())
}

/// The time since 1970; none where the clock is set to before that.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Milliseconds since 1970.
pub(crate) fn now_in_ms() -> u64 {
    u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX)
}
