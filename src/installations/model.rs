//! What is asked of an installation and what comes of it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plugins::model::Plugin;
use crate::process::Child;
use crate::text::Diagnostic;

/// Who asks, and what that allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A command that the user gave: progress is told, a failure of before is tried again.
    Explicit,
    /// A background process of ours: silent, and the one that looks for newer versions, daily.
    Detached,
    /// A hook that needs it now. What is on disk is used as it is; what is missing is got within
    /// the budget. With no budget nothing is started at all.
    Dispatch {
        /// For everything, waiting included.
        budget: Duration,
    },
}

/// How something is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invocation {
    /// The program or script, absolute.
    pub path: PathBuf,
    /// Whether it is run as `sh <path>`.
    pub is_script: bool,
    /// Arguments that come before the caller's.
    pub args: Vec<String>,
}

impl Invocation {
    /// A child that runs it, with our environment and folder.
    pub(crate) fn child(&self) -> Child {
        if self.is_script {
            Child::new("sh").args([self.path.as_os_str()]).args(&self.args)
        } else {
            Child::new(&self.path).args(&self.args)
        }
    }
}

/// Where an installation's programs are looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Root {
    /// A `bin` folder of ours, by name.
    Bin(PathBuf),
    /// A folder of ours, by path inside it.
    Tree(PathBuf),
    /// The plugin's own folder, by path inside its source; or any absolute path.
    Plugin,
    /// The user's own programs, by name.
    Global,
}

/// An installation that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acquired {
    pub root: Root,
    /// The folder that we manage for it, if we do: the value of `SYMPOSIUM_DIR_<name>`.
    pub dir: Option<PathBuf>,
    /// What it runs, where it says so or there is only one thing to run.
    pub program: Option<Invocation>,
    /// The folder it adds to a child's `PATH`.
    pub path_dir: Option<PathBuf>,
}

/// Why an installation can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct InstallError {
    pub plugin: String,
    /// The installation.
    pub name: String,
    pub trouble: Trouble,
}

/// Why there is nothing. A problem may have several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The plugin has no installation of that name.
    Unknown,
    /// What the manifest asks for makes no sense, or is not there.
    Unusable(String),
    /// It is missing and must not, or can't, be got now.
    NotReady(String),
    /// Getting it failed.
    Failed(String),
    /// Getting it took longer than it may.
    OutOfTime(String),
    /// Getting it failed a short while ago, and it is not tried again yet.
    FailedBefore { minutes_ago: u64, problem: String },
}

impl InstallError {
    pub(crate) fn new(plugin: &Plugin, name: &str, trouble: Trouble) -> Self {
        Self { plugin: plugin.name.clone(), name: name.to_owned(), trouble }
    }

    /// As people are told of it. What is only not there yet is no failure.
    pub(crate) fn diagnose(&self) -> Diagnostic {
        match self.trouble {
            Trouble::NotReady(_) => Diagnostic::warning(self.to_string()),
            _ => Diagnostic::error(self.to_string()),
        }
    }

    /// Why getting it failed; `None` where it was not tried, or is being tried.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &self.trouble {
            Trouble::Failed(problem)
            | Trouble::OutOfTime(problem)
            | Trouble::FailedBefore { problem, .. } => Some(problem),
            Trouble::Unknown | Trouble::Unusable(_) | Trouble::NotReady(_) => None,
        }
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, name, trouble } = self;
        match trouble {
            Trouble::Unknown => write!(f, "plugin `{plugin}` has no installation `{name}`"),
            Trouble::Unusable(problem) => {
                write!(f, "installation `{name}` of plugin `{plugin}` can't be used: {problem}")
            }
            Trouble::NotReady(problem) => {
                write!(f, "installation `{name}` of plugin `{plugin}` is not there yet: {problem}")
            }
            Trouble::Failed(problem) | Trouble::OutOfTime(problem) => {
                write!(f, "can't install `{name}` of plugin `{plugin}`: {problem}")
            }
            Trouble::FailedBefore { minutes_ago, problem } => write!(
                f,
                "can't install `{name}` of plugin `{plugin}` (tried {minutes_ago} minutes ago; \
                 `cargo agents sync` tries again at once): {problem}"
            ),
        }
    }
}
