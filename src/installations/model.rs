//! What is asked of an installation and what comes of it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::Child;

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
    /// Where its programs are looked up.
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
pub(crate) enum InstallError {
    /// There is none of that name.
    #[error("plugin `{plugin}` has no installation `{name}`")]
    Unknown {
        /// The plugin.
        plugin: String,
        /// The name.
        name: String,
    },
    /// What the manifest asks for makes no sense, or is not there.
    #[error("installation `{name}` of plugin `{plugin}` can't be used: {problem}")]
    Unusable {
        /// The plugin.
        plugin: String,
        /// The installation.
        name: String,
        /// Why.
        problem: String,
    },
    /// It is missing and must not, or can't, be got now.
    #[error("installation `{name}` of plugin `{plugin}` is not there yet: {problem}")]
    NotReady {
        /// The plugin.
        plugin: String,
        /// The installation.
        name: String,
        /// Why it is not got now.
        problem: String,
    },
    /// Getting it failed.
    #[error("can't install `{name}` of plugin `{plugin}`: {problem}")]
    Failed {
        /// The plugin.
        plugin: String,
        /// The installation.
        name: String,
        /// Why, on one or more lines.
        problem: String,
    },
    /// Getting it failed a short while ago, and it is not tried again yet.
    #[error(
        "can't install `{name}` of plugin `{plugin}` (tried {minutes_ago} minutes ago; \
         `cargo agents sync` tries again at once): {problem}"
    )]
    FailedBefore {
        /// The plugin.
        plugin: String,
        /// The installation.
        name: String,
        /// When, in whole minutes.
        minutes_ago: u64,
        /// Why, on one or more lines.
        problem: String,
    },
}

impl InstallError {
    /// The installation.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Unknown { name, .. }
            | Self::Unusable { name, .. }
            | Self::NotReady { name, .. }
            | Self::Failed { name, .. }
            | Self::FailedBefore { name, .. } => name,
        }
    }
}
