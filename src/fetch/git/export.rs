//! Files taken out of a commit by us, not by a checkout: bytes as they are in the object store, so
//! that attributes, filters, hooks and submodules mean nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::GitError;
use super::client::Client;
use crate::files::{Limit, is_plain_name, private_folders, read_bytes, relative_inside};

/// How much of a repository is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Files and links.
    pub files: usize,
    /// Bytes of all files together.
    pub total: u64,
    pub each: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 10_000, total: 100 * 1024 * 1024, each: 20 * 1024 * 1024 }
    }
}

/// A file or link of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) hash: String,
    pub(super) size: u64,
    mode: Mode,
    /// Relative to the folder that was asked for.
    path: PathBuf,
    /// The folder, likewise, that a link must not lead out of.
    within: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    File,
    Executable,
    Link,
}

/// Blobs are read in portions of about this many bytes.
const PORTION: u64 = 16 * 1024 * 1024;

/// What a link that must not be followed leads to instead, so that whoever reads the tree tells of it:
/// nowhere.
const NOWHERE: &str = ".left-out-by-symposium";
/// The same of a link that leads out of the repository.
const OUT: &str = ".left-out-by-symposium-for-it-leads-out";

/// Whether the link at `path`, which leads nowhere, led out of the repository that the tree is of.
pub(crate) fn led_out(path: &Path) -> bool {
    fs::read_link(path).is_ok_and(|target| target == Path::new(OUT))
}

/// Writes what `subdir` of `commit` holds to `root/subdir`, with copies of what its links lead to
/// elsewhere in the repository. Links that lead out, or nowhere, lead nowhere then. What git would not
/// check out either is left out.
pub(super) fn export(
    client: &Client<'_>,
    commit: &str,
    subdir: &str,
    root: &Path,
    limits: &Limits,
) -> Result<(), GitError> {
    let mut blobs = read_listing(&client.list(commit, subdir)?);
    check_limits(&blobs, limits)?;
    follow_links(client, commit, subdir, &mut blobs)?;
    check_limits(&blobs, limits)?;
    let base = root.join(subdir);
    let folders: BTreeSet<PathBuf> = blobs
        .iter()
        .filter_map(|blob| base.join(&blob.path).parent().map(Path::to_path_buf))
        .collect();
    let io = GitError::cache;
    private_folders(&base).map_err(io)?;
    for folder in &folders {
        // Two names that this file system takes for one: the first has it.
        if let Err(error) = private_folders(folder) {
            tracing::warn!("left out {}: {error}", folder.display());
        }
    }
    let (links, files): (Vec<_>, Vec<_>) = blobs.iter().partition(|blob| blob.mode == Mode::Link);
    each_blob(client, &files, |blob, bytes| write_file(&base.join(&blob.path), bytes, blob.mode))?;
    // Links come last, so that no file is written through one.
    let mut made = Vec::new();
    each_blob(client, &links, |blob, bytes| {
        let target = std::str::from_utf8(bytes).ok();
        let inside = blob.path.strip_prefix(&blob.within).unwrap_or(&blob.path);
        let path = base.join(&blob.path);
        match target.filter(|target| target_of(inside, target).is_some()) {
            Some(target) => {
                if make_link(target, &path).is_ok() {
                    made.push(path);
                }
            }
            None => {
                let whole = Path::new(subdir).join(&blob.path);
                let is_there = target.and_then(|target| target_of(&whole, target)).is_some();
                leave_out(&path, if is_there { NOWHERE } else { OUT });
            }
        }
        Ok(())
    })?;
    drop_escaping(&base, made).map_err(io)
}

/// Replaces links that lead out of `subdir`, but not of the repository, by what they lead to: only
/// `subdir` is written. A link to a folder that `subdir` is in goes in circles, and is left.
fn follow_links(
    client: &Client<'_>,
    commit: &str,
    subdir: &str,
    blobs: &mut Vec<Blob>,
) -> Result<(), GitError> {
    let subdir = Path::new(subdir);
    let links: Vec<&Blob> = blobs.iter().filter(|blob| blob.mode == Mode::Link).collect();
    let mut outward = Vec::new();
    each_blob(client, &links, |blob, bytes| {
        if let Ok(target) = std::str::from_utf8(bytes)
            && target_of(&blob.path, target).is_none()
            && let Some(source) = target_of(&subdir.join(&blob.path), target)
            && !subdir.starts_with(&source)
        {
            outward.push((blob.path.clone(), source));
        }
        Ok(())
    })?;
    if outward.is_empty() {
        return Ok(());
    }
    let all = read_listing(&client.list(commit, "")?);
    for (place, source) in outward {
        let copy = |blob: &Blob| {
            let rest = blob.path.strip_prefix(&source).ok()?;
            let is_file = rest.as_os_str().is_empty();
            let path = if is_file { place.clone() } else { place.join(rest) };
            Some(Blob { path, within: place.clone(), ..blob.clone() })
        };
        let copies: Vec<Blob> = all.iter().filter_map(copy).collect();
        if !copies.is_empty() {
            blobs.retain(|blob| blob.path != place);
            blobs.extend(copies);
        }
    }
    Ok(())
}

