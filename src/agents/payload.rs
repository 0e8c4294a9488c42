//! Reading an agent's event: tolerant of what is new or missing, strict about what it is.

use serde_json::{Map, Value};
use symposium_hook::{
    Event, Input, PostToolUseInput, PreToolUseInput, SessionStartInput, StopInput,
    UserPromptSubmitInput,
};

use super::json::{as_given, parse_json};
use super::wire::{Decoded, Delivery, WireError};

/// Where an agent's payloads have what: for each thing the names that its field may have, the
/// present one first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// The session.
    pub session_id: &'static [&'static str],
    /// The working folder.
    pub cwd: &'static [&'static str],
    /// What the user wrote.
    pub prompt: &'static [&'static str],
    /// What tells a prompt from the session's others.
    pub prompt_id: &'static [&'static str],
    /// When the event happened, the same for every handler of it.
    pub moment: &'static [&'static str],
    /// The tool's name.
    pub tool_name: &'static [&'static str],
    /// The tool's arguments.
    pub tool_input: &'static [&'static str],
    /// What the tool answered.
    pub tool_response: &'static [&'static str],
    /// What tells this use of a tool from the session's others.
    pub tool_use_id: &'static [&'static str],
    /// What the agent said last.
    pub last_message: &'static [&'static str],
}

/// Whether a hook kept the agent from ending its turn: every agent that can be kept took this name
/// over.
const STOP_ACTIVE: &str = "stop_hook_active";

impl Fields {
    /// The names that Claude Code has and most agents took over.
    pub(crate) const COMMON: Self = Self {
        session_id: &["session_id"],
        cwd: &["cwd"],
        prompt: &["prompt"],
        prompt_id: &[],
        moment: &[],
        tool_name: &["tool_name"],
        tool_input: &["tool_input"],
        tool_response: &["tool_response"],
        tool_use_id: &["tool_use_id"],
        last_message: &["last_assistant_message"],
    };
}

/// One JSON object that an agent sent.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    agent: &'static str,
    event: Event,
    object: Map<String, Value>,
    /// Whether the payload itself says which event it is.
    names_event: bool,
}

impl Payload {
    /// Reads the bytes. A byte order mark, bytes that are no UTF-8 and half surrogate pairs (an
    /// emoji cut in two) do no harm.
    ///
    /// # Errors
    /// When the bytes are no JSON object.
    pub(crate) fn parse(
        agent: &'static str,
        event: Event,
        bytes: &[u8],
    ) -> Result<Self, WireError> {
        let mut payload = Self { agent, event, object: Map::new(), names_event: false };
        match parse_json(&String::from_utf8_lossy(bytes)) {
            Ok(Value::Object(object)) => payload.object = object,
            Ok(_) => return Err(payload.error("the payload is no JSON object")),
            Err(problem) => return Err(payload.error(format!("not JSON: {problem}"))),
        }
        Ok(payload)
    }

    /// The error for a payload with this problem.
    pub(crate) fn error(&self, problem: impl Into<String>) -> WireError {
        WireError { agent: self.agent, event: self.event.cli_name(), problem: problem.into() }
    }

    /// Checks the agent's own name of the event, where the payload says it in `key`.
    ///
    /// # Errors
    /// When it is none of `names`.
    pub(crate) fn expect_event(&mut self, key: &str, names: &[&str]) -> Result<(), WireError> {
        let Some(found) = self.text(key) else { return Ok(()) };
        if !names.contains(&found) {
            let known = names.join("\" or \"");
            return Err(self.error(format!("`{key}` is \"{found}\", not \"{known}\"")));
        }
        self.names_event = true;
        Ok(())
    }

    /// As [`Self::expect_event`], for agents that always say it.
    ///
    /// # Errors
    /// When it is none of `names`, or missing.
    pub(crate) fn require_event(&mut self, key: &str, names: &[&str]) -> Result<(), WireError> {
        self.required(&[key])?;
        self.expect_event(key, names)
    }

    /// A field that is there and not `null`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A text field, were it empty; `None` when it is missing or something else.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// Whether any of these fields is there and not `null`.
    pub(crate) fn has(&self, keys: &[&str]) -> bool {
        self.first(keys).is_some()
    }

    /// Puts the fields of an inner object beside those of the payload.
    pub(crate) fn lift(&mut self, key: &str) {
        if let Some(Value::Object(inner)) = self.object.shift_remove(key) {
            for (key, value) in inner {
                self.object.entry(key).or_insert(value);
            }
        }
    }

    /// Fills a field that the agent may leave out.
    pub(crate) fn default_text(&mut self, key: &str, text: &str) {
        if self.get(key).is_none() {
            self.object.insert(key.to_owned(), text.into());
        }
    }

