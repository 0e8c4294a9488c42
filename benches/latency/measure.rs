//! What one process costs, and what many come to.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One measured process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// From before it is started until it has ended.
    pub wall: Duration,
    /// Of the process and those it waited for, in user and system mode.
    pub cpu: Duration,
    /// Peak memory, in kilobytes.
    pub memory: i64,
}

/// What many of them come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    /// The median, in milliseconds.
    pub wall: f64,
    /// The median, in milliseconds.
    pub cpu: f64,
    /// The greatest, in kilobytes.
    pub memory: i64,
}

/// Starts a process, gives it `stdin`, and waits for its end.
pub(crate) fn measure(command: &mut Command, stdin: &str) -> Sample {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().expect("starts");
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let (cpu, memory) = wait(child);
    Sample { wall: start.elapsed(), cpu, memory }
}

/// Waits for a process; the CPU time and memory (in kilobytes) that it took.
#[cfg(unix)]
fn wait(child: Child) -> (Duration, i64) {
    let pid = libc::pid_t::try_from(child.id()).expect("a process id");
    let mut status = 0;
    // SAFETY: rusage is plain data for which zero is a value, and the pointers live for the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(pid, &raw mut status, 0, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    (time(usage.ru_utime) + time(usage.ru_stime), usage.ru_maxrss)
}

/// As on Unix, but only wall time is measured here.
#[cfg(not(unix))]
fn wait(mut child: Child) -> (Duration, i64) {
    child.wait().expect("ends");
    (Duration::ZERO, 0)
}

/// Medians: one slow start of two hundred says nothing about the program.
pub(crate) fn summary(samples: &[Sample]) -> Summary {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Summary {
        wall: median(samples.iter().map(|sample| sample.wall.as_secs_f64() * 1e3).collect()),
        cpu: median(samples.iter().map(|sample| sample.cpu.as_secs_f64() * 1e3).collect()),
        memory: samples.iter().map(|sample| sample.memory).max().unwrap_or(0),
    }
}
