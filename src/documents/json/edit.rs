//! The small edits that all others are made of. Each gives the pieces to replace.

use jsonc_parser::ast::Value as Node;
use serde_json::Value;

use super::layout::{Layout, on_own_line};
use super::syntax::{Container, Kind, Tree, span, to_value};
use crate::documents::splice::{Splice, ends_line, indent_at};
use crate::text::Diagnostic;

/// What is put into a container.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'v> {
    /// An element of an array.
    Element(&'v Value),
    /// A member of an object.
    Member(&'v str, &'v Value),
}

impl Item<'_> {
    fn render(self, layout: &Layout, indent: &str, spread: bool) -> String {
        match self {
            Self::Element(value) => layout.render(value, indent, spread),
            Self::Member(key, value) => layout.member(key, value, indent, spread),
        }
    }
}

/// The pieces, and the white space that stood in an empty container before (for its return).
pub(super) struct Insertion {
    pub splices: Vec<Splice>,
    pub was: Option<String>,
}

/// Puts `item` last into `container`.
pub(super) fn insert_last(
    tree: &Tree<'_>,
    layout: &Layout,
    container: &Container,
    item: Item<'_>,
) -> Insertion {
    match container.items.last() {
        Some(last) => Insertion {
            splices: insert_after(tree, layout, container, last.clone(), item),
            was: None,
        },
        None => insert_first(tree, layout, container, item),
    }
}

fn insert_after(
    tree: &Tree<'_>,
    layout: &Layout,
    container: &Container,
    last: std::ops::Range<usize>,
    item: Item<'_>,
) -> Vec<Splice> {
    let close = container.range.end - 1;
    let comma_follows = tree.between(last.end..close).any(|token| token.kind == Kind::Comma);
    let anchor = tree.before(close);
    let anchor_end = anchor.map_or(last.end, |token| token.range.end).max(last.end);
    let after_line_comment = anchor.is_some_and(|token| token.kind == Kind::LineComment);
    let spread = on_own_line(tree, last.start);
    let indent = indent_at(tree.text, last.start);
    let separator = if spread || after_line_comment {
        format!("{}{indent}", layout.newline)
    } else {
        layout.gap.to_owned()
    };
    let text = item.render(layout, indent, spread);
    if comma_follows {
        return vec![Splice::insert(anchor_end, format!("{separator}{text},"))];
    }
    vec![Splice::insert(last.end, ","), Splice::insert(anchor_end, format!("{separator}{text}"))]
}

fn insert_first(
    tree: &Tree<'_>,
    layout: &Layout,
    container: &Container,
    item: Item<'_>,
) -> Insertion {
    let inside = container.range.start + 1..container.range.end - 1;
    let was = &tree.text[inside.clone()];
    let outer = indent_at(tree.text, container.range.start);
    let inner = format!("{outer}{}", layout.unit);
    if let Some(comment) = tree.between(inside.clone()).last() {
        // Comments stay where they are; we come after them.
        let spread = was.contains('\n') || comment.kind == Kind::LineComment;
        let separator =
            if spread { format!("{}{inner}", layout.newline) } else { layout.gap.to_owned() };
        let text = item.render(layout, &inner, spread);
        let splices = vec![Splice::insert(comment.range.end, format!("{separator}{text}"))];
        return Insertion { splices, was: None };
    }
    let text = if layout.one_line {
        item.render(layout, outer, false)
    } else {
        let newline = layout.newline;
        format!("{newline}{inner}{}{newline}{outer}", item.render(layout, &inner, true))
    };
    let kept = (!was.is_empty()).then(|| was.to_owned());
    Insertion { splices: vec![Splice::replace(inside, text)], was: kept }
}

