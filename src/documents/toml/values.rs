//! Values between TOML and JSON.

use std::path::Path;

use serde_json::{Map, Number, Value};
use toml_edit::{Array, InlineTable};

use crate::text::{Diagnostic, Source};

/// Parses `text` strictly.
pub(super) fn parse(path: &Path, text: &str) -> Result<Value, Diagnostic> {
    match toml::from_str::<toml::Table>(text) {
        Ok(table) => Ok(to_json(toml::Value::Table(table))),
        Err(error) => {
            let source = Source::new(path, text);
            let span = error.span().unwrap_or(0..0);
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            Err(Diagnostic::error(format!("invalid TOML: {message}"))
                .at(&source, span)
                .note("mend it by hand; the file was left as it is"))
        }
    }
}

/// Dates become strings, and so do the numbers that JSON does not know.
fn to_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::Number(number.into()),
        toml::Value::Float(number) => Number::from_f64(number)
            .map_or_else(|| Value::String(number.to_string()), Value::Number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(to_json).collect()),
        toml::Value::Table(table) => {
            let members: Map<String, Value> =
                table.into_iter().map(|(key, value)| (key, to_json(value))).collect();
            Value::Object(members)
        }
    }
}

/// `value` as TOML can say it: without nulls, since an absent key says the same, and without
/// numbers that TOML does not know.
pub(super) fn storable(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(key, value)| (key.clone(), storable(value))).collect())
        }
        Value::Array(items) => {
            Value::Array(items.iter().filter(|item| !item.is_null()).map(storable).collect())
        }
        Value::Number(number) if number.as_i64().is_none() => {
            number.as_f64().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
        }
        other => other.clone(),
    }
}

/// `value` as it stands behind a `=`.
pub(in crate::documents) fn inline(value: &Value) -> String {
    to_toml(value).map_or_else(String::new, |value| value.to_string())
}

/// A key, quoted where it must be. Not all that a value may be written as is a key: strings over
/// several lines are none.
pub(in crate::documents) fn key_text(key: &str) -> String {
    toml_edit::Key::new(key).to_string()
}

/// Several keys with dots between.
pub(super) fn dotted(keys: &[String]) -> String {
    keys.iter().map(|key| key_text(key)).collect::<Vec<_>>().join(".")
}

fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => {
            let items: Array = items.iter().filter_map(to_toml).collect();
            items.into()
        }
        Value::Object(members) => {
            let mut table = InlineTable::new();
            for (key, value) in members {
                if let Some(value) = to_toml(value) {
                    table.insert(key, value);
                }
            }
            table.into()
        }
    })
}
