//! How a JSON file is laid out, and writing values in that manner.

use jsonc_parser::ast::Value as Node;
use serde_json::Value;

use super::syntax::{Container, Kind, Tree, span};
use crate::documents::splice::{indent_at, newline_of};

/// The manner of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// One step of indentation.
    pub unit: String,
    /// `\n` or `\r\n`.
    pub newline: &'static str,
    /// What stands between a colon or comma and what follows on its line: a blank or nothing.
    pub gap: &'static str,
    /// Whether everything stands on one line.
    pub one_line: bool,
}

impl Layout {
    /// The manner of `tree`; two blanks and a blank after colons where nothing shows.
    pub(super) fn of(tree: &Tree<'_>) -> Self {
        let text = tree.text;
        let mut colons = tree.tokens().iter().filter(|token| token.kind == Kind::Colon).peekable();
        let tight = colons.peek().is_some()
            && colons.all(|colon| {
                !text[colon.range.end..].starts_with(|c: char| c.is_ascii_whitespace())
            });
        let root = span(&tree.root);
        let filled = match &tree.root {
            Node::Object(object) => !object.properties.is_empty(),
            Node::Array(array) => !array.elements.is_empty(),
            _ => true,
        };
        Self {
            unit: unit_in(tree, &tree.root).unwrap_or_else(|| "  ".to_owned()),
            newline: newline_of(text),
            gap: if tight { "" } else { " " },
            one_line: filled && !text[root].contains('\n'),
        }
    }

    /// `value` as text; `indent` is the indentation of the line it starts on.
    pub(super) fn render(&self, value: &Value, indent: &str, spread: bool) -> String {
        let mut text = String::new();
        self.write(&mut text, value, indent, spread);
        text
    }

    /// `"key": value` as text.
    pub(super) fn member(&self, key: &str, value: &Value, indent: &str, spread: bool) -> String {
        let key = Value::String(key.to_owned());
        format!("{key}:{}{}", self.gap, self.render(value, indent, spread))
    }

    fn write(&self, text: &mut String, value: &Value, indent: &str, spread: bool) {
        let (open, close, count) = match value {
            Value::Array(items) => ('[', ']', items.len()),
            Value::Object(members) => ('{', '}', members.len()),
            scalar => {
                text.push_str(&scalar.to_string());
                return;
            }
        };
        text.push(open);
        let inner = format!("{indent}{}", self.unit);
        let separate = |text: &mut String, index: usize| {
            if index > 0 {
                text.push(',');
            }
            if spread {
                text.push_str(self.newline);
                text.push_str(&inner);
            } else if index > 0 {
                text.push_str(self.gap);
            }
        };
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    separate(text, index);
                    self.write(text, item, &inner, spread);
                }
            }
            Value::Object(members) => {
                for (index, (key, item)) in members.iter().enumerate() {
                    separate(text, index);
                    text.push_str(&self.member(key, item, &inner, spread));
                }
            }
            _ => {}
        }
        if spread && count > 0 {
            text.push_str(self.newline);
            text.push_str(indent);
        }
        text.push(close);
    }
}

/// Whether an item starts its line: nothing but comments between the last token before and it.
pub(super) fn on_own_line(tree: &Tree<'_>, item_start: usize) -> bool {
    let mut end = item_start;
    while let Some(token) = tree.before(end) {
        if !token.kind.is_comment() {
            return tree.text[token.range.end..item_start].contains('\n');
        }
        end = token.range.start;
    }
    tree.text[..item_start].contains('\n')
}

/// The first step of indentation that shows, outermost first.
fn unit_in(tree: &Tree<'_>, node: &Node<'_>) -> Option<String> {
    let (container, children): (Container, Vec<&Node<'_>>) = match node {
        Node::Array(array) => (array.into(), array.elements.iter().collect()),
        Node::Object(object) => {
            (object.into(), object.properties.iter().map(|property| &property.value).collect())
        }
        _ => return None,
    };
    let outer = indent_at(tree.text, container.range.start);
    let own = container.items.iter().find(|item| on_own_line(tree, item.start)).and_then(|item| {
        let unit = indent_at(tree.text, item.start).strip_prefix(outer)?;
        (!unit.is_empty()).then(|| unit.to_owned())
    });
    own.or_else(|| children.into_iter().find_map(|child| unit_in(tree, child)))
}
