//! What Codex CLI 0.171.0 makes of a hook's answer, as measured.

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

/// Takes the answer as Codex does.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    match answer.exit {
        0 => {}
        2 if event != Event::SessionStart && !answer.stderr.trim().is_empty() => {
            return Effect { blocked: Some(answer.stderr.clone()), ..Effect::default() };
        }
        _ => return Effect::default(),
    }
    let text = answer.stdout.trim();
    let object = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        _ => return plain(event, text),
    };
    match validate(event, &object) {
        Ok(()) => act(event, &object),
        Err(why) => Effect::rejected(why),
    }
}

fn plain(event: Event, text: &str) -> Effect {
    let takes = matches!(event, Event::SessionStart | Event::UserPromptSubmit);
    let context = (takes && !text.is_empty() && !text.starts_with('{')).then(|| text.to_owned());
    Effect { context, ..Effect::default() }
}

/// The schema is closed: an unknown key, or one that the event does not support, spoils the whole.
fn validate(event: Event, object: &Map<String, Value>) -> Result<(), String> {
    let tool_event = event.is_tool_event();
    for (key, value) in object {
        let fits = match key.as_str() {
            "continue" => value.is_boolean() && (event != Event::PreToolUse || value == true),
            "suppressOutput" => value.is_boolean() && !(tool_event && value == true),
            "stopReason" | "systemMessage" | "reason" => value.is_string() || value.is_null(),
            "decision" => value == "block",
            "hookSpecificOutput" => value.is_object(),
            _ => false,
        };
        if !fits {
            return Err(format!("{key} can't be {value}"));
        }
    }
    let Some(Value::Object(inner)) = object.get("hookSpecificOutput") else { return Ok(()) };
    if inner.get("hookEventName").is_none_or(|name| name != event.name()) {
        return Err("hookEventName is missing or wrong".to_owned());
    }
    let pre = event == Event::PreToolUse;
    let decision = inner.get("permissionDecision").and_then(Value::as_str);
    let rewrites = inner.contains_key("updatedInput");
    for (key, value) in inner {
        let fits = match key.as_str() {
            "hookEventName" => true,
            // 2,500 tokens of four bytes; the middle of a longer text is cut out.
            "additionalContext" => value.as_str().is_some_and(|text| text.len() <= 10_000),
            "permissionDecision" => pre && (value == "deny" || (value == "allow" && rewrites)),
            "permissionDecisionReason" => pre && value.is_string(),
            "updatedInput" => {
                pre && decision == Some("allow")
                    && value.get("command").is_some_and(Value::is_string)
            }
            _ => false,
        };
        if !fits {
            return Err(format!("{key} can't be {value}"));
        }
    }
    Ok(())
}

fn act(event: Event, object: &Map<String, Value>) -> Effect {
    let said = |reason: Option<&Value>| {
        reason.and_then(Value::as_str).filter(|reason| !reason.trim().is_empty()).map(str::to_owned)
    };
    let inner = |key: &str| object.get("hookSpecificOutput").and_then(|inner| inner.get(key));
    let mut effect = Effect { context: said(inner("additionalContext")), ..Effect::default() };
    if object.get("continue") == Some(&Value::Bool(false)) {
        let reason = Some(said(object.get("stopReason")).unwrap_or_default());
        // After a tool, the reason takes the result's place and the turn goes on.
        match event {
            Event::PostToolUse => effect.blocked = reason,
            _ => effect.ended = reason,
        }
    }
    if event == Event::SessionStart {
        return effect;
    }
    // Without a reason neither form blocks.
    if object.contains_key("decision") {
        effect.blocked = said(object.get("reason")).or(effect.blocked);
    }
    if inner("permissionDecision").is_some_and(|decision| decision == "deny") {
        effect.blocked = said(inner("permissionDecisionReason"));
    }
    effect.input = inner("updatedInput").cloned();
    effect
}
