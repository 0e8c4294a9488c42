//! What Gemini CLI 0.61.0 makes of a hook's answer, as measured.

use serde_json::{Value, json};
use symposium_hook::Event;

use crate::agents::testing::{Effect, Emulator};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": arguments }),
    delivery: |_| "its moment",
    can_block: |event| event != Event::SessionStart,
    lays_over: true,
    hooks_in: "hooks",
};

/// Takes the answer as Gemini does.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    let out = answer.stdout.trim();
    let text = if out.is_empty() { answer.stderr.trim() } else { out };
    match serde_json::from_str::<Value>(text) {
        Ok(object @ Value::Object(_)) => act(event, &object),
        // Any code but 0 and 1 blocks, if there is any text.
        _ if !matches!(answer.exit, 0 | 1) && event != Event::SessionStart && !text.is_empty() => {
            Effect { blocked: Some(text.to_owned()), ..Effect::default() }
        }
        _ if text.is_empty() => Effect::default(),
        _ => Effect::rejected("the user is shown it as a message of the system"),
    }
}

fn act(event: Event, object: &Value) -> Effect {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let inner = |key: &str| object.get("hookSpecificOutput").and_then(|inner| inner.get(key));
    let mut effect = Effect::default();
    if event != Event::PreToolUse {
        effect.context = text(inner("additionalContext"));
    }
    if event == Event::SessionStart {
        return effect;
    }
    match object.get("decision").and_then(Value::as_str) {
        Some("deny" | "block") => {
            effect.blocked = Some(text(object.get("reason")).unwrap_or_default());
        }
        Some("ask") => return Effect::rejected("it hangs"),
        _ => {}
    }
    if object.get("continue") == Some(&Value::Bool(false)) {
        effect.ended = Some(text(object.get("stopReason")).unwrap_or_default());
    }
    if event == Event::PreToolUse {
        effect.input = inner("tool_input").cloned();
    }
    effect
}