    /// The event in canonical words. `canonical` turns the agent's tool name and input into the
    /// canonical ones.
    ///
    /// # Errors
    /// When a field is missing that makes the event what it is.
    pub(crate) fn decode(
        &self,
        fields: &Fields,
        canonical: impl FnOnce(&str, &Value) -> (String, Value),
    ) -> Result<Decoded, WireError> {
        let session_id = self.non_empty(fields.session_id).map(str::to_owned);
        let cwd = self.non_empty(fields.cwd).map(str::to_owned);
        let mut tool_use_id = None;
        let mut delivery = None;
        let mut started = None;
        let input = match self.event {
            Event::PreToolUse | Event::PostToolUse => {
                tool_use_id = self.non_empty(fields.tool_use_id).map(str::to_owned);
                delivery.clone_from(&tool_use_id);
                self.tool(fields, canonical)?.into_input(self.event, session_id, cwd)
            }
            Event::UserPromptSubmit => {
                delivery = self.identity(fields.prompt_id);
                let prompt = self.required(fields.prompt)?.to_owned();
                Input::UserPromptSubmit(UserPromptSubmitInput { prompt, session_id, cwd })
            }
            Event::SessionStart => {
                // Nothing but these tells a session's start from any other JSON object.
                if !self.names_event && session_id.is_none() && cwd.is_none() {
                    return Err(self.error("neither its event nor a session nor a folder is named"));
                }
                started = self.non_empty(&["source"]).map(str::to_owned);
                Input::SessionStart(SessionStartInput { session_id, cwd })
            }
            Event::Stop => Input::Stop(self.end_of_turn(fields, session_id, cwd)?),
        };
        let delivery = match (delivery, self.identity(fields.moment)) {
            (Some(name), _) => Delivery::Named(name),
            (None, Some(moment)) => Delivery::Timed(moment),
            (None, None) => Delivery::Unnamed(started.clone().unwrap_or_default()),
        };
        // Each time that an agent goes on it ends its turn anew, with nothing to tell the ends apart.
        let delivery = if self.event == Event::Stop { Delivery::Single } else { delivery };
        Ok(Decoded { input, tool_use_id, delivery, started, foreign: false, failed: false })
    }

    fn end_of_turn(
        &self,
        fields: &Fields,
        session_id: Option<String>,
        cwd: Option<String>,
    ) -> Result<StopInput, WireError> {
        let stop_hook_active = self.get(STOP_ACTIVE).and_then(Value::as_bool);
        if !self.names_event && stop_hook_active.is_none() {
            return Err(self.error(format!("no event is named, and there is no `{STOP_ACTIVE}`")));
        }
        Ok(StopInput {
            stop_hook_active: stop_hook_active.unwrap_or_default(),
            last_assistant_message: self.non_empty(fields.last_message).map(str::to_owned),
            session_id,
            cwd,
        })
    }

    fn tool(
        &self,
        fields: &Fields,
        canonical: impl FnOnce(&str, &Value) -> (String, Value),
    ) -> Result<ToolUse, WireError> {
        let native_name = self.required(fields.tool_name)?.to_owned();
        if native_name.is_empty() {
            return Err(self.error("the tool has no name"));
        }
        let native_input =
            self.first(fields.tool_input).cloned().unwrap_or_else(|| Value::Object(Map::new()));
        let (name, input) = canonical(&native_name, &native_input);
        let response = self.first(fields.tool_response).cloned().unwrap_or_default();
        Ok(ToolUse { name, input, native_name, native_input, response })
    }

    fn first(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// A text with something in it.
    fn non_empty(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.text(key).filter(|text| !text.is_empty()))
    }

    /// A text that the event can't be without.
    fn required(&self, keys: &[&str]) -> Result<&str, WireError> {
        let missing = || self.error(format!("no text in `{}`", keys.join("` or `")));
        keys.iter().find_map(|key| self.text(key)).ok_or_else(missing)
    }

    /// A text with something in it, or a number as text.
    fn identity(&self, keys: &[&str]) -> Option<String> {
        let number = || self.first(keys).filter(|value| value.is_number()).map(Value::to_string);
        self.non_empty(keys).map(str::to_owned).or_else(number)
    }
}

struct ToolUse {
    name: String,
    input: Value,
    native_name: String,
    native_input: Value,
    response: Value,
}

impl ToolUse {
    fn into_input(self, event: Event, session_id: Option<String>, cwd: Option<String>) -> Input {
        let Self { name, input, native_name, native_input, response } = self;
        if event == Event::PostToolUse {
            Input::PostToolUse(PostToolUseInput {
                tool_name: name,
                tool_input: input,
                tool_response: response,
                session_id,
                cwd,
                native_tool_name: Some(native_name),
                native_tool_input: Some(native_input),
            })
        } else {
            Input::PreToolUse(PreToolUseInput {
                tool_name: name,
                tool_input: input,
                session_id,
                cwd,
                native_tool_name: Some(native_name),
                native_tool_input: Some(native_input),
            })
        }
    }
}

/// The payload with `input` in the first of `fields` that is there, everything else as it was. A
/// field that held text (JSON in a string) holds text again.
pub(crate) fn replace_input(
    stdin: &[u8],
    fields: &[&str],
    input: &Map<String, Value>,
) -> Option<Vec<u8>> {
    replace(stdin, fields, |_| input.clone())
}

