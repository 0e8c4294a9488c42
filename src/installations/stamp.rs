//! What each installation of each plugin came to, one small file each.

use crate::config::since_1970;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::files::{Limit, read_bytes, write_if_changed};
use crate::plugins::model::{Checksum, InstallSource, Installation, Plugin, Runnable};
use crate::text::SecretUrl;

/// The record. A file that can't be read counts as none: everything can be found out again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stamp {
    /// Stands for what the manifest asked for when this was written.
    pub(super) definition: String,
    /// The folder of ours, if there is one.
    pub(super) dir: Option<PathBuf>,
    /// What of it has the programs.
    pub(super) root: Option<super::Root>,
    /// The version, commit or checksum that is there.
    pub(super) version: Option<String>,
    /// The only program, where the manifest names none.
    pub(super) executable: Option<String>,
    /// When somebody last looked for a newer version, in seconds since 1970.
    pub(super) checked_at: u64,
    /// Stands for the commands that were run, and what they were run on.
    pub(super) commands: Option<String>,
    /// When the work began that did not end yet, in seconds since 1970. Where nobody is at it, it was
    /// interrupted.
    pub(super) began: Option<u64>,
    /// The last failure, until something succeeds.
    pub(super) failure: Option<Failure>,
}

/// A failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Failure {
    /// Stands for what the manifest asked for then.
    pub(super) definition: String,
    /// When, in seconds since 1970.
    pub(super) at: u64,
    pub(super) problem: String,
    /// Whether only a hook's budget was too small: one that has more time may try.
    pub(super) out_of_budget: bool,
}

impl Stamp {
    pub(super) fn path(binaries: &Path, plugin: &Plugin, name: &str) -> PathBuf {
        let key = key(&[&plugin.source, &plugin.name, name]);
        binaries.join(".stamps").join(format!("{}.json", &key[..16]))
    }

    /// The record of what the manifest asks for now; another one is as good as none, but for what
    /// is to be tidied up.
    pub(super) fn load(path: &Path) -> Self {
        read_bytes(path, Limit::OURS)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Best effort: without a record the work is found done, or done again.
    pub(super) fn save(&self, path: &Path) {
        if let Ok(bytes) = serde_json::to_vec_pretty(self)
            && let Err(error) = write_if_changed(path, &bytes)
        {
            tracing::warn!("can't remember an installation: {error}");
        }
    }

    /// Whether another installation than that of `own` uses `dir`.
    pub(super) fn used_elsewhere(binaries: &Path, own: &Path, dir: &Path) -> bool {
        let entries = std::fs::read_dir(binaries.join(".stamps")).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path != own)
            .any(|path| Self::load(&path).dir.as_deref() == Some(dir))
    }

    /// Whether an installation uses `dir`.
    pub(super) fn is_used(binaries: &Path, dir: &Path) -> bool {
        Self::used_elsewhere(binaries, Path::new(""), dir)
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    since_1970().as_secs()
}

/// How long ago `at` was; a time in the future counts as long ago, for a clock was set.
pub(super) fn age(at: u64) -> Duration {
    now().checked_sub(at).map_or(Duration::MAX, Duration::from_secs)
}

/// Stands for a list of texts: 64 hex digits.
pub(super) fn key(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    crate::text::hex(&hasher.finalize())
}

/// Stands for what an installation asks for. Spelled out, so that it stays the same when the types
/// change: a new version of this program must not run anybody's commands again.
pub(super) fn definition(installation: &Installation) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let secret = |git: &Option<SecretUrl>| git.as_ref().map_or("", SecretUrl::expose).to_owned();
    let mut parts = match &installation.source {
        None => vec!["none".to_owned()],
        Some(InstallSource::Cargo { krate, version, git, global }) => {
            vec!["cargo".to_owned(), krate.clone(), text(version), secret(git), global.to_string()]
        }
        Some(InstallSource::Git { url }) => vec!["git".to_owned(), url.expose().to_owned()],
        Some(InstallSource::Binary { url, version, sha256 }) => {
            let mut parts = vec!["binary".to_owned(), url.expose().to_owned(), text(version)];
            match sha256 {
                Checksum::One(sum) => parts.push(sum.clone()),
                Checksum::ByTarget(sums) => {
                    parts.extend(sums.iter().map(|(target, sum)| format!("{target}={sum}")));
                }
            }
            parts
        }
    };
    parts.push(match &installation.runnable {
        None => String::new(),
        Some(Runnable::Executable(path)) => format!("executable {path}"),
        Some(Runnable::Script(path)) => format!("script {path}"),
        Some(Runnable::Shell) => "shell".to_owned(),
    });
    parts.extend(installation.install_commands.iter().cloned());
    key(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}
