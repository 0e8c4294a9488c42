//! Values between YAML and JSON, and how they are written.

use std::path::Path;

use serde_json::{Map, Number, Value};

use crate::text::yaml::too_costly;
use crate::text::{Diagnostic, Source};

/// Parses `text`, which must hold one document.
pub(super) fn parse(path: &Path, text: &str) -> Result<Value, Diagnostic> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let invalid = |at: usize, message: &str| {
        let source = Source::new(path, text);
        Diagnostic::error(format!("invalid YAML: {message}"))
            .at(&source, at..at)
            .note("mend it by hand; the file was left as it is")
    };
    if let Some((at, message)) = too_costly(text) {
        return Err(invalid(at, message));
    }
    serde_yaml::from_str(text).map(to_json).map_err(|error| {
        let at = error.location().map_or(0, |at| at.index().min(text.len()));
        let whole = error.to_string();
        invalid(at, whole.split(" at line ").next().unwrap_or(&whole))
    })
}

/// What JSON does not know is written so that different things stay different.
fn to_json(value: serde_yaml::Value) -> Value {
    use serde_yaml::Value as Yaml;
    match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(flag) => Value::Bool(flag),
        Yaml::Number(number) => {
            if let Some(number) = number.as_i64() {
                Value::Number(number.into())
            } else if let Some(number) = number.as_u64() {
                Value::Number(number.into())
            } else {
                let float = number.as_f64().unwrap_or(f64::NAN);
                Number::from_f64(float)
                    .map_or_else(|| Value::String(format!("\0{float}")), Value::Number)
            }
        }
        Yaml::String(text) => Value::String(text),
        Yaml::Sequence(items) => Value::Array(items.into_iter().map(to_json).collect()),
        Yaml::Mapping(mapping) => {
            let mut members = Map::new();
            for (key, value) in mapping {
                let key = match key {
                    Yaml::String(key) => key,
                    other => format!("\0{}", to_json(other)),
                };
                members.insert(key, to_json(value));
            }
            Value::Object(members)
        }
        Yaml::Tagged(tagged) => {
            let key = format!("\0{}", tagged.tag);
            Value::Object(Map::from_iter([(key, to_json(tagged.value))]))
        }
    }
}

/// How values are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Blanks of one step.
    pub unit: usize,
    /// Whether `-` stands deeper than its key.
    pub deep_items: bool,
}

impl Layout {
    /// The manner of `text`; two blanks, and items below their key, where nothing shows.
    pub(super) fn of(text: &str) -> Self {
        let mut unit = None;
        let mut deep_items = None;
        let mut key: Option<usize> = None;
        for line in text.lines() {
            let content = line.trim_start_matches(' ');
            let blanks = line.len() - content.len();
            if content.trim().is_empty() || content.starts_with('#') {
                continue;
            }
            let item = content == "-" || content.starts_with("- ");
            if let Some(above) = key {
                if item {
                    deep_items.get_or_insert(blanks > above);
                } else if blanks > above {
                    unit.get_or_insert(blanks - above);
                }
            }
            key = content.trim_end().ends_with(':').then_some(blanks);
        }
        Self { unit: unit.unwrap_or(2), deep_items: deep_items.unwrap_or(false) }
    }

    /// `key: value` as lines, without line breaks.
    pub(super) fn lines(&self, key: &str, value: &Value, indent: usize) -> Vec<String> {
        let lead = " ".repeat(indent);
        let key = scalar(&Value::String(key.to_owned()));
        match value {
            Value::Object(members) if !members.is_empty() => {
                let mut lines = vec![format!("{lead}{key}:")];
                for (key, value) in members {
                    lines.extend(self.lines(key, value, indent + self.unit));
                }
                lines
            }
            Value::Array(items) if !items.is_empty() => {
                let deeper = if self.deep_items { self.unit } else { 0 };
                let inner = " ".repeat(indent + deeper);
                let items = items.iter().map(|item| format!("{inner}- {}", scalar(item)));
                std::iter::once(format!("{lead}{key}:")).chain(items).collect()
            }
            value => vec![format!("{lead}{key}: {}", scalar(value))],
        }
    }
}

/// A value on one line: plain where YAML allows, else as JSON, which YAML reads too.
pub(super) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let plain = serde_yaml::to_string(text).unwrap_or_default();
            let plain = plain.strip_suffix('\n').unwrap_or(&plain);
            let odd = ["y", "n", "yes", "no", "on", "off"].iter();
            // YAML 1.1 readers take these for true and false.
            let odd = odd.into_iter().any(|word| text.eq_ignore_ascii_case(word));
            if odd || plain.contains('\n') || plain.starts_with(['|', '>']) || text.is_empty() {
                value.to_string()
            } else {
                plain.to_owned()
            }
        }
        other => other.to_string(),
    }
}
