//! Children must not be left behind when we are told to end.
//!
//! A group of its own does not get the terminal's Ctrl-C, nor the signal with which an agent ends
//! us. So those signals are passed on, by a thread that exists only in processes that started a
//! child.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// What becomes of a child when we are told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// Its whole group ends with us.
    Group,
    /// It shares our terminal and gets the keyboard's signals itself; it decides, and we wait.
    Foreground,
}

static CHILDREN: Mutex<Vec<(Pid, Care)>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

/// How many children share our terminal just now.
static FOREGROUND: AtomicUsize = AtomicUsize::new(0);

/// The keyboard's signals, each with whether the last one came while a child shared our terminal.
/// The child can have died of it, and be forgotten, before the watching thread gets to it; so what
/// was true when it came is noted in the handler itself.
static KEYBOARD: [(i32, AtomicBool); 2] =
    [(SIGINT, AtomicBool::new(false)), (SIGQUIT, AtomicBool::new(false))];

/// A child that is cared for until this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    pid: Option<Pid>,
}

impl Guard {
    /// Stops caring; to be done before the child is reaped.
    pub(super) fn forget(&mut self) {
        if let Some(pid) = self.pid.take() {
            let mut children = children();
            children.retain(|(other, _)| *other != pid);
            count_foreground(&children);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Starts a child and cares for it; no signal is acted on in between.
pub(super) fn guarded<T>(
    care: Care,
    start: impl FnOnce() -> io::Result<(T, u32)>,
) -> io::Result<(T, Guard)> {
    WATCH.call_once(watch);
    let mut children = children();
    let (started, id) = start()?;
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        children.push((pid, care));
        count_foreground(&children);
    }
    Ok((started, Guard { pid }))
}

/// Whether a child of ours has ended, without reaping it. Not being our child any more counts.
pub(super) fn has_exited(id: u32) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match pid(id).map(|pid| rustix::process::waitid(WaitId::Pid(pid), options)) {
        Some(Ok(None)) | Some(Err(rustix::io::Errno::INTR)) => false,
        Some(Ok(Some(_))) | Some(Err(_)) | None => true,
    }
}

/// Waits until a child of ours has ended, without reaping it.
pub(super) fn wait_for_exit(id: u32) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let Some(pid) = pid(id) else { return };
    let status = loop {
        match rustix::process::waitid(WaitId::Pid(pid), options) {
            Err(rustix::io::Errno::INTR) => {}
            status => break status.ok().flatten(),
        }
    };
    // The signal that ended the child may have come to us as well, on another thread: that one
    // handles it while the child still counts.
    let keyboard = [SIGINT, SIGQUIT].map(Some);
    if status.is_some_and(|status| keyboard.contains(&status.terminating_signal())) {
        sleep(Duration::from_millis(20));
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

fn children() -> MutexGuard<'static, Vec<(Pid, Care)>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count_foreground(children: &[(Pid, Care)]) {
    let count = children.iter().filter(|(_, care)| *care == Care::Foreground).count();
    FOREGROUND.store(count, Ordering::SeqCst);
}

fn watch() {
    note_arrivals();
    // What whoever started us wants ignored (`nohup`, a background job) stays ignored.
    let wanted = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal));
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // Held to our end: nobody shall get an answer from a child that we are just ending.
            let children = children();
            let was_the_child_s = came_for_a_child(signal);
            if !pass_on(signal, &children) && !was_the_child_s {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
}

/// Has the handlers note for whom a signal came. They run in the order in which they were
/// registered, so this is done before the watching thread's are.
fn note_arrivals() {
    for (signal, for_a_child) in KEYBOARD.iter().filter(|(signal, _)| !ignored(*signal)) {
        let note = || for_a_child.store(FOREGROUND.load(Ordering::SeqCst) > 0, Ordering::SeqCst);
        // SAFETY: the handler does nothing but read and write an atomic.
        let _ = unsafe { signal_hook::low_level::register(*signal, note) };
    }
}

/// Whether a keyboard's signal came while a child shared our terminal: it was that child's.
fn came_for_a_child(signal: i32) -> bool {
    KEYBOARD
        .iter()
        .any(|(other, for_a_child)| *other == signal && for_a_child.swap(false, Ordering::SeqCst))
}

/// Passes a signal on. Says whether we go on living, for a child's sake.
fn pass_on(signal: i32, children: &[(Pid, Care)]) -> bool {
    let groups = || children.iter().filter(|(_, care)| *care == Care::Group);
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
    let mut foreground = false;
    for (pid, _) in children.iter().filter(|(_, care)| *care == Care::Foreground) {
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
fn ignored(signal: i32) -> bool {
    // SAFETY: a null new action makes this a question; `old` is plain data that the call fills.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut old) == 0
            && old.sa_sigaction == libc::SIG_IGN
    }
}
