//! JSON as agents send it: read in spite of small faults, and a tool's input as an object.

use serde_json::{Map, Value};

use crate::documents::text_has_duplicate_keys;

/// Parses JSON after a byte order mark. A lone surrogate becomes U+FFFD and what is nested deeper
/// than 100 levels becomes `null`, instead of an error: a guard must see the command beside it.
///
/// # Errors
/// When it is no JSON.
pub(crate) fn parse_json(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text)
        .or_else(|error| serde_json::from_str(&prune(&mend_surrogates(text))).map_err(|_| error))
}

/// The object that the text begins with, and its length in bytes.
pub(crate) fn first_object(text: &str) -> Option<(usize, Map<String, Value>)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter();
    if let Some(Ok(object)) = stream.next() {
        return Some((stream.byte_offset(), object));
    }
    // What `parse_json` reads in spite of its faults.
    let length = closing_brace(text)? + 1;
    match parse_json(&text[..length]) {
        Ok(Value::Object(object)) => Some((length, object)),
        _ => None,
    }
}

/// Whether an object in `text`, which [`parse_json`] reads, has a key twice. The parser takes the later
/// one, so a denial could stand before it unseen.
pub(crate) fn repeats_a_key(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => text_has_duplicate_keys(text),
        Err(_) => text_has_duplicate_keys(&prune(&mend_surrogates(text))),
    }
}

/// Where the object that the text begins with ends.
fn closing_brace(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if in_string => {
                in_string = byte != b'"' || escaped;
                escaped = byte == b'\\' && !escaped;
            }
            b'"' => in_string = true,
            b'{' => depth += 1,
            b'}' if depth <= 1 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// How deep JSON may be nested; the parser takes a little more.
const DEEPEST: usize = 100;

/// Puts `null` in the place of every object and array that is nested too deep.
fn prune(text: &str) -> String {
    let mut pruned = String::with_capacity(text.len());
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for char in text.chars() {
        let was_deep = depth > DEEPEST;
        match char {
            _ if in_string => {
                in_string = char != '"' || escaped;
                escaped = char == '\\' && !escaped;
            }
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (was_deep, depth > DEEPEST) {
            (false, false) => pruned.push(char),
            (false, true) => pruned.push_str("null"),
            (true, _) => {}
        }
    }
    pruned
}

/// Replaces each escaped surrogate without its other half by U+FFFD.
pub(super) fn mend_surrogates(text: &str) -> String {
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

/// Arguments that came as JSON inside a string, parsed; others as they are.
pub(crate) fn arguments(input: &Value) -> Value {
    let inner = input.as_str().and_then(|text| parse_json(text).ok());
    inner.filter(Value::is_object).unwrap_or_else(|| input.clone())
}

/// The name under which the input of a tool that takes plain text stands where an object is wanted.
pub(crate) const TEXT: &str = "";

/// A tool's input as an object: its arguments, or its plain text under [`TEXT`].
pub(crate) fn as_object(input: &Value) -> Map<String, Value> {
    match arguments(input) {
        Value::Object(input) => input,
        text @ Value::String(_) => Map::from_iter([(TEXT.to_owned(), text)]),
        _ => Map::new(),
    }
}

/// The way back of [`as_object`].
pub(crate) fn as_given(input: &Map<String, Value>) -> Value {
    let text = input.get(TEXT).filter(|text| text.is_string() && input.len() == 1);
    text.cloned().unwrap_or_else(|| Value::Object(input.clone()))
}
