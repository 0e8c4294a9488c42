//! Goose, played by its rules.

use serde_json::json;
use symposium_hook::Event;
use symposium_testlib::readers::Reader;

use crate::agents::testing::{Effect, Emulator, played};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "event": "PreToolUse", "tool_name": tool, "tool_input": arguments }),
    delivery: |event| match event {
        Event::SessionStart => "nothing",
        _ => "a name",
    },
    can_block: |event| event == Event::PreToolUse,
    lays_over: false,
    hooks_in: "hooks",
};

/// Takes the answer as Goose does: before a tool only, and only a block.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    played(Reader::Goose, event, answer)
}
