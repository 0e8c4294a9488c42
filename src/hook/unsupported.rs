//! Logs what a hook wants and the agent can't do, so that the hook's author need not guess.

use symposium_hook::Event;

use crate::agents::Codec;
use crate::agents::wire::{Honour, Outcome, Wish};

/// Logs each part of `outcome` that the agent can't act on at the event, and what replaces it.
pub(super) fn log_unsupported(spec: &dyn Codec, event: Event, outcome: &Outcome) {
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
