//! A child's streams, read and written by the thread that waits for the child.
//!
//! `child_io_threads` does the same with a thread for each stream. Used here it would make 73 more
//! system calls of the 345 of an event whose one hook does nothing, and 6 to 12 % more time (both in
//! the same run), a third of what starting a process takes; so systems that can poll pipes do.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::group::Group;
use super::model::{Captured, PAUSE};
use super::{Child, signals};

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// What goes to and comes from a child, and its end.
pub(super) struct ChildIo {
    stdin: Option<Input>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    /// Readable when the child has ended; `None` where the system has no such thing.
    end: Option<OwnedFd>,
}

/// What the child is to read, and how much of it is written.
struct Input {
    pipe: ChildStdin,
    bytes: Vec<u8>,
    written: usize,
}

/// One of its outputs.
struct Stream<P> {
    /// `None` when it has ended.
    pipe: Option<P>,
    captured: Captured,
    cap: usize,
}

impl ChildIo {
    /// Takes the child's pipes.
    pub(super) fn new(group: &mut Group, child: &Child) -> Self {
        let end = signals::exit_fd(group.child().id());
        let pipes = group.child();
        let stdin = pipes.stdin().take().filter(unblocked).map(|pipe| Input {
            pipe,
            bytes: child.stdin.clone(),
            written: 0,
        });
        let stdout = Stream::of(pipes.stdout().take(), child.output_cap);
        let stderr = Stream::of(pipes.stderr().take(), child.output_cap);
        let mut io = Self { stdin, stdout, stderr, end };
        // What fits into the pipe is there before the child looks.
        io.feed();
        io
    }

    /// Until the child has ended (true) or the time is up (false).
    pub(super) fn until_exit(&mut self, group: &mut Group, deadline: Option<Instant>) -> bool {
        let mut pause = PAUSE.0;
        loop {
            if group.has_exited() {
                return true;
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            let mut patience = left;
            if self.end.is_none() {
                patience = Some(left.map_or(pause, |left| pause.min(left)));
                pause = (pause * 2).min(PAUSE.1);
            }
            let was_open = self.is_open();
            self.step(patience, true);
            if was_open && !self.is_open() {
                // The end of the output is nearly always the end of the child.
                pause = PAUSE.0;
            }
        }
    }

    /// Until both outputs have ended, or `patience` is over.
    pub(super) fn until_closed(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        while self.is_open() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.step(Some(left), false);
        }
    }

    /// What came on standard output and standard error.
    pub(super) fn take(self) -> [Captured; 2] {
        [self.stdout.captured, self.stderr.captured]
    }

    fn is_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Waits until something can be moved, the child has ended (if that is asked for) or we are told
    /// to end, and moves what can be.
    fn step(&mut self, patience: Option<Duration>, for_exit: bool) {
        let end = self.end.as_ref().filter(|_| for_exit);
        let waited = [
            (self.stdin.as_ref().map(|input| input.pipe.as_fd()), PollFlags::OUT),
            (self.stdout.pipe.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.pipe.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (end.map(AsFd::as_fd), PollFlags::IN),
            (signals::signal_fd(), PollFlags::IN),
        ];
        let mut waiting: Vec<PollFd<'_>> = waited
            .into_iter()
            .filter_map(|(pipe, flags)| Some(PollFd::from_borrowed_fd(pipe?, flags)))
            .collect();
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        let happened = poll(&mut waiting, patience.as_ref()).is_ok_and(|count| count > 0);
        signals::drain();
        if happened {
            self.feed();
            self.stdout.drain();
            self.stderr.drain();
        }
    }

    /// Writes what the pipe takes, and closes it when all is written or nobody reads.
    fn feed(&mut self) {
        let Some(input) = &mut self.stdin else { return };
        while let Some(rest) = input.bytes.get(input.written..).filter(|rest| !rest.is_empty()) {
            match input.pipe.write(rest) {
                Ok(count) => input.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.stdin = None;
    }
}

impl<P: AsFd + Read> Stream<P> {
    fn of(pipe: Option<P>, cap: usize) -> Self {
        Self { pipe: pipe.filter(unblocked), captured: Captured::default(), cap }
    }

    /// Reads what is there, at most once round the pipe: others wait as well.
    fn drain(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = [0; CHUNK];
        // One that floods us must not keep the others waiting.
        for _ in 0..4 {
            match pipe.read(&mut chunk) {
                Ok(count @ 1..) => {
                    self.captured.add(chunk.get(..count).unwrap_or_default(), self.cap);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => {
                    self.pipe = None;
                    return;
                }
            }
        }
    }
}

/// Whether our end of a pipe could be made not to wait.
fn unblocked(pipe: &impl AsFd) -> bool {
    rustix::io::ioctl_fionbio(pipe, true).is_ok()
}
