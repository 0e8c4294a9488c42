//! Children that have our own streams.

use std::io;

use super::run::{shown, status_of};
use super::{Child, RunError, Status, start};

/// Runs a child on our own streams and in our own process group, so that a terminal stays its
/// terminal; its `stdin`, `limit` and `output_cap` do not count.
///
/// The keyboard's signals reach the child itself; a signal to end that reaches us is passed on.
/// Either way we stay until it has ended, and its status is the answer.
pub(crate) fn run_inherited(child: &Child) -> Result<Status, RunError> {
    let command = start::command(child)?;
    let program = command.get_program().to_owned();
    let status = wait_for(command).map_err(|error| match error {
        Failed::Start(error) => start::refusal(child, &program, error),
        Failed::Wait(source) => RunError::Io { program: shown(child), source },
    })?;
    Ok(status_of(status))
}

/// Lets a program take our place: the process becomes it. Where the system has no such thing
/// (Windows) the child is run and its status returned.
///
/// # Errors
/// [`RunError`] when it could not be started; we are then still here.
pub(crate) fn exec_replace(child: &Child) -> Result<Status, RunError> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let mut command = start::command(child)?;
        let program = command.get_program().to_owned();
        let refused = start::retry_busy(|| Err::<(), _>(command.exec()));
        let error = refused.err().unwrap_or_else(|| io::Error::other("it did not start"));
        Err(start::refusal(child, &program, error))
    }
    #[cfg(not(unix))]
    {
        run_inherited(child)
    }
}

enum Failed {
    Start(io::Error),
    Wait(io::Error),
}

#[cfg(unix)]
fn wait_for(mut command: std::process::Command) -> Result<std::process::ExitStatus, Failed> {
    use super::orphans;
    use super::signals::{self, SignalPolicy};
    let (mut running, mut guard) = signals::guarded(SignalPolicy::Foreground, || {
        let start = || start::retry_busy(|| command.spawn());
        let running = orphans::registered(start, |running| running.id())?;
        let id = running.id();
        Ok((running, id))
    })
    .map_err(Failed::Start)?;
    signals::wait_for_exit(running.id());
    guard.forget();
    running.wait().map_err(Failed::Wait)
}

#[cfg(not(unix))]
fn wait_for(mut command: std::process::Command) -> Result<std::process::ExitStatus, Failed> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    // Ctrl-C goes to everybody on the console; with a handler of ours it does not end us.
    let caught = Arc::new(AtomicBool::new(false));
    let handler = signal_hook::flag::register(signal_hook::consts::SIGINT, caught);
    let mut running = start::retry_busy(|| command.spawn()).map_err(Failed::Start)?;
    let status = running.wait().map_err(Failed::Wait);
    if let Ok(handler) = handler {
        signal_hook::low_level::unregister(handler);
    }
    status
}

/// A file that would grow beyond the limit of the system or of whoever started us is an error of that
/// write, and not our end. What we start has its own way again: handlers don't outlive `exec`.
#[cfg(unix)]
pub(crate) fn outlive_file_limits() {
    extern "C" fn carry_on(_: libc::c_int) {}
    // By hand: for the list of handlers that `signal_hook` makes, each start would load four more pages.
    // SAFETY: a handler that does nothing may run at any time.
    unsafe {
        libc::signal(libc::SIGXFSZ, carry_on as extern "C" fn(libc::c_int) as libc::sighandler_t)
    };
}
