//! The process's surroundings, captured once so that tests can set their own.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that names the home folder.
pub(super) const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// Variables and current folder. The only place that asks the operating system for them.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// In the system's order: a handful is looked up, so nothing is sorted for it.
    vars: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
}

impl Environment {
    /// Reads the real environment. A deleted current folder is `None`, not an error.
    #[allow(clippy::disallowed_methods, reason = "the one place that knows")]
    pub fn capture() -> Self {
        Self { vars: std::env::vars_os().collect(), cwd: std::env::current_dir().ok() }
    }

    /// An environment made by hand.
    pub fn with<K: AsRef<str>, V: AsRef<OsStr>>(
        cwd: impl Into<PathBuf>,
        vars: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let vars = vars
            .into_iter()
            .map(|(key, value)| (OsString::from(key.as_ref()), value.as_ref().to_owned()))
            .collect();
        Self { vars, cwd: Some(cwd.into()) }
    }

    /// A variable, with empty counting as unset.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.find(name).filter(|value| !value.is_empty())
    }

    /// A variable as text; `None` when unset, empty or not UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name).and_then(OsStr::to_str)
    }

    /// Whether a variable is set, were it to nothing.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Of a variable that is there twice, the last one counts. Windows, which has `Path`, takes names
    /// that differ in case for one.
    fn find(&self, name: &str) -> Option<&OsStr> {
        let is_it = |key: &OsStr| match cfg!(windows) {
            true => key.eq_ignore_ascii_case(name),
            false => key == name,
        };
        let found = self.vars.iter().rev().find(|(key, _)| is_it(key));
        found.map(|(_, value)| value.as_os_str())
    }

    /// All variables.
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str()))
    }

    /// The current folder, unless it was deleted.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// The same variables in another folder.
    #[must_use]
    pub fn in_folder(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The same folder with another value of a variable.
    #[must_use]
    pub(crate) fn with_var(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.push((OsString::from(name), value.into()));
        self
    }

    /// The user's home folder: `HOME` (`USERPROFILE` on Windows), else what the system knows.
    pub fn home(&self) -> Option<PathBuf> {
        match self.var(HOME) {
            Some(home) => Some(PathBuf::from(home)),
            None => directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()),
        }
    }

    /// Where cargo keeps its registry and binaries: `CARGO_HOME`, else `~/.cargo`.
    pub fn cargo_home(&self) -> Option<PathBuf> {
        match self.var("CARGO_HOME") {
            Some(dir) => Some(PathBuf::from(dir)),
            None => self.home().map(|home| home.join(".cargo")),
        }
    }
}
