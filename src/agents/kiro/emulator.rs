//! What Kiro makes of a hook's answer, as its documentation says.

use symposium_hook::Event;

use crate::agents::testing::Effect;
use crate::agents::wire::Answer;

/// Takes the answer as Kiro does with hooks in a file of theirs (version 3 on).
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    act(answer, matches!(event, Event::PreToolUse | Event::UserPromptSubmit))
}

/// Takes the answer as Kiro does with hooks in an agent's file (up to version 2).
pub(in crate::agents) fn take_legacy(event: Event, answer: &Answer) -> Effect {
    act(answer, event == Event::PreToolUse)
}

fn act(answer: &Answer, can_block: bool) -> Effect {
    match answer.exit {
        0 if !answer.stdout.is_empty() => {
            Effect { context: Some(answer.stdout.clone()), ..Effect::default() }
        }
        2 if can_block => Effect { blocked: Some(answer.stderr.clone()), ..Effect::default() },
        // A warning for the user.
        0 | 2 => Effect::default(),
        other => Effect::rejected(format!("exit code {other} is a failure")),
    }
}
