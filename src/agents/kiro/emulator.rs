//! Kiro, played by its rules.

use symposium_hook::Event;
use symposium_testlib::readers::Reader;

use crate::agents::testing::{Effect, played};
use crate::agents::wire::Answer;

/// Takes the answer as Kiro does with hooks in a file of theirs (version 3 on).
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    played(Reader::Kiro3, event, answer)
}

/// Takes the answer as Kiro does with hooks in an agent's file (up to version 2).
pub(in crate::agents) fn take_legacy(event: Event, answer: &Answer) -> Effect {
    played(Reader::Kiro2, event, answer)
}
