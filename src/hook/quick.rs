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
use crate::agents::AgentSpec;
use crate::agents::wire::{Answer, Decoded, Outcome};
use crate::sync::current::{self, Known};
use crate::sync::snapshot::Stored;

/// What came of the short way.
pub(super) enum Quick {
    /// The answer: nothing is to be done for it.
    Answer(Answer),
    /// More is to be done. The snapshot that holds where the agent works, if there is one.
    More(Option<Box<Stored>>),
}

/// The answer, where nothing is to be done for it.
pub(super) fn answer(call: &Call<'_>) -> Quick {
    #[cfg(debug_assertions)]
    if call.env.has("SYMPOSIUM_TEST_PANIC") {
        return Quick::More(None);
    }
    let Some((spec, event, mut decoded)) = decoded(call) else { return Quick::More(None) };
    if call.env.has("SYMPOSIUM_HOOK_TRACE") {
        return Quick::More(None);
    }
    if decoded.foreign {
        return Quick::Answer(Answer::carry_on());
    }
    let Some(cwd) = cwd_of(call.env, &decoded) else { return Quick::More(None) };
    let stored = match current::known(call.env, call.dirs, &cwd) {
        Known::Nowhere => return Quick::Answer(Answer::carry_on()),
        Known::Nothing => return Quick::More(None),
        Known::Snapshot(stored) => stored,
    };
    // A session's start and its prompts are remembered.
    if matches!(event, Event::SessionStart | Event::UserPromptSubmit) {
        return Quick::More(Some(stored));
    }
    name_tool(spec, &mut decoded, &stored.header.servers);
    if !matching(spec, event, &stored, &decoded).is_empty() {
        return Quick::More(Some(stored));
    }
    let conversation = Conversation {
        spec,
        event,
        dirs: call.dirs,
        // Of no use: nothing is remembered.
        arrived: 0,
        stored: &stored,
        store: decoded.input.session_id().map(|id| Store::new(call.dirs, id)),
    };
    if conversation.is_idle(&decoded) {
        Quick::Answer(spec.encode(event, &Outcome::default()))
    } else {
        Quick::More(Some(stored))
    }
}

fn decoded(call: &Call<'_>) -> Option<(&'static dyn AgentSpec, Event, Decoded)> {
    let (spec, event) = understood(call.args).ok()?;
    let decoded = spec.decode(event, call.stdin, call.env).ok()?;
    Some((spec, event, decoded))
}
