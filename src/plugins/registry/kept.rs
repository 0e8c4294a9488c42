//! What of a package's folder is noted: that it may be one, and what it said.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::plugins::model::Plugin;
use crate::plugins::packages::{self, Answers, Entry, Place};

/// What there is to remember of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    /// Its folder, below the source's.
    pub(super) dir: PathBuf,
    pub(super) answers: Answers,
    /// What the index said that led to it.
    pub(super) entry: Option<Entry>,
}

impl Kept {
    /// The same without what may be secret, and the names of the servers that had some.
    pub(super) fn without_secrets(mut self) -> (Self, Vec<String>) {
        let (answers, mut withheld) = self.answers.without_secrets();
        self.answers = answers;
        if let Some(entry) = &mut self.entry {
            entry.take_secrets(&mut withheld);
        }
        (self, withheld)
    }

    /// The plugin that it was, in the source at `root`.
    pub(super) fn plugin(&self, source: &str, root: &Path, manifest: &Path) -> Option<Plugin> {
        let mut entry = self.entry.clone();
        if let Some(entry) = &mut entry {
            entry.manifest = manifest.to_path_buf();
        }
        let dir: PathBuf = root.join(&self.dir).components().collect();
        let place = Place { source, source_root: root, dir: &dir, entry: entry.as_ref() };
        packages::read(&place, &self.answers)?.plugin
    }
}

/// What of a folder may make it a package.
#[derive(Debug, Default)]
pub(super) struct Packages {
    has_manifest: bool,
    pub(super) has_claudes: bool,
}

impl Packages {
    /// Takes note of a file or folder; whether that is all there is to do with it.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.has_manifest |= name == "plugin.json";
        self.has_claudes |= name == ".claude-plugin";
        matches!(name, "plugin.json" | ".claude-plugin")
    }

    pub(super) fn are_possible(&self) -> bool {
        self.has_manifest || self.has_claudes
    }
}
