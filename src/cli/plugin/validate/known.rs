//! Crates that the registry was found to have, so that it is not asked again on the same day. That it
//! has none of a name is not remembered: it may have one in a minute.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::config::{Dirs, since_1970};
use crate::files::{Limit, read_bytes, replace_cache};
use crate::skills::crate_source::fetch::RegistryEntry;

/// How long an answer serves.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Remembered {
    name: String,
    version: Option<Version>,
    repository: Option<String>,
    /// Seconds since 1970.
    at: u64,
}

/// What is known, by names with `-`.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    entries: BTreeMap<String, Remembered>,
    is_changed: bool,
}

impl KnownNames {
    pub(super) fn load(dirs: &Dirs) -> Self {
        let bytes = read_bytes(&file(dirs), Limit::OURS).unwrap_or_default();
        let mut entries: BTreeMap<String, Remembered> =
            serde_json::from_slice(&bytes).unwrap_or_default();
        let now = since_1970().as_secs();
        entries.retain(|_, entry| now.abs_diff(entry.at) < FRESH.as_secs());
        Self { entries, is_changed: false }
    }

    pub(super) fn get(&self, name: &str) -> Option<RegistryEntry> {
        let Remembered { name, version, repository, .. } = self.entries.get(name)?.clone();
        Some(RegistryEntry { name, version, repository })
    }

    pub(super) fn add(&mut self, key: &str, entry: RegistryEntry) {
        let RegistryEntry { name, version, repository } = entry;
        let at = since_1970().as_secs();
        self.entries.insert(key.to_owned(), Remembered { name, version, repository, at });
        self.is_changed = true;
    }

    /// Written for the next time; without it, that asks again.
    pub(super) fn save(&self, dirs: &Dirs) {
        if !self.is_changed {
            return;
        }
        let written = serde_json::to_vec(&self.entries).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|bytes| replace_cache(&file(dirs), &bytes)) {
            tracing::warn!("the names of crates are not remembered: {error}");
        }
    }
}

fn file(dirs: &Dirs) -> PathBuf {
    dirs.cache().join("crate-names.json")
}
