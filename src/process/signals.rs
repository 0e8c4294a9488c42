//! Children must not be left behind when we are told to end.
//!
//! A child in a process group of its own gets neither the terminal's Ctrl-C nor the signal with which
//! an agent ends us. So the thread that waits for a child passes those signals on: the handler only
//! writes a signal's number to a pipe (the self-pipe trick), which is polled together with the
//! child's streams. While there is no child, a signal does what it does in any program.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, kill_process_group,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// What becomes of a child when we are told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalPolicy {
    /// Its whole group ends with us.
    Group,
    /// It shares our terminal and gets the keyboard's signals itself; it decides, and we wait.
    Foreground,
}

static CHILDREN: Mutex<Vec<(Pid, SignalPolicy)>> = Mutex::new(Vec::new());

/// How many children there are, one that is being started included.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How many of them share our terminal.
static FOREGROUND: AtomicUsize = AtomicUsize::new(0);

/// The pipe of the signals that came while there were children: each one's number, with
/// [`FOREGROUND_FLAG`] when a child shared our terminal. `None` where there can be no such pipe;
/// signals then end us alone.
static SIGNAL_PIPE: OnceLock<Option<(PipeReader, PipeWriter)>> = OnceLock::new();

/// Marks a signal that came while a child shared our terminal: the child may have died of it, and no
/// longer be tracked, when the pipe is read.
const FOREGROUND_FLAG: u8 = 0x80;

/// Whether somebody else deals with the signals that [`hold`] names.
static HELD: AtomicBool = AtomicBool::new(false);

/// How often a child is looked at where nothing tells of its end.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// Signals are passed on to a child until this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    pid: Option<Pid>,
}

impl Guard {
    /// No longer passes signals on; to be called before the child is reaped.
    pub(super) fn forget(&mut self) {
        if let Some(pid) = self.pid.take() {
            drain();
            let mut children = children();
            children.retain(|(other, _)| *other != pid);
            update_counts(&children);
            drop(children);
            // A signal that came just before the count fell is in the pipe, and nothing acted on it yet.
            drain();
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.forget();
    }
}

/// SIGINT and SIGTERM do not end us until this is dropped: who holds them has a terminal to put right
/// first. They still wake whoever waits for input.
#[derive(Debug)]
pub(crate) struct HeldSignals;

/// Holds signals; to be called by one at a time.
pub(crate) fn hold() -> HeldSignals {
    SIGNAL_PIPE.get_or_init(install_handlers);
    HELD.store(true, Ordering::SeqCst);
    HeldSignals
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        HELD.store(false, Ordering::SeqCst);
    }
}

/// Starts a child and passes signals on to it; none is acted on in between.
pub(super) fn guarded<T>(
    policy: SignalPolicy,
    start: impl FnOnce() -> io::Result<(T, u32)>,
) -> io::Result<(T, Guard)> {
    SIGNAL_PIPE.get_or_init(install_handlers);
    let mut children = children();
    COUNT.store(children.len() + 1, Ordering::SeqCst);
    let started = start();
    let pid = started.as_ref().ok().and_then(|(_, id)| pid(*id));
    children.extend(pid.map(|pid| (pid, policy)));
    update_counts(&children);
    started.map(|(started, _)| (started, Guard { pid }))
}

/// Whether a child of ours has ended, without reaping it. Not being our child any more counts.
pub(super) fn has_exited(id: u32) -> bool {
    !matches!(state_of(id), ChildState::Running)
}

/// What is readable as soon as a child of ours has ended, where the system has that (Linux 5.3).
pub(super) fn exit_fd(id: u32) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, pidfd_open};
        pid(id).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = id;
        None
    }
}

/// What is readable when a signal came that [`drain`] acts on.
pub(super) fn signal_fd() -> Option<BorrowedFd<'static>> {
    SIGNAL_PIPE.get()?.as_ref().map(|(reader, _)| reader.as_fd())
}

/// Waits until a child of ours has ended, without reaping it.
pub(super) fn wait_for_exit(id: u32) {
    let end = exit_fd(id);
    let patience = end.is_none().then_some(POLL_INTERVAL);
    let status = loop {
        match state_of(id) {
            ChildState::Running => {}
            ChildState::Ended(status) => break status,
            ChildState::NotOurs => return,
        }
        let waited = [end.as_ref().map(AsFd::as_fd), signal_fd()];
        let mut waited: Vec<PollFd<'_>> = waited
            .into_iter()
            .flatten()
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        let _ = poll(&mut waited, patience.as_ref());
        drain();
    };
    // The signal that ended the child may be on its way to us as well: it is to come while the child
    // still counts.
    let keyboard = [SIGINT, SIGQUIT].map(Some);
    if keyboard.contains(&status.terminating_signal()) {
        sleep(Duration::from_millis(20));
    }
}

