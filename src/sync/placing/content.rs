//! What a skill folder holds, or should hold: files by path, compared by hash.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::files::{Limit, ReadError, read_bytes};
use crate::text::hex;
use sha2::{Digest as _, Sha256};

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it may be run.
    pub executable: bool,
}

impl FileContent {
    /// A file of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { bytes: text.into().into_bytes(), executable: false }
    }

    /// SHA-256 over the mode and the bytes, in hex.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update([u8::from(self.executable)]);
        hasher.update(&self.bytes);
        hex(&hasher.finalize())
    }
}

/// Files by their path relative to the skill's folder, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// The files.
    pub files: BTreeMap<String, FileContent>,
}

impl Content {
    /// The hash of each file.
    pub fn hashes(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(path, file)| (path.clone(), file.hash())).collect()
    }
}

/// The hash of each regular file below `dir`; links and folders inside appear as entries that
/// equal no file's hash, so that a folder which holds them counts as changed.
///
/// # Errors
/// A folder or file that can't be read.
pub fn hashes_on_disk(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    walk(dir, "", &mut found)?;
    Ok(found)
}

fn walk(dir: &Path, prefix: &str, found: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &path, found)?;
        } else if kind.is_file() {
            let metadata = entry.metadata()?;
            let hash = match read_bytes(&entry.path(), Limit::COPY) {
                Err(ReadError::TooLarge(_)) => "too large".to_owned(),
                read => FileContent { bytes: read?, executable: is_executable(&metadata) }.hash(),
            };
            found.insert(path, hash);
        } else {
            found.insert(path, "a link".to_owned());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}
