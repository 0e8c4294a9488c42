//! The files of an installed skill: by path, compared by hash.

use std::collections::BTreeMap;

use crate::text::hex;
use sha2::{Digest as _, Sha256};

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileContent {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

impl FileContent {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { bytes: text.into().into_bytes(), executable: false }
    }

    /// SHA-256 over the mode and the bytes, in hex.
    pub(crate) fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update([u8::from(self.executable)]);
        hasher.update(&self.bytes);
        hex(&hasher.finalize())
    }
}

/// Files by their path relative to the skill's folder, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub files: BTreeMap<String, FileContent>,
}

impl Content {
    pub(crate) fn hashes(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(path, file)| (path.clone(), file.hash())).collect()
    }
}
