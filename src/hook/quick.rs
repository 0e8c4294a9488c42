//! The short way: most events change nothing and ask nobody. They are answered from one stored
//! snapshot, without a log, a manifest, a lock or a thread.
//!
//! It says what the whole way would say, or nothing: then the whole way begins anew. So no decision
//! is made here that is not made there, and nothing here needs to be logged.

use symposium_hook::Event;

use super::conversation::Conversation;
use super::pipeline::{Call, cwd_of, matching, name_tool, understood};
use super::session::Store;
use crate::agents::wire::{Answer, Outcome};
use crate::sync::current::{self, Known};

/// The answer, where nothing is to be done for it.
pub(super) fn answer(call: &Call<'_>) -> Option<Answer> {
    #[cfg(debug_assertions)]
    if call.env.has("SYMPOSIUM_TEST_PANIC") {
        return None;
    }
    let (spec, event) = understood(call.args).ok()?;
    // A session's start and its prompts are remembered.
    if matches!(event, Event::SessionStart | Event::UserPromptSubmit) {
        return None;
    }
    if call.env.has("SYMPOSIUM_HOOK_TRACE") {
        return None;
    }
    let mut decoded = spec.decode(event, call.stdin, call.env).ok()?;
    if decoded.foreign {
        return Some(Answer::carry_on());
    }
    let stored = match current::known(call.env, call.dirs, &cwd_of(call.env, &decoded)?) {
        Known::Nowhere => return Some(Answer::carry_on()),
        Known::Nothing => return None,
        Known::Snapshot(stored) => stored,
    };
    name_tool(spec, &mut decoded, &stored.header.servers);
    if !matching(spec, event, &stored, &decoded).is_empty() {
        return None;
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
    conversation.is_idle(&decoded).then(|| spec.encode(event, &Outcome::default()))
}
