//! A program that a hook needs and that is missing: it is got in the background, and waited for
//! once in a session, for a moment.
//!
//! What can be had in that moment is there for the very event that needed it; a guard then guards
//! from the first event on. What takes longer goes on while nobody waits.

use std::path::Path;
use std::time::{Duration, Instant};

use super::conversation::{Conversation, missing_programs};
use crate::config::Environment;
use crate::sync::background::Background;
use crate::sync::current;
use crate::sync::snapshot::{SnapshotHook, Stored};

/// The longest that an event waits, and a half of what is left of its time at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(25);

/// What came of it.
#[derive(Debug, Default)]
pub struct Arrival {
    /// Whether a process gets what is missing.
    pub is_running: bool,
    /// The hooks as they are now, where something came.
    pub hooks: Option<Vec<SnapshotHook>>,
}

/// Has what `hooks` miss got, and waits for it if this session was not told of it before. `left` is
/// what is left of the event's time; `choose` picks the event's hooks of a snapshot.
pub fn await_programs(
    conversation: &Conversation<'_>,
    hooks: &[SnapshotHook],
    (env, root, left): (&Environment, &Path, Duration),
    choose: impl Fn(&Stored) -> Vec<SnapshotHook>,
) -> Arrival {
    let untold = conversation.untold(&missing_programs(hooks));
    if untold.is_empty() || !conversation.stored.header.refreshable {
        return Arrival::default();
    }
    let background = Background::of(conversation.dirs, root);
    let Some(running) = background.start() else { return Arrival::default() };
    let mut arrival = Arrival { is_running: true, hooks: None };
    if conversation.store.is_none() {
        // Were it waited for, it would be at each event.
        return arrival;
    }
    let end = Instant::now() + current::patience(env, PATIENCE).min(left / 2);
    loop {
        let over = running.ends_within(PAUSE) || Instant::now() >= end;
        let stored = current::stored(conversation.dirs, root);
        arrival.hooks = stored.as_ref().map(&choose).or(arrival.hooks);
        let complete = arrival.hooks.as_deref().is_some_and(|now| missing_programs(now).is_empty());
        if over || complete {
            return arrival;
        }
    }
}
