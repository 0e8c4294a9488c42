//! Running a program within a limit, in a process group of its own that ends with it.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often it is looked whether the program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// How long it ran.
    pub took: Duration,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `command` for at most `limit`, with its output in files in `dir`. When it has ended, what is
/// left of its process group is ended too.
///
/// # Panics
/// When it can't be started.
pub(crate) fn finish(command: &mut Command, limit: Duration, dir: &Path) -> Finished {
    finish_with(command, b"", limit, dir)
}

/// As [`finish`], with something to read on standard input.
///
/// # Panics
/// When it can't be started.
pub(crate) fn finish_with(
    command: &mut Command,
    stdin: &[u8],
    limit: Duration,
    dir: &Path,
) -> Finished {
    // Files, not pipes: what a program leaves running may hold a pipe open.
    let (out, err) = (dir.join("client-stdout"), dir.join("client-stderr"));
    let file = |path| File::create(path).expect("the file can be written");
    let input = dir.join("client-stdin");
    std::fs::write(&input, stdin).expect("the file can be written");
    let input = File::open(input).expect("it was written");
    command.stdin(input).stdout(file(&out)).stderr(file(&err));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let began = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let status = wait(&mut child, began + limit);
    let took = began.elapsed();
    end_group(&mut child);
    let ended = status.or_else(|| child.wait().ok());
    let read =
        |path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    Finished {
        code: ended.and_then(|status| status.code()),
        timed_out: status.is_none(),
        took,
        stdout: read(&out),
        stderr: read(&err),
    }
}

fn wait(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    None
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = id {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> Finished {
        let dir = tempfile::tempdir().expect("a temporary folder");
        finish(Command::new("sh").args(["-c", script]), limit, dir.path())
    }

    #[test]
    fn output_and_code_are_kept() {
        let finished = run("echo out; echo err >&2; exit 3", Duration::from_secs(20));
        assert_eq!((finished.code, finished.timed_out), (Some(3), false));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn what_takes_too_long_is_ended_with_its_children() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let pid = dir.path().join("pid");
        let script = format!("sleep 100 & echo $! > '{}'; wait", pid.display());
        let finished =
            finish(Command::new("sh").args(["-c", &script]), Duration::from_secs(1), dir.path());
        assert!(finished.timed_out && finished.code.is_none());
        let pid = std::fs::read_to_string(pid).expect("the child began");
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            // A zombie waits for whoever adopted it.
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        let until = Instant::now() + Duration::from_secs(10);
        while !gone() {
            assert!(Instant::now() < until, "the child is still there");
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