/// As [`replace_input`], for an agent that lays the new input over the one that is there.
pub(crate) fn merge_input(
    stdin: &[u8],
    fields: &[&str],
    input: &Map<String, Value>,
) -> Option<Vec<u8>> {
    replace(stdin, fields, |before| {
        let mut merged = before.clone();
        merged.extend(input.clone());
        merged
    })
}

fn replace(
    stdin: &[u8],
    fields: &[&str],
    new: impl FnOnce(&Map<String, Value>) -> Map<String, Value>,
) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(stdin);
    let Ok(Value::Object(mut payload)) = parse_json(&text) else { return None };
    let has_value = |field: &&&str| payload.get(**field).is_some_and(|value| !value.is_null());
    let there = |field: &&&str| payload.contains_key(**field);
    let field = fields.iter().find(has_value).or_else(|| fields.iter().find(there))?;
    let slot = payload.get_mut(*field)?;
    let input = as_given(&match &*slot {
        Value::Object(before) => new(before),
        _ => new(&Map::new()),
    });
    let is_text = slot.is_string() && !input.is_string();
    *slot = if is_text { Value::String(input.to_string()) } else { input };
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
        let decoded = payload.decode(&Fields::COMMON, |name, input| (name.into(), input.clone()));
        let Input::PreToolUse(input) = decoded.expect("a payload").input else {
            panic!("a tool's use")
        };
        assert_eq!(input.tool_input, serde_json::json!({}));
        assert_eq!(input.cwd, None);
    }

    #[test]
    fn a_field_has_any_of_its_names_and_an_identity_is_text_or_a_number() {
        const FIELDS: Fields = Fields {
            session_id: &["sessionId", "session_id"],
            prompt_id: &["turn", "at"],
            ..Fields::COMMON
        };
        let decode = |text: &str| {
            let payload = Payload::parse("test", Event::UserPromptSubmit, text.as_bytes());
            let decoded = payload.expect("JSON").decode(&FIELDS, |_, _| unreachable!());
            decoded.map_err(|error| error.problem)
        };
        let named = |id: &str| Delivery::Named(id.to_owned());
        let told = decode(r#"{"prompt":"","sessionId":"","session_id":"s","turn":null,"at":17}"#);
        let told = told.expect("a prompt");
        assert_eq!((told.input.session_id(), told.delivery), (Some("s"), named("17")));
        let told = decode(r#"{"prompt":"hi","turn":"t","at":17}"#).expect("a prompt");
        assert_eq!((told.delivery, told.tool_use_id), (named("t"), None));
        assert_eq!(decode(r#"{"prompt":7}"#), Err("no text in `prompt`".to_owned()));
    }

    #[test]
    fn another_input_is_put_where_the_one_was_and_as_it_was() {
        let input = Map::from_iter([("b".to_owned(), Value::from(2))]);
        let text = |bytes: Option<Vec<u8>>| bytes.map(|b| String::from_utf8(b).expect("UTF-8"));
        let replaced = |stdin: &str| text(replace_input(stdin.as_bytes(), &["x", "y"], &input));
        let merged = |stdin: &str| text(merge_input(stdin.as_bytes(), &["x", "y"], &input));
        let object = r#"{"n":1.50,"x":null,"y":{"a":1,"b":1}}"#;
        assert_eq!(replaced(object).as_deref(), Some(r#"{"n":1.50,"x":null,"y":{"b":2}}"#));
        assert_eq!(merged(object).as_deref(), Some(r#"{"n":1.50,"x":null,"y":{"a":1,"b":2}}"#));
        let string = r#"{"x":"{\"a\":1}"}"#;
        assert_eq!(replaced(string).as_deref(), Some(r#"{"x":"{\"b\":2}"}"#));
        assert_eq!(replaced(r#"{"x":null}"#).as_deref(), Some(r#"{"x":{"b":2}}"#));
        for none in ["{}", "[]", "", r#"{"z":{}}"#] {
            assert_eq!((replaced(none), merged(none)), (None, None), "{none}");
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_cut_and_the_rest_is_read() {
        let deep = |depth: usize| {
            format!(
                r#"{{"a":{}"]\"["{},"command":"x"}}"#,
                "[{\"k\":".repeat(depth),
                "}]".repeat(depth)
            )
        };
        for depth in [1, 40, 49, 50, 51, 60, 64, 200, 10_000] {
            let value = parse_json(&deep(depth)).expect("JSON");
            assert_eq!(value["command"], "x", "{depth}");
            let text = value.to_string();
            assert!(text == deep(depth) || depth > 40, "{depth}");
        }
        for unfinished in ["[".repeat(200_000), format!("{{\"a\":{}", "{\"b\":".repeat(500))] {
            assert!(parse_json(&unfinished).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_whatever_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            for event in Event::COMMON {
                let _ = Payload::parse("test", event, &bytes);
            }
        }

        #[test]
        fn escapes_of_any_kind_do_not_panic(text in r#"(\\u?[dD]?[89a-fA-F0-9é]{0,4}|x){0,8}"#) {
            crate::agents::json::mend_surrogates(&text);
        }
    }
}
