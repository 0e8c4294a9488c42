//! Logs what a hook wants and the agent can't do, so that the hook's author need not guess.

use symposium_hook::Event;

use crate::agents::Codec;
use crate::agents::wire::{Capability, Outcome, Support};

/// Logs each part of `outcome` that the agent can't act on at the event, and what replaces it.
pub(super) fn log_unsupported(codec: &dyn Codec, event: Event, outcome: &Outcome) {
    let (title, at) = (codec.identity().title, event.name());
    for capability in Capability::ALL.into_iter().filter(|capability| capability.is_in(outcome)) {
        match codec.support(event, capability) {
            Support::Yes => {}
            // Nothing is lost.
            Support::Instead(what) if capability == Capability::Context => {
                tracing::debug!("{title} takes no {capability} at {at}: they become {what}");
            }
            Support::Instead(what) => {
                tracing::info!("{title} takes no {capability} at {at}: it becomes {what}");
            }
            Support::No => tracing::info!("{title} takes no {capability} at {at}: dropped"),
        }
    }
}
