//! A repository's entry on disk: which tree is current, and when the remote was last asked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::commit::is_commit;
use super::output::Target;
use super::url::short_hash;
use crate::files::{
    Limit, is_plain_name, private_folders, read_optional, relative_inside, write_atomic,
};

/// Raised when what the files mean changes; other versions' files count as absent.
const VERSION: u32 = 1;

/// The folder of one repository, ref and folder.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    dir: PathBuf,
}

/// `current.json`. Holds nothing that changes when the content does not, so that whoever watches
/// this one file knows of every new tree and is not woken by anything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Current {
    version: u32,
    /// The URL, without its secrets: for people who look.
    pub(super) url: String,
    pub(super) reference: String,
    pub(super) commit: String,
    pub(super) subdir: String,
    /// Name of the folder under `trees`.
    pub(super) tree: String,
    /// The tree before it, kept for those who still read it.
    pub(super) previous: Option<String>,
    /// Seconds since 1970.
    fetched_at: u64,
}

/// `checked.json`: what became of the latest question to the remote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checked {
    /// When the remote last answered; milliseconds since 1970.
    pub(super) answered_at: Option<u64>,
    pub(super) failure: Option<Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// Milliseconds since 1970.
    pub(super) at: u64,
    pub(super) message: String,
}

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Current {
    pub(super) fn fetched_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.fetched_at)
    }
}

impl Entry {
    pub(super) fn new(cache: &Path, key: &str) -> Self {
        Self { dir: cache.join(key) }
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// The file that is replaced whenever the content is another one.
    pub(super) fn stamp(&self) -> PathBuf {
        self.dir.join("current.json")
    }

    fn checked_file(&self) -> PathBuf {
        self.dir.join("checked.json")
    }

    fn trees(&self) -> PathBuf {
        self.dir.join("trees")
    }

    pub(super) fn tree(&self, current: &Current) -> PathBuf {
        self.trees().join(&current.tree)
    }

    /// The current tree, unless there is none, or it went missing.
    pub(super) fn current(&self) -> Option<Current> {
        let bytes = read_optional(&self.stamp(), Limit::LINE).ok()??;
        let current: Current = serde_json::from_slice(&bytes).ok()?;
        // A stamp that someone else wrote must not lead us anywhere.
        let sound = current.version == VERSION
            && is_plain_name(&current.tree)
            && is_commit(&current.commit)
            && relative_inside(&current.subdir).is_some();
        (sound && self.tree(&current).join(&current.subdir).is_dir()).then_some(current)
    }

    pub(super) fn checked(&self) -> Checked {
        let bytes = read_optional(&self.checked_file(), Limit::LINE).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(super) fn set_checked(&self, checked: &Checked) -> io::Result<()> {
        let bytes = serde_json::to_vec(checked).map_err(io::Error::other)?;
        write_atomic(&self.checked_file(), &bytes)
    }

    /// A folder to work in, on the file system of the trees. Leftovers of processes that were
    /// killed go: only the holder of the lock works here.
    pub(super) fn scratch(&self) -> io::Result<tempfile::TempDir> {
        private_folders(&self.dir)?;
        for entry in fs::read_dir(&self.dir)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(".scratch-") {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        tempfile::Builder::new().prefix(".scratch-").tempdir_in(&self.dir)
    }

    /// Makes `built`, the files of `target`, the current tree, and removes all but it and the one before.
    pub(super) fn install(
        &self,
        built: &Path,
        url: String,
        target: Target,
        before: Option<&Current>,
        now: SystemTime,
    ) -> io::Result<Current> {
        private_folders(&self.trees())?;
        let tree = self.free_name(&target.commit, &target.subdir);
        fs::rename(built, self.trees().join(&tree))?;
        let current = Current {
            version: VERSION,
            url,
            reference: target.reference,
            commit: target.commit,
            subdir: target.subdir,
            tree,
            previous: before.map(|before| before.tree.clone()),
            fetched_at: millis(now) / 1000,
        };
        let bytes = serde_json::to_vec_pretty(&current).map_err(io::Error::other)?;
        write_atomic(&self.stamp(), &bytes)?;
        self.remove_old(&current);
        Ok(current)
    }

    /// The commit; with more behind it where that folder is taken (a damaged copy, or another
    /// folder of the same commit): a tree that somebody may be reading is not touched.
    fn free_name(&self, commit: &str, subdir: &str) -> String {
        let base = match subdir {
            "" => commit.to_owned(),
            subdir => format!("{commit}-{}", short_hash(subdir.as_bytes())),
        };
        let candidates = (2..).map(|count: u32| format!("{base}.{count}"));
        std::iter::once(base.clone())
            .chain(candidates)
            .find(|name| !self.trees().join(name).exists())
            .unwrap_or(base)
    }

    fn remove_old(&self, current: &Current) {
        let Ok(entries) = fs::read_dir(self.trees()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let kept = name == current.tree.as_str()
                || current.previous.as_deref().is_some_and(|previous| name == previous);
            if !kept && let Err(error) = fs::remove_dir_all(entry.path()) {
                tracing::warn!("can't remove {}: {error}", entry.path().display());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_that_is_damaged_or_leads_out_counts_as_absent() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let entry = Entry::new(dir.path(), "x");
        fs::create_dir_all(dir.path().join("x/built")).expect("creates");
        let commit = "a".repeat(40);
        let target = Target { reference: "main".to_owned(), commit, ..Target::default() };
        let built = dir.path().join("x/built");
        let current = entry
            .install(&built, "u".to_owned(), target, None, SystemTime::now())
            .expect("installs");
        assert_eq!(entry.current(), Some(current.clone()));
        for bad in [
            Current { version: 0, ..current.clone() },
            Current { tree: "../..".to_owned(), ..current.clone() },
            Current { subdir: "..".to_owned(), ..current.clone() },
            Current { commit: "x".to_owned(), ..current.clone() },
            Current { tree: "gone".to_owned(), ..current },
        ] {
            fs::write(entry.stamp(), serde_json::to_vec(&bad).expect("JSON")).expect("writes");
            assert_eq!(entry.current(), None, "{bad:?}");
        }
        fs::write(entry.stamp(), "{").expect("writes");
        assert_eq!(entry.current(), None);
    }
}
