//! What an agent can't do is said in the log, so that who wrote the hook need not guess.

use symposium_hook::Event;

use crate::agents::Codec;
use crate::agents::wire::{Honour, Outcome, Wish};

/// Logs what of `outcome` the agent can't do at the event, and what it gets instead.
pub fn log_unmet(spec: &dyn Codec, event: Event, outcome: &Outcome) {
    let (title, at) = (spec.identity().title, event.name());
    for wish in Wish::ALL.into_iter().filter(|wish| wish.is_in(outcome)) {
        match spec.honours(event, wish) {
            Honour::Yes => {}
            // Nothing is lost.
            Honour::Instead(what) if wish == Wish::Context => {
                tracing::debug!("{title} takes no {wish} at {at}: they become {what}");
            }
            Honour::Instead(what) => {
                tracing::info!("{title} takes no {wish} at {at}: it becomes {what}");
            }
            Honour::No => tracing::info!("{title} takes no {wish} at {at}: dropped"),
        }
    }
}
