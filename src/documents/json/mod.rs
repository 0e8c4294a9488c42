//! JSON, with comments and last commas where their reader takes them.
//!
//! The text is parsed strictly, the pieces to replace are found by their places, and all the rest
//! is never touched. After each edit the new text is parsed again and compared with the old one:
//! outside of our entry both must say the same.

mod array;
mod edit;
mod layout;
mod syntax;

use std::path::Path;

use jsonc_parser::ast::Value as Node;
use serde_json::{Map, Value};

use super::JsonRules;
use super::compare::{self, joined};
use super::document::Editor;
use super::edited::{Created, IsOurs, Keep, Ours};
use super::splice::{Splice, apply};
use crate::text::Diagnostic;
use edit::Item;
use layout::Layout;
use syntax::{Tree, says_twice, span, to_value};

/// Small edits in a row before something must be wrong.
const MANY: usize = 10_000;

/// A JSON text being edited. All paths are keys from the root.
#[derive(Debug, Clone)]
pub(super) struct Json<'p> {
    pub path: &'p Path,
    pub text: String,
    pub rules: JsonRules,
}

impl Editor for Json<'_> {
    fn into_text(self: Box<Self>) -> String {
        self.text
    }

    fn value(&self) -> Result<Value, Diagnostic> {
        Ok(to_value(&self.tree()?.root))
    }

    fn get(&self, path: &[String]) -> Result<Option<Value>, Diagnostic> {
        let tree = self.tree()?;
        let (node, depth) = tree.walk(path)?;
        Ok((depth == path.len()).then(|| to_value(node)))
    }

    fn set(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
        keep: &Keep<'_>,
    ) -> Result<Vec<Created>, Diagnostic> {
        let before = self.clone();
        let place = joined(table, key);
        let created = match self.get(&place)? {
            None => self.insert(table, Some(key), value)?,
            Some(existing) => {
                let wanted = keep.wanted(value, &existing);
                if wanted == existing {
                    return Ok(Vec::new());
                }
                self.converge(&place, &wanted)?;
                Vec::new()
            }
        };
        self.verify_against(&before, &|value| compare::without_key(value, table, key))?;
        Ok(created)
    }

    fn remove(&mut self, table: &[String], key: &str) -> Result<bool, Diagnostic> {
        let before = self.clone();
        let tree = before.tree()?;
        let (node, depth) = tree.walk(table)?;
        if depth < table.len() {
            return Ok(false);
        }
        let Node::Object(object) = node else {
            return Err(tree.wrong_type(node, table, "an object"));
        };
        if tree.member(object, key)?.is_none() {
            return Ok(false);
        }
        let index = object.properties.iter().position(|found| found.name.as_str() == key);
        let splices = edit::remove_item(&tree, &object.into(), index.unwrap_or(usize::MAX));
        self.text = apply(&self.text, splices);
        self.verify_against(&before, &|value| compare::without_key(value, table, key))?;
        self.verify(self.get(&joined(table, key))?.is_none())?;
        Ok(true)
    }

    fn prune(&mut self, path: &[String], was: Option<&str>) -> Result<bool, Diagnostic> {
        let tree = self.tree()?;
        let (node, depth) = tree.walk(path)?;
        if depth < path.len() {
            return Ok(true);
        }
        if !is_bare(&tree, node) {
            return Ok(false);
        }
        let inside = span(node).start + 1..span(node).end - 1;
        match (was, path.split_last()) {
            (Some(was), _) => {
                if was.trim().is_empty() {
                    self.text = apply(&self.text, vec![Splice::replace(inside, was)]);
                }
                Ok(true)
            }
            (None, Some((key, table))) => self.remove(table, key),
            (None, None) => Ok(true),
        }
    }

    fn is_bare(&self) -> Result<bool, Diagnostic> {
        let tree = self.tree()?;
        Ok(is_bare(&tree, &tree.root) && !tree.has_outer_comments())
    }
}

