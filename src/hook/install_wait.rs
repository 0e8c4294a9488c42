//! A program that a hook needs and that is not installed yet: it is installed in the background, and
//! one event of the session waits for it, for a moment.
//!
//! What is installed within that moment serves the very event that needed it, so a guard guards from
//! the first event on. What takes longer is finished in the background without a further wait.

use std::time::{Duration, Instant};

use super::session_context::{SessionContext, missing_programs};
use crate::config::Environment;
use crate::sync::background::Background;
use crate::sync::current::for_hook;
use crate::sync::snapshot::{SnapshotHook, Stored};

/// The longest that an event waits, and a half of what is left of its time at most.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(25);

/// What came of the wait.
#[derive(Debug, Default)]
pub(super) struct Installing {
    /// Whether a process installs what is missing.
    pub is_running: bool,
    /// The hooks as they are after the wait; `None` where there was none.
    pub hooks: Option<Vec<SnapshotHook>>,
}

/// Has the programs installed that `hooks` miss, and waits for them if this session was not told of
/// them before. `left` is what is left of the event's time; `choose` picks the event's hooks of a
/// snapshot.
pub(super) fn wait_for_programs(
    session: &SessionContext<'_>,
    hooks: &[SnapshotHook],
    env: &Environment,
    left: Duration,
    choose: impl Fn(&Stored) -> Vec<SnapshotHook>,
) -> Installing {
    let unannounced = session.unannounced(&missing_programs(hooks));
    if unannounced.is_empty() || !session.stored.header.refreshable {
        return Installing::default();
    }
    let root = &session.stored.header.root;
    let background = Background::of(session.dirs, root);
    let Some(mut running) = background.start() else { return Installing::default() };
    let mut installing = Installing { is_running: true, hooks: None };
    if session.store.is_none() {
        // Nothing could remember that an event waited, so each event would.
        return installing;
    }
    let end = Instant::now() + env.test_switches().patience(LONGEST_WAIT).min(left / 2);
    loop {
        let over = running.ends_within(PAUSE);
        // A snapshot that holds no longer may name a file that is only half there: its commands are
        // making it anew.
        let current = Stored::of(session.dirs, root).filter(|stored| stored.holds(env));
        installing.hooks = current.as_ref().map(&choose);
        let complete =
            installing.hooks.as_deref().is_some_and(|now| missing_programs(now).is_empty());
        if complete {
            return installing;
        }
        if Instant::now() >= end {
            break;
        }
        if over {
            match background.follow_up(&running) {
                Some(next) => running = next,
                None => break,
            }
        }
    }
    installing.hooks = for_hook(env, session.dirs, root, false).as_ref().map(choose);
    installing
}
