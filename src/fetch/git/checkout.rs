//! From a repository to a folder on disk: what the cache has, or what the remote has now.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::cache::{Checked, Current, Entry, Failure, millis};
use super::client::Client;
use super::commit::is_short_commit;
use super::output::Target;
use super::url::Wanted;
use super::{GitError, Limits, Repository, export};
use crate::config::Environment;
use crate::files::{Lock, LockError};
use crate::symposium::UpdateLevel;
use crate::workspace::Fingerprint;

/// For how long an answer of the remote, or its failure, is not asked for again.
const ANSWER_VALID: Duration = Duration::from_secs(60);

/// When the network is used, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Whether a copy that is there is refreshed. `Check` asks the remote, and fetches what is
    /// new; `Fetch` fetches whether new or not, which also mends a damaged copy.
    pub level: UpdateLevel,
    /// Whether what is not there at all is fetched, whatever the level.
    pub first_fetch: bool,
    /// The user named it: ask even if it answered, or failed, less than a minute ago.
    pub force: bool,
    pub offline: bool,
    pub limit: Duration,
    /// How long to wait for another process that fetches the same.
    pub lock_timeout: Duration,
    pub limits: Limits,
}

impl Policy {
    /// What is on disk, without a look at the network: for hooks.
    pub(crate) fn cached() -> Self {
        Self {
            level: UpdateLevel::None,
            first_fetch: false,
            force: false,
            offline: true,
            limit: Duration::from_secs(60),
            lock_timeout: Duration::ZERO,
            limits: Limits::default(),
        }
    }

    /// For a command that only looks. Without `--update` what was never fetched is fetched; with
    /// `--update none` not even that.
    pub(crate) fn for_command(options: &crate::symposium::Options) -> Self {
        let level = options.update.unwrap_or_default();
        Self {
            level,
            first_fetch: options.update != Some(UpdateLevel::None),
            force: level != UpdateLevel::None,
            offline: options.offline,
            limit: options.timeout,
            // Whoever holds the lock is bounded too.
            lock_timeout: options.timeout,
            limits: Limits::default(),
        }
    }

    /// For a command that brings agents up to date: as [`Policy::for_command`], and without
    /// `--update` the remote is asked for news, unless it answered less than a minute ago.
    pub(crate) fn for_sync(options: &crate::symposium::Options) -> Self {
        let level = options.update.unwrap_or(UpdateLevel::Check);
        Self { level, ..Self::for_command(options) }
    }
}

/// What was done for a [`Checkout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing: the copy was there.
    Cached,
    /// The remote was asked, and has nothing newer.
    Unchanged,
    /// It was fetched, and it is new.
    Fetched,
}

/// A repository's files on disk. The folder never changes: a newer state gets another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The folder that was wanted: `root`, or one inside.
    pub dir: PathBuf,
    /// Stands for the root of the repository. Only `dir` is filled.
    pub root: PathBuf,
    pub commit: String,
    /// The branch or tag (or commit), for people.
    pub reference: String,
    /// The folder inside the repository, `/` between components; empty for its root.
    pub subdir: String,
    pub fetched_at: SystemTime,
    /// The one file that is replaced when there is something newer: watch it.
    pub stamp: PathBuf,
    pub outcome: Outcome,
    /// Why something newer, if there is any, could not be had.
    pub stale: Option<GitError>,
}

/// What to do about a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Use,
    /// Take the copy (or nothing), for this reason.
    Unavailable(GitError),
    /// Ask, and fetch what is new.
    Ask,
    Fetch,
}

impl Repository {
    /// The one file below `cache` that is replaced when there is something newer, whether it is
    /// there yet or not.
    pub(crate) fn stamp(&self, cache: &Path) -> PathBuf {
        Entry::new(cache, &self.key()).stamp()
    }

    /// The stamp after we may have replaced it ourselves. It is observed after `checkout` was read, so
    /// it must still say the same.
    pub(crate) fn observed(&self, cache: &Path, checkout: &Checkout) -> Fingerprint {
        let entry = Entry::new(cache, &self.key());
        let mut observed = Fingerprint::of([entry.stamp()]);
        let is_same = |now: Current| entry.tree(&now).join(&now.subdir) == checkout.dir;
        if !entry.current().is_some_and(is_same) {
            observed.distrust(&entry.stamp());
        }
        observed
    }

