//! What a file of somebody's checkout was like in earlier commits.
//!
//! A checkout's own configuration may name programs: only git's plumbing is asked, which reads objects
//! and runs none of them, and nothing is fetched that a partial clone lacks.

use std::path::Path;
use std::time::{Duration, Instant};

use super::client::{SETTINGS, environment};
use super::error::GitError;
use crate::config::Environment;
use crate::files::Limit;
use crate::process::{self, Child, Output, Status};

/// Commits that changed the file and are looked at.
const COMMITS: &str = "--max-count=100";
/// For all of them.
const LIMIT: Duration = Duration::from_secs(10);

/// The contents that the file `name` in `folder` had in the commits that lead to `HEAD`, newest first:
/// that of `HEAD`, and what it was before each change.
#[derive(Debug)]
pub(crate) struct History<'a> {
    folder: &'a Path,
    name: &'a str,
    env: &'a Environment,
    deadline: Instant,
    commits: std::vec::IntoIter<String>,
}

impl<'a> History<'a> {
    /// # Errors
    /// There is no git, `folder` is in no checkout of which git will speak, or nothing was committed.
    pub(crate) fn of(
        folder: &'a Path,
        name: &'a str,
        env: &'a Environment,
    ) -> Result<Self, GitError> {
        let deadline = Instant::now() + LIMIT;
        let mut history = Self { folder, name, env, deadline, commits: Vec::new().into_iter() };
        let args = ["rev-list", COMMITS, "HEAD", "--", name];
        let listed = history.git(&args, Limit::LINE)?.stdout_text();
        history.commits = listed.lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
        Ok(history)
    }

    fn git(&self, args: &[&str], cap: Limit) -> Result<Output, GitError> {
        let limit = self.deadline.saturating_duration_since(Instant::now());
        let mut child = Child::new("git").cwd(self.folder).limit(limit);
        for setting in SETTINGS {
            child = child.args(["-c", setting]);
        }
        child = child.args(args.iter().copied());
        child.clear_env = true;
        child.env =
            environment(self.env).into_iter().map(|(name, value)| (name, Some(value))).collect();
        // The name is one, whatever letters it has; and an older git knows only the last variable.
        child = child.env("GIT_LITERAL_PATHSPECS", "1").env("GIT_NO_LAZY_FETCH", "1");
        child = child.env("GIT_ALLOW_PROTOCOL", "");
        child.output_cap = usize::try_from(cap.bytes()).unwrap_or(usize::MAX);
        let output = process::run(&child)?;
        match output.status {
            Status::Exited(0) if output.truncated => Err(GitError::TooLarge(format!(
                "what it had of {} is larger than {cap}",
                self.name
            ))),
            Status::Exited(0) => Ok(output),
            Status::TimedOut => Err(GitError::TimedOut(LIMIT)),
            _ => {
                let said = output.stderr_text();
                let line = said.lines().next().unwrap_or("git failed").trim();
                Err(GitError::Failed(line.strip_prefix("fatal: ").unwrap_or(line).to_owned()))
            }
        }
    }
}

impl Iterator for History<'_> {
    type Item = Result<Vec<u8>, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(commit) = self.commits.next() {
            let object = format!("{commit}:./{}", self.name);
            match self.git(&["cat-file", "blob", &object], Limit::LOCK) {
                // In the commit that removed the file there is none.
                Err(GitError::Failed(_)) => {}
                found => return Some(found.map(|output| output.stdout)),
            }
        }
        None
    }
}
