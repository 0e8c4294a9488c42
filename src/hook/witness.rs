//! What is seen of an event's way by those who try a plugin out: they go the same road as an agent's
//! event, and are shown what happened on it.

use std::cell::RefCell;
use std::time::Duration;

use crate::agents::wire::Outcome;
use crate::process::Output;

/// Stands beside the road; while one does, nothing is started in the background.
#[derive(Debug, Default)]
pub(super) struct Witness(RefCell<Seen>);

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Why the bytes are no event of the agent's.
    pub undecoded: Option<String>,
    /// The hooks that were asked, in order.
    pub asked: Vec<Asked>,
    /// What they and we want together; `None` where it did not come to that.
    pub outcome: Option<Outcome>,
}

/// A hook that was asked.
#[derive(Debug)]
pub(crate) struct Asked {
    pub hook: String,
    /// What came of its program; `None` where it was not started.
    pub output: Option<Output>,
    pub took: Duration,
    /// Why it counts as failed.
    pub problem: Option<String>,
    /// What in its answer was passed over.
    pub notes: Vec<String>,
    /// What it wants, in words.
    pub answer: String,
}

impl Witness {
    pub(super) fn undecoded(&self, problem: &str) {
        self.0.borrow_mut().undecoded = Some(problem.to_owned());
    }

    pub(super) fn asked(&self, asked: Asked) {
        self.0.borrow_mut().asked.push(asked);
    }

    pub(super) fn settled(&self, outcome: &Outcome) {
        self.0.borrow_mut().outcome = Some(outcome.clone());
    }

    pub(super) fn into_seen(self) -> Seen {
        self.0.into_inner()
    }
}
