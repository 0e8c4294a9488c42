//! A child that is fed, drained and ended in time.
//!
//! Input and output are moved as either side is ready ([`ChildIo`]), so that neither a child that
//! does not read nor one that floods us can hold the other side. When the child itself has ended,
//! what is left of its group gets [`GRACE`] to finish writing and is then ended too. A process that left
//! the group (`setsid`) is ended where [`Leftovers::EndAll`] asks for it; else it outlives its parent,
//! and its hold on our pipes is ignored.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[cfg(unix)]
use super::child_io::ChildIo;
#[cfg(not(unix))]
use super::child_io_threads::ChildIo;
use super::group::Group;
use super::model::PAUSE;
use super::work::{LOOK, Work};
use super::{Child, Leftovers, Output, RunError, Status, orphans, start};

/// How long what a child leaves behind may go on writing to us.
const GRACE: Duration = Duration::from_millis(100);
/// How long output is awaited after everything that could write it was killed.
const AFTER_KILL: Duration = Duration::from_millis(50);
/// How long a killed child may take to end before it is given up.
const REAP: Duration = Duration::from_secs(1);

/// Runs a child to its end, or to its limit.
///
/// # Errors
/// [`RunError`] when it could not be started. However it ended is not an error.
pub(crate) fn run(child: &Child) -> Result<Output, RunError> {
    let deadline = Instant::now().checked_add(child.limit);
    let mut command = start::command(child)?;
    command.stdin(if child.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.get_program().to_owned();
    Work::check().map_err(|error| start::refusal(child, &program, error))?;
    if child.leftovers == Leftovers::EndAll {
        orphans::adopt();
    }
    let mut group =
        Group::spawn(command).map_err(|error| start::refusal(child, &program, error))?;

    let mut child_io = ChildIo::new(&mut group, child);
    let exited = until_exit(&mut child_io, &mut group, deadline);
    if exited {
        child_io.until_closed(GRACE);
    }
    if !exited || child.leftovers != Leftovers::Keep {
        group.kill();
    }
    let reaped = reap(group);
    if child.leftovers == Leftovers::EndAll {
        orphans::end();
    }
    child_io.until_closed(AFTER_KILL);
    let status = match reaped {
        _ if !exited => Status::TimedOut,
        Ok(status) => status_of(status),
        Err(source) => return Err(RunError::Io { program: shown(child), source }),
    };
    let [stdout, stderr] = child_io.take();
    let truncated = stdout.truncated || stderr.truncated;
    Ok(Output { status, stdout: stdout.bytes, stderr: stderr.bytes, truncated })
}

/// Until the child has ended (true), or its time is up or nobody waits for it (false).
fn until_exit(io: &mut ChildIo, group: &mut Group, deadline: Option<Instant>) -> bool {
    let Some(work) = Work::current() else { return io.until_exit(group, deadline) };
    loop {
        let next = Instant::now() + LOOK;
        let until = deadline.map_or(next, |deadline| deadline.min(next));
        if io.until_exit(group, Some(until)) {
            return true;
        }
        if work.is_given_up() || deadline == Some(until) {
            return false;
        }
    }
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
