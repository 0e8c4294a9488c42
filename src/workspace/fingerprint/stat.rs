//! What a `stat` call says about a path: by its name, or by its name in an open folder, which saves
//! the system the way there for each of many neighbours.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::Stat;
use crate::files::is_absent;

/// What is at a path, as far as `stat` tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found {
    Absent,
    /// Something that we may not look at.
    Unreadable,
    There(Kind, Stat),
}

/// What kind of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Other,
}

impl Found {
    /// What is at `path` now. Links are followed.
    pub(super) fn at(path: &Path) -> Self {
        Self::from(fs::metadata(path).map(|metadata| (kind_of(&metadata), Stat::of(&metadata))))
    }

    fn from(result: io::Result<(Kind, Stat)>) -> Self {
        match result {
            Ok((kind, stat)) => Self::There(kind, stat),
            Err(error) if is_absent(&error) => Self::Absent,
            Err(_) => Self::Unreadable,
        }
    }
}

fn kind_of(metadata: &Metadata) -> Kind {
    match metadata {
        found if found.is_dir() => Kind::Folder,
        found if found.is_file() => Kind::File,
        _ => Kind::Other,
    }
}

/// A folder that things are looked up in.
#[derive(Debug)]
pub(super) struct Base<'a> {
    path: &'a Path,
    #[cfg(unix)]
    open: Option<std::os::fd::OwnedFd>,
}

impl<'a> Base<'a> {
    /// The folder at `path`, or nowhere where that is empty: what is looked up then has a whole path.
    pub(super) fn new(path: &'a Path) -> Self {
        Self {
            path,
            #[cfg(unix)]
            open: (!path.as_os_str().is_empty()).then(|| open(path)).flatten(),
        }
    }

    /// What is at `inside`, a path in it.
    pub(super) fn stat(&self, inside: &Path) -> Found {
        #[cfg(unix)]
        if let Some(folder) = &self.open {
            return Found::from(stat_in(folder, inside));
        }
        Found::at(&self.join(inside))
    }

    /// The whole path of `inside`.
    pub(super) fn join(&self, inside: &Path) -> PathBuf {
        self.path.join(inside)
    }
}

#[cfg(unix)]
fn open(path: &Path) -> Option<std::os::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    #[cfg(target_os = "linux")]
    let only_a_place = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let only_a_place = OFlags::RDONLY;
    rustix::fs::open(path, only_a_place | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

#[cfg(unix)]
fn stat_in(folder: &std::os::fd::OwnedFd, inside: &Path) -> io::Result<(Kind, Stat)> {
    use rustix::fs::{AtFlags, FileType};
    let found = rustix::fs::statat(folder, inside, AtFlags::empty())?;
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        _ => Kind::Other,
    };
    Ok((kind, Stat::of_raw(&found)))
}
