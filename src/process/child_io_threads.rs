//! A child's streams, read and written by a thread each: for systems that can't wait for several
//! pipes at once.

use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Child;
use super::group::Group;
use super::model::{Captured, PAUSE};

/// What goes to and comes from a child, and its end.
pub(super) struct ChildIo {
    /// Each reader holds a sender; the channel is closed when all have ended.
    ended: Receiver<()>,
    pipes_open: bool,
    stdout: Option<Arc<Mutex<Captured>>>,
    stderr: Option<Arc<Mutex<Captured>>>,
}

impl ChildIo {
    /// Takes the child's pipes.
    pub(super) fn new(group: &mut Group, child: &Child) -> Self {
        let (done, ended) = mpsc::channel();
        if let Some(pipe) = group.child().stdin().take() {
            feed(pipe, &child.stdin);
        }
        let stdout = group.child().stdout().take().map(|pipe| drain(pipe, child.output_cap, &done));
        let stderr = group.child().stderr().take().map(|pipe| drain(pipe, child.output_cap, &done));
        Self { ended, pipes_open: true, stdout, stderr }
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
            let slice = left.map_or(pause, |left| pause.min(left));
            pause = (pause * 2).min(PAUSE.1);
            if !self.pipes_open {
                sleep(slice);
            } else if self.closed_within(slice) {
                // The end of the output is nearly always the end of the child.
                pause = PAUSE.0;
            }
        }
    }

    /// Until both outputs have ended, or `patience` is over.
    pub(super) fn until_closed(&mut self, patience: Duration) {
        if self.pipes_open {
            self.closed_within(patience);
        }
    }

    /// What came on standard output and standard error.
    pub(super) fn take(self) -> [Captured; 2] {
        [self.stdout, self.stderr].map(|captured| {
            let Some(captured) = captured else { return Captured::default() };
            let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *captured)
        })
    }

    fn closed_within(&mut self, patience: Duration) -> bool {
        let closed = self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected);
        self.pipes_open = !closed;
        closed
    }
}

/// Writes all of `bytes` and closes the pipe. A child that does not want them is free to.
fn feed(mut pipe: impl Write + Send + 'static, bytes: &[u8]) {
    let bytes = bytes.to_vec();
    let _ = std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
}

/// Reads a pipe to its end, keeping `cap` bytes.
fn drain(
    mut pipe: impl Read + Send + 'static,
    cap: usize,
    done: &Sender<()>,
) -> Arc<Mutex<Captured>> {
    let captured = Arc::new(Mutex::new(Captured::default()));
    let (into, done) = (Arc::clone(&captured), done.clone());
    let read = move || {
        let _done = done;
        let mut chunk = [0; 16 * 1024];
        loop {
            let bytes = match pipe.read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => chunk.get(..count).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            into.lock().unwrap_or_else(PoisonError::into_inner).add(bytes, cap);
        }
    };
    // Without threads there is no output; the child's status still counts.
    let _ = std::thread::Builder::new().name("output".to_owned()).spawn(read);
    captured
}
