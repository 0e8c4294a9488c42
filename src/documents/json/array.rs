//! Arrays of hooks: matcher groups `{matcher?, hooks: [handler…]}`, or handlers themselves.

use jsonc_parser::ast::{Array, Object, Value as Node};
use serde_json::Value;

use super::layout::Layout;
use super::syntax::{Tree, to_value};
use super::{Json, MANY, edit};
use crate::documents::edited::{Classify, Created, HANDLERS, HandlerState, Met};
use crate::documents::editor::Editor as _;
use crate::documents::splice::apply;
use crate::text::Diagnostic;

/// Where a handler stands: the item of the array, and the handler in that group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    item: usize,
    handler: Option<usize>,
}

/// A handler that is ours.
struct Found {
    spot: Spot,
    state: HandlerState,
    /// Whether the item holds nothing that is not ours to change.
    alone: bool,
    /// Whether the handler, and its group's other keys, are as wanted.
    right: bool,
}

/// See [`crate::documents::Document::ensure_in_array`].
pub(super) fn ensure(
    json: &mut Json<'_>,
    path: &[String],
    entry: &Value,
    classify: Classify<'_>,
) -> Result<Vec<Created>, Diagnostic> {
    let found = find(json, path, Some(entry), classify)?;
    let edited = found.iter().any(|found| found.state == HandlerState::Edited);
    let own = || found.iter().filter(|found| found.state == HandlerState::Own);
    // A right one stays; else the first that can be mended where it is. A handler in a group that
    // is the user's, with another matcher, can't: it goes, and ours comes last.
    let keeper = own().find(|found| found.right).or_else(|| {
        let wanted_group = entry.get(HANDLERS).is_some();
        own().find(|found| {
            !edited && (found.alone || (wanted_group && same_group(json, path, found, entry)))
        })
    });
    let keeper = keeper.map(|found| (found.spot, found.alone, found.right));
    let mut kept = keeper.map(|(spot, _, _)| spot);
    let doomed: Vec<Spot> =
        own().map(|found| found.spot).filter(|spot| Some(*spot) != kept).collect();
    for spot in doomed.into_iter().rev() {
        let dropped_item = take_out(json, path, spot)?;
        if let Some(kept) = &mut kept {
            shift(kept, spot, dropped_item);
        }
    }
    match (kept, keeper) {
        (Some(_), Some((_, _, true))) => Ok(Vec::new()),
        (Some(spot), Some((_, alone, false))) => {
            mend(json, path, spot, alone, entry)?;
            Ok(Vec::new())
        }
        _ if edited => Ok(Vec::new()),
        _ => json.put(path, None, entry),
    }
}

/// See [`crate::documents::Document::remove_from_array`].
pub(super) fn remove(
    json: &mut Json<'_>,
    path: &[String],
    classify: Classify<'_>,
) -> Result<bool, Diagnostic> {
    let found = find(json, path, None, classify)?;
    let ours: Vec<Spot> = found
        .iter()
        .filter(|found| found.state == HandlerState::Own)
        .map(|found| found.spot)
        .collect();
    for spot in ours.iter().rev() {
        take_out(json, path, *spot)?;
    }
    Ok(!ours.is_empty())
}

/// Our handlers in the order of the file.
fn find(
    json: &Json<'_>,
    path: &[String],
    entry: Option<&Value>,
    classify: Classify<'_>,
) -> Result<Vec<Found>, Diagnostic> {
    let tree = json.tree()?;
    let Some(array) = array_at(&tree, path)? else { return Ok(Vec::new()) };
    let wanted_handlers = entry.and_then(|entry| entry.get(HANDLERS)).and_then(Value::as_array);
    let (mut all, mut met) = (Vec::new(), Met::default());
    for (item, node) in array.elements.iter().enumerate() {
        let value = to_value(node);
        let Some(handlers) = handlers_of(&tree, node)? else {
            let state = classify(&met.next(&value, None));
            if state != HandlerState::Foreign {
                let right = entry == Some(&value);
                all.push(Found { spot: Spot { item, handler: None }, state, alone: true, right });
            }
            continue;
        };
        let states: Vec<HandlerState> = handlers
            .elements
            .iter()
            .map(|handler| classify(&met.next(&to_value(handler), Some(&value))))
            .collect();
        let alone = states.iter().all(|state| *state == HandlerState::Own);
        let same = entry.is_some_and(|entry| same_but_handlers(&value, entry));
        for (index, state) in states.into_iter().enumerate() {
            if state == HandlerState::Foreign {
                continue;
            }
            let handler = handlers.elements.get(index).map(to_value);
            let right = same
                && wanted_handlers
                    .is_some_and(|wanted| wanted.len() == 1 && wanted.first() == handler.as_ref());
            let spot = Spot { item, handler: Some(index) };
            all.push(Found { spot, state, alone, right });
        }
    }
    Ok(all)
}

