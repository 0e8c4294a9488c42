//! The end of a turn: a hook may keep the agent going, but not for ever.

use symposium_hook::{Decision, Input};

use super::session::Store;
use crate::agents::wire::{Decoded, Outcome};

/// How often in a row hooks may keep an agent from ending its turn.
const MOST: u64 = 5;

/// Lets the turn end where hooks have kept it going [`MOST`] times in a row. Whoever can't remember how
/// often that was keeps it going once.
pub(super) fn bound(store: Option<&Store>, decoded: &Decoded, outcome: &mut Outcome) {
    let Input::Stop(input) = &decoded.input else { return };
    if outcome.decision != Some(Decision::Deny) {
        return;
    }
    let is_over = match store {
        Some(store) => {
            let count = store.update(|session| {
                let is_same_turn =
                    input.stop_hook_active || session.kept_going_at == session.prompts;
                session.kept_going = if is_same_turn { session.kept_going + 1 } else { 1 };
                session.kept_going_at = session.prompts;
                session.kept_going
            });
            let is_remembered = store.read().is_some_and(|session| session.kept_going == count);
            count > MOST || (input.stop_hook_active && !is_remembered)
        }
        None => input.stop_hook_active,
    };
    if !is_over {
        return;
    }
    let reason = outcome.reason();
    tracing::warn!("the turn may end, though a hook would go on: {reason}");
    outcome.decision = None;
    outcome.reasons.clear();
    outcome.user_message = Some(format!(
        "Symposium lets the agent end its turn: hooks kept it going {MOST} times. What is left, they \
         say: {reason}"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::wire::Delivery;
    use crate::config::Dirs;

    fn stop(stop_hook_active: bool) -> Decoded {
        let input = symposium_hook::StopInput { stop_hook_active, ..Default::default() };
        Decoded {
            input: Input::Stop(input),
            tool_use_id: None,
            delivery: Delivery::Single,
            started: None,
            foreign: false,
            failed: false,
        }
    }

    /// Whether the agent is kept going.
    fn goes_on(store: Option<&Store>, active: bool) -> bool {
        let mut outcome = Outcome::denied("tests fail");
        bound(store, &stop(active), &mut outcome);
        let message = outcome.user_message.unwrap_or_default();
        let is_denied = outcome.decision == Some(Decision::Deny);
        assert_ne!(is_denied, message.contains("tests fail"), "{message}");
        is_denied
    }

    #[test]
    fn a_turn_is_kept_going_five_times_in_a_row_and_the_next_one_anew() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(&Dirs::under(dir.path()), "s");
        for tells in [true, false] {
            store.update(|session| session.prompts += 1);
            for count in 0..8 {
                let active = tells && count > 0;
                assert_eq!(goes_on(Some(&store), active), count < 5, "{tells} {count}");
            }
        }
    }

    #[test]
    fn whoever_cannot_count_keeps_it_going_once() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        // Nothing can be written below a file.
        let store = Store::new(&Dirs::under(file.path()), "s");
        for store in [None, Some(&store)] {
            assert!(goes_on(store, false));
            assert!(!goes_on(store, true));
        }
    }
}
