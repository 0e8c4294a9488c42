//! Replacing a file in one step.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file's bytes, or `None` when there is no such file.
///
/// # Errors
/// Any other trouble reading it, with the path in the message.
pub fn read_optional(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(path, "can't read", &error)),
    }
}

/// Replaces `path` by `bytes` in one step and makes it durable; parents are created.
///
/// A symbolic link stays a link: its final target is replaced. Mode (and, where we may, owner) of
/// an existing file are kept. When the target's folder cannot take a temporary file, the file
/// itself is rewritten in place.
///
/// # Errors
/// Trouble writing, with the path in the message; the old content is then still there.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = final_target(path)?;
    let parent =
        target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| named(parent, "can't create", &error))?;
    let before = fs::metadata(&target).ok();
    if let Some(before) = &before
        && before.permissions().readonly()
    {
        return Err(named(
            &target,
            "can't write",
            &io::Error::from(io::ErrorKind::PermissionDenied),
        ));
    }

    let mut temporary = tempfile::Builder::new()
        .prefix(".symposium-")
        .suffix(".tmp")
        .tempfile_in(parent)
        .map_err(|error| named(parent, "can't write in", &error))?;
    temporary.write_all(bytes).map_err(|error| named(&target, "can't write", &error))?;
    match &before {
        Some(before) => keep_identity(temporary.as_file(), before),
        None => default_mode(temporary.as_file()),
    }
    temporary.as_file().sync_all().map_err(|error| named(&target, "can't write", &error))?;
    temporary.persist(&target).map_err(|error| named(&target, "can't replace", &error.error))?;
    Ok(())
}

/// As [`write_atomic`], but a file that holds `bytes` already is left alone. Says whether it wrote.
///
/// # Errors
/// Trouble reading or writing, with the path in the message.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if read_optional(path)?.as_deref() == Some(bytes) {
        return Ok(false);
    }
    write_atomic(path, bytes)?;
    Ok(true)
}

/// Follows links by hand (40 at most, as the kernel does) so that a dangling one works too.
fn final_target(path: &Path) -> io::Result<PathBuf> {
    let mut current = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&current) {
            Ok(next) if next.is_absolute() => current = next,
            Ok(next) => {
                current = current.parent().unwrap_or(Path::new("")).join(next);
            }
            Err(_) => return Ok(current),
        }
    }
    Err(named(path, "can't follow", &io::Error::other("too many levels of symbolic links")))
}

#[cfg(unix)]
fn keep_identity(file: &fs::File, before: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    // Only root may give a file away; for everybody else the owner is right already.
    let _ = fchown(file, Some(before.uid()), Some(before.gid()));
    let _ = file.set_permissions(before.permissions());
}

#[cfg(not(unix))]
fn keep_identity(file: &fs::File, before: &fs::Metadata) {
    let _ = file.set_permissions(before.permissions());
}

/// A temporary file is private (0600); a new file of the user's should have the usual mode.
#[cfg(unix)]
fn default_mode(file: &fs::File) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = file.set_permissions(fs::Permissions::from_mode(0o644));
}

#[cfg(not(unix))]
fn default_mode(_file: &fs::File) {}

fn named(path: &Path, what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_write_of_the_same_bytes_does_not_happen() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("a/b.txt");
        assert!(write_if_changed(&path, b"x").expect("writes"));
        assert!(!write_if_changed(&path, b"x").expect("reads"));
    }

    #[cfg(unix)]
    #[test]
    fn mode_and_symbolic_links_survive() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().expect("a temporary folder");
        let real = dir.path().join("real.txt");
        fs::write(&real, "old").expect("writes");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("sets the mode");
        symlink("real.txt", dir.path().join("hop")).expect("links");
        symlink("hop", dir.path().join("link")).expect("links");
        write_atomic(&dir.path().join("link"), b"new").expect("writes");
        assert!(dir.path().join("link").is_symlink());
        assert_eq!(fs::read(&real).expect("reads"), b"new");
        let mode = fs::metadata(&real).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
