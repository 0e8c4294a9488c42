//! Items of arrays, taken out and appended so that comments between them stay.

use std::ops::Range;

use super::syntax::Item;
use crate::documents::splice::{Splice, indent_at, line_end, newline_of};

/// Takes the item at `index` out of the array at `array`.
pub(in crate::documents) fn remove(
    text: &str,
    array: &Range<usize>,
    items: &[Item],
    index: usize,
) -> Splice {
    let Some(item) = items.get(index) else { return Splice::delete(array.end..array.end) };
    let end = item.comma.unwrap_or(item.range.end);
    let previous = index.checked_sub(1).and_then(|index| items.get(index));
    let before = previous.map_or(array.start + 1, |item| item.comma.unwrap_or(item.range.end));
    let between = &text[before..item.range.start];
    if let Some(newline) = between.rfind('\n') {
        // It has a line of its own, which goes; comments above stay.
        let head = text[..before + newline].trim_end_matches('\r').len();
        return Splice::delete(head.max(before)..end);
    }
    match (previous, items.get(index + 1)) {
        (_, Some(next)) if !text[end..next.range.start].contains('\n') => {
            Splice::delete(item.range.start..next.range.start)
        }
        (Some(previous), None) => Splice::delete(previous.range.end..item.range.end),
        _ => Splice::delete(item.range.start..end),
    }
}

/// Puts `value` last into the array at `array`.
pub(in crate::documents) fn append(
    text: &str,
    array: &Range<usize>,
    items: &[Item],
    value: &str,
) -> Vec<Splice> {
    let Some(last) = items.last() else {
        return vec![Splice::insert(array.start + 1, value)];
    };
    let previous = items.len().checked_sub(2).and_then(|index| items.get(index));
    let before = previous.map_or(array.start, |item| item.range.end);
    let own_line = text[before..last.range.start].contains('\n');
    match (own_line, last.comma) {
        (true, comma) => {
            let indent = indent_at(text, last.range.start);
            let newline = newline_of(text);
            let at = line_end(text, comma.unwrap_or(last.range.end)).min(array.end - 1);
            let tail = if comma.is_some() { "," } else { "" };
            let mut splices = Vec::new();
            if comma.is_none() {
                splices.push(Splice::insert(last.range.end, ","));
            }
            splices.push(Splice::insert(at, format!("{newline}{indent}{value}{tail}")));
            splices
        }
        (false, Some(comma)) => vec![Splice::insert(comma, format!(" {value},"))],
        (false, None) => vec![Splice::insert(last.range.end, format!(", {value}"))],
    }
}
