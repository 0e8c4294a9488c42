//! YAML in block style, edited line by line.
//!
//! No crate edits YAML and leaves the user's bytes as they were, and only Goose needs it. Blocks of
//! lines are put in, taken out and replaced; all other lines stay as they are. Before and after, the
//! text is parsed by a YAML parser and compared: what our view of the lines does not understand is
//! refused, never guessed at. Refused is, on the way to our entry and beside it:
//!
//! - flow style with members in it, `extensions: {a: {}}` (an empty `{}` is taken), and a document
//!   that is no mapping
//! - anchors, tags and merged keys: `extensions: &x`, `<<: *x`
//! - keys that are no plain or quoted text: `? key`
//!
//! and in the whole file: several documents, the end mark `...`, a key that is there twice, and a
//! block of text at the very end whose last line breaks would change.

mod lines;
mod values;

use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use super::compare::{self, joined};
use super::edited::Created;
use super::editor::{Editor, Emptiness, made_below, nested};
use super::splice::{Splice, apply, delete_lines, insert_below, line_start, newline_of};
use crate::text::{Diagnostic, Source};
use lines::{Entry, entries, next_line};
use values::{Layout, scalar};

/// A YAML text being edited.
#[derive(Debug, Clone)]
pub(super) struct Yaml<'p> {
    pub path: &'p Path,
    pub text: String,
}

impl Editor for Yaml<'_> {
    fn into_text(self: Box<Self>) -> String {
        self.text
    }

    fn value(&self) -> Result<Value, Diagnostic> {
        values::parse(self.path, &self.text)
    }

    fn get(&self, path: &[String]) -> Result<Option<Value>, Diagnostic> {
        // `extensions:` with nothing behind it is a mapping without members.
        compare::at(self.value()?, path).map_err(|depth| self.wrong_type(&path[..depth]))
    }

    fn insert(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
    ) -> Result<Vec<Created>, Diagnostic> {
        let layout = Layout::of(&self.text);
        let mut depth = table.len();
        let mut parent = None;
        while depth > 0 {
            parent = self.find(&table[..depth])?;
            if parent.is_some() {
                break;
            }
            depth -= 1;
        }
        let mut keys = table[depth..].to_vec();
        keys.push(key.to_owned());
        let (first, rest) = (keys[0].clone(), &keys[1..]);
        let nested = nested(rest, value.clone());
        let mut created = made_below(depth, table);
        let mut splices = Vec::new();
        let (indent, at) = match &parent {
            None => {
                let all = self.top()?;
                (all.first().map_or(0, |entry| entry.indent), self.text.trim_end().len())
            }
            Some(parent) => {
                let inline = parent.inline(&self.text);
                let all = if says_nothing(inline) {
                    let was = self.text[parent.rest.start..parent.inline_range(&self.text).end]
                        .to_owned();
                    splices.push(Splice::delete(
                        parent.rest.start..parent.inline_range(&self.text).end,
                    ));
                    created.push(Created::container(&table[..depth], Some(was)));
                    Vec::new()
                } else {
                    self.members(parent.below(&self.text), &table[..depth])?
                };
                let indent = all.first().map_or(parent.indent + layout.unit, |entry| entry.indent);
                (indent, all.last().map_or(parent.end, |last| last.end))
            }
        };
        let newline = newline_of(&self.text);
        let block = layout.lines(&first, &nested, indent).join(newline);
        splices.push(if self.text.is_empty() {
            Splice::insert(0, format!("{block}{newline}"))
        } else {
            insert_below(&self.text, at, newline, &block)
        });
        self.text = apply(&self.text, splices);
        self.value().map_err(|_| self.refused())?;
        Ok(created)
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
        if let (Value::Object(old), Value::Object(new)) = (existing, wanted)
            && !old.is_empty()
            && self.find(place)?.is_some_and(|entry| entry.inline(&self.text).is_empty())
        {
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                let entry = self.find(&joined(place, key))?.ok_or_else(|| self.refused())?;
                let splice = self.deletion(&entry);
                self.text = apply(&self.text, vec![splice]);
            }
            for (key, value) in new {
                match old.get(key) {
                    Some(old) => self.update(&joined(place, key), old, value)?,
                    None => drop(self.insert(place, key, value)?),
                }
            }
            return Ok(());
        }
        let entry = self.find(place)?.ok_or_else(|| self.refused())?;
        let one_line = next_line(&self.text, entry.start) > entry.end;
        let is_plain = |value: &Value| !value.is_object() && !value.is_array();
        let splice = if one_line && is_plain(existing) && is_plain(wanted) {
            let range = entry.inline_range(&self.text);
            let gap = if range.start == entry.rest.start { " " } else { "" };
            Splice::replace(range, format!("{gap}{}", scalar(wanted)))
        } else {
            let layout = Layout::of(&self.text);
            let lines = layout.lines(&entry.key, wanted, entry.indent);
            Splice::replace(entry.start..entry.end, lines.join(newline_of(&self.text)))
        };
        self.text = apply(&self.text, vec![splice]);
        Ok(())
    }

    fn delete(&mut self, place: &[String]) -> Result<(), Diagnostic> {
        let entry = self.find(place)?.ok_or_else(|| self.refused())?;
        self.text = apply(&self.text, vec![self.deletion(&entry)]);
        Ok(())
    }

    fn empty(&mut self, path: &[String], was: Option<&str>) -> Result<Emptiness, Diagnostic> {
        let empty = match self.get(path)? {
            None => return Ok(Emptiness::Done),
            Some(Value::Object(members)) => members.is_empty(),
            Some(value) => value.is_null(),
        };
        let (Some(entry), true) = (self.find(path)?, empty) else { return Ok(Emptiness::InUse) };
        match was {
            // Comments of the user's are all that is left in it.
            None if entry.end > entry.rest.end => Ok(Emptiness::InUse),
            None => Ok(Emptiness::Removable),
            Some(was) => {
                if entry.inline(&self.text).is_empty() && says_nothing(was) {
                    let splice = Splice::insert(entry.rest.start, was);
                    self.text = apply(&self.text, vec![splice]);
                }
                Ok(Emptiness::Done)
            }
        }
    }

    fn is_bare(&self) -> Result<bool, Diagnostic> {
        Ok(matches!(self.text.trim(), "" | "{}"))
    }

    fn refused(&self) -> Diagnostic {
        compare::refused(self.path).note(PLAIN)
    }
}

