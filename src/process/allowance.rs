//! A process that nobody watches ends by itself.

use std::time::{Duration, Instant};

/// How often the time is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// A moment to end children and leave in order.
const GRACE: Duration = Duration::from_secs(1);

/// Ends this process, and the children it waits for, once it has lived for `life` or has itself
/// computed for `cpu_limit`. What its children compute does not count.
pub(crate) fn end_after(life: Duration, cpu_limit: Duration) {
    let start = Instant::now();
    let watch = move || {
        while start.elapsed() < life && computed() < cpu_limit {
            std::thread::sleep(LOOK.min(life));
        }
        tracing::warn!("this took too long and was ended");
        end();
    };
    // Without a thread there is no limit, as before there was one.
    let _ = std::thread::Builder::new().name("allowance".to_owned()).spawn(watch);
}

/// As when somebody else tells us to end; whoever waits for a child passes it on.
#[cfg(unix)]
fn end() {
    use rustix::process::{Signal, getpid, kill_process};
    let _ = kill_process(getpid(), Signal::TERM);
    std::thread::sleep(GRACE);
    let _ = kill_process(getpid(), Signal::KILL);
}

#[cfg(not(unix))]
fn end() {
    std::thread::sleep(GRACE);
    std::process::abort();
}

/// The processor time of this process.
#[cfg(unix)]
fn computed() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the struct, which lives as long as the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0;
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    if failed { Duration::ZERO } else { Duration::from_secs(seconds) }
}

#[cfg(not(unix))]
fn computed() -> Duration {
    Duration::ZERO
}
