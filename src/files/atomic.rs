//! Replacing a file in one step.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::private::private_folders;
#[cfg(unix)]
use super::read::open;
use super::read::{Limit, named, read_optional};
use super::rename::{self, exchange, persist};
use super::temporary::without_its_name;
use super::writers::read_path_when_quiet;
#[cfg(unix)]
use super::writers::read_when_quiet;

/// Replaces `path` by `bytes` in one step and makes it durable; parents are created.
///
/// A symbolic link stays a link: its final target is replaced. Mode, owner and group of an existing
/// file are kept; a new one is its owner's alone. When the target's folder cannot take a temporary
/// file, or one of that owner, the file itself is rewritten in place.
///
/// # Errors
/// Trouble writing, with the path in the message; the old content is then still there.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = final_target(path)?;
    match prepare(&target, bytes)? {
        Prepared::Beside(temporary) => match persist(temporary.into_temp_path(), &target) {
            Ok(()) => sync_folder(&target),
            Err(error) if is_mounted_on(&error) => rewrite(&target, bytes)?,
            Err(error) => return Err(named(&target, "can't replace", &error)),
        },
        Prepared::InPlace => rewrite(&target, bytes)?,
    }
    Ok(())
}

/// As [`write_atomic`], but only while the file still holds `expected` (`None`: is not there).
/// `false`, and nothing changed, when another program wrote in the meantime.
///
/// What another program wrote between our last look and the replacement is seen and put back, and so
/// is what it writes within a moment into the old file, which it opened before. Only the file that
/// nobody can replace (see [`write_atomic`]) has no such net.
pub(crate) fn replace_if_same(
    path: &Path,
    expected: Option<&[u8]>,
    bytes: &[u8],
) -> io::Result<bool> {
    let target = final_target(path)?;
    let prepared = prepare(&target, bytes)?;
    if read_optional(&target, Limit::OURS)?.as_deref() != expected {
        return Ok(false);
    }
    match (prepared, expected) {
        (Prepared::Beside(temporary), Some(expected)) => swap(temporary, &target, expected, bytes),
        (Prepared::Beside(temporary), None) => match temporary.persist_noclobber(&target) {
            Ok(_) => {
                sync_folder(&target);
                Ok(true)
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(named(&target, "can't create", &error.error)),
        },
        (Prepared::InPlace, _) => {
            rewrite(&target, bytes)?;
            Ok(true)
        }
    }
}

/// Exchanges `temporary`, which holds `bytes`, and `target`, which should hold `expected`. When it
/// held something else, that goes back: `false`.
fn swap(
    temporary: tempfile::NamedTempFile,
    target: &Path,
    expected: &[u8],
    bytes: &[u8],
) -> io::Result<bool> {
    let mut expecting = expected.to_vec();
    let mut placed = bytes.to_vec();
    let mut ours = true;
    // Closed, so that whoever has it open for writing is somebody else.
    let mut temporary = temporary.into_temp_path();
    loop {
        match exchange(&temporary, target) {
            Ok(()) => {}
            Err(error) if !ours => {
                // Another program's text lies in the temporary file: it must not be lost.
                temporary.disable_cleanup(true);
                let place = temporary.display().to_string();
                let error = io::Error::other(format!("{error}; what was there is in {place}"));
                return Err(named(target, "can't replace", &error));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if is_mounted_on(&error) => return rewrite(target, bytes).map(|()| true),
            Err(_) => return rename_over(temporary, target, expected, bytes),
        }
        let displaced = read_path_when_quiet(&temporary)?;
        if displaced == expecting {
            sync_folder(target);
            return Ok(ours);
        }
        // Newer than what we put there: it goes back.
        expecting = std::mem::replace(&mut placed, displaced);
        ours = false;
    }
}

/// Where two files can't be exchanged: renames `temporary`, which holds `bytes`, over `target`. Our
/// handle on what was there shows what others wrote into it since.
#[cfg(unix)]
fn rename_over(
    temporary: tempfile::TempPath,
    target: &Path,
    expected: &[u8],
    bytes: &[u8],
) -> io::Result<bool> {
    let mut old = match open(target) {
        Ok(old) => old,
        Err(error) if error.is_absent() => return Ok(false),
        Err(error) => return Err(named(target, "can't read", &error.into())),
    };
    match persist(temporary, target) {
        Ok(()) => sync_folder(target),
        Err(error) if is_mounted_on(&error) => return rewrite(target, bytes).map(|()| true),
        Err(error) => return Err(named(target, "can't replace", &error)),
    }
    let displaced =
        read_when_quiet(&mut old).map_err(|error| named(target, "can't read", &error))?;
    if displaced == expected {
        return Ok(true);
    }
    // Newer than ours: it goes back, unless there is something newer still.
    if read_optional(target, Limit::OURS)?.as_deref() == Some(bytes) {
        write_atomic(target, &displaced)?;
    }
    Ok(false)
}

/// Where two files can't be exchanged: renames `temporary` over `target`. A file that we have open
/// ourselves could not be replaced, so nothing tells what others write after the last look.
#[cfg(not(unix))]
fn rename_over(
    temporary: tempfile::TempPath,
    target: &Path,
    expected: &[u8],
    _bytes: &[u8],
) -> io::Result<bool> {
    if read_path_when_quiet(target)? != expected {
        return Ok(false);
    }
    persist(temporary, target).map_err(|error| named(target, "can't replace", &error))?;
    Ok(true)
}

/// Removes the file at the end of `path`'s links, but only while it holds `expected`. `false`, and it
/// stays, when another program wrote, or is about to.
pub(crate) fn remove_if_same(path: &Path, expected: &[u8]) -> io::Result<bool> {
    let target = final_target(path)?;
    match read_path_when_quiet(&target) {
        Ok(found) if found == expected => remove_file(&target).map(|()| true),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(named(&target, "can't read", &error)),
    }
}

/// Removes the file at the end of `path`'s links.
///
/// # Errors
/// Trouble removing it, with the path in the message; a file that is not there is none.
fn remove_file(path: &Path) -> io::Result<()> {
    let target = final_target(path)?;
    sweep(folder_of(&target));
    match rename::remove_file(&target) {
        Ok(()) => {
            sync_folder(&target);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(named(&target, "can't remove", &error)),
    }
}

/// Where the new content waits.
enum Prepared {
    /// In a temporary file in the target's folder.
    Beside(tempfile::NamedTempFile),
    /// Nowhere: the folder takes no files.
    InPlace,
}

fn prepare(target: &Path, bytes: &[u8]) -> io::Result<Prepared> {
    let parent = folder_of(target);
    private_folders(parent).map_err(|error| named(parent, "can't create", &error))?;
    let before = fs::metadata(target).ok();
    if let Some(before) = &before
        && before.permissions().readonly()
    {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        return Err(named(target, "can't write", &denied));
    }
    sweep(parent);
    // Its owner's alone, whatever the umask: whatever we write may hold secrets.
    let made = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(parent);
    let mut temporary = match made {
        Ok(temporary) => temporary,
        Err(error) if before.is_some() && takes_no_files(&error) => return Ok(Prepared::InPlace),
        Err(error) => return Err(named(parent, "can't write in", &without_its_name(error))),
    };
    mark_in_use(temporary.as_file());
    temporary
        .as_file_mut()
        .write_all(bytes)
        .map_err(|error| named(target, "can't write", &error))?;
    if let Some(before) = &before
        && !keeps_identity(temporary.as_file(), before)
    {
        // A new file in its place would be ours. Only one that we may write can stay what it is.
        return match fs::OpenOptions::new().write(true).open(target) {
            Ok(_) => Ok(Prepared::InPlace),
            Err(_) => Err(named(target, "can't write", &io::Error::other(FOREIGN_OWNER))),
        };
    }
    temporary.as_file().sync_all().map_err(|error| named(target, "can't write", &error))?;
    Ok(Prepared::Beside(temporary))
}

/// The last resort where nothing can be renamed: the file is written over, then cut to length.
fn rewrite(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).open(target)?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    write().map_err(|error| named(target, "can't write", &error))
}

const PREFIX: &str = ".symposium-";
const SUFFIX: &str = ".tmp";
/// Older temporary files were left by a process that was killed.
const STALE: Duration = Duration::from_secs(3600);
/// Younger ones may belong to a process that does not hold them yet, or no more.
const YOUNG: Duration = Duration::from_secs(2);

/// Removes the temporary files in `folder` that processes left which were killed.
pub(crate) fn sweep(folder: &Path) {
    sweep_older(folder, YOUNG, STALE);
}

fn sweep_older(folder: &Path, young: Duration, stale: Duration) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(PREFIX) || !name.ends_with(SUFFIX) {
            continue;
        }
        let Some(age) = entry.metadata().ok().and_then(|found| age(&found)) else { continue };
        if age > stale || (age > young && is_abandoned(&entry.path())) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The time since the file was written or renamed: one that was just exchanged against a target has
/// that one's old time of writing.
fn age(found: &fs::Metadata) -> Option<Duration> {
    let written = found.modified().ok()?.elapsed().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let changed = u64::try_from(found.ctime()).ok()?;
        let renamed = (std::time::UNIX_EPOCH + Duration::from_secs(changed)).elapsed().ok()?;
        Some(written.min(renamed))
    }
    #[cfg(not(unix))]
    Some(written)
}

/// Shows others that the temporary file is in use. Elsewhere locks keep readers out, so there age
/// alone tells.
#[cfg(unix)]
fn mark_in_use(file: &fs::File) {
    let _ = file.try_lock();
}

#[cfg(not(unix))]
fn mark_in_use(_file: &fs::File) {}

#[cfg(unix)]
fn is_abandoned(path: &Path) -> bool {
    open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(not(unix))]
fn is_abandoned(_path: &Path) -> bool {
    false
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn takes_no_files(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether the file can't be renamed over because something is mounted on it (containers do that).
fn is_mounted_on(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}

/// A rename is durable when the folder is.
#[cfg(unix)]
fn sync_folder(target: &Path) {
    if let Ok(folder) = fs::OpenOptions::new().read(true).open(folder_of(target)) {
        let _ = folder.sync_all();
    }
}

#[cfg(not(unix))]
fn sync_folder(_target: &Path) {}

/// As [`write_atomic`], but a file that holds `bytes` already is left alone. Says whether it wrote.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if read_optional(path, Limit::OURS)?.as_deref() == Some(bytes) {
        return Ok(false);
    }
    write_atomic(path, bytes)?;
    Ok(true)
}

/// The file at the end of `path`'s links, whether it exists or not.
///
/// # Errors
/// When there are more links than the kernel follows (40).
pub(crate) fn final_target(path: &Path) -> io::Result<PathBuf> {
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

const FOREIGN_OWNER: &str =
    "it belongs to another user or group; make it yours (`chown`), and try again";

/// Gives the temporary file the owner, group and mode of the file that it shall replace. `false` when
/// they can't be kept: only root may give a file away.
fn keeps_identity(file: &fs::File, before: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let (uid, gid) = (before.uid(), before.gid());
        let is_same = file.metadata().is_ok_and(|made| made.uid() == uid && made.gid() == gid);
        if !is_same && fchown(file, Some(uid), Some(gid)).is_err() {
            return false;
        }
    }
    let is_set = file.set_permissions(before.permissions()).is_ok();
    // Where a file system has no modes of its own, all its files have the same one.
    is_set || file.metadata().is_ok_and(|made| made.permissions() == before.permissions())
}

#[cfg(test)]
mod tests;
