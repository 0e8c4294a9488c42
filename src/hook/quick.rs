//! The short way: most events change nothing and ask nobody. They are answered from one stored
//! snapshot, without a log, a manifest, a lock or a thread.
//!
//! It says what the whole way would say, or leaves the event to it, with the snapshot if that was
//! found to hold. So no decision is made here that is not made there, and nothing here needs to be
//! logged.

use symposium_hook::Event;

use super::conversation::Conversation;
use super::pipeline::{Call, cwd_of, matching, name_tool, understood};
use super::session::Store;
use crate::agents::wire::{Answer, Decoded, Outcome};
use crate::sync::current;
use crate::sync::snapshot::Stored;

/// What came of the short way.
pub(super) enum Quick {
    /// The answer: nothing is to be done for it.
    Answer(Answer),
    /// More is to be done, with what is known by now.
    More(Box<Seen>),
}

/// What was found out about an event.
#[derive(Default)]
pub(super) struct Seen {
    /// The event.
    pub(super) decoded: Option<Decoded>,
    /// The snapshot that holds where the agent works.
    pub(super) stored: Option<Box<Stored>>,
}

/// The answer, where nothing is to be done for it.
pub(super) fn answer(call: &Call<'_>) -> Quick {
    let mut seen = Box::<Seen>::default();
    match answer_at_once(call, &mut seen) {
        Some(answer) => Quick::Answer(answer),
        None => Quick::More(seen),
    }
}

fn answer_at_once(call: &Call<'_>, seen: &mut Seen) -> Option<Answer> {
    #[cfg(debug_assertions)]
    if call.env.has("SYMPOSIUM_TEST_PANIC") {
        return None;
    }
    let (spec, event) = understood(call.args).ok()?;
    let decoded = seen.decoded.insert(spec.decode(event, call.stdin, call.env).ok()?);
    if call.env.has("SYMPOSIUM_HOOK_TRACE") {
        return None;
    }
    if decoded.foreign {
        return Some(Answer::carry_on());
    }
    let known = current::known(call.env, call.dirs, &cwd_of(call.env, decoded)?)?;
    let stored = seen.stored.insert(Box::new(known));
    // A session's start and its prompts are remembered.
    if matches!(event, Event::SessionStart | Event::UserPromptSubmit) {
        return None;
    }
    name_tool(spec, decoded, &stored.header.servers);
    if !matching(spec, event, stored, decoded).is_empty() {
        return None;
    }
    let conversation = Conversation {
        spec,
        event,
        dirs: call.dirs,
        // Of no use: nothing is remembered.
        arrived: 0,
        stored,
        store: decoded.input.session_id().map(|id| Store::new(call.dirs, id)),
    };
    conversation.is_idle(decoded).then(|| spec.encode(event, &Outcome::default()))
}
