//! What Goose makes of a hook's answer, as read in its sources.

use serde_json::Value;
use symposium_hook::Event;

use crate::agents::testing::Effect;
use crate::agents::wire::Answer;

/// Takes the answer as Goose does: before a tool only, and only a block.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    if event != Event::PreToolUse {
        return match (answer.exit, answer.stdout.as_str()) {
            (0, "") => Effect::default(),
            _ => Effect::rejected(format!("neither silence nor success: {answer:?}")),
        };
    }
    let object = serde_json::from_str::<Value>(&answer.stdout).unwrap_or_default();
    let blocked = match (answer.exit, object["decision"].as_str()) {
        (_, Some("block")) => Some(object["reason"].as_str().unwrap_or_default().to_owned()),
        (2, _) => Some(answer.stderr.clone()),
        (0, Some("allow")) => None,
        (0, None) if answer.stdout.is_empty() => None,
        // Taken for a failure of the hook.
        _ => return Effect::rejected(format!("neither silence nor a decision: {answer:?}")),
    };
    Effect { blocked, ..Effect::default() }
}
