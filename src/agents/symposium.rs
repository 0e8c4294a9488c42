//! The canonical format as a codec of its own: what `hook symposium <event>` speaks, for trying out
//! hooks, and what every hook without a `format` answers in.

use serde_json::{Map, Value};
use symposium_hook::{Decision, Event, Input};

use super::canonical;
use super::codec::Codec;
use super::identity::Identity;
use super::json::parse_json;
use super::payload::Payload;
use super::wire::{
    Answer, Capability, ChildAnswer, Decoded, Delivery, Outcome, Support, WireError,
};
use crate::config::Environment;

/// Its name on the command line and in `format`.
pub(crate) const NAME: &str = "symposium";

/// Canonical in, canonical out. No agent: it has no files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Symposium;

/// Its names.
static IDENTITY: Identity = Identity::new(NAME, "Symposium");

impl Codec for Symposium {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        event.name()
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let payload = Payload::parse(self.name(), event, stdin)?;
        let Some(inner) = payload.get(event.name()) else {
            return Err(payload.error(format!("no `{}` in it", event.name())));
        };
        let mut tagged = Map::new();
        tagged.insert(event.name().to_owned(), inner.clone());
        let input: Input = serde_json::from_value(Value::Object(tagged))
            .map_err(|problem| payload.error(problem.to_string()))?;
        Ok(Decoded {
            input,
            tool_use_id: None,
            delivery: Delivery::Single,
            started: None,
            foreign: false,
            failed: false,
        })
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::Stop, Capability::Deny) => Support::Yes,
            (Event::Stop, _) => Support::No,
            (_, Capability::Context) | (Event::PreToolUse, Capability::Rewrite) => Support::Yes,
            (_, Capability::Rewrite | Capability::Stop | Capability::Message)
            | (Event::SessionStart, _) => Support::No,
            (_, Capability::Deny | Capability::Ask | Capability::Allow) => Support::Yes,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut fields = Map::new();
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        let is_heard = |decision: &Decision| match event {
            Event::SessionStart => false,
            Event::Stop => *decision == Decision::Deny,
            _ => true,
        };
        if let Some(decision) = outcome.decision.filter(is_heard) {
            let (word, reason) = match decision {
                Decision::Allow => ("allow", outcome.given_reason()),
                Decision::Ask => ("ask", Some(outcome.ask_reason())),
                Decision::Deny => ("deny", Some(outcome.reason())),
            };
            set("decision", word.into());
            if let Some(reason) = reason {
                set("reason", reason.into());
            }
        }
        if let Some(context) = outcome.context_text().filter(|_| self.delivers_context(event)) {
            set("additionalContext", context.into());
        }
        if event == Event::PreToolUse
            && let Some(input) = &outcome.updated_input
        {
            set("updatedInput", input.clone().into());
        }
        if fields.is_empty() {
            return Answer::carry_on();
        }
        let mut tagged = Map::new();
        tagged.insert(event.name().to_owned(), fields.into());
        Answer::json(tagged)
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        canonical::decode_answer(event, answer).outcome
    }

    fn replace_input(&self, stdin: &[u8], input: &Map<String, Value>) -> Option<Vec<u8>> {
        let Ok(Value::Object(mut tagged)) = parse_json(&String::from_utf8_lossy(stdin)) else {
            return None;
        };
        let fields = tagged.get_mut(Event::PreToolUse.name())?.as_object_mut()?;
        fields.insert("tool_input".to_owned(), Value::Object(input.clone()));
        serde_json::to_vec(&tagged).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn decode(event: Event, text: &str) -> Result<Decoded, String> {
        Symposium
            .decode(event, text.as_bytes(), &Environment::default())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn f248_the_books_example_is_read() {
        let text = r#"{"PreToolUse":{"tool_name":"Bash","tool_input":{"command":"cargo test"},"session_id":null,"cwd":"/tmp"}}"#;
        let Input::PreToolUse(input) = decode(Event::PreToolUse, text).expect("canonical").input
        else {
            panic!("a tool's use")
        };
        assert_eq!((input.tool_name.as_str(), input.session_id), ("Bash", None));
        assert_eq!(input.tool_input, json!({"command": "cargo test"}));
    }

    #[test]
    fn decision_25_what_is_not_canonical_is_refused() {
        for text in
            [r#"{"tool": "Bash"}"#, r#"{"PreToolUse": {}}"#, r#"{"PreToolUse": null}"#, "[]"]
        {
            assert!(decode(Event::PreToolUse, text).is_err(), "{text}");
        }
        assert!(decode(Event::SessionStart, r#"{"SessionStart": {}}"#).is_ok());
        assert!(decode(Event::PostToolUse, r#"{"PreToolUse": {"tool_name": "x"}}"#).is_err());
    }

    #[test]
    fn decision_17_an_answer_comes_out_as_it_came_in() {
        for (event, text) in [
            (Event::PreToolUse, r#"{"PreToolUse":{"decision":"deny","reason":"no"}}"#),
            (Event::PreToolUse, r#"{"PreToolUse":{"decision":"ask","reason":"sure?"}}"#),
            (Event::PreToolUse, r#"{"PreToolUse":{"decision":"allow"}}"#),
            (
                Event::PreToolUse,
                r#"{"PreToolUse":{"additionalContext":"note","updatedInput":{"command":"ls"}}}"#,
            ),
            (Event::PostToolUse, r#"{"PostToolUse":{"decision":"deny","reason":"no"}}"#),
            (Event::UserPromptSubmit, r#"{"UserPromptSubmit":{"additionalContext":"note"}}"#),
            (Event::SessionStart, r#"{"SessionStart":{"additionalContext":"note"}}"#),
        ] {
            let answer = ChildAnswer { stdout: text, stderr: "", exit: Some(0) };
            let outcome = Symposium.decode_answer(event, &answer);
            assert_eq!(Symposium.encode(event, &outcome).stdout, text);
        }
        assert_eq!(Symposium.encode(Event::PreToolUse, &Outcome::default()), Answer::carry_on());
    }
}