/// Entries of `ls-tree -r -z -l`: `<mode> <type> <hash> <size>\t<path>`.
fn read_listing(listing: &[u8]) -> Vec<Blob> {
    let read = |entry: &[u8]| {
        let entry = std::str::from_utf8(entry).ok()?;
        let (facts, path) = entry.split_once('\t')?;
        let facts: Vec<&str> = facts.split_ascii_whitespace().collect();
        let [mode, "blob", hash, size] = facts.as_slice() else { return None };
        let mode = match *mode {
            "120000" => Mode::Link,
            "100755" => Mode::Executable,
            _ => Mode::File,
        };
        // Git keeps such names out of an index, but nothing keeps them out of a made-up tree.
        let is_sound = |part: &str| is_plain_name(part) && !part.eq_ignore_ascii_case(".git");
        if !path.split('/').all(is_sound) {
            return None;
        }
        Some(Blob {
            hash: (*hash).to_owned(),
            size: size.parse().ok()?,
            mode,
            path: relative_inside(path)?,
            within: PathBuf::new(),
        })
    };
    listing.split(|byte| *byte == 0).filter_map(read).collect()
}

fn check_limits(blobs: &[Blob], limits: &Limits) -> Result<(), GitError> {
    if blobs.len() > limits.files {
        return Err(GitError::TooLarge(format!(
            "it has {} files, the limit is {}; name a folder of it",
            blobs.len(),
            limits.files
        )));
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1024 * 1024);
    if let Some(blob) = blobs.iter().find(|blob| blob.size > limits.each) {
        return Err(GitError::TooLarge(format!(
            "{} has {} MB, the limit is {} MB a file",
            blob.path.display(),
            megabytes(blob.size),
            megabytes(limits.each)
        )));
    }
    let total = blobs.iter().map(|blob| blob.size).fold(0, u64::saturating_add);
    if total > limits.total {
        return Err(GitError::TooLarge(format!(
            "it has {} MB, the limit is {} MB; name a folder of it",
            megabytes(total),
            megabytes(limits.total)
        )));
    }
    Ok(())
}

/// Reads the blobs in portions and hands each to `take`.
fn each_blob(
    client: &Client<'_>,
    blobs: &[&Blob],
    mut take: impl FnMut(&Blob, &[u8]) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let mut rest = blobs;
    while !rest.is_empty() {
        let mut sum = 0;
        let fits = |blob: &&&Blob| {
            let first = sum == 0;
            sum += blob.size + 1;
            first || sum <= PORTION
        };
        let count = rest.iter().take_while(fits).count();
        let (portion, after) = rest.split_at(count);
        rest = after;
        let output = client.blobs(portion.iter().map(|blob| (blob.hash.as_str(), blob.size)))?;
        let mut output = output.as_slice();
        for blob in portion {
            let bytes = next_blob(&mut output, blob)
                .ok_or_else(|| GitError::Failed(format!("object {} is missing", blob.hash)))?;
            take(blob, bytes)?;
        }
    }
    Ok(())
}

/// `<hash> blob <size>\n<bytes>\n`
fn next_blob<'a>(output: &mut &'a [u8], blob: &Blob) -> Option<&'a [u8]> {
    let header_end = output.iter().position(|byte| *byte == b'\n')?;
    let (header, rest) = output.split_at(header_end);
    if header != format!("{} blob {}", blob.hash, blob.size).as_bytes() {
        return None;
    }
    let size = usize::try_from(blob.size).ok()?;
    let bytes = rest.get(1..=size)?;
    *output = rest.get(size + 2..)?;
    Some(bytes)
}

fn write_file(path: &Path, bytes: &[u8], mode: Mode) -> Result<(), GitError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if mode == Mode::Executable { 0o755 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = mode;
    match options.open(path) {
        Ok(mut file) => file.write_all(bytes).map_err(GitError::cache),
        // A name that this file system can't hold, or takes for another's, costs that file only.
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::AlreadyExists
                    | std::io::ErrorKind::InvalidFilename
                    | std::io::ErrorKind::InvalidInput
                    | std::io::ErrorKind::NotADirectory
                    | std::io::ErrorKind::NotFound
            ) =>
        {
            tracing::warn!("left out {}: {error}", path.display());
            Ok(())
        }
        Err(error) => Err(GitError::cache(error)),
    }
}

/// Where a link at `path` to `target` leads, as far as names tell; `None` when that is not below the
/// top.
fn target_of(path: &Path, target: &str) -> Option<PathBuf> {
    let parent = path.parent()?.to_str()?.replace('\\', "/");
    if target.is_empty() || target.starts_with('/') || target.contains('\\') {
        return None;
    }
    relative_inside(&format!("{parent}/{target}").trim_start_matches('/').replace("//", "/"))
}

