//! What each format's editor can do, and the edits that are the same for all of them.
//!
//! An edit is never trusted: the new text is parsed again and compared with the old one, and one
//! that changed more than was asked for, or less, is refused.

use serde_json::{Map, Value};

use super::compare::{self, joined};
use super::edited::{Classify, Created, Keep};
use crate::text::Diagnostic;

/// One text in one format. A failed edit may leave the text half done: it is thrown away.
pub(super) trait Editor {
    /// The text after the edits.
    fn into_text(self: Box<Self>) -> String;
    /// The whole value; an error when the text does not parse.
    fn value(&self) -> Result<Value, Diagnostic>;
    /// As [`Editor::value`]; `None` where a key is there twice.
    fn unique_value(&self) -> Result<Option<Value>, Diagnostic> {
        self.value().map(Some)
    }
    /// The value at `path`.
    fn get(&self, path: &[String]) -> Result<Option<Value>, Diagnostic>;
    /// `value` as far as the format can say it.
    fn storable(&self, value: &Value) -> Value {
        value.clone()
    }
    /// Appends `key` to the table at `table`, which lacks it; missing tables are made.
    fn insert(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
    ) -> Result<Vec<Created>, Diagnostic>;
    /// Makes what stands at `place` and says `existing` say `wanted`, touching only what differs.
    fn update(
        &mut self,
        place: &[String],
        existing: &Value,
        wanted: &Value,
    ) -> Result<(), Diagnostic>;
    /// Takes out what stands at `place`.
    fn delete(&mut self, place: &[String]) -> Result<(), Diagnostic>;
    /// What is left of our making (or, with `was`, our filling) the container at `path`. A filling
    /// is undone at once: `was` is the white space that was there before.
    fn empty(&mut self, path: &[String], was: Option<&str>) -> Result<Emptiness, Diagnostic>;
    /// See [`super::Document::ensure_in_array`].
    fn ensure_in_array(
        &mut self,
        _array: &[String],
        _entry: &Value,
        _classify: Classify<'_>,
    ) -> Result<Vec<Created>, Diagnostic> {
        Err(self.refused())
    }
    /// See [`super::Document::remove_from_array`].
    fn remove_from_array(
        &mut self,
        _array: &[String],
        _classify: Classify<'_>,
    ) -> Result<bool, Diagnostic> {
        Err(self.refused())
    }
    /// Whether nothing is left: no value, no comment.
    fn is_bare(&self) -> Result<bool, Diagnostic>;
    /// The refusal of an edit that came out wrong.
    fn refused(&self) -> Diagnostic;
}

/// What became of a container that was made or filled for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emptiness {
    /// Something stands in it: it stays.
    InUse,
    /// Nothing of ours is left.
    Done,
    /// It is empty and was made for us.
    Removable,
}

/// See [`super::Document::set`].
pub(super) fn set(
    editor: &mut dyn Editor,
    table: &[String],
    key: &str,
    value: &Value,
    keep: &Keep<'_>,
) -> Result<Vec<Created>, Diagnostic> {
    let place = joined(table, key);
    let value = editor.storable(value);
    let existing = editor.get(&place)?;
    let wanted = existing.as_ref().map_or_else(|| value.clone(), |old| keep.wanted(&value, old));
    if existing.as_ref() == Some(&wanted) {
        return Ok(Vec::new());
    }
    let before = editor.value()?;
    let created = match existing {
        None => editor.insert(table, key, &wanted)?,
        Some(existing) => {
            editor.update(&place, &existing, &wanted)?;
            Vec::new()
        }
    };
    verify(editor, &before, table, key, Some(&wanted))?;
    Ok(created)
}

/// See [`super::Document::remove`].
pub(super) fn remove(
    editor: &mut dyn Editor,
    table: &[String],
    key: &str,
) -> Result<bool, Diagnostic> {
    let place = joined(table, key);
    if editor.get(&place)?.is_none() {
        return Ok(false);
    }
    let before = editor.value()?;
    editor.delete(&place)?;
    verify(editor, &before, table, key, None)?;
    Ok(true)
}

/// Undoes the making (or, with `was`, the filling) of the container at `path`. `false` when it is
/// in use.
pub(super) fn prune(
    editor: &mut dyn Editor,
    path: &[String],
    was: Option<&str>,
) -> Result<bool, Diagnostic> {
    match (editor.empty(path, was)?, path.split_last()) {
        (Emptiness::InUse, _) => Ok(false),
        (Emptiness::Removable, Some((key, table))) => remove(editor, table, key),
        (Emptiness::Removable | Emptiness::Done, _) => Ok(true),
    }
}

/// The last line of defence: `key` says `wanted`, and all else says what it said in `before`.
fn verify(
    editor: &dyn Editor,
    before: &Value,
    table: &[String],
    key: &str,
    wanted: Option<&Value>,
) -> Result<(), Diagnostic> {
    let after = editor.value().map_err(|_| editor.refused())?;
    let strip = |value: &Value| compare::without_key(value, table, key);
    let rest_is_equal = same(&strip(before), &strip(&after));
    let now = compare::at(after, &joined(table, key)).map_err(|_| editor.refused())?;
    if rest_is_equal && now.as_ref() == wanted { Ok(()) } else { Err(editor.refused()) }
}

/// Equal, an absent mapping and an empty one being the same.
fn same(one: &Value, other: &Value) -> bool {
    let empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    one == other || (empty(one) && empty(other))
}

/// Tables within each other, one for each of `keys`, around `value`.
pub(super) fn nested(keys: &[String], value: Value) -> Value {
    keys.iter()
        .rev()
        .fold(value, |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])))
}

/// The containers that have to be made below the first `depth` keys of `path`.
pub(super) fn made_below(depth: usize, path: &[String]) -> Vec<Created> {
    (depth + 1..=path.len()).map(|length| Created::container(&path[..length], None)).collect()
}
