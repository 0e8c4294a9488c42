//! A new folder, written whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{without_its_name, write_atomic};
use crate::skills::content::Content;
use crate::text::Diagnostic;

/// Nothing that is there already is touched.
///
/// # Errors
/// Something is in the folder, or in its place.
pub(in crate::cli::plugin) fn check(dir: &Path) -> Result<(), Diagnostic> {
    let taken = |what: &str| {
        Diagnostic::error(format!("{} {what}", dir.display()))
            .note("nothing was written: name a folder that is not there yet, or an empty one")
    };
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(taken("is not empty")),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !dir.is_symlink() => Ok(()),
        Err(_) if dir.exists() && !dir.is_dir() => Err(taken("is no folder")),
        Err(error) => Err(taken(&format!("can't be read: {error}"))),
    }
}

/// Writes all files or nothing: it is made beside its place, and moved there.
///
/// # Errors
/// When it can't be written.
pub(in crate::cli::plugin) fn write(dir: &Path, content: &Content) -> Result<(), Diagnostic> {
    let failed = |error: io::Error| {
        let error = without_its_name(error);
        Diagnostic::error(format!("can't write {}: {error}", dir.display()))
            .note("nothing of it was left there")
    };
    // An empty folder may be written as `.`.
    let dir = &crate::files::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
    let parent = match dir.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&parent).map_err(failed)?;
    let made = tempfile::Builder::new().prefix(".new-").tempdir_in(&parent).map_err(failed)?;
    let new = made.path().join("new");
    fs::create_dir(&new).map_err(failed)?;
    for (path, file) in &content.files {
        let path = new.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        write_atomic(&path, &file.bytes).map_err(failed)?;
        if file.executable {
            executable(&path).map_err(failed)?;
        }
    }
    if !dir.exists() {
        return fs::rename(&new, dir).map_err(failed);
    }
    // The folder is the user's: what is in it is ours.
    let mut moved = Vec::new();
    let done = fs::read_dir(&new).and_then(|entries| {
        for entry in entries {
            let entry = entry?;
            let place = dir.join(entry.file_name());
            fs::rename(entry.path(), &place)?;
            moved.push(place);
        }
        Ok(())
    });
    done.map_err(|error| {
        for place in &moved {
            let _ = fs::remove_dir_all(place).or_else(|_| fs::remove_file(place));
        }
        failed(error)
    })
}

#[cfg(unix)]
fn executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> io::Result<()> {
    Ok(())
}
