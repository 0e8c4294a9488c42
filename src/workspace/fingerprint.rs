//! Whether files and folders are still what they were, told by `stat` calls.
//!
//! **Observe first, read second.** A fingerprint is safe when each path was observed before it was
//! read: whatever happens in between makes the fingerprint older than the facts, and it does not
//! hold. The other way round, a change between reading and observing would never be noticed.
//!
//! **Files** are compared by kind, length, mtime, ctime, inode and device. The ctime can't be set
//! by programs, so a rewrite that restores length and mtime is still seen. One hole is left: a file
//! that is changed again within the same tick of the file system's clock has the same times. So a
//! file that was *racy* when it was observed, changed so lately that this can happen, also carries a
//! hash of its content (the word and the remedy are git's), until it is
//! [settled](Fingerprint::settled). Where there is no ctime, every file carries the hash.
//!
//! **Folders** are what their entries are: when the times differ, or the folder was racy, the
//! names and kinds of the entries decide. A file written and removed again, or written in place,
//! changes nothing.
//!
//! Links are followed: the state is that of the final target, so a link that is pointed elsewhere
//! is a change.

mod stat;
mod stored;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::stat::{Found, Kind};
use crate::files::{Limit, read_bytes};

#[cfg(test)]
mod tests;

/// Linux stamps files with the time of its last timer tick: up to 10 ms (at 100 Hz) before the
/// clock that programs read. exFAT counts in 10 ms too. Twice that is safe.
const TICK_NS: i64 = 20_000_000;
/// A stamp without a fraction of a second may come from a file system that counts in whole seconds
/// (HFS+, NFS 2, ext3) or in two (FAT).
const COARSE_TICK_NS: i64 = 2_000_000_000 + TICK_NS;
const SECOND_NS: i64 = 1_000_000_000;

/// By path, letter by letter: comparing paths part by part takes several times as long, and a
/// neighbour stays a neighbour.
type Inputs = BTreeMap<OsString, FileState>;

/// The states of a set of paths at the moments they were observed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    inputs: Inputs,
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum FileState {
    Missing,
    /// Something that we may not look at.
    Unreadable,
    File(Stat, Option<Hash>),
    /// A folder, with the hash of its entries; without `stat` when it was racy.
    Folder(Option<Stat>, Hash),
    /// A pipe, device or socket.
    Other,
    /// Two observations that differ: nothing is equal to it.
    Unsure,
}

/// SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Hash(#[serde(with = "stored::bytes")] [u8; 32]);

/// What `stat` tells. Times are nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "stored::StatBytes", into = "stored::StatBytes")]
struct Stat {
    length: u64,
    mtime: i64,
    /// The last change of content, name or mode; on Windows the time of creation.
    ctime: i64,
    /// Zero where there is none.
    inode: u64,
    /// Zero where there is none.
    device: u64,
}

