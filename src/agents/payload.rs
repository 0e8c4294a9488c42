//! Reading an agent's event: tolerant of what is new or missing, strict about what it is.

use serde_json::{Map, Value};
use symposium_hook::{
    Event, Input, PostToolUseInput, PreToolUseInput, SessionStartInput, UserPromptSubmitInput,
};

use super::wire::WireError;

/// One JSON object that an agent sent.
#[derive(Debug, Clone)]
pub struct Payload {
    agent: &'static str,
    event: Event,
    object: Map<String, Value>,
}

impl Payload {
    /// Reads the bytes. A byte order mark, bytes that are no UTF-8 and half surrogate pairs (an
    /// emoji cut in two) do no harm.
    ///
    /// # Errors
    /// When the bytes are no JSON object.
    pub fn parse(agent: &'static str, event: Event, bytes: &[u8]) -> Result<Self, WireError> {
        let mut payload = Self { agent, event, object: Map::new() };
        match parse_json(&String::from_utf8_lossy(bytes)) {
            Ok(Value::Object(object)) => payload.object = object,
            Ok(_) => return Err(payload.error("the payload is no JSON object")),
            Err(problem) => return Err(payload.error(format!("not JSON: {problem}"))),
        }
        Ok(payload)
    }

    /// The error for a payload with this problem.
    pub fn error(&self, problem: impl Into<String>) -> WireError {
        WireError { agent: self.agent, event: self.event.cli_name(), problem: problem.into() }
    }

    /// Checks the agent's own name of the event, where the payload says it.
    ///
    /// # Errors
    /// When it says another one.
    pub fn expect_event(&self, key: &str, name: &str) -> Result<(), WireError> {
        match self.get(key) {
            Some(Value::String(found)) if found != name => {
                Err(self.error(format!("`{key}` is \"{found}\", not \"{name}\"")))
            }
            _ => Ok(()),
        }
    }

    /// A field that is there and not `null`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A text field; `None` when it is missing or something else.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// A text field that the event can't be without.
    ///
    /// # Errors
    /// When it is missing or no text.
    pub fn required(&self, key: &str) -> Result<&str, WireError> {
        self.text(key).ok_or_else(|| self.error(format!("no text in `{key}`")))
    }

    /// The event in canonical words, from the field names that Claude Code, Codex and Gemini share.
    /// `canonical` turns the agent's tool name and input into the canonical ones.
    ///
    /// # Errors
    /// When a field is missing that makes the event what it is.
    pub fn input(
        &self,
        canonical: impl FnOnce(&str, &Value) -> (String, Value),
    ) -> Result<Input, WireError> {
        let session_id = self.text("session_id").map(str::to_owned);
        let cwd = self.text("cwd").map(str::to_owned);
        Ok(match self.event {
            Event::PreToolUse => {
                let tool = self.tool(canonical)?;
                Input::PreToolUse(PreToolUseInput {
                    tool_name: tool.name,
                    tool_input: tool.input,
                    session_id,
                    cwd,
                    native_tool_name: Some(tool.native_name),
                    native_tool_input: Some(tool.native_input),
                })
            }
            Event::PostToolUse => {
                let tool = self.tool(canonical)?;
                Input::PostToolUse(PostToolUseInput {
                    tool_name: tool.name,
                    tool_input: tool.input,
                    tool_response: self.get("tool_response").cloned().unwrap_or_default(),
                    session_id,
                    cwd,
                    native_tool_name: Some(tool.native_name),
                    native_tool_input: Some(tool.native_input),
                })
            }
            Event::UserPromptSubmit => {
                let prompt = self.required("prompt")?.to_owned();
                Input::UserPromptSubmit(UserPromptSubmitInput { prompt, session_id, cwd })
            }
            Event::SessionStart => {
                // Nothing but these tells a session's start from any other JSON object.
                if session_id.is_none() && self.text("hook_event_name").is_none() {
                    return Err(self.error("neither `session_id` nor `hook_event_name`"));
                }
                Input::SessionStart(SessionStartInput { session_id, cwd })
            }
        })
    }

    fn tool(
        &self,
        canonical: impl FnOnce(&str, &Value) -> (String, Value),
    ) -> Result<ToolUse, WireError> {
        let native_name = self.required("tool_name")?.to_owned();
        let native_input =
            self.get("tool_input").cloned().unwrap_or_else(|| Value::Object(Map::new()));
        let (name, input) = canonical(&native_name, &native_input);
        Ok(ToolUse { name, input, native_name, native_input })
    }
}

struct ToolUse {
    name: String,
    input: Value,
    native_name: String,
    native_input: Value,
}

/// Parses JSON after a byte order mark; a lone surrogate becomes U+FFFD instead of an error.
///
/// # Errors
/// When it is no JSON.
pub fn parse_json(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text)
        .or_else(|error| serde_json::from_str(&mend_surrogates(text)).map_err(|_| error))
}

/// Replaces each escaped surrogate without its other half by U+FFFD.
fn mend_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        mended.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => {
                mended.push('\u{fffd}');
                rest = &rest[6..];
                continue;
            }
            // Any other escape: the backslash and the character it is about.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    mended.push_str(rest);
    mended
}

/// The code of an escaped surrogate (`\ud83d`) that the text begins with.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&code).then_some(code)
}

/// The payload with `input` at `field`, everything else as it was. A field that held text (JSON in
/// a string) holds text again.
pub fn replace_field(stdin: &[u8], field: &str, input: &Map<String, Value>) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(stdin);
    let Ok(Value::Object(mut payload)) = parse_json(&text) else { return None };
    let slot = payload.get_mut(field)?;
    let input = Value::Object(input.clone());
    *slot = if slot.is_string() { Value::String(input.to_string()) } else { input };
    serde_json::to_vec(&payload).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Payload, String> {
        Payload::parse("test", Event::PreToolUse, text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn rough_bytes_are_read() {
        let bytes = b"\xef\xbb\xbf{\"a\": \"\xff\\ud83d\\ude00 \\ud83d \\\\ud83d\"}";
        let payload = Payload::parse("test", Event::PreToolUse, bytes).expect("JSON");
        assert_eq!(payload.text("a"), Some("\u{fffd}😀 \u{fffd} \\ud83d"));
    }

    #[test]
    fn what_is_no_object_is_refused_with_the_reason() {
        assert_eq!(
            parse("[1]").expect_err("an array"),
            "test never sends this for pre-tool-use: the payload is no JSON object"
        );
        let message = parse("{").expect_err("broken");
        assert!(message.contains("not JSON") && message.contains("line 1"), "{message}");
        assert!(parse("").is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn null_counts_as_missing() {
        let payload = parse(r#"{"tool_name":"Bash","tool_input":null,"cwd":null}"#).expect("JSON");
        let Ok(Input::PreToolUse(input)) =
            payload.input(|name, input| (name.into(), input.clone()))
        else {
            panic!("a tool's use")
        };
        assert_eq!(input.tool_input, serde_json::json!({}));
        assert_eq!(input.cwd, None);
    }

    proptest! {
        #[test]
        fn no_bytes_whatever_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            for event in Event::ALL {
                let _ = Payload::parse("test", event, &bytes);
            }
        }

        #[test]
        fn escapes_of_any_kind_do_not_panic(text in r#"(\\u?[dD]?[89a-fA-F0-9é]{0,4}|x){0,8}"#) {
            mend_surrogates(&text);
        }
    }
}
