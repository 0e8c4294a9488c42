//! What our plugin makes of an answer; `plugin_tests` lets the plugin speak for itself.

use serde_json::{Map, Value, json};
use symposium_hook::Event;

use crate::agents::testing::{Effect, Emulator};
use crate::agents::wire::Answer;

/// What tests need to know.
pub(in crate::agents) static EMULATOR: Emulator = Emulator {
    take,
    tool_use: |tool, arguments| json!({ "hook_event_name": "pre-tool-use", "tool_name": tool, "tool_input": arguments }),
    delivery: |event| match event {
        Event::SessionStart => "nothing",
        Event::UserPromptSubmit => "never twice",
        _ => "a name",
    },
    can_block: |event| event != Event::SessionStart,
    lays_over: false,
    hooks_in: "hooks",
};

/// Takes the answer as the plugin does.
pub(in crate::agents) fn take(event: Event, answer: &Answer) -> Effect {
    match (answer.exit, serde_json::from_str(&answer.stdout)) {
        (0, Ok(Value::Object(object))) => act(event, &object),
        (0, _) if answer.stdout.is_empty() => Effect::default(),
        _ => Effect::rejected("a failure, or no JSON"),
    }
}

fn act(event: Event, object: &Map<String, Value>) -> Effect {
    let text = |key: &str| {
        let text = object.get(key).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
    };
    let (blocked, input) = match event {
        Event::PreToolUse => (text("deny"), object.get("args").filter(|args| args.is_object())),
        Event::PostToolUse | Event::UserPromptSubmit => (text("replace"), None),
        Event::SessionStart | Event::Stop => (None, None),
    };
    // Nothing is said with a prompt that never gets there, or with a tool that is not used.
    let lost = blocked.is_some() && event != Event::PostToolUse;
    let context = text("context").filter(|_| !lost);
    let input = input.filter(|_| blocked.is_none()).cloned();
    Effect { blocked, input, context, ..Effect::default() }
}