impl Fingerprint {
    /// The states of `paths` now. What is read of them afterwards is covered.
    pub(crate) fn of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut fingerprint = Self::default();
        for path in paths {
            fingerprint.observe(path.as_ref());
        }
        fingerprint
    }

    /// Adds the state of `path`, which is to be read after this call. The first observation of a
    /// path is the one that counts.
    pub(crate) fn observe(&mut self, path: &Path) {
        if !self.inputs.contains_key(path.as_os_str()) {
            self.inputs.insert(path.into(), FileState::now(path));
        }
    }

    /// Adds what another fingerprint observed. A path whose state differs between the two was
    /// changed in between, and makes the whole never hold.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.inputs.len() < other.inputs.len() {
            std::mem::swap(self, &mut other);
        }
        for (path, theirs) in other.inputs {
            match self.inputs.entry(path) {
                Entry::Vacant(free) => {
                    free.insert(theirs);
                }
                Entry::Occupied(mut taken) => {
                    if let Some(both) = taken.get().reconciled(&theirs) {
                        taken.insert(both);
                    } else {
                        taken.insert(FileState::Unsure);
                    }
                }
            }
        }
    }

    /// The paths, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.inputs.keys().map(Path::new)
    }

    /// Whether it is current, for tests: see [`Fingerprint::is_current`].
    #[cfg(test)]
    pub(crate) fn holds(&self) -> bool {
        Self::is_current(&self.to_bytes())
    }

    /// A fingerprint with everything that may be in one: its bytes tell when the encoding changes.
    #[cfg(all(test, unix))]
    pub(crate) fn sample() -> Self {
        let stat = Stat { length: 1, mtime: -2, ctime: 3, inode: 4, device: 5 };
        let hash = Hash(std::array::from_fn(|index| u8::try_from(index).unwrap_or(0)));
        let states = [
            FileState::Missing,
            FileState::Unreadable,
            FileState::File(stat, None),
            FileState::File(stat, Some(hash)),
            FileState::Folder(Some(stat), hash),
            FileState::Folder(None, hash),
            FileState::Other,
            FileState::Unsure,
        ];
        let paths = (0..).map(|number| format!("/folder/in/{number}").into());
        Self { inputs: paths.zip(states).collect() }
    }

    /// Takes back the observation of `path`.
    pub(super) fn forget(&mut self, path: &Path) {
        self.inputs.remove(path.as_os_str());
    }

    /// Whether there was a folder at `path`.
    pub(crate) fn was_folder(&self, path: &Path) -> bool {
        matches!(self.inputs.get(path.as_os_str()), Some(FileState::Folder(..)))
    }

    /// Counts what we ourselves did in `folder` since it was observed as known: `ours` are the folders
    /// in it that we made or removed, and whether each was there before. If anything else in it
    /// changed, it stays what it was, and the whole does not hold.
    pub(crate) fn accept(&mut self, folder: &Path, ours: &[(&str, bool)]) {
        let Some(before) = self.inputs.get_mut(folder.as_os_str()) else { return };
        // Observed first, compared second, as everywhere.
        let now = FileState::now(folder);
        let mut undone = entries(folder).unwrap_or_default();
        undone.retain(|(name, _)| !ours.iter().any(|(own, _)| own.as_bytes() == name));
        let removed = ours.iter().filter(|(_, was_there)| *was_there);
        undone.extend(removed.map(|(name, _)| (name.as_bytes().to_vec(), b'd')));
        let is_ours = match before {
            FileState::Missing => undone.is_empty(),
            FileState::Folder(_, hash) => *hash == hash_of(undone),
            _ => false,
        };
        if is_ours {
            *before = now;
        }
    }

    /// Waits until what was changed right before it was observed is old: a tick of the clock.
    pub(crate) fn wait_until_old(&self) {
        if self.inputs.values().any(FileState::is_racy) {
            std::thread::sleep(Duration::from_nanos(TICK_NS.unsigned_abs()));
        }
    }

    /// What was changed shortly before it was observed is read each time that it is compared. If that
    /// was a while ago by now, and it is still the same, its times tell from now on.
    pub(crate) fn settled(mut self) -> Self {
        for (path, state) in &mut self.inputs {
            state.settle(Path::new(path));
        }
        self
    }

    /// Distrusts one path: the whole never holds.
    pub(crate) fn distrust(&mut self, path: &Path) {
        self.inputs.insert(path.into(), FileState::Unsure);
    }
}

impl FileState {
    fn now(path: &Path) -> Self {
        // The clock first: a change after this moment must count as racy.
        let now = SystemTime::now();
        match Found::at(path) {
            Found::Absent => Self::Missing,
            Found::Unreadable => Self::Unreadable,
            Found::There(Kind::Other, _) => Self::Other,
            Found::There(Kind::Folder, stat) => {
                let old = (!stat.is_racy(nanoseconds(now))).then_some(stat);
                entries_hash(path).map_or(Self::Unreadable, |hash| Self::Folder(old, hash))
            }
            Found::There(Kind::File, stat) if !stat.is_racy(nanoseconds(now)) => {
                Self::File(stat, None)
            }
            // Unreadable, or changed while we look: whatever it will be, it is not this.
            Found::There(Kind::File, stat) => {
                content_hash(path).map_or(Self::Unsure, |hash| Self::File(stat, Some(hash)))
            }
        }
    }

    /// See [`Fingerprint::settled`].
    fn settle(&mut self, path: &Path) {
        if !self.is_racy() {
            return;
        }
        // Observed first, read second, as everywhere.
        let now = Self::now(path);
        let is_same = match (&*self, &now) {
            (Self::File(before, Some(hash)), Self::File(stat, None)) => {
                before == stat && content_hash(path).is_ok_and(|now| now == *hash)
            }
            (Self::Folder(None, before), Self::Folder(Some(_), hash)) => before == hash,
            _ => false,
        };
        if is_same {
            *self = now;
        }
    }

    /// Whether it is compared by content, for it was too new to be known by its times.
    fn is_racy(&self) -> bool {
        cfg!(unix) && matches!(self, Self::File(_, Some(_)) | Self::Folder(None, _))
    }

