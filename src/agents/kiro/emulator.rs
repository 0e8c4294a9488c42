//! Kiro, played by its rules.

use serde_json::json;
use symposium_hook::Event;
use symposium_testlib::readers::Reader;

use crate::agents::testing::{Effect, Emulator, played};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "hook_event_name": "preToolUse", "tool_name": tool, "tool_input": arguments }),
    delivery: |_| "nothing",
    can_block: |event| matches!(event, Event::PreToolUse | Event::UserPromptSubmit),
    lays_over: false,
    hooks_in: "hooks",
};

/// Takes the answer as Kiro does with hooks in a file of theirs (version 3 on).
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    played(Reader::Kiro3, event, answer)
}

/// Takes the answer as Kiro does with hooks in an agent's file (up to version 2).
pub(in crate::agents) fn take_legacy(event: Event, answer: &Answer) -> Effect {
    played(Reader::Kiro2, event, answer)
}
