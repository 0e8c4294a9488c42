//! A ledger's file: read, changed under a lock, moved aside when it is damaged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Data, VERSION};
use crate::files::{Limit, Lock, LockError, read_optional, remove_file, rename, write_if_changed};
use crate::text::Diagnostic;

/// What the file holds; `None` when there is none.
///
/// # Errors
/// A warning, when it can't be read or is not ours to understand.
pub(super) fn read(file: &Path) -> Result<Option<Data>, Diagnostic> {
    let warning = |message: String| {
        Diagnostic::warning(message).in_file(file).remark(
            "what it says was written counts as the user's; it will be kept beside as `.bad`",
        )
    };
    let bytes = match read_optional(file, Limit::OURS) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => return Err(warning(error.to_string())),
    };
    let data: Data = serde_json::from_slice(&bytes)
        .map_err(|error| warning(format!("this ledger is damaged: {error}")))?;
    if data.version == VERSION {
        Ok(Some(data))
    } else {
        let version = data.version;
        Err(warning(format!(
            "this ledger is of version {version}, which this Symposium can't read"
        )))
    }
}

/// Replaces what the file holds by what `change` makes of it.
pub(super) fn update(
    file: &Path,
    locks: &Path,
    patience: Duration,
    change: impl FnOnce(Option<Data>) -> Data,
) -> Result<Data, Diagnostic> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: &dyn std::fmt::Display| Diagnostic::error(error.to_string()).in_file(file);
    let _lock = match Lock::acquire(&locks.join(format!("ledger-{name}.lock")), patience) {
        Ok(lock) => lock,
        Err(error @ LockError::Busy { .. }) => {
            return Err(failed(&error).note("try again when the other command is done"));
        }
        Err(error @ LockError::Io { .. }) => return Err(failed(&error)),
    };
    let found = match read(file) {
        Ok(found) => found,
        Err(_) => {
            rename(file, &free_name(file)).map_err(|error| failed(&error))?;
            None
        }
    };
    let data = change(found);
    if data.is_empty() {
        return match remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&error)),
            _ => Ok(data),
        };
    }
    let mut bytes = serde_json::to_vec_pretty(&data).map_err(|error| failed(&error))?;
    bytes.push(b'\n');
    write_if_changed(file, &bytes).map_err(|error| failed(&error))?;
    Ok(data)
}

/// `<file>.bad`, or with a number when there is one already.
fn free_name(file: &Path) -> PathBuf {
    let with = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let numbered = (2..).map(|number| with(&format!(".bad{number}")));
    std::iter::once(with(".bad"))
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| with(".bad"))
}
