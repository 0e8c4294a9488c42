//! What the user said of the team's file of one workspace, in a file of its own:
//! `team/<hash of the root>.json` in our folder.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::Dirs;
use crate::files::{Limit, private_folders, read_bytes, write_atomic};
use crate::text::sha256_hex;

/// So many versions of a file are remembered: a branch has another one, and is left and taken again.
const MOST: usize = 16;

/// The user's word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Of which workspace, for those who read the file.
    root: String,
    /// The versions that were accepted, the latest last.
    #[serde(default)]
    accepted: Vec<Accepted>,
    /// The SHA-256 of those that were declined, the latest last.
    #[serde(default)]
    declined: Vec<String>,
}

/// A version that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Accepted {
    pub(super) sha256: String,
    /// It stays in force, whatever becomes of the file.
    pub(super) text: String,
}

impl Record {
    /// Where it is.
    pub(super) fn path(dirs: &Dirs, root: &Path) -> PathBuf {
        let hash = sha256_hex(root.as_os_str().as_encoded_bytes());
        dirs.team().join(format!("{}.json", &hash[..32]))
    }

    /// What was said of the workspace at `root`.
    ///
    /// # Errors
    /// It can't be read, and why.
    pub(super) fn load(dirs: &Dirs, root: &Path) -> Result<Self, String> {
        let path = Self::path(dirs, root);
        match read_bytes(&path, Limit::OURS) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|problem| problem.to_string()),
            Err(problem) if problem.is_no_file_at(&path) => Ok(Self::default()),
            Err(problem) => Err(problem.to_string()),
        }
    }

    /// Every record, whatever workspace it is of.
    pub(super) fn all(dirs: &Dirs) -> Vec<Self> {
        let entries = std::fs::read_dir(dirs.team()).into_iter().flatten().flatten();
        let read =
            |path: PathBuf| serde_json::from_slice(&read_bytes(&path, Limit::OURS).ok()?).ok();
        entries.filter_map(|entry| read(entry.path())).collect()
    }

    /// The version that counts where the file's hash is `now`: that one, else the one that was accepted
    /// last.
    pub(super) fn in_force(&self, now: &str) -> Option<&Accepted> {
        self.accepted.iter().find(|known| known.sha256 == now).or(self.accepted.last())
    }

    pub(super) fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    pub(super) fn is_declined(&self, sha256: &str) -> bool {
        self.declined.iter().any(|known| known == sha256)
    }

    pub(super) fn accept(&mut self, sha256: &str, text: &str) {
        self.forget(sha256);
        let (sha256, text) = (sha256.to_owned(), text.to_owned());
        self.accepted.push(Accepted { sha256, text });
        self.accepted.drain(..self.accepted.len().saturating_sub(MOST));
    }

    pub(super) fn decline(&mut self, sha256: &str) {
        self.forget(sha256);
        self.declined.push(sha256.to_owned());
        self.declined.drain(..self.declined.len().saturating_sub(MOST));
    }

    /// Nothing is accepted any more.
    pub(super) fn take_back(&mut self) {
        self.accepted.clear();
    }

    fn forget(&mut self, sha256: &str) {
        self.accepted.retain(|known| known.sha256 != sha256);
        self.declined.retain(|known| known != sha256);
    }

    /// Writes the user's word, for its owner's eyes alone.
    ///
    /// # Errors
    /// Trouble writing, with the path in the message.
    pub(super) fn save(&mut self, dirs: &Dirs, root: &Path) -> io::Result<()> {
        self.root = root.to_string_lossy().into_owned();
        private_folders(&dirs.team())?;
        let mut text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        text.push(b'\n');
        write_atomic(&Self::path(dirs, root), &text)
    }
}
