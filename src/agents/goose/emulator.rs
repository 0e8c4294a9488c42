//! Goose, played by its rules.

use symposium_hook::Event;
use symposium_testlib::readers::Reader;

use crate::agents::testing::{Effect, played};
use crate::agents::wire::Answer;

/// Takes the answer as Goose does: before a tool only, and only a block.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    played(Reader::Goose, event, answer)
}
