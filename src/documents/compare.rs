//! Values with what is ours taken out: what must be equal before and after an edit.

use std::path::Path;

use serde_json::Value;

use super::edited::{Classify, HANDLERS, HandlerState, Met};
use crate::text::Diagnostic;

/// The path of `key` in `table`.
pub(super) fn joined(table: &[String], key: &str) -> Vec<String> {
    let mut path = table.to_vec();
    path.push(key.to_owned());
    path
}

/// The value at `path` inside of `value`. A key with nothing behind it has no members.
///
/// # Errors
/// How many keys of the path lead to something that has no members.
pub(super) fn at(mut value: Value, path: &[String]) -> Result<Option<Value>, usize> {
    for (depth, key) in path.iter().enumerate() {
        match value {
            Value::Object(mut members) => match members.shift_remove(key) {
                Some(child) => value = child,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            _ => return Err(depth),
        }
    }
    Ok(Some(value))
}

/// `value` without `key` in the table at `path`; empty containers on the way are left out too.
pub(super) fn without_key(value: &Value, path: &[String], key: &str) -> Value {
    let mut value = value.clone();
    edit_at(&mut value, path, &|table| {
        if let Value::Object(members) = table {
            members.shift_remove(key);
        }
    });
    value
}

/// `value` without our handlers in the array at `path`; empty containers on the way are left out.
pub(super) fn without_ours(value: &Value, path: &[String], classify: Classify<'_>) -> Value {
    let mut value = value.clone();
    edit_at(&mut value, path, &|array| {
        if let Value::Array(items) = array {
            let mut met = Met::default();
            items.retain_mut(|item| retain_foreign(item, &mut met, classify));
        }
    });
    value
}

/// Takes our handlers out of an item of a hook array; `false` when nothing of it is left.
fn retain_foreign(item: &mut Value, met: &mut Met, classify: Classify<'_>) -> bool {
    let whole = item.clone();
    let Some(Value::Array(handlers)) = item.get_mut(HANDLERS) else {
        return classify(&met.next(&whole, None)) != HandlerState::Own;
    };
    let before = handlers.len();
    handlers.retain(|handler| classify(&met.next(handler, Some(&whole))) != HandlerState::Own);
    before == handlers.len() || !handlers.is_empty()
}

fn edit_at(value: &mut Value, path: &[String], with: &dyn Fn(&mut Value)) {
    let Some((first, rest)) = path.split_first() else { return with(value) };
    let Value::Object(members) = value else { return };
    let Some(child) = members.get_mut(first) else { return };
    edit_at(child, rest, with);
    let empty = match child {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null => true,
        _ => false,
    };
    if empty {
        members.shift_remove(first);
    }
}

/// The refusal of an edit that would have changed what is not ours.
pub(super) fn refused(path: &Path) -> Diagnostic {
    Diagnostic::error("this file is laid out in a way that Symposium can't edit safely")
        .in_file(path)
        .note("lay it out more plainly; the file was left as it is")
}
