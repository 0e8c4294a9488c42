//! A child together with everything it starts: a process group on Unix, a job on Windows.

use std::io;
use std::process::{Command, ExitStatus};

use process_wrap::std::{ChildWrapper, CommandWrap};

#[cfg(unix)]
use super::{orphans, signals};

/// A running group.
pub(super) struct Group {
    inner: Box<dyn ChildWrapper>,
    #[cfg(unix)]
    guard: signals::Guard,
}

impl Group {
    /// Starts `command` as the leader of a new group.
    pub(super) fn spawn(command: Command) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        {
            command.wrap(process_wrap::std::ProcessGroup::leader());
            let (inner, guard) = signals::guarded(signals::SignalPolicy::Group, || {
                let start = || super::start::retry_busy(|| command.spawn());
                let child = orphans::registered(start, |child| child.id())?;
                let id = child.id();
                Ok((child, id))
            })?;
            Ok(Self { inner, guard })
        }
        #[cfg(windows)]
        {
            command.wrap(process_wrap::std::JobObject);
            Ok(Self { inner: super::start::retry_busy(|| command.spawn())? })
        }
    }

    /// The child with its streams.
    pub(super) fn child(&mut self) -> &mut dyn ChildWrapper {
        self.inner.as_mut()
    }

    /// Whether the leader has ended. It is not reaped by this: while it is not, its number, which
    /// is the group's too, can't come to stand for a stranger.
    #[cfg(unix)]
    pub(super) fn has_exited(&mut self) -> bool {
        signals::has_exited(self.inner.id())
    }

    /// Whether the leader has ended.
    #[cfg(windows)]
    pub(super) fn has_exited(&mut self) -> bool {
        !matches!(self.inner.try_wait(), Ok(None))
    }

    /// Ends whatever is left of the group at once.
    pub(super) fn kill(&mut self) {
        // Nobody left to kill is what is wanted.
        let _ = self.inner.start_kill();
    }

    /// The leader's status; to be called when it has ended.
    pub(super) fn reap(mut self) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        {
            self.guard.forget();
            self.inner.wait()
        }
        #[cfg(windows)]
        {
            // Waiting for a job waits for messages that may never come; the leader has ended.
            self.inner.try_wait()?.ok_or_else(|| io::Error::other("the child has not ended"))
        }
    }
}
