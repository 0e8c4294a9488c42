//! Work that may be given up: nobody waits for what comes of it any more.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a child is looked at that may be given up.
pub(super) const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    static CURRENT: RefCell<Option<Work>> = const { RefCell::new(None) };
}

/// Some work, or all of a session's. A child that it waits for ends soon after it is given up, as if
/// its time were up, and no other is started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    is_over: Arc<AtomicBool>,
    whole: Option<Arc<AtomicBool>>,
}

impl Work {
    /// A part of it, which can be given up alone.
    pub(crate) fn part(&self) -> Self {
        Self { is_over: Arc::default(), whole: Some(Arc::clone(&self.is_over)) }
    }

    pub(crate) fn give_up(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_given_up(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        is_set(&self.is_over) || self.whole.as_deref().is_some_and(is_set)
    }

    /// Does it, on this thread.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(self.clone()));
        let done = work();
        CURRENT.take();
        done
    }

    /// What this thread works on.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Option::clone)
    }

    /// Refuses to begin what nobody waits for.
    pub(super) fn check() -> io::Result<()> {
        match Self::current().filter(Self::is_given_up) {
            Some(_) => Err(io::Error::other("nobody waits for it any more")),
            None => Ok(()),
        }
    }
}
