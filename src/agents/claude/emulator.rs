//! What Claude Code 2.1.332 makes of a hook's answer, as measured.

use serde_json::{Map, Value, json};
use symposium_hook::Event;

use crate::agents::testing::{Effect, Emulator};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments }),
    delivery: |event| match event {
        Event::SessionStart => "nothing",
        _ => "a name",
    },
    can_block: |event| event != Event::SessionStart,
    lays_over: false,
    hooks_in: "hooks",
};

/// Takes the answer as Claude does.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    if answer.exit == 2 {
        let blocks = event != Event::SessionStart;
        let reason = blocks.then(|| answer.stderr.clone());
        return Effect { blocked: reason, ..Effect::default() };
    }
    let text = answer.stdout.trim();
    let object = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        // JSON counts at any exit code, text only at 0.
        _ if answer.exit != 0 => return Effect::default(),
        _ => return plain(event, text),
    };
    match validate(event, &object) {
        Ok(()) => act(event, &object),
        Err(why) => Effect::rejected(why),
    }
}

fn plain(event: Event, text: &str) -> Effect {
    let takes = matches!(event, Event::SessionStart | Event::UserPromptSubmit) && !text.is_empty();
    Effect { context: takes.then(|| text.to_owned()), ..Effect::default() }
}

/// The schema: unknown keys pass, a `null` or a wrong type spoils the whole.
fn validate(event: Event, object: &Map<String, Value>) -> Result<(), String> {
    let null = |(key, value): (&String, &Value)| value.is_null().then(|| format!("null in {key}"));
    if let Some(why) = object.iter().find_map(null) {
        return Err(why);
    }
    for (key, value) in object {
        let fits = match key.as_str() {
            "continue" | "suppressOutput" => value.is_boolean(),
            "stopReason" | "systemMessage" | "reason" => value.is_string(),
            "decision" => value == "approve" || value == "block",
            "hookSpecificOutput" => value.is_object(),
            _ => true,
        };
        if !fits {
            return Err(format!("{key} can't be {value}"));
        }
    }
    let Some(Value::Object(inner)) = object.get("hookSpecificOutput") else { return Ok(()) };
    if let Some(why) = inner.iter().find_map(null) {
        return Err(why);
    }
    if inner.get("hookEventName").is_none_or(|name| name != event.name()) {
        return Err("hookEventName is missing or wrong".to_owned());
    }
    for (key, value) in inner {
        let fits = match key.as_str() {
            "permissionDecision" => ["allow", "deny", "ask", "defer"].iter().any(|d| value == d),
            // More than that goes to a file, and the model is shown its beginning.
            "additionalContext" => {
                value.as_str().is_some_and(|text| text.encode_utf16().count() <= 10_000)
            }
            "permissionDecisionReason" => value.is_string(),
            "updatedInput" => value.is_object(),
            _ => true,
        };
        if !fits {
            return Err(format!("{key} can't be {value}"));
        }
    }
    Ok(())
}

fn act(event: Event, object: &Map<String, Value>) -> Effect {
    let top = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let inner = object.get("hookSpecificOutput");
    let inner_text =
        |key: &str| inner.and_then(|i| i.get(key)).and_then(Value::as_str).map(str::to_owned);
    let mut effect = Effect { context: inner_text("additionalContext"), ..Effect::default() };
    if event == Event::SessionStart {
        return effect;
    }
    if object.get("continue") == Some(&Value::Bool(false)) {
        effect.ended = Some(top("stopReason").unwrap_or_default());
    }
    if object.get("decision").is_some_and(|decision| decision == "block") {
        effect.blocked = Some(top("reason").unwrap_or_default());
    }
    if event == Event::PreToolUse {
        let reason = inner_text("permissionDecisionReason").unwrap_or_default();
        match inner_text("permissionDecision").as_deref() {
            Some("deny") => effect.blocked = Some(reason),
            Some("ask") => effect.asked = Some(reason),
            Some("allow") => effect.granted = true,
            _ => {}
        }
        effect.input = inner.and_then(|inner| inner.get("updatedInput")).cloned();
    }
    effect
}
