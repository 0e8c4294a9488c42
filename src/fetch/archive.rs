//! Unpacking archives that came from outside: nothing of them leads out of the target folder, and
//! nothing of them eats the disk.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};
use tar::EntryType;

use crate::files::{open, private_folders, relative_inside, rename, without_its_name};
use crate::text::hex;

#[cfg(test)]
mod tests;

/// How much an archive may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Regular files.
    pub files: usize,
    /// Bytes of all files together, unpacked.
    pub total: u64,
    /// Bytes of one file, unpacked.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 10_000, total: 100 * MEGABYTE, file: 20 * MEGABYTE }
    }
}

/// A million bytes.
pub(crate) const MEGABYTE: u64 = 1_000_000;

/// A pax header or a GNU long name holds a path and a few attributes; more is an attack.
const EXTENSION_CAP: u64 = 64 * 1024;

/// The form of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    TarGz,
    Tar,
}

impl Format {
    /// The format that a file's name tells, if it is one we unpack.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let is = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        if is(&[".crate", ".tar.gz", ".tgz"]) {
            Some(Self::TarGz)
        } else if is(&[".tar"]) {
            Some(Self::Tar)
        } else {
            None
        }
    }
}

/// Where the wanted files are in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout<'a> {
    /// At its top.
    AsIs,
    /// In this one folder, as in a `.crate`; anything beside it makes the archive invalid.
    InFolder(&'a str),
}

/// What came of unpacking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unpacked {
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Members left out: links, devices, and names that a file cannot have everywhere.
    pub skipped: usize,
}

/// Why an archive was refused. Nothing of it is left on disk then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("the archive is refused: its member `{name}` leads out of it")]
    Escape { name: String },
    #[error("the archive is refused: its member `{name}` is not inside `{folder}`")]
    Misplaced { name: String, folder: String },
    #[error("the archive is refused: it holds more than {limit}")]
    TooLarge { limit: String },
    #[error("the archive is refused: its SHA-256 is {found}, expected {expected}")]
    Checksum { expected: String, found: String },
    #[error("can't unpack {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// SHA-256 of a file in hex, read in pieces.
pub(crate) fn sha256_file(path: &Path) -> io::Result<String> {
    let mut file = open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// Checks a file against a SHA-256 in hex, of either case.
pub(crate) fn verify_sha256(path: &Path, expected: &str) -> Result<(), ArchiveError> {
    let found = sha256_file(path)
        .map_err(|source| ArchiveError::Io { path: path.to_path_buf(), source })?;
    if found.eq_ignore_ascii_case(expected.trim()) {
        return Ok(());
    }
    Err(ArchiveError::Checksum { expected: expected.trim().to_owned(), found })
}

/// Unpacks regular files and folders of an archive into `target`, which must not exist yet: it
/// appears whole, by a rename, or not at all.
///
/// Names are checked first: an absolute one, one with `..`, a backslash or a drive makes the whole
/// archive invalid. Links and devices are left out. Files get the mode 0644, or 0755 where their
/// owner may execute them.
///
/// After an error nothing of it is left.
pub(crate) fn unpack(
    reader: impl Read,
    format: Format,
    target: &Path,
    layout: Layout<'_>,
    limits: &Limits,
) -> Result<Unpacked, ArchiveError> {
    let failed = |source| ArchiveError::Io { path: target.to_path_buf(), source };
    let parent =
        target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_folders(parent).map_err(failed)?;
    let staging = tempfile::Builder::new()
        .prefix(".symposium-")
        .suffix(".tmp")
        .tempdir_in(parent)
        .map_err(without_its_name)
        .map_err(failed)?;
    let root = staging.path().join("tree");
    fs::create_dir(&root).map_err(failed)?;
    let mut unpacker = Unpacker { root: &root, layout, limits, done: Unpacked::default() };
    match format {
        Format::TarGz => unpacker.run(GzDecoder::new(reader))?,
        Format::Tar => unpacker.run(reader)?,
    }
    rename(&root, target).map_err(failed)?;
    Ok(unpacker.done)
}

struct Unpacker<'a> {
    root: &'a Path,
    layout: Layout<'a>,
    limits: &'a Limits,
    done: Unpacked,
}

/// What may stand before a member and change its name: read by hand so that a hostile one can't
/// make the reader buffer it whole.
#[derive(Default)]
struct Extension {
    long_name: Option<Vec<u8>>,
    pax_name: Option<Vec<u8>>,
}

