//! Real repositories for tests.
#![allow(clippy::disallowed_methods, reason = "tests run git as a user does")]

use crate::process::{self, Child};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Limits, Policy};
use crate::config::Environment;
use crate::symposium::UpdateLevel;

/// An environment with `home`, no system-wide configuration of git, and our `PATH`.
pub(crate) fn environment(home: &Path, vars: &[(&str, &str)]) -> Environment {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = home.to_string_lossy();
    // Windows opens no socket without it.
    let system = std::env::var("SYSTEMROOT").unwrap_or_default();
    let fixed = [
        ("HOME", &*home),
        ("PATH", path.as_str()),
        ("SYSTEMROOT", system.as_str()),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ];
    Environment::with(&*home, fixed.into_iter().chain(vars.iter().copied()))
}

/// A policy that fetches what is not there and asks at every turn.
pub(crate) fn policy(level: UpdateLevel) -> Policy {
    Policy {
        level,
        first_fetch: true,
        force: true,
        offline: false,
        limit: Duration::from_secs(30),
        lock_timeout: Duration::from_secs(30),
        limits: Limits::default(),
    }
}

/// A repository with a work tree, on the branch `main`.
pub(crate) struct Repo {
    pub(crate) dir: PathBuf,
}

impl Repo {
    pub(crate) fn new(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        std::fs::create_dir_all(&dir).expect("creates");
        let repo = Self { dir };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// Runs git in it, without anybody's configuration.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let child = Child::new("git")
            .cwd(&self.dir)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
            .args(args.iter().copied())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = process::run(&child).expect("git runs");
        assert!(output.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text().trim().to_owned()
    }

    /// Writes the files and commits everything; returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.dir.join(path);
            std::fs::create_dir_all(path.parent().expect("inside")).expect("creates");
            std::fs::write(path, text).expect("writes");
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn url(&self) -> String {
        let path = self.dir.display().to_string().replace('\\', "/");
        format!("file:///{}", path.trim_start_matches('/'))
    }
}