impl Json<'_> {
    fn tree(&self) -> Result<Tree<'_>, Diagnostic> {
        Tree::parse(self.path, &self.text, self.rules)
    }

    /// The whole value; `None` where a key is there twice.
    pub fn said_once(&self) -> Result<Option<Value>, Diagnostic> {
        let tree = self.tree()?;
        let value = to_value(&tree.root);
        Ok((!says_twice(&tree.root, &value)).then_some(value))
    }

    /// Makes the array at `array` hold `entry` once and no older form of it.
    pub fn ensure_in_array(
        &mut self,
        array: &[String],
        entry: &Value,
        is_ours: IsOurs<'_>,
    ) -> Result<Vec<Created>, Diagnostic> {
        let before = self.clone();
        // What we are about to write is ours, whatever the caller makes of it.
        let is_ours: IsOurs<'_> = &|candidate| {
            let whole = candidate.group.unwrap_or(candidate.handler);
            if whole == entry { Ours::Yes } else { is_ours(candidate) }
        };
        let created = array::ensure(self, array, entry, is_ours)?;
        self.verify_against(&before, &|value| compare::without_ours(value, array, is_ours))?;
        Ok(created)
    }

    /// Takes all that is ours out of the array at `array`. Says whether there was something.
    pub fn remove_from_array(
        &mut self,
        array: &[String],
        is_ours: IsOurs<'_>,
    ) -> Result<bool, Diagnostic> {
        let before = self.clone();
        let found = array::remove(self, array, is_ours)?;
        self.verify_against(&before, &|value| compare::without_ours(value, array, is_ours))?;
        Ok(found)
    }

    /// Puts `value` where `path` leads, making what is missing on the way. With `key`, the last
    /// container is an object and `value` its member; without, an array and `value` its element.
    fn insert(
        &mut self,
        path: &[String],
        key: Option<&str>,
        value: &Value,
    ) -> Result<Vec<Created>, Diagnostic> {
        let tree = self.tree()?;
        let layout = Layout::of(&tree);
        let (node, depth) = tree.walk(path)?;
        let mut created: Vec<Created> = (depth + 1..=path.len())
            .map(|length| Created::container(&path[..length], None))
            .collect();
        let nested;
        let (container, item) = match (node, path.get(depth), key) {
            (Node::Object(object), None, Some(key)) => (object.into(), Item::Member(key, value)),
            (Node::Array(array), None, None) => (array.into(), Item::Element(value)),
            (node, None, key) => {
                let expected = if key.is_some() { "an object" } else { "an array" };
                return Err(tree.wrong_type(node, path, expected));
            }
            (Node::Object(object), Some(missing), key) => {
                let inner = match key {
                    Some(key) => object_of(key, value.clone()),
                    None => Value::Array(vec![value.clone()]),
                };
                nested =
                    path[depth + 1..].iter().rev().fold(inner, |inner, key| object_of(key, inner));
                (object.into(), Item::Member(missing, &nested))
            }
            (node, Some(_), _) => return Err(tree.wrong_type(node, &path[..depth], "an object")),
        };
        let insertion = edit::insert_last(&tree, &layout, &container, item);
        if insertion.was.is_some() {
            created.push(Created::container(&path[..depth], insertion.was));
        }
        self.text = apply(&self.text, insertion.splices);
        Ok(created)
    }

    /// Brings what stands at `path` to say `wanted`, one small edit after another.
    fn converge(&mut self, path: &[String], wanted: &Value) -> Result<(), Diagnostic> {
        for _ in 0..MANY {
            let tree = self.tree()?;
            let layout = Layout::of(&tree);
            let (node, depth) = tree.walk(path)?;
            if depth < path.len() {
                break;
            }
            match edit::step(&tree, &layout, node, wanted)? {
                Some(splices) => self.text = apply(&self.text, splices),
                None => return Ok(()),
            }
        }
        self.verify(false)
    }

    /// Whether both texts say the same once what is ours is taken out.
    fn verify_against(
        &self,
        before: &Self,
        strip: &dyn Fn(&Value) -> Value,
    ) -> Result<(), Diagnostic> {
        if self.text == before.text {
            return Ok(());
        }
        let after = self.value().map_err(|_| compare::refused(self.path))?;
        self.verify(strip(&before.value()?) == strip(&after))
    }

    /// The last line of defence: an edit that would change what is not ours is not made.
    fn verify(&self, holds: bool) -> Result<(), Diagnostic> {
        if holds { Ok(()) } else { Err(compare::refused(self.path)) }
    }
}

/// Whether `node` is an empty container without a comment in it.
fn is_bare(tree: &Tree<'_>, node: &Node<'_>) -> bool {
    let empty = match node {
        Node::Object(object) => object.properties.is_empty(),
        Node::Array(array) => array.elements.is_empty(),
        _ => false,
    };
    let range = span(node);
    empty && tree.between(range.start + 1..range.end - 1).next().is_none()
}

fn object_of(key: &str, value: Value) -> Value {
    let mut map = Map::new();
    map.insert(key.to_owned(), value);
    Value::Object(map)
}

#[cfg(test)]
mod goldens;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
