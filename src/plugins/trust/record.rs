//! What the user said of one plugin (or of a crate whose skills have commands), in a file of its own:
//! `trust/<name>-<hash of source and name>.json` in our folder.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Waits;
use super::part::Part;
use crate::files::{Limit, private_folders, read_bytes, write_atomic};
use crate::plugins::model::Plugin;
use crate::text::hex;

/// The source in whose name the skills that a crate ships are allowed.
pub(crate) const CRATES: &str = "crates";

/// Whose programs they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Owner {
    /// Name of the plugin source, or [`CRATES`].
    pub source: String,
    /// Of the plugin, the crate or the skill that lies in a source by itself.
    pub name: String,
}

impl Owner {
    pub(crate) fn new(source: impl Into<String>, name: impl Into<String>) -> Self {
        Self { source: source.into(), name: name.into() }
    }

    pub(crate) fn of(plugin: &Plugin) -> Self {
        Self::new(&plugin.source, &plugin.name)
    }

    fn file(&self, dir: &Path) -> PathBuf {
        let hash = Sha256::digest(format!("{}\0{}", self.source, self.name));
        dir.join(format!("{}-{}.json", self.name, hex(&hash[..4])))
    }
}

/// The user's word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Of whom, for those who read the file.
    pub source: String,
    pub name: String,
    /// Nothing of it runs.
    #[serde(default)]
    pub denied: bool,
    /// What was allowed, as it was then.
    #[serde(default)]
    pub parts: Vec<Part>,
}

impl Record {
    pub(crate) fn of(owner: &Owner) -> Self {
        Self { source: owner.source.clone(), name: owner.name.clone(), ..Self::default() }
    }

    /// What was allowed in the place of `part`.
    pub(crate) fn allowed(&self, part: &Part) -> Option<&Part> {
        self.parts.iter().find(|known| known.is(part.kind, &part.name))
    }

    /// Whether `part` is what was allowed.
    pub(super) fn judge(&self, part: &Part) -> Option<Waits> {
        match self.allowed(part) {
            None => Some(Waits::New),
            Some(allowed) if part.is_within(allowed) => None,
            Some(_) => Some(Waits::Changed),
        }
    }

    /// Writes the user's word, for its owner's eyes alone.
    ///
    /// # Errors
    /// Trouble writing, with the path in the message.
    pub(crate) fn save(&self, dir: &Path) -> io::Result<()> {
        private_folders(dir)?;
        let mut text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        text.push(b'\n');
        write_atomic(&Owner::new(&self.source, &self.name).file(dir), &text)
    }
}

/// What was said of `owner`.
///
/// # Errors
/// The file can't be read: it may hold a denial.
pub(super) fn load(dir: &Path, owner: &Owner) -> Result<Record, ()> {
    let file = owner.file(dir);
    let bytes = match read_bytes(&file, Limit::OURS) {
        Ok(bytes) => bytes,
        Err(problem) if problem.is_no_file_at(&file) => return Ok(Record::default()),
        Err(problem) => {
            tracing::warn!("{}: {problem}", file.display());
            return Err(());
        }
    };
    serde_json::from_slice(&bytes)
        .map_err(|problem| tracing::warn!("{}: {problem}", file.display()))
}
