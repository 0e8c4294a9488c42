//! Running `git`: never asking, never longer than it may, never by a repository's own settings.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::GitError;
use super::commit::{is_commit, is_short_commit};
use super::output::{RemoteRef, Target, choose, read_refs};
use super::url::{Repository, Wanted};
use super::words::{is_connection, main_line, words};
use crate::config::Environment;
use crate::process::{self, Child, Output, Status};

/// How long a connection may take to come about, and a transfer to stand still.
const CONNECT: Duration = Duration::from_secs(10);
/// The first answer of a reachable server: connection, handshake, the list of refs.
const FIRST_ANSWER: Duration = Duration::from_secs(20);
/// What is done on this machine's disk has at least this long.
const LOCAL: Duration = Duration::from_secs(10);
/// The list of refs of a large repository.
const REFS_CAP: usize = 32 * 1024 * 1024;
/// The ref of ours that what we fetch gets.
const FETCHED: &str = "refs/symposium/fetched";

/// Settings that hold for every call, above the user's own.
pub(super) const SETTINGS: [&str; 11] = [
    "protocol.ext.allow=never",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.interactive=false",
    "color.ui=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=10",
];

/// Variables of git's that say how to reach others; the rest speak of a repository around us.
const KEPT: [&str; 12] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
];
const KEPT_PREFIXES: [&str; 3] = ["GIT_SSL_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// `git` with an empty repository of its own to work in.
pub(super) struct Client<'a> {
    repository: &'a Repository,
    git_dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
    deadline: Instant,
}

impl<'a> Client<'a> {
    /// Makes the empty repository in `scratch`.
    pub(super) fn new(
        repository: &'a Repository,
        scratch: &Path,
        env: &Environment,
        limit: Duration,
    ) -> Result<Self, GitError> {
        let mut client = Self {
            repository,
            git_dir: scratch.join("git"),
            env: environment(env),
            limit,
            deadline: Instant::now() + limit,
        };
        client.init("sha1")?;
        client.set_ssh_command(env)?;
        Ok(client)
    }

    fn init(&self, format: &str) -> Result<(), GitError> {
        // The default needs no saying, and an older git does not know the option.
        let format = (format != "sha1").then(|| format!("--object-format={format}"));
        let args = ["init", "--quiet", "--bare", "--template="].map(str::to_owned);
        self.local(args.into_iter().chain(format), 0).map(drop)
    }

    /// Our options go behind the user's own ssh command: `ssh` takes the first of each option, so
    /// theirs win.
    fn set_ssh_command(&mut self, env: &Environment) -> Result<(), GitError> {
        let asked = env.text("GIT_SSH_COMMAND").map(str::to_owned);
        let has_program = env.var("GIT_SSH").is_some();
        let base = match asked {
            Some(command) => command,
            None if has_program => return Ok(()),
            None => {
                let found = self.run(["config", "--get", "core.sshCommand"], LOCAL, 4096, &[])?;
                let found = found.stdout_text().trim().to_owned();
                if found.is_empty() { "ssh".to_owned() } else { found }
            }
        };
        let other_program = ["plink", "tortoise"].iter().any(|name| base.contains(name))
            || env.text("GIT_SSH_VARIANT").is_some_and(|variant| variant != "ssh");
        if !other_program {
            let seconds = CONNECT.as_secs();
            let command = format!("{base} -o BatchMode=yes -o ConnectTimeout={seconds}");
            self.env.retain(|(name, _)| name != "GIT_SSH_COMMAND");
            self.env.push(("GIT_SSH_COMMAND".into(), command.into()));
        }
        Ok(())
    }

