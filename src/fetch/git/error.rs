//! Why a repository's newest state could not be had.

use std::time::Duration;

use super::words::main_line;
use crate::files::without_its_name;
use crate::process::RunError;

/// Why a repository's newest state could not be had. The text is one line, without the URL's
/// secrets; [`GitError::whole`] has all that `git` said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GitError {
    /// `git` can't be started.
    #[error("{0}")]
    NoGit(String),
    #[error("offline")]
    Offline,
    #[error("not fetched yet")]
    NotFetched,
    #[error("{}", main_line(.0))]
    Unreachable(String),
    /// It failed a moment ago, and is not asked again for a while.
    #[error("failed {}: {}", moment(*ago), main_line(message))]
    Recently { ago: Duration, message: String },
    #[error("another process is fetching it")]
    Busy,
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// `git` failed; its own words.
    #[error("{}", main_line(.0))]
    Failed(String),
    #[error("the repository has no branch or tag `{0}`{hint}", hint = of_short_commit(.0))]
    NoSuchRef(String),
    #[error("there is no folder `{subdir}` in commit {}", short(commit))]
    NoSuchFolder { subdir: String, commit: String },
    #[error("{0}")]
    TooLarge(String),
    /// Our own cache folder could not be used.
    #[error("{0}")]
    Cache(String),
}

/// What to say of a ref that is not there and looks like a shortened commit.
fn of_short_commit(name: &str) -> &'static str {
    let is_hex = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.len() {
        4..7 if is_hex => "; of a commit at least 7 digits are needed",
        7..40 if is_hex => ", and no single commit that begins so",
        _ => "",
    }
}

fn moment(ago: Duration) -> String {
    match ago.as_secs() {
        0 => "just now".to_owned(),
        seconds => format!("{seconds} s ago"),
    }
}

impl GitError {
    /// The one line, and below it all that `git` said where that is more.
    pub(crate) fn whole(&self) -> String {
        let line = self.to_string();
        match self.words() {
            Some(words) if words.lines().count() > 1 => {
                let words: String = words.lines().map(|line| format!("\n  {line}")).collect();
                format!("{line}; git says:{words}")
            }
            _ => line,
        }
    }

    /// What `git` said.
    pub(super) fn words(&self) -> Option<&str> {
        match self {
            Self::Unreachable(words) | Self::Failed(words) => Some(words),
            Self::Recently { message, .. } => Some(message),
            _ => None,
        }
    }

    /// Whether it is a matter of connection or moment, not of configuration: worth one line, no
    /// alarm.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Offline
                | Self::NotFetched
                | Self::Unreachable(_)
                | Self::Recently { .. }
                | Self::Busy
        )
    }

    /// The key of a source's table that names what is not there.
    pub(crate) fn key(&self) -> Option<&'static str> {
        match self {
            Self::NoSuchRef(_) => Some("rev"),
            Self::NoSuchFolder { .. } => Some("subdir"),
            _ => None,
        }
    }

    /// Whether trying again at once would only repeat it.
    pub(super) fn is_remembered(&self) -> bool {
        !matches!(
            self,
            Self::Offline | Self::NotFetched | Self::Recently { .. } | Self::Busy | Self::Cache(_)
        )
    }

    pub(super) fn cache(error: std::io::Error) -> Self {
        Self::Cache(without_its_name(error).to_string())
    }
}

impl From<RunError> for GitError {
    fn from(error: RunError) -> Self {
        Self::NoGit(error.to_string())
    }
}

/// The first ten digits: enough for people.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
