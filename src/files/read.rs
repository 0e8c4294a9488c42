//! Reading a file that anybody may have put there: one that ends, and that nobody has to wait for.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::sync::Arc;

use crate::text::{Diagnostic, Source};

/// The most that is read of a file of one kind. What `stat` says is no bound: files of `/proc` are of
/// length 0 and may have no end, and others grow while they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(u64);

impl Limit {
    /// A file of one line: git's `.git` and `commondir`, a version, a stamp.
    pub const LINE: Self = Self(64 * 1024);
    /// What a plugin, a skill or a crate says about itself.
    pub const MANIFEST: Self = Self(1024 * 1024);
    /// A `Cargo.toml`, or cargo's configuration.
    pub const CARGO: Self = Self(8 * 1024 * 1024);
    /// A file of settings, an agent's or our own.
    pub const SETTINGS: Self = Self(10 * 1024 * 1024);
    /// A `Cargo.lock`: one of 20,000 packages has 5 MB.
    pub const LOCK: Self = Self(64 * 1024 * 1024);
    /// A file that is copied or compared, with a skill or out of a repository.
    pub const COPY: Self = Self(64 * 1024 * 1024);
    /// A git index: a file has about a hundred bytes in it.
    pub const INDEX: Self = Self(512 * 1024 * 1024);
    /// The same where an agent waits.
    pub const INDEX_IN_HOOK: Self = Self(8 * 1024 * 1024);
    /// What we ourselves remember.
    pub const OURS: Self = Self(256 * 1024 * 1024);

    /// The number of bytes.
    pub(crate) const fn bytes(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 / 1024 {
            kilobytes @ ..1024 => write!(f, "{kilobytes} KB"),
            kilobytes => write!(f, "{} MB", kilobytes / 1024),
        }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A folder, a pipe, a device.
    #[error("it is not a file")]
    NotAFile,
    /// There is more than its kind may have.
    #[error("it is larger than {0}")]
    TooLarge(Limit),
    /// These bytes are no text.
    #[error("it is not UTF-8 text")]
    NotText(Vec<u8>),
    /// It is not there, not ours to read, or the disk is in trouble.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ReadError {
    /// Whether there is nothing at that path.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Io(error) if is_absent(error))
    }

    /// Whether there is no such file, nor a link on the way to it that leads nowhere: what that link leads
    /// to may be on a disk that comes back, so nothing is known of the file.
    pub fn is_no_file_at(&self, path: &Path) -> bool {
        let leads_nowhere = |part: &Path| part.is_symlink() && !part.exists();
        self.is_absent() && !path.ancestors().any(leads_nowhere)
    }

    /// The mistake with its place and remedy; `what` begins the message: `this file`.
    pub fn diagnose(&self, what: &str, path: &Path) -> Diagnostic {
        let problem = |message: String| Diagnostic::error(message).in_file(path);
        match self {
            Self::NotAFile => {
                problem(format!("{what} is not a file")).note("move it away or make it a file")
            }
            Self::TooLarge(limit) => problem(format!("{what} is larger than {limit}"))
                .note("make it smaller; it was left as it is, and nothing of it was used"),
            Self::NotText(bytes) => {
                Diagnostic::not_utf8(format!("{what} is not UTF-8 text"), path, bytes)
                    .note("save it as UTF-8")
            }
            Self::Io(error) if is_absent(error) => {
                problem(format!("{what} can't be read: a link on the way to it leads nowhere"))
                    .note("bring back what it leads to, or remove the link")
            }
            Self::Io(error) => problem(format!("{what} can't be read: {error}"))
                .note("make it readable for you, or remove it"),
        }
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error,
            ReadError::NotText(_) => Self::new(io::ErrorKind::InvalidData, error),
            ReadError::NotAFile | ReadError::TooLarge(_) => Self::other(error),
        }
    }
}

/// Whether an error means that there is nothing at that path.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Opens a regular file for reading. A pipe that nobody writes to keeps nobody waiting.
///
/// # Errors
/// Anything else at that path, or trouble opening it.
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = match options.open(path) {
        Ok(file) => file,
        // What Windows says of a folder.
        Err(_) if cfg!(windows) && path.is_dir() => return Err(ReadError::NotAFile),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(ReadError::NotAFile) }
}

/// The bytes of a regular file.
///
/// # Errors
/// It is none, or larger than `limit`; trouble reading it.
pub(crate) fn read_bytes(path: &Path, limit: Limit) -> Result<Vec<u8>, ReadError> {
    read_opened(&mut open(path)?, limit)
}

/// The rest of an opened file.
///
/// # Errors
/// There is more than `limit`; trouble reading it.
pub(super) fn read_opened(file: &mut File, limit: Limit) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    fill(&mut bytes, file, limit)?;
    Ok(bytes)
}

/// A reader of one file after the other, of which few are of interest.
#[derive(Default)]
pub(crate) struct Skimmer {
    bytes: Vec<u8>,
    part: Vec<u8>,
}

impl Skimmer {
    /// What is looked at at once: what fits into a processor's own memory, of which a read of a hundred
    /// megabytes takes half the time.
    const PART: usize = 64 * 1024;
    /// What of one part is seen with the next, too.
    const OVERLAP: usize = 512;