    /// Asks the remote what is wanted of it. A commit needs no asking.
    pub(super) fn resolve(&self) -> Result<Target, GitError> {
        let subdir = self.repository.subdir().to_owned();
        let wanted = self.repository.wanted();
        let refs = match wanted {
            Wanted::Commit(_) => Vec::new(),
            Wanted::Default => self.refs(&["--symref"], &["HEAD".to_owned()])?,
            Wanted::Named(name) => {
                let refs = self.refs(&[], &[name.clone(), format!("{name}^{{}}")])?;
                if refs.is_empty() && is_short_commit(name) {
                    return self.whole_commit(name, subdir);
                }
                refs
            }
            Wanted::Tree(_) => self.refs(&["--heads", "--tags"], &[])?,
        };
        choose(wanted, subdir, &refs)
    }

    /// The commit that begins with `short`. No server tells: everything is fetched to find out.
    fn whole_commit(&self, short: &str, subdir: String) -> Result<Target, GitError> {
        let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
        self.transfer(None, &all.map(str::to_owned))?;
        let wanted = format!("{short}^{{commit}}");
        let found = self.run(["rev-parse", "--verify", "--quiet", &wanted], LOCAL, 4096, &[])?;
        let commit = found.stdout_text().trim().to_owned();
        // Another spelling of a ref is not the start of a commit.
        if !is_commit(&commit) || !commit.starts_with(&short.to_ascii_lowercase()) {
            return Err(GitError::NoSuchRef(short.to_owned()));
        }
        Ok(Target { fetch: commit.clone(), reference: short.to_owned(), commit, subdir })
    }

    fn refs(&self, options: &[&str], patterns: &[String]) -> Result<Vec<RemoteRef>, GitError> {
        let args = std::iter::once("ls-remote".to_owned())
            .chain(options.iter().map(|option| (*option).to_owned()))
            .chain(["--".to_owned(), self.repository.url().to_owned()])
            .chain(patterns.iter().cloned());
        let limit = self.remaining().min(FIRST_ANSWER);
        let output = self.run(args, limit, REFS_CAP, &[])?;
        let output = self.checked(output, self.limit.min(FIRST_ANSWER))?;
        Ok(read_refs(&output.stdout_text()))
    }

    /// Brings the target's commit, without history where the server can, and says which it is.
    pub(super) fn fetch(&self, target: &Target) -> Result<String, GitError> {
        if target.commit.len() == 64 {
            // SHA-256 repositories do not mix with SHA-1 ones.
            std::fs::remove_dir_all(&self.git_dir).map_err(GitError::cache)?;
            self.init("sha256")?;
        }
        let refspec = format!("+{}:{FETCHED}", target.fetch);
        let shallow = self.transfer(Some("--depth=1"), std::slice::from_ref(&refspec));
        match shallow {
            Ok(()) => {}
            // The "dumb" HTTP protocol knows no shallow copies.
            Err(GitError::Failed(words)) if words.contains("shallow") => {
                self.transfer(None, &[refspec])?;
            }
            // An older server gives commits only as part of a branch or tag.
            Err(GitError::Failed(_)) if is_commit(&target.fetch) => {
                let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
                self.transfer(None, &all.map(str::to_owned))?;
                return self.commit_of(&target.fetch);
            }
            Err(error) => return Err(error),
        }
        self.commit_of(FETCHED)
    }