    /// The repository's files, below `cache`.
    ///
    /// When the newest can't be had but a copy is there, it is the copy, with the reason in
    /// [`Checkout::stale`].
    pub(crate) fn checkout(
        &self,
        cache: &Path,
        policy: &Policy,
        env: &Environment,
    ) -> Result<Checkout, GitError> {
        self.checkout_telling(cache, policy, env, &|| {})
    }

    /// As [`Repository::checkout`]; `tell` is called once before the network is used.
    pub(crate) fn checkout_telling(
        &self,
        cache: &Path,
        policy: &Policy,
        env: &Environment,
        tell: &dyn Fn(),
    ) -> Result<Checkout, GitError> {
        let entry = Entry::new(cache, &self.key());
        let current = entry.current();
        let start = SystemTime::now();
        match self.step(policy, current.as_ref(), || entry.checked(), start) {
            Step::Use => finish(&entry, current, Outcome::Cached, Some(GitError::NotFetched)),
            Step::Unavailable(reason) => finish(&entry, current, Outcome::Cached, Some(reason)),
            Step::Ask | Step::Fetch => {
                match Lock::acquire(&entry.lock_file(), policy.lock_timeout) {
                    Ok(_lock) => self.refresh(&entry, policy, env, tell, start),
                    Err(LockError::Busy { .. }) => {
                        // The other one may have just finished.
                        finish(&entry, entry.current(), Outcome::Cached, Some(GitError::Busy))
                    }
                    Err(error @ LockError::Io { .. }) => {
                        let reason = GitError::Cache(error.to_string());
                        finish(&entry, current, Outcome::Cached, Some(reason))
                    }
                }
            }
        }
    }

    /// Whether what is wanted is `commit`, by its first digits.
    fn is_begun_by(&self, commit: &str) -> bool {
        let Wanted::Named(short) = self.wanted() else { return false };
        is_short_commit(short) && commit.starts_with(&short.to_ascii_lowercase())
    }

    fn step(
        &self,
        policy: &Policy,
        current: Option<&Current>,
        checked: impl FnOnce() -> Checked,
        now: SystemTime,
    ) -> Step {
        let wants = match (current, policy.level) {
            (Some(_), UpdateLevel::Fetch) => Step::Fetch,
            // A commit never becomes another one.
            (Some(_), _) if matches!(self.wanted(), Wanted::Commit(_)) => return Step::Use,
            (Some(current), _) if self.is_begun_by(&current.commit) => return Step::Use,
            (Some(_), UpdateLevel::Check) => Step::Ask,
            (Some(_), UpdateLevel::None) if policy.force => Step::Ask,
            (Some(_), UpdateLevel::None) => return Step::Use,
            (None, UpdateLevel::None) if !policy.first_fetch && !policy.force => {
                let offline = policy.offline;
                return Step::Unavailable(if offline {
                    GitError::Offline
                } else {
                    GitError::NotFetched
                });
            }
            (None, _) => Step::Fetch,
        };
        if policy.offline {
            return Step::Unavailable(GitError::Offline);
        }
        if policy.force || policy.level == UpdateLevel::Fetch {
            return wants;
        }
        let checked = checked();
        // A time in the future is a clock that was put back: no reason to wait for it.
        let age = |at: u64| millis(now).checked_sub(at).map(Duration::from_millis);
        if let Some(failure) = checked.failure
            && let Some(ago) = age(failure.at)
            && ago < ANSWER_VALID
        {
            return Step::Unavailable(GitError::Recently { ago, message: failure.message });
        }
        match checked.answered_at.and_then(age) {
            Some(ago) if ago < ANSWER_VALID && current.is_some() => Step::Use,
            _ => wants,
        }
    }

