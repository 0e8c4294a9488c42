//! What Qwen Code 0.24.4 makes of a hook's answer, as measured.

use serde_json::{Value, json};
use symposium_hook::Event;

use crate::agents::testing::{Effect, Emulator};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments }),
    delivery: |event| match event {
        Event::PreToolUse | Event::PostToolUse => "a name",
        Event::Stop => "never twice",
        Event::SessionStart | Event::UserPromptSubmit => "its moment",
    },
    can_block: |event| event != Event::SessionStart,
    lays_over: false,
    hooks_in: "hooks",
};

/// Takes the answer as Qwen does.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    let (out, err) = (answer.stdout.trim(), answer.stderr.trim());
    let text = if answer.exit == 2 || out.is_empty() { err } else { out };
    match serde_json::from_str::<Value>(text) {
        Ok(object @ Value::Object(_)) => act(event, &object),
        _ if text.is_empty() => Effect::default(),
        _ if answer.exit == 2 => act(event, &json!({ "decision": "deny", "reason": text })),
        _ => Effect::rejected("the user is shown it as a message of the system"),
    }
}

fn act(event: Event, object: &Value) -> Effect {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let top = |key: &str| text(object.get(key));
    let inner = |key: &str| text(object.get("hookSpecificOutput").and_then(|inner| inner.get(key)));
    let stops = object.get("continue") == Some(&Value::Bool(false));
    let decision = top("decision");
    let blocks = matches!(decision.as_deref(), Some("deny" | "block"));
    // Where both are said, the reason for stopping is the one that is shown.
    let why = || top("stopReason").or_else(|| top("reason")).unwrap_or_default();
    let mut effect = Effect::default();
    match event {
        Event::PreToolUse => {
            let reason = inner("permissionDecisionReason").or_else(|| top("reason"));
            let reason = reason.unwrap_or_default();
            match inner("permissionDecision").or(decision).as_deref() {
                Some("deny" | "block") => effect.blocked = Some(reason),
                Some("ask") => effect.asked = Some(reason),
                _ if stops => effect.blocked = Some(why()),
                Some("allow" | "approve") => effect.granted = true,
                _ => {}
            }
        }
        Event::PostToolUse => {
            effect.context = inner("additionalContext").filter(|_| !stops);
            effect.blocked = stops.then(why);
        }
        Event::UserPromptSubmit => {
            effect.context = inner("additionalContext");
            effect.blocked = (blocks || stops).then(why);
        }
        // Both have it go on.
        Event::Stop => effect.blocked = (blocks || stops).then(why),
        Event::SessionStart => effect.context = inner("additionalContext"),
    }
    effect
}