/// Takes the item at `index` out of `container`; the exact inverse of [`insert_last`].
pub(super) fn remove_item(tree: &Tree<'_>, container: &Container, index: usize) -> Vec<Splice> {
    let Some(item) = container.items.get(index).cloned() else { return Vec::new() };
    let inside = container.range.start + 1..container.range.end - 1;
    let has_comments = tree
        .between(inside.clone())
        .filter(|token| token.range.end <= item.start || token.range.start >= item.end)
        .any(|token| token.kind.is_comment());
    if container.items.len() == 1 && !has_comments {
        return vec![Splice::delete(inside)];
    }
    let limit = container.items.get(index + 1).map_or(inside.end, |next| next.start);
    let own_comma = tree.between(item.end..limit).find(|token| token.kind == Kind::Comma);
    let previous_end = index.checked_sub(1).and_then(|at| container.items.get(at));
    let lent_comma = match (own_comma, previous_end) {
        (None, Some(previous)) => {
            tree.between(previous.end..item.start).find(|token| token.kind == Kind::Comma)
        }
        _ => None,
    };

    let before = tree.before(item.start);
    let mut from = before.map_or(inside.start, |token| token.range.end).max(inside.start);
    let done = own_comma.map_or(item.end, |comma| comma.range.end);
    let comment_beside = tree
        .between(item.end..inside.end)
        .find(|token| token.kind != Kind::Comma)
        .is_some_and(|token| {
            token.kind.is_comment() && !tree.text[item.end..token.range.start].contains('\n')
        });
    let would_be_swallowed =
        before.is_some_and(|token| token.kind == Kind::LineComment) && !ends_line(tree.text, done);
    if comment_beside || would_be_swallowed {
        from = item.start;
    }
    if let (Some(comma), Some(next)) = (own_comma, container.items.get(index + 1))
        && index == 0
        && from == item.start
        && !comment_beside
        && tree.text[comma.range.end..next.start].bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    {
        // The first on a line shared with the next, which takes its place.
        return vec![Splice::delete(from..next.start)];
    }
    let mut splices = vec![Splice::delete(from..item.end)];
    splices.extend(own_comma.or(lent_comma).map(|comma| Splice::delete(comma.range.clone())));
    splices
}

/// Puts `value` in the place of `node`, spread over lines unless `node` was a one-line container.
pub(super) fn replace(
    tree: &Tree<'_>,
    layout: &Layout,
    node: &Node<'_>,
    value: &Value,
) -> Vec<Splice> {
    let range = span(node);
    let container = matches!(node, Node::Object(_) | Node::Array(_));
    let flat = container && range.len() > 2 && !tree.text[range.clone()].contains('\n');
    let indent = indent_at(tree.text, range.start).to_owned();
    let spread = !flat && !layout.one_line;
    vec![Splice::replace(range, layout.render(value, &indent, spread))]
}

/// The next small edit on the way from `node` to `wanted`; `None` when it is equal.
///
/// What is equal inside is not touched, so that comments and order survive.
pub(super) fn step(
    tree: &Tree<'_>,
    layout: &Layout,
    node: &Node<'_>,
    wanted: &Value,
) -> Result<Option<Vec<Splice>>, Diagnostic> {
    match (node, wanted) {
        (Node::Object(object), Value::Object(members)) => {
            for (index, property) in object.properties.iter().enumerate() {
                let name = property.name.as_str();
                tree.member(object, name)?;
                match members.get(name) {
                    Some(value) => {
                        let inner = step(tree, layout, &property.value, value)?;
                        if inner.is_some() {
                            return Ok(inner);
                        }
                    }
                    None => return Ok(Some(remove_item(tree, &object.into(), index))),
                }
            }
            for (key, value) in members {
                if tree.member(object, key)?.is_none() {
                    let item = Item::Member(key, value);
                    return Ok(Some(insert_last(tree, layout, &object.into(), item).splices));
                }
            }
            Ok(None)
        }
        (Node::Array(array), Value::Array(items)) => {
            for (element, value) in array.elements.iter().zip(items) {
                let inner = step(tree, layout, element, value)?;
                if inner.is_some() {
                    return Ok(inner);
                }
            }
            if let Some(value) = items.get(array.elements.len()) {
                let item = Item::Element(value);
                return Ok(Some(insert_last(tree, layout, &array.into(), item).splices));
            }
            if array.elements.len() > items.len() {
                return Ok(Some(remove_item(tree, &array.into(), array.elements.len() - 1)));
            }
            Ok(None)
        }
        _ if to_value(node) == *wanted => Ok(None),
        _ => Ok(Some(replace(tree, layout, node, wanted))),
    }
}
