//! JSON, with comments and last commas where their reader takes them.
//!
//! The text is parsed strictly, the pieces to replace are found by their places, and all the rest
//! is never touched. After each edit the new text is parsed again and compared with the old one:
//! outside of our entry both must say the same.
//!
//! `jsonc-parser` has a tree that can be edited, too (its `cst`). It is not used, since an entry that
//! comes and goes must leave the user's bytes behind, and there it does not: `{\n}` comes back as
//! `{}`, and objects on one line are spread over several (`empty-container` and `one-line` among
//! the cases in `tests/fixtures/documents`).

mod array;
mod edit;
mod layout;
mod syntax;

use std::path::Path;

use jsonc_parser::ast::Value as Node;
use serde_json::Value;

use super::JsonRules;
use super::compare;
use super::edited::{Classify, Created, HandlerState};
use super::editor::{self, Editor, Emptiness, made_below};
use super::splice::{Splice, apply};
use crate::text::Diagnostic;
use edit::Item;
use layout::Layout;
pub(crate) use syntax::text_has_duplicate_keys;
use syntax::{Tree, has_duplicate_keys, span, to_value};

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

    fn unique_value(&self) -> Result<Option<Value>, Diagnostic> {
        let tree = self.tree()?;
        let value = to_value(&tree.root);
        Ok((!has_duplicate_keys(&tree.root, &value)).then_some(value))
    }

    fn get(&self, path: &[String]) -> Result<Option<Value>, Diagnostic> {
        let tree = self.tree()?;
        let (node, depth) = tree.walk(path)?;
        Ok((depth == path.len()).then(|| to_value(node)))
    }

    fn insert(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
    ) -> Result<Vec<Created>, Diagnostic> {
        self.put(table, Some(key), value)
    }

    /// Brings what stands at `place` to say `wanted`, one small edit after another.
    fn update(&mut self, place: &[String], _: &Value, wanted: &Value) -> Result<(), Diagnostic> {
        for _ in 0..MANY {
            let tree = self.tree()?;
            let layout = Layout::of(&tree);
            let (node, depth) = tree.walk(place)?;
            if depth < place.len() {
                break;
            }
            match edit::step(&tree, &layout, node, wanted)? {
                Some(splices) => self.text = apply(&self.text, splices),
                None => return Ok(()),
            }
        }
        Err(self.refused())
    }

    fn delete(&mut self, place: &[String]) -> Result<(), Diagnostic> {
        let Some((key, table)) = place.split_last() else { return Ok(()) };
        let tree = self.tree()?;
        if let (Node::Object(object), _) = tree.walk(table)?
            && let Some(index) =
                object.properties.iter().position(|found| found.name.as_str() == key)
        {
            let splices = edit::remove_item(&tree, &object.into(), index);
            self.text = apply(&self.text, splices);
        }
        Ok(())
    }

    fn empty(&mut self, path: &[String], was: Option<&str>) -> Result<Emptiness, Diagnostic> {
        let tree = self.tree()?;
        let (node, depth) = tree.walk(path)?;
        if depth < path.len() {
            return Ok(Emptiness::Done);
        }
        if !is_bare(&tree, node) {
            return Ok(Emptiness::InUse);
        }
        let Some(was) = was else { return Ok(Emptiness::Removable) };
        if was.trim().is_empty() {
            let inside = span(node).start + 1..span(node).end - 1;
            self.text = apply(&self.text, vec![Splice::replace(inside, was)]);
        }
        Ok(Emptiness::Done)
    }

    fn ensure_in_array(
        &mut self,
        array: &[String],
        entry: &Value,
        classify: Classify<'_>,
    ) -> Result<Vec<Created>, Diagnostic> {
        let before = self.clone();
        // What we are about to write is ours, whatever the caller makes of it.
        let classify: Classify<'_> = &|candidate| {
            let whole = candidate.group.unwrap_or(candidate.handler);
            if whole == entry { HandlerState::Own } else { classify(candidate) }
        };
        let created = array::ensure(self, array, entry, classify)?;
        self.verify_against(&before, &|value| compare::without_ours(value, array, classify))?;
        Ok(created)
    }

    fn remove_from_array(
        &mut self,
        array: &[String],
        classify: Classify<'_>,
    ) -> Result<bool, Diagnostic> {
        let before = self.clone();
        let found = array::remove(self, array, classify)?;
        self.verify_against(&before, &|value| compare::without_ours(value, array, classify))?;
        Ok(found)
    }

    fn is_bare(&self) -> Result<bool, Diagnostic> {
        let tree = self.tree()?;
        Ok(is_bare(&tree, &tree.root) && !tree.has_outer_comments())
    }

    fn refused(&self) -> Diagnostic {
        compare::refused(self.path)
    }
}

impl Json<'_> {
    fn tree(&self) -> Result<Tree<'_>, Diagnostic> {
        Tree::parse(self.path, &self.text, self.rules)
    }

    /// Puts `value` where `path` leads, making what is missing on the way. With `key`, the last
    /// container is an object and `value` its member; without, an array and `value` its element.
    fn put(
        &mut self,
        path: &[String],
        key: Option<&str>,
        value: &Value,
    ) -> Result<Vec<Created>, Diagnostic> {
        let tree = self.tree()?;
        let layout = Layout::of(&tree);
        let (node, depth) = tree.walk(path)?;
        let mut created = made_below(depth, path);
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
                    Some(key) => editor::nested(&[key.to_owned()], value.clone()),
                    None => Value::Array(vec![value.clone()]),
                };
                nested = editor::nested(&path[depth + 1..], inner);
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

    /// Refuses the edit unless both texts say the same once what is ours is taken out.
    fn verify_against(
        &self,
        before: &Self,
        strip: &dyn Fn(&Value) -> Value,
    ) -> Result<(), Diagnostic> {
        if self.text == before.text {
            return Ok(());
        }
        let after = self.value().map_err(|_| compare::refused(self.path))?;
        if strip(&before.value()?) == strip(&after) { Ok(()) } else { Err(self.refused()) }
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

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
