//! What is in a checkout's index: `gitformat-index(5)`, versions 2 to 4, with SHA-1 or SHA-256,
//! whole, split or sparse.
//!
//! Only paths are of interest here. What is not exactly as git writes it is an error, never "the
//! path is not in it".

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::{Tracking, Unclear};
use crate::files::{Limit, read_bytes};
use crate::text::hex;

/// How many bytes an object's name has.
const HASHES: [usize; 2] = [20, 32];
/// The mode of an entry that stands for a folder with all that is in it.
const FOLDER: u32 = 0o040_000;

/// What is looked for.
struct Wanted {
    /// The path, as git writes it.
    name: Vec<u8>,
    /// What is at it.
    found: Option<Metadata>,
}

/// What an entry says of its file when git last read it.
struct Stat {
    /// In seconds since 1970, and nanoseconds, which some programs leave out.
    modified: (u32, u32),
    mode: u32,
    /// In bytes, the lowest 32 bits.
    length: u32,
}

impl Stat {
    /// Whether the file is still the same.
    fn is_of(&self, found: &Metadata) -> bool {
        let since = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).ok();
        let Some(modified) = found.modified().ok().and_then(since) else { return false };
        let (seconds, nanoseconds) = self.modified;
        found.is_file()
            && u64::from(self.length) == found.len()
            && u64::from(seconds) == modified.as_secs()
            && (nanoseconds == 0 || nanoseconds == modified.subsec_nanos())
    }
}

/// What one file of an index says.
struct Part {
    tracking: Tracking,
    /// The file that holds the rest of it.
    shared: Option<String>,
}

/// What the index in `dir` says of a path, relative to the checkout's top.
///
/// # Errors
/// There is no index, it is larger than `limit` or can't be read, or it is not as it should be.
pub(super) fn entry_for(
    dir: &Path,
    (path, found): (&Path, Option<Metadata>),
    limit: Limit,
) -> io::Result<Tracking> {
    let path = Wanted { name: spelled(path), found };
    let part = read(&dir.join("index"), &path, limit)?;
    let Some(shared) = part.shared.filter(|_| part.tracking == Tracking::Untracked) else {
        return Ok(part.tracking);
    };
    // One that was taken out since the shared file was written is still in that: it counts.
    match read(&dir.join(&shared), &path, limit) {
        Ok(Part { tracking, shared: None }) => Ok(tracking),
        Ok(_) => Err(io::Error::other(format!("`{shared}` is damaged"))),
        // To the caller, "not found" means that there is no index at all.
        Err(error) => Err(io::Error::other(format!("`{shared}`: {error}"))),
    }
}

/// As git writes it.
fn spelled(path: &Path) -> Vec<u8> {
    let names: Vec<&[u8]> = path.iter().map(|name| name.as_encoded_bytes()).collect();
    names.join(&b'/')
}

fn read(file: &Path, path: &Wanted, limit: Limit) -> io::Result<Part> {
    let bytes = read_bytes(file, limit)?;
    let part = HASHES.iter().find_map(|hash| part(&bytes, *hash, path));
    part.ok_or_else(|| io::Error::other("it is damaged, or of an unknown form"))
}

/// `None` where the file is not of that form.
fn part(bytes: &[u8], hash: usize, path: &Wanted) -> Option<Part> {
    let mut rest = Bytes(bytes.get(..bytes.len().checked_sub(hash)?)?);
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let version = rest.number(4)?;
    let count = rest.number(4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut tracking = Tracking::Untracked;
    let (mut name, mut before) = (Vec::new(), Vec::new());
    for _ in 0..count {
        std::mem::swap(&mut name, &mut before);
        let stat = rest.entry(version, hash, &before, &mut name)?;
        // In a split index, entries without a name replace others.
        if !name.is_empty() && name < before {
            return None;
        }
        if tracking == Tracking::Untracked {
            tracking = compare(&stat, &name, path);
        }
    }
    let shared = rest.extensions(hash)?;
    Some(Part { tracking, shared })
}

/// What an entry says of the path.
fn compare(stat: &Stat, name: &[u8], path: &Wanted) -> Tracking {
    let folder = name.strip_suffix(b"/").filter(|_| stat.mode == FOLDER);
    let name = folder.unwrap_or(name);
    let (head, below) = path.name.split_at_checked(name.len()).unwrap_or_default();
    let same = if cfg!(any(windows, target_os = "macos")) {
        head.eq_ignore_ascii_case(name)
    } else {
        head == name
    };
    // Below an entry that is no folder: that is a link, or another repository.
    if name.is_empty() || !same || !(below.is_empty() || below.starts_with(b"/")) {
        return Tracking::Untracked;
    }
    if folder.is_none() {
        let is_same = |found: &Metadata| below.is_empty() && stat.is_of(found);
        return Tracking::Tracked { as_staged: path.found.as_ref().is_some_and(is_same) };
    }
    Tracking::Unclear(Unclear {
        why: format!(
            "git's index is sparse: of `{}` it has no files",
            String::from_utf8_lossy(name)
        ),
        remedy: "`git sparse-checkout add` brings a folder's files",
    })
}

/// What is left to read.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Of at most four bytes, the highest first.
    fn number(&mut self, bytes: usize) -> Option<u32> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte)))
    }

    /// How many of the name's last bytes an entry of version 4 drops.
    fn dropped(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        loop {
            let byte = self.number(1)?;
            number = number.checked_mul(128)?.checked_add(usize::try_from(byte & 127).ok()?)?;
            if byte & 128 == 0 {
                return Some(number);
            }
            number = number.checked_add(1)?;
        }
    }

    /// Puts the next entry's name into `name`, and gives back what else is of interest.
    fn entry(
        &mut self,
        version: u32,
        hash: usize,
        before: &[u8],
        name: &mut Vec<u8>,
    ) -> Option<Stat> {
        let start = self.0.len();
        self.take(8)?;
        let modified = (self.number(4)?, self.number(4)?);
        self.take(8)?;
        let mode = self.number(4)?;
        self.take(8)?;
        let length = self.number(4)?;
        self.take(hash)?;
        let stat = Stat { modified, mode, length };
        let flags = self.number(2)?;
        let extended = flags & 0x4000 != 0;
        if extended && (version == 2 || self.number(2).is_none()) {
            return None;
        }
        let dropped = if version == 4 { self.dropped()? } else { before.len() };
        name.clear();
        name.extend_from_slice(before.get(..before.len().checked_sub(dropped)?)?);
        name.extend_from_slice(self.take(self.0.iter().position(|byte| *byte == 0)?)?);
        // The end of a name, and before version 4 up to a multiple of eight.
        let zeros = if version == 4 { 1 } else { 8 - (start - self.0.len()) % 8 };
        let ended = self.take(zeros)?.iter().all(|byte| *byte == 0);
        let length = usize::try_from(flags & 0xfff).ok()?;
        (ended && name.len().min(0xfff) == length).then_some(stat)
    }

    /// Goes through the rest. Extensions with a small letter must be understood.
    fn extensions(mut self, hash: usize) -> Option<Option<String>> {
        let mut shared = None;
        while !self.0.is_empty() {
            let kind = self.take(4)?;
            let length = usize::try_from(self.number(4)?).ok()?;
            let content = self.take(length)?;
            match kind {
                b"link" => {
                    let id = content.get(..hash)?;
                    let any = id.iter().any(|byte| *byte != 0);
                    shared = any.then(|| format!("sharedindex.{}", hex(id)));
                }
                b"sdir" => {}
                _ if kind.first()?.is_ascii_uppercase() => {}
                _ => return None,
            }
        }
        Some(shared)
    }
}