    fn transfer(&self, depth: Option<&str>, refspecs: &[String]) -> Result<(), GitError> {
        let args = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]
            .into_iter()
            .chain(depth)
            .chain(["--", self.repository.url()])
            .map(str::to_owned)
            .chain(refspecs.iter().cloned());
        let output = self.run(args, self.remaining(), 64 * 1024, &[])?;
        self.checked(output, self.limit).map(drop)
    }

    fn commit_of(&self, name: &str) -> Result<String, GitError> {
        let wanted = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", &wanted];
        let found = self.run(args, LOCAL, 4096, &[])?.stdout_text().trim().to_owned();
        if is_commit(&found) {
            return Ok(found);
        }
        Err(GitError::Failed(format!("{name} is no commit of the repository")))
    }

    /// What a commit's folder holds.
    pub(super) fn list(&self, commit: &str, subdir: &str) -> Result<Vec<u8>, GitError> {
        let tree = format!("{commit}:{subdir}");
        let limit = self.local_limit();
        let output = self.run(["ls-tree", "-r", "-z", "-l", &tree], limit, REFS_CAP, &[])?;
        if output.truncated {
            return Err(GitError::TooLarge("it has more files than can be listed".to_owned()));
        }
        match output.status {
            Status::Exited(128) => {
                Err(GitError::NoSuchFolder { subdir: subdir.to_owned(), commit: commit.to_owned() })
            }
            _ => Ok(self.checked(output, limit)?.stdout),
        }
    }

    /// The contents of blobs with these hashes and sizes, one after the other, as `cat-file --batch` prints them.
    pub(super) fn blobs<'b>(
        &self,
        blobs: impl IntoIterator<Item = (&'b str, u64)>,
    ) -> Result<Vec<u8>, GitError> {
        let mut names = Vec::new();
        let mut cap = 0;
        for (hash, size) in blobs {
            names.extend_from_slice(hash.as_bytes());
            names.push(b'\n');
            cap += usize::try_from(size).unwrap_or(usize::MAX / 2) + 128;
        }
        let limit = self.local_limit();
        let output = self.run(["cat-file", "--batch"], limit, cap, &names)?;
        Ok(self.checked(output, limit)?.stdout)
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    fn local_limit(&self) -> Duration {
        self.remaining().max(LOCAL)
    }

    fn local(
        &self,
        args: impl IntoIterator<Item = String>,
        cap: usize,
    ) -> Result<Output, GitError> {
        let output = self.run(args, LOCAL, cap, &[])?;
        self.checked(output, LOCAL)
    }

    fn run<T: Into<OsString>>(
        &self,
        args: impl IntoIterator<Item = T>,
        limit: Duration,
        cap: usize,
        stdin: &[u8],
    ) -> Result<Output, GitError> {
        let mut child = Child::new("git").limit(limit).stdin(stdin);
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(&self.git_dir);
        child = child.args([git_dir]);
        for setting in SETTINGS {
            child = child.args(["-c", setting]);
        }
        child = child.args(args);
        child.cwd = self.git_dir.parent().map(Path::to_path_buf);
        child.clear_env = true;
        child.env =
            self.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
        child.output_cap = cap.max(64 * 1024);
        tracing::debug!(program = "git", args = ?child.args.get(1 + 2 * SETTINGS.len()), "run");
        Ok(process::run(&child)?)
    }

    /// `limit` is the one that people know, for the message.
    fn checked(&self, output: Output, limit: Duration) -> Result<Output, GitError> {
        match output.status {
            Status::Exited(0) => Ok(output),
            Status::TimedOut => Err(GitError::TimedOut(limit)),
            Status::Exited(_) | Status::Signalled(_) => {
                let ours = self.git_dir.parent().unwrap_or(&self.git_dir);
                let words = words(&output, self.repository, ours);
                Err(if is_connection(&main_line(&words)) {
                    GitError::Unreachable(words)
                } else {
                    GitError::Failed(words)
                })
            }
        }
    }
}

/// Our environment without what would lead `git` to another repository or to a question.
pub(super) fn environment(env: &Environment) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsStr| {
        let Some(name) = name.to_str() else { return true };
        if name == "SSH_ASKPASS" || name == "LC_ALL" || name == "LANGUAGE" {
            return false;
        }
        !name.starts_with("GIT_")
            || KEPT.contains(&name)
            || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let own = env.vars().filter(|(name, _)| is_kept(name));
    let mut vars: Vec<_> = own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    // Messages are read by us and shown beside our own.
    for (name, value) in
        [("GIT_TERMINAL_PROMPT", "0"), ("GCM_INTERACTIVE", "never"), ("LC_ALL", "C")]
    {
        vars.push((name.into(), value.into()));
    }
    vars
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