/// Whether a child is running.
enum ChildState {
    Running,
    Ended(WaitIdStatus),
    /// It is no child of ours.
    NotOurs,
}

fn state_of(id: u32) -> ChildState {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match pid(id).map(|pid| rustix::process::waitid(WaitId::Pid(pid), options)) {
        Some(Ok(None)) | Some(Err(rustix::io::Errno::INTR)) => ChildState::Running,
        Some(Ok(Some(status))) => ChildState::Ended(status),
        Some(Err(_)) | None => ChildState::NotOurs,
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

fn children() -> MutexGuard<'static, Vec<(Pid, SignalPolicy)>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn update_counts(children: &[(Pid, SignalPolicy)]) {
    let foreground =
        children.iter().filter(|(_, policy)| *policy == SignalPolicy::Foreground).count();
    FOREGROUND.store(foreground, Ordering::SeqCst);
    COUNT.store(children.len(), Ordering::SeqCst);
}

/// From now on, signals that come while there are children go into the pipe.
fn install_handlers() -> Option<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe().ok()?;
    rustix::io::ioctl_fionbio(&reader, true).ok()?;
    rustix::io::ioctl_fionbio(&writer, true).ok()?;
    // What whoever started us wants ignored (`nohup`, a background job) stays ignored.
    for signal in
        [SIGINT, SIGQUIT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal))
    {
        // SAFETY: the handler reads atomics and makes system calls, nothing else.
        let _ = unsafe { signal_hook::low_level::register(signal, move || on_signal(signal)) };
    }
    Some((reader, writer))
}

/// The handler of the signals.
fn on_signal(signal: i32) {
    let pipe = SIGNAL_PIPE.get().and_then(Option::as_ref);
    let Some((_, writer)) = pipe.filter(|_| COUNT.load(Ordering::SeqCst) > 0) else {
        if HELD.load(Ordering::SeqCst) && [SIGINT, SIGTERM].contains(&signal) {
            return;
        }
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return;
    };
    let flag = if FOREGROUND.load(Ordering::SeqCst) > 0 { FOREGROUND_FLAG } else { 0 };
    // A pipe that is full is full of signals to end.
    let _ = rustix::io::write(writer, &[u8::try_from(signal).unwrap_or(0) | flag]);
}

/// Acts on the signals in the pipe: passes them on to the children, and ends us unless one of the
/// children decides.
pub(super) fn drain() {
    let Some(Some((reader, _))) = SIGNAL_PIPE.get() else { return };
    let mut came = [0; 64];
    let Ok(number) = rustix::io::read(reader, &mut came) else { return };
    // Locked until we end: no thread shall return the answer of a child that we are just ending.
    let children = children();
    for came in came.get(..number).unwrap_or_default() {
        let signal = i32::from(came & !FOREGROUND_FLAG);
        let was_for_child = came & FOREGROUND_FLAG != 0 && [SIGINT, SIGQUIT].contains(&signal);
        if !pass_on(signal, &children) && !was_for_child {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

/// Passes a signal on. Says whether we go on living, for a child's sake.
fn pass_on(signal: i32, children: &[(Pid, SignalPolicy)]) -> bool {
    let groups = || children.iter().filter(|(_, policy)| *policy == SignalPolicy::Group);
    for (pid, _) in groups() {
        let _ = kill_process_group(*pid, Signal::TERM);
    }
    if groups().next().is_some() {
        // A moment to remove lock files and the like.
        sleep(Duration::from_millis(50));
    }
    for (pid, _) in groups() {
        let _ = kill_process_group(*pid, Signal::KILL);
    }
    if groups().next().is_some() {
        // What left a group becomes ours when its parent is gone.
        sleep(Duration::from_millis(5));
        super::orphans::end();
    }
    let mut foreground = false;
    for (pid, _) in children.iter().filter(|(_, policy)| *policy == SignalPolicy::Foreground) {
        foreground = true;
        match signal {
            SIGTERM => drop(kill_process(*pid, Signal::TERM)),
            SIGHUP => drop(kill_process(*pid, Signal::HUP)),
            _ => {}
        }
    }
    foreground
}

/// Whether a signal is ignored in this process.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: a null new action makes this a question; `old` is plain data that the call fills.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut old) == 0
            && old.sa_sigaction == libc::SIG_IGN
    }
}