impl Unpacker<'_> {
    fn run(&mut self, reader: impl Read) -> Result<(), ArchiveError> {
        let root = self.root.to_path_buf();
        let broken = move |source| ArchiveError::Io { path: root.clone(), source };
        let mut archive = tar::Archive::new(reader);
        let mut extension = Extension::default();
        let (mut headers, mut announced) = (0_usize, 0_u64);
        for entry in archive.entries().map_err(&broken)?.raw(true) {
            let mut entry = entry.map_err(&broken)?;
            headers += 1;
            // Folders, links and extensions cost headers too, but no sane archive has more than
            // a few of them a file.
            if headers > self.limits.files.saturating_mul(4) {
                return Err(self.too_many_files());
            }
            let size = entry.header().entry_size().map_err(&broken)?;
            announced = announced.saturating_add(size);
            if size > self.limits.file {
                return Err(too_large(self.limits.file, "in one file"));
            }
            if announced > self.limits.total {
                return Err(too_large(self.limits.total, "in all"));
            }
            let kind = entry.header().entry_type();
            match kind {
                EntryType::GNULongName => {
                    extension.long_name = Some(read_extension(&mut entry).map_err(&broken)?);
                    continue;
                }
                EntryType::XHeader => {
                    let bytes = read_extension(&mut entry).map_err(&broken)?;
                    extension.pax_name = pax_path(&bytes);
                    continue;
                }
                EntryType::GNULongLink | EntryType::XGlobalHeader => continue,
                _ => {}
            }
            let Extension { long_name, pax_name } = std::mem::take(&mut extension);
            let name =
                pax_name.or(long_name).unwrap_or_else(|| entry.header().path_bytes().into_owned());
            self.member(&name, kind, &mut entry)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        name: &[u8],
        kind: EntryType,
        entry: &mut tar::Entry<'_, impl Read>,
    ) -> Result<(), ArchiveError> {
        let Some(relative) = self.place(name)? else {
            self.done.skipped += 1;
            return Ok(());
        };
        let path = self.root.join(&relative);
        let failed = |source| ArchiveError::Io { path: path.clone(), source };
        match kind {
            EntryType::Directory => private_folders(&path).map_err(failed),
            EntryType::Regular | EntryType::Continuous if !relative.as_os_str().is_empty() => {
                self.done.files += 1;
                if self.done.files > self.limits.files {
                    return Err(self.too_many_files());
                }
                if let Some(parent) = path.parent() {
                    private_folders(parent).map_err(failed)?;
                }
                let executable = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
                self.done.bytes += write_file(&path, entry, executable).map_err(failed)?;
                Ok(())
            }
            _ => {
                self.done.skipped += 1;
                Ok(())
            }
        }
    }

    /// The member's place under the root; `None` for a name that not every system can have.
    fn place(&self, name: &[u8]) -> Result<Option<PathBuf>, ArchiveError> {
        let text = String::from_utf8_lossy(name);
        let escape = || ArchiveError::Escape { name: text.chars().take(200).collect() };
        let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
        let climbs = text.split('/').any(|part| part == "..");
        if text.starts_with('/') || drive || climbs || text.contains(['\\', '\0']) {
            return Err(escape());
        }
        if std::str::from_utf8(name).is_err()
            || text.contains(':')
            || text.chars().any(char::is_control)
        {
            return Ok(None);
        }
        let relative = relative_inside(&text).ok_or_else(escape)?;
        match self.layout {
            Layout::AsIs => Ok(Some(relative)),
            Layout::InFolder(folder) => match relative.strip_prefix(folder) {
                Ok(inside) => Ok(Some(inside.to_path_buf())),
                Err(_) => Err(ArchiveError::Misplaced {
                    name: text.chars().take(200).collect(),
                    folder: folder.to_owned(),
                }),
            },
        }
    }

    fn too_many_files(&self) -> ArchiveError {
        ArchiveError::TooLarge { limit: format!("{} files", self.limits.files) }
    }
}

fn too_large(bytes: u64, of: &str) -> ArchiveError {
    let amount = match bytes {
        whole if whole >= MEGABYTE && whole % MEGABYTE == 0 => format!("{} MB", whole / MEGABYTE),
        bytes => format!("{bytes} bytes"),
    };
    ArchiveError::TooLarge { limit: format!("{amount} {of}") }
}

fn read_extension(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(EXTENSION_CAP + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > EXTENSION_CAP {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a member's header is too long"));
    }
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(bytes)
}

fn pax_path(bytes: &[u8]) -> Option<Vec<u8>> {
    tar::PaxExtensions::new(bytes)
        .filter_map(Result::ok)
        .find(|extension| extension.key_bytes() == b"path")
        .map(|extension| extension.value_bytes().to_vec())
}

/// Nothing of the archive's own mode is kept but the owner's right to execute.
fn write_file(path: &Path, entry: &mut impl Read, executable: bool) -> io::Result<u64> {
    let mut file = File::create(path)?;
    let count = io::copy(entry, &mut file)?;
    file.flush()?;
    set_mode(&file, executable)?;
    Ok(count)
}

#[cfg(unix)]
fn set_mode(file: &File, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _executable: bool) -> io::Result<()> {
    Ok(())
}
