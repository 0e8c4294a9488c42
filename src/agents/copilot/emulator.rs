//! What Copilot CLI 1.0.102 makes of a hook's answer, as measured.

use serde_json::{Map, Value, json};
use symposium_hook::Event;

use crate::agents::testing::{Effect, Emulator};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "toolName": tool, "toolArgs": arguments }),
    delivery: |_| "its moment",
    can_block: |event| event != Event::SessionStart,
    lays_over: false,
    hooks_in: "hooks",
};

/// Takes the answer as Copilot does.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    // Before a tool, any code but 0 is a denial; elsewhere it is nothing.
    if answer.exit != 0 {
        let denied = (event == Event::PreToolUse).then(|| "(hook errored)".to_owned());
        return Effect { blocked: denied, ..Effect::default() };
    }
    match serde_json::from_str(&answer.stdout) {
        Ok(Value::Object(object)) => act(event, &object),
        _ if answer.stdout.is_empty() => Effect::default(),
        _ => Effect::rejected("no JSON, which is passed over"),
    }
}

fn act(event: Event, object: &Map<String, Value>) -> Effect {
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut effect = Effect { context: text("additionalContext"), ..Effect::default() };
    if event == Event::PreToolUse {
        let reason = text("permissionDecisionReason").unwrap_or_default();
        match text("permissionDecision").as_deref() {
            Some("deny") => effect.blocked = Some(reason),
            Some("ask") => effect.asked = Some(reason),
            Some("allow") => effect.granted = true,
            _ => {}
        }
        effect.input = object.get("modifiedArgs").cloned();
    } else if event != Event::SessionStart && text("decision").as_deref() == Some("block") {
        effect.blocked = Some(text("reason").unwrap_or_default());
    }
    effect
}