impl Yaml<'_> {
    /// The entry that `path` leads to; `None` when there is none or its layout is not understood.
    fn find(&self, path: &[String]) -> Result<Option<Entry>, Diagnostic> {
        let mut range = 0..self.text.len();
        let mut found = None;
        for (depth, key) in path.iter().enumerate() {
            let all = self.members(range, &path[..depth])?;
            let Some(entry) = all.into_iter().find(|entry| entry.key == *key) else {
                return Ok(None);
            };
            range = entry.below(&self.text);
            found = Some(entry);
        }
        Ok(found)
    }

    /// The members of the block mapping at `path`, whose lines are `range`.
    ///
    /// # Errors
    /// When what the lines show is not what the parser sees.
    fn members(&self, range: Range<usize>, path: &[String]) -> Result<Vec<Entry>, Diagnostic> {
        let key_line = range.start.saturating_sub(usize::from(!path.is_empty()));
        let found = entries(&self.text, range).map_err(|at| self.refused_at(at))?;
        let seen: Vec<String> = match self.get(path)? {
            Some(Value::Object(members)) => members.keys().cloned().collect(),
            _ => Vec::new(),
        };
        let same = found.len() == seen.len()
            && found.iter().zip(&seen).all(|(entry, key)| entry.key == *key);
        if same { Ok(found) } else { Err(self.refused_at(line_start(&self.text, key_line))) }
    }

    /// The members at the top.
    fn top(&self) -> Result<Vec<Entry>, Diagnostic> {
        match self.value()? {
            Value::Null | Value::Object(_) => self.members(0..self.text.len(), &[]),
            _ => Err(self.wrong_type(&[])),
        }
    }

    fn deletion(&self, entry: &Entry) -> Splice {
        delete_lines(&self.text, entry.start, entry.end)
    }

    fn wrong_type(&self, path: &[String]) -> Diagnostic {
        let source = Source::new(self.path, self.text.as_str());
        let message = if path.is_empty() {
            "this file must hold a mapping".to_owned()
        } else {
            format!("`{}` must be a mapping", path.join("."))
        };
        let at = self.find(path).ok().flatten().map_or(0, |entry| entry.start);
        Diagnostic::error(message)
            .at(&source, at..at)
            .note("make it a mapping; the file was left as it is")
    }

    fn refused_at(&self, offset: usize) -> Diagnostic {
        let source = Source::new(self.path, self.text.as_str());
        compare::refused(self.path).at(&source, offset..offset).note(PLAIN)
    }
}

/// What people can do about a layout that is refused.
const PLAIN: &str =
    "write it as plain indented mappings, one line a key, without `{}`, `&` and `*`";

/// Whether a value on the key's own line is a mapping without members, or null.
fn says_nothing(text: &str) -> bool {
    let text = text.trim();
    let null = matches!(text, "~" | "null" | "Null" | "NULL");
    null || text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .is_some_and(|inside| inside.trim().is_empty())
}

#[cfg(test)]
mod tests;
