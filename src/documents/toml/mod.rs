//! TOML, edited piece by piece.
//!
//! `toml_edit` parses the text and says where each key and value stands; the pieces are replaced in
//! the text itself, and the new text is parsed and compared with the old one. What `toml_edit`
//! itself prints after an edit is not used, for what it does to the user's own lines: it turns CRLF
//! into LF, adds a last newline, takes the comments above a removed key along, leaves those at the
//! end of the file below a new section, and moves dotted keys of one table together
//! (`a.x = 1`, `b = 2`, `a.y = 3` come out as `a.x`, `a.y`, `b`).

pub(super) mod arrays;
mod edit;
mod syntax;
mod values;

use std::path::Path;

use serde_json::Value;

use super::compare::{self, joined};
use super::edited::Created;
use super::editor::{Editor, Emptiness};
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

    fn storable(&self, value: &Value) -> Value {
        values::storable(value)
    }

    fn insert(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
    ) -> Result<Vec<Created>, Diagnostic> {
        Ok(self.put(table, key, value, true))
    }

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
                self.delete(place)?;
                self.put(table, key, wanted, false);
            }
            return Ok(());
        };
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            self.delete(&joined(place, name))?;
        }
        for (name, value) in new {
            match old.get(name) {
                Some(old) => self.update(&joined(place, name), old, value)?,
                None => drop(self.put(place, name, value, false)),
            }
        }
        Ok(())
    }

    /// Takes out everything that makes up what stands at `place`.
    fn delete(&mut self, place: &[String]) -> Result<(), Diagnostic> {
        // One piece at a time: the places of the others move.
        while let Some(splice) = edit::remove_one(&self.text, &sections(&self.text), place) {
            let text = apply(&self.text, vec![splice]);
            if text == self.text {
                break;
            }
            self.text = text;
        }
        Ok(())
    }

    fn empty(&mut self, path: &[String], was: Option<&str>) -> Result<Emptiness, Diagnostic> {
        match self.get(path)? {
            None => return Ok(Emptiness::Done),
            Some(Value::Object(members)) if members.is_empty() && !path.is_empty() => {}
            Some(_) => return Ok(Emptiness::InUse),
        }
        let Some(was) = was else { return Ok(Emptiness::Removable) };
        if let Some(Place::Value(found)) = edit::locate(&sections(&self.text), path)
            && was.trim().is_empty()
        {
            let inside = found.value.start + 1..found.value.end - 1;
            self.text = apply(&self.text, vec![Splice::replace(inside, was)]);
        }
        Ok(Emptiness::Done)
    }

    fn is_bare(&self) -> Result<bool, Diagnostic> {
        Ok(self.text.trim().is_empty())
    }

    fn refused(&self) -> Diagnostic {
        compare::refused(self.path)
    }
}

impl Toml<'_> {
    fn put(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
        own_section: bool,
    ) -> Vec<Created> {
        let insertion = edit::insert(&self.text, table, key, value, own_section);
        self.text = apply(&self.text, vec![insertion.splice]);
        insertion.created
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
}

#[cfg(test)]
mod tests;
