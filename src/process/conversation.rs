//! A child that is talked to: a line goes in, lines come out, until we have heard enough.
//!
//! A thread reads each of its outputs, so that neither side waits for the other for longer than it
//! means to. Dropped, the child and its whole group are ended.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::group::Group;
use super::model::Captured;
use super::run::status_of;
use super::{Child, RunError, Status, start};

/// Bytes of the longest line that is heard.
const LONGEST: u64 = 16 * 1024 * 1024;
/// How long a child whose input was closed may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(2);

/// A child that runs, and its streams.
pub(crate) struct Conversation {
    group: Option<Group>,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Arc<Mutex<Captured>>,
    stderr_ended: Receiver<()>,
}

/// What came instead of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nothing, and the time is up.
    TimedOut,
    /// It closed its output, as it does when it ends.
    Closed,
}

impl Conversation {
    /// Starts the child; its input, and how long it may run, are of no account here.
    ///
    /// # Errors
    /// [`RunError`] when it could not be started.
    pub(crate) fn start(child: &Child) -> Result<Self, RunError> {
        let mut command = start::command(child)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_owned();
        let mut group =
            Group::spawn(command).map_err(|error| start::refusal(child, &program, error))?;
        let stdin = group.child().stdin().take();
        let (line, lines) = mpsc::channel();
        if let Some(pipe) = group.child().stdout().take() {
            thread::spawn(move || {
                let mut pipe = BufReader::new(pipe);
                loop {
                    let mut bytes = Vec::new();
                    let read = pipe.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
                    if !matches!(read, Ok(1..)) || line.send(bytes).is_err() {
                        return;
                    }
                }
            });
        }
        let stderr = Arc::new(Mutex::new(Captured::default()));
        let (ended, stderr_ended) = mpsc::channel::<()>();
        if let Some(mut pipe) = group.child().stderr().take() {
            let (into, cap) = (Arc::clone(&stderr), child.output_cap);
            thread::spawn(move || {
                let _ended = ended;
                let mut chunk = [0; 4096];
                while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                    let mut captured = into.lock().unwrap_or_else(PoisonError::into_inner);
                    captured.add(chunk.get(..count).unwrap_or_default(), cap);
                }
            });
        }
        Ok(Self { group: Some(group), stdin, lines, stderr, stderr_ended })
    }

    /// Says a line.
    ///
    /// # Errors
    /// When it does not listen any more.
    pub(crate) fn say(&mut self, line: &str) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else { return Err(io::ErrorKind::BrokenPipe.into()) };
        stdin.write_all(format!("{line}\n").as_bytes())?;
        stdin.flush()
    }

    /// The next line that it says, without its end.
    ///
    /// # Errors
    /// [`Silence`] when there is none by `deadline`.
    pub(crate) fn hear(&mut self, deadline: Instant) -> Result<String, Silence> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
            Err(RecvTimeoutError::Timeout) => Err(Silence::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(Silence::Closed),
        }
    }

    /// Closes its input, which asks it to end, and ends it where it does not. How it ended, and what it
    /// wrote to its standard error.
    pub(crate) fn end(mut self) -> (Option<Status>, String) {
        self.stdin = None;
        let mut status = None;
        if let Some(mut group) = self.group.take() {
            let deadline = Instant::now() + FAREWELL;
            let mut has_exited = group.has_exited();
            while !has_exited && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(5));
                has_exited = group.has_exited();
            }
            group.kill();
            let reaped = group.reap();
            status = match has_exited {
                true => reaped.ok().map(status_of),
                false => Some(Status::TimedOut),
            };
        }
        let _ = self.stderr_ended.recv_timeout(Duration::from_millis(200));
        let captured = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        (status, String::from_utf8_lossy(&captured.bytes).into_owned())
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if let Some(mut group) = self.group.take() {
            group.kill();
            let _ = group.reap();
        }
    }
}
