//! A child that is fed, drained and ended in time.
//!
//! Input and output are moved by threads of their own, so that neither a child that does not read
//! nor one that floods us can hold the other side. When the child itself has ended, what is left
//! of its group gets [`GRACE`] to finish writing and is then ended too: only a process that left
//! the group (`setsid`) outlives its parent, and its hold on our pipes is ignored.

use std::io::{self, Read};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::group::Group;
use super::{Child, Output, RunError, Status, start};

/// How long what a child leaves behind may go on writing to us.
const GRACE: Duration = Duration::from_millis(100);
/// How long output is awaited after everything that could write it was killed.
const AFTER_KILL: Duration = Duration::from_millis(50);
/// How long a killed child may take to end before it is given up.
const REAP: Duration = Duration::from_secs(1);
/// The shortest and the longest pause between two looks at the child.
const PAUSE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));
/// Every system's pipe takes this much at once without a reader.
const SURE_TO_FIT: usize = 4096;

/// Runs a child to its end, or to its limit.
///
/// # Errors
/// [`RunError`] when it could not be started. However it ended is not an error.
pub fn run(child: &Child) -> Result<Output, RunError> {
    let deadline = Instant::now().checked_add(child.limit);
    let mut command = start::command(child)?;
    command.stdin(if child.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.get_program().to_owned();
    let mut group =
        Group::spawn(command).map_err(|error| start::refusal(child, &program, error))?;

    let (done, ended) = mpsc::channel();
    if let Some(pipe) = group.child().stdin().take() {
        feed(pipe, &child.stdin);
    }
    let stdout = group.child().stdout().take().map(|pipe| drain(pipe, child.output_cap, &done));
    let stderr = group.child().stderr().take().map(|pipe| drain(pipe, child.output_cap, &done));
    drop(done);

    let mut watch = Watch { ended, pipes_open: true };
    let exited = watch.until_exit(&mut group, deadline);
    if exited {
        watch.until_closed(GRACE);
    }
    group.kill();
    watch.until_closed(AFTER_KILL);
    let reaped = reap(group);
    let status = match reaped {
        _ if !exited => Status::TimedOut,
        Ok(status) => status_of(status),
        Err(source) => return Err(RunError::Io { program: shown(child), source }),
    };
    let (stdout, more_out) = take(stdout);
    let (stderr, more_err) = take(stderr);
    Ok(Output { status, stdout, stderr, truncated: more_out || more_err })
}

/// What the system calls a status, in our words.
pub(super) fn status_of(status: ExitStatus) -> Status {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return Status::Signalled(signal);
        }
    }
    Status::Exited(status.code().unwrap_or(1))
}

pub(super) fn shown(child: &Child) -> String {
    child.program.to_string_lossy().into_owned()
}

/// Waits for two things at once: the child's end and the end of its output.
struct Watch {
    ended: Receiver<()>,
    pipes_open: bool,
}

impl Watch {
    /// Until the child has ended (true) or the time is up (false).
    fn until_exit(&mut self, group: &mut Group, deadline: Option<Instant>) -> bool {
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

    /// Until both pipes have ended, or `patience` is over.
    fn until_closed(&mut self, patience: Duration) {
        if self.pipes_open {
            self.closed_within(patience);
        }
    }

    /// Readers hold a sender each; that all are gone is the news.
    fn closed_within(&mut self, patience: Duration) -> bool {
        let closed = self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected);
        self.pipes_open = !closed;
        closed
    }
}

fn reap(mut group: Group) -> io::Result<ExitStatus> {
    let start = Instant::now();
    let mut pause = PAUSE.0;
    while !group.has_exited() {
        if start.elapsed() > REAP {
            return Err(io::Error::other("it was killed and did not end"));
        }
        sleep(pause);
        pause = (pause * 2).min(PAUSE.1);
    }
    group.reap()
}

/// Writes all of `bytes` and closes the pipe. A child that does not want them is free to.
fn feed(mut pipe: impl io::Write + Send + 'static, bytes: &[u8]) {
    if cfg!(unix) && bytes.len() <= SURE_TO_FIT {
        let _ = pipe.write_all(bytes);
        return;
    }
    let bytes = bytes.to_vec();
    let _ = std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    truncated: bool,
}

/// Reads a pipe to its end, keeping `cap` bytes.
fn drain(mut pipe: impl Read + Send + 'static, cap: usize, done: &Sender<()>) -> Arc<Mutex<Kept>> {
    let kept = Arc::new(Mutex::new(Kept::default()));
    let (into, done) = (Arc::clone(&kept), done.clone());
    let read = move || {
        let _done = done;
        let mut chunk = [0; 16 * 1024];
        loop {
            let count = match pipe.read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
            let room = cap.saturating_sub(kept.bytes.len()).min(count);
            kept.bytes.extend_from_slice(chunk.get(..room).unwrap_or_default());
            kept.truncated |= room < count;
        }
    };
    // Without threads there is no output; the child's status still counts.
    let _ = std::thread::Builder::new().name("output".to_owned()).spawn(read);
    kept
}

fn take(kept: Option<Arc<Mutex<Kept>>>) -> (Vec<u8>, bool) {
    let Some(kept) = kept else { return (Vec::new(), false) };
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    (std::mem::take(&mut kept.bytes), kept.truncated)
}
