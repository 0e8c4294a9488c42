//! TOML, edited piece by piece.
//!
//! Serialising a parsed document would turn CRLF into LF, drop a byte order mark and move comments
//! at the end of the file. So the text is parsed for places only, the pieces are replaced in it,
//! and the new text is parsed and compared with the old one.

pub(super) mod arrays;
mod edit;
mod syntax;
mod values;

use std::path::Path;

use serde_json::Value;

use super::compare::{self, joined};
use super::document::Editor;
use super::edited::{Created, Keep};
use super::splice::{Splice, apply};
use crate::text::{Diagnostic, Source};
use edit::Place;
use syntax::sections;

pub(super) use edit::{append_section, remove_section};
pub(super) use syntax::{Item, Section, sections as sections_of};
pub(super) use values::inline;

/// A TOML text being edited.
#[derive(Debug, Clone)]
pub(super) struct Toml<'p> {
    pub path: &'p Path,
    pub text: String,
}

impl Editor for Toml<'_> {
    fn into_text(self: Box<Self>) -> String {
        self.text
    }

    fn value(&self) -> Result<Value, Diagnostic> {
        values::parse(self.path, &self.text)
    }

    fn get(&self, path: &[String]) -> Result<Option<Value>, Diagnostic> {
        compare::at(self.value()?, path).map_err(|depth| self.wrong_type(&path[..depth]))
    }

    fn set(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
        keep: &Keep<'_>,
    ) -> Result<Vec<Created>, Diagnostic> {
        let before = self.value()?;
        let place = joined(table, key);
        let value = values::without_nulls(value);
        let mut created = Vec::new();
        match self.get(&place)? {
            None => {
                if self.get(table)?.is_some_and(|table| !table.is_object()) {
                    return Err(self.wrong_type(table));
                }
                created = self.insert(table, key, &value, true);
            }
            Some(existing) => {
                let wanted = keep.wanted(&value, &existing);
                if wanted == existing {
                    return Ok(created);
                }
                self.update(&place, &existing, &wanted)?;
            }
        }
        let after = self.value().map_err(|_| compare::refused(self.path))?;
        let strip = |value: &Value| compare::without_key(value, table, key);
        self.verify(strip(&before) == strip(&after))?;
        self.verify(self.get(&place)?.is_some())?;
        Ok(created)
    }

    fn remove(&mut self, table: &[String], key: &str) -> Result<bool, Diagnostic> {
        let before = self.value()?;
        let place = joined(table, key);
        if self.get(&place)?.is_none() {
            return Ok(false);
        }
        self.remove_all(&place);
        let after = self.value().map_err(|_| compare::refused(self.path))?;
        let strip = |value: &Value| compare::without_key(value, table, key);
        self.verify(strip(&before) == strip(&after) && self.get(&place)?.is_none())?;
        Ok(true)
    }

    fn prune(&mut self, path: &[String], was: Option<&str>) -> Result<bool, Diagnostic> {
        match (self.get(path)?, path.split_last()) {
            (Some(Value::Object(members)), Some((key, table))) if members.is_empty() => {
                match (was, edit::locate(&sections(&self.text), path)) {
                    (Some(was), Some(Place::Value(value))) if was.trim().is_empty() => {
                        let inside = value.value.start + 1..value.value.end - 1;
                        self.text = apply(&self.text, vec![Splice::replace(inside, was)]);
                        Ok(true)
                    }
                    (Some(_), _) => Ok(true),
                    (None, _) => self.remove(table, key),
                }
            }
            (Some(_), _) => Ok(false),
            (None, _) => Ok(true),
        }
    }

    fn is_bare(&self) -> Result<bool, Diagnostic> {
        Ok(self.text.trim().is_empty())
    }
}

impl Toml<'_> {
    /// Takes out everything that makes up what stands at `place`.
    fn remove_all(&mut self, place: &[String]) {
        // One piece at a time: the places of the others move.
        while let Some(splices) = edit::remove_one(&self.text, &sections(&self.text), place) {
            let text = apply(&self.text, splices);
            if text == self.text {
                break;
            }
            self.text = text;
        }
    }

    fn insert(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
        own_section: bool,
    ) -> Vec<Created> {
        let insertion = edit::insert(&self.text, table, key, value, own_section);
        self.text = apply(&self.text, insertion.splices);
        insertion.created
    }

    /// Brings what stands at `place` to say `wanted`, touching only what differs.
    fn update(
        &mut self,
        place: &[String],
        existing: &Value,
        wanted: &Value,
    ) -> Result<(), Diagnostic> {
        if existing == wanted {
            return Ok(());
        }
        let (Value::Object(old), Value::Object(new)) = (existing, wanted) else {
            let at = edit::locate(&sections(&self.text), place);
            if let (Value::Array(old), Value::Array(new)) = (existing, wanted)
                && let Some(text) = self.with_items(place, old, new)
            {
                self.text = text;
            } else if let Some(Place::Value(found)) = at {
                let splice = Splice::replace(found.value, values::inline(wanted));
                self.text = apply(&self.text, vec![splice]);
            } else if let Some((key, table)) = place.split_last() {
                self.remove_all(place);
                self.insert(table, key, wanted, false);
            }
            return Ok(());
        };
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            self.remove_all(&joined(place, name));
        }
        for (name, value) in new {
            match old.get(name) {
                Some(old) => self.update(&joined(place, name), old, value)?,
                None => drop(self.insert(place, name, value, false)),
            }
        }
        Ok(())
    }

    /// The text with the items of the array at `place` taken out and appended one by one, so that
    /// comments between them stay; `None` when that does not lead to `new`.
    fn with_items(&self, place: &[String], old: &[Value], new: &[Value]) -> Option<String> {
        let kept: Vec<&Value> = old.iter().filter(|item| new.contains(item)).collect();
        if kept.len() > new.len() || !kept.iter().zip(new).all(|(kept, new)| *kept == new) {
            return None;
        }
        let mut text = self.text.clone();
        let array = |text: &str| match edit::locate(&sections(text), place) {
            Some(Place::Value(found)) => found.items.map(|items| (found.value, items)),
            _ => None,
        };
        for index in (0..old.len()).rev().filter(|index| !new.contains(&old[*index])) {
            let (range, items) = array(&text)?;
            text = apply(&text, vec![arrays::remove(&text, &range, &items, index)]);
        }
        for value in &new[kept.len()..] {
            let (range, items) = array(&text)?;
            text = apply(&text, arrays::append(&text, &range, &items, &values::inline(value)));
        }
        let edited = Toml { path: self.path, text };
        let holds = edited.get(place).ok()??;
        (holds.as_array().map(Vec::as_slice) == Some(new)).then_some(edited.text)
    }

    fn wrong_type(&self, path: &[String]) -> Diagnostic {
        let source = Source::new(self.path, self.text.as_str());
        let place = values::dotted(path);
        let error = Diagnostic::error(format!("`{place}` must be a table"));
        let error = match edit::span_of(&sections(&self.text), path) {
            Some(span) => error.at(&source, span),
            None => error.in_file(self.path),
        };
        error.note("make it a table; the file was left as it is")
    }

    fn verify(&self, holds: bool) -> Result<(), Diagnostic> {
        if holds { Ok(()) } else { Err(compare::refused(self.path)) }
    }
}

#[cfg(test)]
mod tests;