    /// Asks and fetches, with the lock held.
    fn refresh(
        &self,
        entry: &Entry,
        policy: &Policy,
        env: &Environment,
        tell: &dyn Fn(),
        start: SystemTime,
    ) -> Result<Checkout, GitError> {
        let before = entry.current();
        // The process that held the lock while we waited may have fetched it already, or failed to.
        let checked = entry.checked();
        let since_start = |at: u64| at > millis(start);
        if let Some(failure) = checked.failure.as_ref().filter(|failure| since_start(failure.at)) {
            let message = failure.message.clone();
            let reason = GitError::Recently { ago: Duration::ZERO, message };
            return finish(entry, before, Outcome::Cached, Some(reason));
        }
        if before.is_some() {
            let answered = checked.answered_at.is_some_and(since_start);
            let again = self.step(policy, before.as_ref(), || checked, SystemTime::now());
            if answered || again == Step::Use {
                return finish(entry, before, Outcome::Cached, None);
            }
        }
        tell();
        let result = self.ask_and_fetch(entry, policy, env, before.as_ref());
        let now = millis(SystemTime::now());
        let checked = match &result {
            Ok(_) => Some(Checked { answered_at: Some(now), failure: None }),
            Err(error) if error.is_remembered() => Some(Checked {
                failure: Some(Failure {
                    at: now,
                    message: error.words().map_or_else(|| error.to_string(), str::to_owned),
                }),
                ..entry.checked()
            }),
            Err(_) => None,
        };
        if let Some(checked) = checked
            && let Err(error) = entry.set_checked(&checked)
        {
            tracing::warn!("{error}");
        }
        match result {
            Ok((current, outcome)) => finish(entry, Some(current), outcome, None),
            Err(error) => finish(entry, before, Outcome::Cached, Some(error)),
        }
    }

    fn ask_and_fetch(
        &self,
        entry: &Entry,
        policy: &Policy,
        env: &Environment,
        before: Option<&Current>,
    ) -> Result<(Current, Outcome), GitError> {
        let io = GitError::cache;
        let scratch = entry.scratch().map_err(io)?;
        let client = Client::new(self, scratch.path(), env, policy.limit)?;
        let target = client.resolve()?;
        let is_same =
            |current: &&Current| current.commit == target.commit && current.subdir == target.subdir;
        if policy.level != UpdateLevel::Fetch
            && let Some(current) = before.filter(is_same)
        {
            return Ok((current.clone(), Outcome::Unchanged));
        }
        let commit = client.fetch(&target)?;
        let built = scratch.path().join("tree");
        export::export(&client, &commit, &target.subdir, &built, &policy.limits)?;
        if let Some(current) = before
            && current.commit == commit
            && current.subdir == target.subdir
            && is_same_tree(&entry.tree(current), &built).map_err(io)?
        {
            return Ok((current.clone(), Outcome::Unchanged));
        }
        let target = Target { commit, ..target };
        let current = entry.install(&built, self.shown(), target, before, SystemTime::now());
        let current = current.map_err(io)?;
        Ok((current, Outcome::Fetched))
    }
}

/// Whether the copy we have is what it was when it came. One that can't be read is not.
fn is_same_tree(ours: &Path, fetched: &Path) -> std::io::Result<bool> {
    let fetched = export::digest(fetched)?;
    Ok(export::digest(ours).is_ok_and(|ours| ours == fetched))
}

/// The copy, with `reason` for its age; without a copy the reason is the error.
fn finish(
    entry: &Entry,
    current: Option<Current>,
    outcome: Outcome,
    reason: Option<GitError>,
) -> Result<Checkout, GitError> {
    let Some(current) = current else {
        return Err(reason.unwrap_or(GitError::NotFetched));
    };
    let root = entry.tree(&current);
    Ok(Checkout {
        dir: root.join(&current.subdir),
        root,
        fetched_at: current.fetched_at(),
        commit: current.commit,
        reference: current.reference,
        subdir: current.subdir,
        stamp: entry.stamp(),
        outcome,
        stale: reason.filter(|reason| *reason != GitError::NotFetched),
    })
}

#[cfg(test)]
#[path = "checkout_tests.rs"]
mod tests;