/// Takes one handler out, with its group when nothing else is in it. Says whether the item went.
fn take_out(json: &mut Json<'_>, path: &[String], spot: Spot) -> Result<bool, Diagnostic> {
    let tree = json.tree()?;
    let Some(array) = array_at(&tree, path)? else { return Ok(false) };
    let Some(node) = array.elements.get(spot.item) else { return Ok(false) };
    let handlers = match spot.handler {
        Some(_) => handlers_of(&tree, node)?,
        None => None,
    };
    let (splices, dropped) = match (handlers, spot.handler) {
        (Some(handlers), Some(index)) if handlers.elements.len() > 1 => {
            (edit::remove_item(&tree, &handlers.into(), index), false)
        }
        _ => (edit::remove_item(&tree, &array.into(), spot.item), true),
    };
    json.text = apply(&json.text, splices);
    Ok(dropped)
}

/// Where `kept` is after the handler at `gone` was taken out.
fn shift(kept: &mut Spot, gone: Spot, dropped_item: bool) {
    if dropped_item && gone.item < kept.item {
        kept.item -= 1;
    } else if !dropped_item
        && gone.item == kept.item
        && let (Some(kept), Some(gone)) = (&mut kept.handler, gone.handler)
        && gone < *kept
    {
        *kept -= 1;
    }
}

/// Brings the entry at `spot` to say `entry`, where it stands.
fn mend(
    json: &mut Json<'_>,
    path: &[String],
    spot: Spot,
    alone: bool,
    entry: &Value,
) -> Result<(), Diagnostic> {
    let handler = entry.get(HANDLERS).and_then(|handlers| handlers.get(0));
    for _ in 0..MANY {
        let tree = json.tree()?;
        let layout = Layout::of(&tree);
        let Some(array) = array_at(&tree, path)? else { break };
        let Some(node) = array.elements.get(spot.item) else { break };
        let step = match (alone, handlers_of(&tree, node)?, spot.handler, handler) {
            (false, Some(handlers), Some(index), Some(handler)) => {
                let Some(node) = handlers.elements.get(index) else { break };
                edit::step(&tree, &layout, node, handler)?
            }
            _ => edit::step(&tree, &layout, node, entry)?,
        };
        match step {
            Some(splices) => json.text = apply(&json.text, splices),
            None => return Ok(()),
        }
    }
    Err(json.refused())
}

fn same_group(json: &Json<'_>, path: &[String], found: &Found, entry: &Value) -> bool {
    let Ok(Some(Value::Array(items))) = json.get(path) else { return false };
    items.get(found.spot.item).is_some_and(|item| same_but_handlers(item, entry))
}

/// Whether two groups are equal in all but their handlers.
fn same_but_handlers(group: &Value, entry: &Value) -> bool {
    let (Value::Object(group), Value::Object(entry)) = (group, entry) else { return false };
    let others = |map: &serde_json::Map<String, Value>| {
        let mut map = map.clone();
        map.shift_remove(HANDLERS);
        map
    };
    others(group) == others(entry)
}

fn array_at<'t, 'a>(
    tree: &'t Tree<'a>,
    path: &[String],
) -> Result<Option<&'t Array<'a>>, Diagnostic> {
    let (node, depth) = tree.walk(path)?;
    if depth < path.len() {
        return Ok(None);
    }
    match node {
        Node::Array(array) => Ok(Some(array)),
        node => Err(tree.wrong_type(node, path, "an array")),
    }
}

/// The handlers of a matcher group; `None` when `node` is none.
fn handlers_of<'t, 'a>(
    tree: &'t Tree<'a>,
    node: &'t Node<'a>,
) -> Result<Option<&'t Array<'a>>, Diagnostic> {
    let Node::Object(object) = node else { return Ok(None) };
    let object: &'t Object<'a> = object;
    Ok(match tree.member(object, HANDLERS)?.map(|member| &member.value) {
        Some(Node::Array(handlers)) => Some(handlers),
        _ => None,
    })
}
