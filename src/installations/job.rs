//! One piece of work: who it is for, and what it may take.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::stamp::Stamp;
use super::{Fetcher, Mode, Root, Trouble};
use crate::Symposium;
use crate::files::without_its_name;
use crate::plugins::model::{Installation, Plugin};
use crate::process::{Child, Output, RunError, Status, run};
use crate::report::Event;

/// How long a command or a background process may work on one installation. Compiling a large
/// program on a small machine takes its time.
const WORK_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The work on one installation.
pub(super) struct Job<'a> {
    pub(super) sym: &'a Symposium,
    pub(super) fetcher: &'a dyn Fetcher,
    pub(super) plugin: &'a Plugin,
    pub(super) installation: &'a Installation,
    pub(super) mode: Mode,
    /// Whether a newer version is looked for.
    pub(super) refresh: bool,
    pub(super) before: &'a Stamp,
    started: Instant,
}

/// What a source put on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Got {
    pub(super) root: Root,
    pub(super) dir: Option<PathBuf>,
    pub(super) version: Option<String>,
    pub(super) executable: Option<String>,
    /// Something newer was looked for, in vain: for this reason.
    pub(super) stale: Option<String>,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        sym: &'a Symposium,
        fetcher: &'a dyn Fetcher,
        (plugin, installation): (&'a Plugin, &'a Installation),
        mode: Mode,
        (refresh, before): (bool, &'a Stamp),
    ) -> Self {
        let started = Instant::now();
        Self { sym, fetcher, plugin, installation, mode, refresh, before, started }
    }

    pub(super) fn binaries(&self) -> PathBuf {
        self.sym.dirs.binaries()
    }

    pub(super) fn left(&self) -> Duration {
        let whole = match self.mode {
            Mode::Explicit | Mode::Detached => WORK_LIMIT,
            Mode::Dispatch { budget } => budget,
        };
        whole.saturating_sub(self.started.elapsed())
    }

    /// Whether people are watching.
    pub(super) fn is_watched(&self) -> bool {
        self.mode == Mode::Explicit
    }

    /// Tells people what is going on.
    pub(super) fn say(&self, verb: &str, what: impl std::fmt::Display) {
        if self.is_watched() {
            let message = format!("{what} for plugin `{}`", self.plugin.name);
            self.sym.report.event(&Event::status(verb, message));
        }
    }

    /// Fails when the network must not be used.
    pub(super) fn need_network(&self) -> Result<(), Trouble> {
        if self.sym.options.offline {
            return Err(Trouble::NotReady("it has to be fetched, and we are offline".to_owned()));
        }
        Ok(())
    }

    /// A child with the user's environment, outside of any workspace.
    ///
    /// Programs such as cargo look for files of theirs in their folder and all above it; whatever
    /// a checkout says there is not for us. The root folder belongs to the system's owner.
    pub(super) fn child(&self, program: impl Into<std::ffi::OsString>) -> Child {
        let mut child = Child::new(program).in_environment(&self.sym.env).limit(self.left());
        child.cwd = if cfg!(unix) { Some(PathBuf::from("/")) } else { self.sym.env.home() };
        child
    }

    /// Runs a child that must succeed.
    pub(super) fn run(&self, child: &Child, shown: &str) -> Result<Output, Trouble> {
        if child.limit.is_zero() {
            return Err(Trouble::OutOfTime(format!("no time was left for `{shown}`")));
        }
        tracing::debug!("running {shown}");
        let output = run(child).map_err(|error| match error {
            RunError::NotFound { .. } => Trouble::Unusable(error.to_string()),
            other => Trouble::Failed(other.to_string()),
        })?;
        match output.status {
            Status::Exited(0) => Ok(output),
            Status::TimedOut => Err(Trouble::OutOfTime(format!(
                "`{shown}` did not end within {}",
                humantime::format_duration(Duration::from_secs(child.limit.as_secs().max(1)))
            ))),
            status => Err(Trouble::Failed(format!("`{shown}` failed ({status}){}", said(&output)))),
        }
    }

    /// An error about a file that could not be written.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Trouble + '_ {
        |error| Trouble::Failed(format!("{}: {}", path.display(), without_its_name(error)))
    }
}

/// What a program said, indented below a line.
fn said(output: &Output) -> String {
    output.said().lines().map(|line| format!("\n  {line}")).collect()
}