/// Makes a link of which whoever reads the tree says that it leads nowhere, or out.
fn leave_out(path: &Path, target: &str) {
    tracing::warn!("left out the link {}: {target}", path.display());
    #[cfg(unix)]
    if let Err(error) = std::os::unix::fs::symlink(target, path) {
        tracing::warn!("{}: {error}", path.display());
    }
}

#[cfg(unix)]
fn make_link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Links need a privilege on Windows: a copy of the file serves as well in a tree that never
/// changes.
#[cfg(not(unix))]
fn make_link(target: &str, path: &Path) -> std::io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let target: PathBuf = target.split('/').collect();
    fs::copy(parent.join(target), path).map(drop)
}

/// Links through links can still lead out, in circles or nowhere: those are replaced.
fn drop_escaping(base: &Path, links: Vec<PathBuf>) -> std::io::Result<()> {
    let real_base = crate::files::canonicalize(base)?;
    let mut rest = links;
    loop {
        let (bad, good): (Vec<_>, Vec<_>) = rest.into_iter().partition(|link| {
            !crate::files::canonicalize(link).is_ok_and(|real| real.starts_with(&real_base))
        });
        if bad.is_empty() {
            return Ok(());
        }
        for link in &bad {
            let next = fs::read_link(link).ok().and_then(|to| Some(link.parent()?.join(to)));
            let out =
                crate::files::canonicalize(link).is_ok() || next.is_some_and(|it| led_out(&it));
            fs::remove_file(link)?;
            leave_out(link, if out { OUT } else { NOWHERE });
        }
        rest = good;
    }
}

/// A hash over every path, kind and byte below `dir`: equal only for equal trees.
pub(super) fn digest(dir: &Path) -> std::io::Result<String> {
    let mut whole = Sha256::new();
    for entry in walkdir::WalkDir::new(dir).follow_links(false).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path().strip_prefix(dir).unwrap_or(entry.path());
        let kind = entry.file_type();
        let (tag, content) = if kind.is_symlink() {
            ("link", fs::read_link(entry.path())?.to_string_lossy().into_owned().into_bytes())
        } else if kind.is_dir() {
            ("folder", Vec::new())
        } else if is_executable(&entry.metadata()?) {
            ("program", read_bytes(entry.path(), Limit::COPY)?)
        } else {
            ("file", read_bytes(entry.path(), Limit::COPY)?)
        };
        let path = path.to_string_lossy();
        whole.update(format!("{tag}\0{path}\0{}\0", content.len()).as_bytes());
        whole.update(&content);
    }
    Ok(crate::text::hex(&whole.finalize()))
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: &str, kind: &str, size: &str, path: &str) -> String {
        format!("{mode} {kind} {} {size}\t{path}\0", "a".repeat(40))
    }

    #[test]
    fn case_84_names_that_could_lead_out_and_submodules_are_left_out() {
        let listing = [
            entry("100644", "blob", "3", "ok/a b.txt"),
            entry("160000", "commit", "-", "submodule"),
            entry("100644", "blob", "3", "../up"),
            entry("100644", "blob", "3", "a/.GIT/config"),
            entry("100644", "blob", "3", "a\\b"),
            entry("100644", "blob", "3", "c:x"),
            entry("100644", "blob", "3", "/etc/x"),
        ]
        .concat();
        let found: Vec<_> =
            read_listing(listing.as_bytes()).into_iter().map(|blob| blob.path).collect();
        assert_eq!(found, [PathBuf::from("ok/a b.txt")]);
    }

    #[test]
    fn case_94_the_limits_say_what_is_too_much() {
        let listing =
            [entry("100644", "blob", "30000000", "big"), entry("100644", "blob", "1", "b")];
        let blobs = read_listing(listing.concat().as_bytes());
        let error = |limits: Limits| match check_limits(&blobs, &limits) {
            Err(error) => error.to_string(),
            Ok(()) => "fine".to_owned(),
        };
        assert_eq!(error(Limits::default()), "big has 29 MB, the limit is 20 MB a file");
        let each = u64::MAX;
        assert!(error(Limits { files: 1, each, total: each }).contains("2 files"));
        assert!(error(Limits { files: 9, each, total: 1024 }).contains("29 MB"));
        assert_eq!(error(Limits { files: 9, each, total: each }), "fine");
    }

    #[test]
    fn links_stay_below_the_top() {
        let at = |path: &str, target: &str| target_of(Path::new(path), target).is_some();
        assert!(at("a", "b") && at("a/b", "../c") && at("a/b/c", "../../d"));
        assert!(!at("a", "../b") && !at("a/b", "../../c") && !at("a", "/etc") && !at("a", ""));
    }
}
