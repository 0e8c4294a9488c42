//! Antigravity CLI at its strictest, as reported: before a tool, whatever is said and is no "allow"
//! denies.

use serde_json::{Value, json};
use symposium_hook::Event;

use crate::agents::testing::{Effect, Emulator};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "toolCall": { "name": tool, "args": arguments } }),
    delivery: |_| "its moment",
    can_block: |event| event == Event::PreToolUse,
    lays_over: false,
    hooks_in: "symposium",
};

/// Takes the answer as versions 1.0.3 to 1.2.3 together do.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    if answer.exit != 0 {
        return Effect::rejected("a failure, which may deny");
    }
    if answer.stdout.is_empty() {
        return Effect::default();
    }
    let Ok(Value::Object(object)) = serde_json::from_str(&answer.stdout) else {
        return Effect::rejected("no JSON");
    };
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    match event {
        Event::PreToolUse => {
            let newer = text("decision").is_some_and(|word| word == "deny");
            let older = object.get("allow_tool") == Some(&Value::Bool(false));
            if !(newer && older && text("reason") == text("deny_reason")) {
                return Effect::rejected("a denial that not every version understands");
            }
            Effect { blocked: text("reason"), ..Effect::default() }
        }
        Event::SessionStart => {
            let message = object.get("injectSteps").and_then(|steps| steps.pointer("/0"));
            let message = message.and_then(|step| step.get("ephemeralMessage")?.as_str());
            Effect { context: message.map(str::to_owned), ..Effect::default() }
        }
        Event::PostToolUse | Event::UserPromptSubmit | Event::Stop => {
            Effect::rejected("nothing is read here")
        }
    }
}
