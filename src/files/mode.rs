//! Whether a file may be started as a program.

use std::path::Path;

/// Whether the mode of the file at `path` lets anybody start it. Where files have no mode, each may be.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// As on Unix.
#[cfg(not(unix))]
pub(crate) fn is_executable(_: &Path) -> bool {
    true
}