    /// Whether what is `found` at a path is this; `path` is asked for where that takes reading.
    fn matches(&self, found: Found, path: impl Fn() -> PathBuf) -> bool {
        let (kind, now) = match found {
            Found::Absent => return *self == Self::Missing,
            Found::Unreadable => return *self == Self::Unreadable,
            Found::There(kind, stat) => (kind, stat),
        };
        match self {
            Self::File(stat, hash) => {
                kind == Kind::File
                    && *stat == now
                    && hash.is_none_or(|hash| content_hash(&path()).is_ok_and(|now| now == hash))
            }
            Self::Folder(stat, hash) => {
                kind == Kind::Folder
                    && (*stat == Some(now) || entries_hash(&path()).is_ok_and(|now| now == *hash))
            }
            Self::Other => kind == Kind::Other,
            // A folder that we may not list can be asked for its metadata all the same.
            Self::Unreadable => kind == Kind::Folder && entries_hash(&path()).is_err(),
            Self::Missing | Self::Unsure => false,
        }
    }

    /// One state for two observations of the same thing: the more careful one.
    fn reconciled(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::File(one, hash), Self::File(two, other_hash)) if one == two => {
                match (hash, other_hash) {
                    (Some(a), Some(b)) if a != b => None,
                    _ => Some(Self::File(*one, hash.or(*other_hash))),
                }
            }
            (Self::Folder(_, one), Self::Folder(_, two)) if one == two => Some(self.clone()),
            (Self::Unsure, _) | (_, Self::Unsure) => None,
            _ => (self == other).then(|| self.clone()),
        }
    }
}

impl Stat {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let time = |seconds: i64, rest: i64| seconds.saturating_mul(SECOND_NS).saturating_add(rest);
        Self {
            length: metadata.len(),
            mtime: time(metadata.mtime(), metadata.mtime_nsec()),
            ctime: time(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    /// As [`Stat::of`], of what the system itself says.
    #[cfg(unix)]
    #[allow(
        clippy::cast_possible_wrap,
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        trivial_numeric_casts,
        reason = "the fields' types differ from system to system; the standard library does the same"
    )]
    fn of_raw(found: &rustix::fs::Stat) -> Self {
        let time = |seconds: i64, rest: i64| seconds.saturating_mul(SECOND_NS).saturating_add(rest);
        Self {
            length: found.st_size as u64,
            mtime: time(found.st_mtime as i64, found.st_mtime_nsec as i64),
            ctime: time(found.st_ctime as i64, found.st_ctime_nsec as i64),
            inode: found.st_ino as u64,
            device: found.st_dev as u64,
        }
    }

    #[cfg(not(unix))]
    fn of(metadata: &Metadata) -> Self {
        let time = |time: io::Result<SystemTime>| time.map_or(0, nanoseconds);
        Self {
            length: metadata.len(),
            mtime: time(metadata.modified()),
            ctime: time(metadata.created()),
            inode: 0,
            device: 0,
        }
    }

    /// Whether a change at `now` or later could leave the times as they are.
    fn is_racy(&self, now: i64) -> bool {
        let is_racy = |stamp: i64| {
            let tick = if stamp % SECOND_NS == 0 { COARSE_TICK_NS } else { TICK_NS };
            stamp > now.saturating_sub(tick)
        };
        // Without a true ctime, a program can set all times back.
        cfg!(not(unix)) || is_racy(self.mtime) || is_racy(self.ctime)
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

fn content_hash(path: &Path) -> io::Result<Hash> {
    Ok(digest(&read_bytes(path, Limit::COPY)?))
}

fn entries_hash(path: &Path) -> io::Result<Hash> {
    entries(path).map(hash_of)
}

/// Names and kinds of a folder's entries. A link counts as what it leads to.
fn entries(path: &Path) -> io::Result<Vec<(Vec<u8>, u8)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let mut kind = entry.file_type()?;
        let mut dangling = false;
        if kind.is_symlink() {
            match fs::metadata(entry.path()) {
                Ok(target) => kind = target.file_type(),
                Err(_) => dangling = true,
            }
        }
        let letter = match (dangling, kind.is_dir()) {
            (true, _) => b'?',
            (false, true) => b'd',
            (false, false) => b'f',
        };
        entries.push((entry.file_name().into_encoded_bytes(), letter));
    }
    Ok(entries)
}

fn hash_of(mut entries: Vec<(Vec<u8>, u8)>) -> Hash {
    entries.sort();
    let mut text = Vec::new();
    for (name, letter) in entries {
        text.extend_from_slice(&name);
        // No name has a NUL in it.
        text.extend_from_slice(&[0, letter]);
    }
    digest(&text)
}

fn digest(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}
