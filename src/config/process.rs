//! What this process can find out about itself: which program it is, and what time it is.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The file of the program that runs now, as it was when it was started.
#[allow(clippy::disallowed_methods, reason = "the one place that asks which program this is")]
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// The time since 1970; none where the clock is set to before that.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Milliseconds since 1970.
pub(crate) fn now_in_ms() -> u64 {
    u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX)
}