    /// The bytes of a regular file, if `may` takes any part of it: a part begins and ends anywhere.
    ///
    /// # Errors
    /// As [`read_bytes`].
    pub(crate) fn read(
        &mut self,
        path: &Path,
        limit: Limit,
        may: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Option<&[u8]>, ReadError> {
        let Self { bytes, part } = self;
        let mut file = open(path)?;
        part.resize(Self::OVERLAP + Self::PART, 0);
        let (mut kept, mut all) = (0, 0);
        loop {
            let count = match file.read(&mut part[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            all += count as u64;
            if all > limit.0 {
                return Err(ReadError::TooLarge(limit));
            }
            let seen = kept + count;
            if count == 0 {
                return Ok(None);
            }
            if may(&part[..seen]) {
                file.rewind()?;
                bytes.clear();
                fill(bytes, &mut file, limit)?;
                return Ok(Some(bytes));
            }
            kept = seen.min(Self::OVERLAP);
            part.copy_within(seen - kept..seen, 0);
        }
    }
}

fn fill(bytes: &mut Vec<u8>, file: &mut File, limit: Limit) -> Result<(), ReadError> {
    let length = file.metadata()?.len();
    if length > limit.0 {
        return Err(ReadError::TooLarge(limit));
    }
    // One byte more shows the end without another step of growth.
    bytes.reserve_exact(usize::try_from(length).unwrap_or(0) + 1);
    file.take(limit.0 + 1).read_to_end(bytes)?;
    if bytes.len() as u64 > limit.0 { Err(ReadError::TooLarge(limit)) } else { Ok(()) }
}

/// The text of a regular file.
pub(crate) fn read_text(path: &Path, limit: Limit) -> Result<String, ReadError> {
    String::from_utf8(read_bytes(path, limit)?)
        .map_err(|error| ReadError::NotText(error.into_bytes()))
}

/// As [`read_text`], to be told of.
pub(crate) fn read_source(path: &Path, limit: Limit) -> Result<Arc<Source>, ReadError> {
    Ok(Source::new(path, read_text(path, limit)?))
}

/// Whether `dir` has an entry of exactly this name. Names are compared here, not by the file system: some
/// take `symposium.toml` for `SYMPOSIUM.toml`.
pub(crate) fn has_exactly(dir: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name() == name)
}

/// The file's bytes, or `None` when there is no such file.
///
/// # Errors
/// Any other trouble reading it, with the path in the message.
pub(crate) fn read_optional(path: &Path, limit: Limit) -> io::Result<Option<Vec<u8>>> {
    match read_bytes(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(path, "can't read", &error.into())),
    }
}

/// The error with what was tried at which file.
pub(super) fn named(path: &Path, what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SMALL: Limit = Limit(4);

    #[test]
    fn a_file_is_skimmed_for_a_word_wherever_it_stands() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("f");
        let mut skimmer = Skimmer::default();
        let has = |text: &[u8]| memchr::memmem::find(text, b"struct Word").is_some();
        let edge = Skimmer::PART + Skimmer::OVERLAP;
        for at in [0, 1, edge - 12, edge - 5, edge, 3 * edge + 7] {
            let text = format!("{}struct Word;", " ".repeat(at));
            fs::write(&path, &text).expect("writes");
            let found = skimmer.read(&path, Limit::CARGO, &has).expect("reads");
            assert_eq!(found, Some(text.as_bytes()), "{at}");
        }
        fs::write(&path, "x".repeat(5 * edge)).expect("writes");
        assert_eq!(skimmer.read(&path, Limit::CARGO, &has).expect("reads"), None);
        assert!(matches!(skimmer.read(&path, SMALL, &has), Err(ReadError::TooLarge(SMALL))));
        assert!(skimmer.read(&dir.path().join("none"), SMALL, &has).expect_err("none").is_absent());
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_not_beyond() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("f");
        fs::write(&path, "four").expect("writes");
        assert_eq!(read_text(&path, SMALL).expect("reads"), "four");
        fs::write(&path, "five!").expect("writes");
        let refused = read_text(&path, SMALL).expect_err("too large");
        assert!(matches!(refused, ReadError::TooLarge(SMALL)), "{refused}");
        fs::write(&path, b"a\nb\xe4").expect("writes");
        let refused = read_source(&path, SMALL).expect_err("no text").diagnose("this file", &path);
        assert!(refused.to_string().contains("f:2:2: this file is not UTF-8"), "{refused}");
    }

    #[test]
    fn what_is_not_there_is_absent_and_a_folder_is_no_file() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert!(read_bytes(&dir.path().join("f"), SMALL).expect_err("absent").is_absent());
        assert!(read_optional(&dir.path().join("f"), SMALL).expect("is none").is_none());
        assert!(read_bytes(dir.path(), SMALL).is_err());
    }

    #[test]
    fn limits_are_told_in_the_units_of_people() {
        assert_eq!(
            (Limit::LINE.to_string(), Limit::CARGO.to_string()),
            ("64 KB".into(), "8 MB".into())
        );
    }

    /// `stat` says 0 of both, and neither ends.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_without_end_are_too_large_and_pipes_are_no_files() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/proc/self/pagemap", &link).expect("links");
        assert!(read_bytes(&link, Limit::LINE).is_err());
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .expect("makes a pipe");
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let refused = read_bytes(path, Limit::LINE).expect_err("no file");
            assert!(matches!(refused, ReadError::NotAFile), "{refused}");
        }
    }
}
