//! Where things stand in a TOML text, and the pieces to replace to put them in or take them out.

use std::ops::Range;

use serde_json::Value;

use super::syntax::{Assignment, Section, sections};
use super::values::{dotted, inline, key_text};
use crate::documents::compare::joined;
use crate::documents::edited::Created;
use crate::documents::editor::{made_below, nested};
use crate::documents::splice::{
    Splice, delete_lines, indent_at, insert_below, line_start, newline_of, next_line,
};

/// What says a value.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// One assignment, in a section or in an inline table.
    Value(Assignment),
    /// A section of its own.
    Section(Section),
    /// Assignments with dotted keys in one section: that section, the last of them, and how many
    /// keys of theirs lead to the table.
    Dotted { last: Assignment, keys: Vec<String> },
    /// Headers of deeper tables only.
    Implied,
}

/// The piece, and what it creates.
pub(super) struct Insertion {
    pub splice: Splice,
    pub created: Vec<Created>,
}

/// What says the value at `path`; the whole text for no path. `None` when nothing does.
pub(super) fn locate(sections: &[Section], path: &[String]) -> Option<Place> {
    let mut implied = None;
    for section in sections.iter().filter(|section| !section.array) {
        if section.path == path {
            return Some(Place::Section(section.clone()));
        }
        if section.path.starts_with(path) {
            implied = Some(Place::Implied);
        }
    }
    for section in sections.iter().filter(|section| !section.array) {
        let Some(rest) = path.strip_prefix(section.path.as_slice()) else { continue };
        if let Some(found) = among(&section.assignments, rest) {
            return Some(found);
        }
    }
    implied
}

/// What among `assignments` says the value at `rest`.
fn among(assignments: &[Assignment], rest: &[String]) -> Option<Place> {
    let mut dotted = None;
    for assignment in assignments {
        if assignment.keys == rest {
            return Some(Place::Value(assignment.clone()));
        }
        if assignment.keys.starts_with(rest) {
            dotted = Some(Place::Dotted { last: assignment.clone(), keys: rest.to_vec() });
        }
        if let (Some(inner), Some(members)) =
            (rest.strip_prefix(assignment.keys.as_slice()), &assignment.members)
            && let Some(found) = among(members, inner)
        {
            return Some(found);
        }
    }
    dotted
}

/// Where to point when something is wrong with what stands at `path`.
pub(super) fn span_of(sections: &[Section], path: &[String]) -> Option<Range<usize>> {
    match locate(sections, path) {
        Some(Place::Value(found)) => Some(found.start..found.value.end),
        Some(Place::Section(found)) => found.header,
        Some(Place::Dotted { last, .. }) => Some(last.start..last.value.end),
        Some(Place::Implied) | None => sections
            .iter()
            .find(|section| section.path.starts_with(path))
            .and_then(|section| section.header.clone()),
    }
}

/// Puts `key` into the table at `table`, which lacks it. With `own_section`, a table gets a header
/// of its own where the file's manner allows.
pub(super) fn insert(
    text: &str,
    table: &[String],
    key: &str,
    value: &Value,
    own_section: bool,
) -> Insertion {
    let all = sections(text);
    let own_section = own_section && value.is_object() && !table.is_empty();
    let depth = (0..=table.len())
        .rev()
        .find(|depth| *depth == 0 || locate(&all, &table[..*depth]).is_some())
        .unwrap_or(0);
    let is_there = depth == table.len();
    let pair = |keys: &[String]| format!("{} = {}", dotted(keys), inline(value));
    let (splice, created) = match locate(&all, &table[..depth]) {
        Some(Place::Value(Assignment { value: range, members: Some(members), .. })) => {
            return insert_inline(text, &range, &members, (table, depth), key, value);
        }
        Some(Place::Dotted { last, keys }) if is_there => {
            (after_line(text, last.start, last.value.end, &pair(&joined(&keys, key))), Vec::new())
        }
        Some(Place::Section(section)) if is_there && !own_section => {
            (into_section(text, &all, &section, &pair(&[key.to_owned()])), Vec::new())
        }
        _ => {
            let family = table.get(..1.max(depth)).unwrap_or_default();
            let (lines, created) = match value {
                Value::Object(members) if own_section => {
                    let header = format!("[{}]", dotted(&joined(table, key)));
                    let members = members
                        .iter()
                        .map(|(key, value)| format!("{} = {}", key_text(key), inline(value)));
                    (std::iter::once(header).chain(members).collect(), Vec::new())
                }
                _ => {
                    let lines = vec![format!("[{}]", dotted(table)), pair(&[key.to_owned()])];
                    (lines, vec![Created::container(table, None)])
                }
            };
            (append_section(text, &all, family, &lines), created)
        }
    };
    Insertion { splice, created }
}

/// As [`insert`], where the first `depth` keys of `table` lead to an inline table with `members`:
/// inside of one, everything must be inline.
fn insert_inline(
    text: &str,
    range: &Range<usize>,
    members: &[Assignment],
    (table, depth): (&[String], usize),
    key: &str,
    value: &Value,
) -> Insertion {
    let keys = joined(&table[depth..], key);
    let value = nested(&keys[1..], value.clone());
    let pair = format!("{} = {}", key_text(&keys[0]), inline(&value));
    let mut created = made_below(depth, table);
    let inside = range.start + 1..range.end - 1;
    let splice = match members.last() {
        Some(last) => Splice::insert(last.value.end, format!(", {pair}")),
        None => {
            if !inside.is_empty() {
                let was = text[inside.clone()].to_owned();
                created.push(Created::container(&table[..depth], Some(was)));
            }
            Splice::replace(inside, format!(" {pair} "))
        }
    };
    Insertion { splice, created }
}

/// Puts a section after the last one of its family, or last into the text; a blank line between.
pub(in crate::documents) fn append_section(
    text: &str,
    all: &[Section],
    family: &[String],
    lines: &[String],
) -> Splice {
    let newline = newline_of(text);
    let block = lines.join(newline);
    let last = all
        .iter()
        .rposition(|section| section.header.is_some() && section.path.starts_with(family));
    let next = last.and_then(|last| all.get(last + 1)).and_then(|next| next.header.clone());
    let limit = match next {
        Some(next) => comments_above(text, next.start),
        None => text.len(),
    };
    let head = text[..limit].trim_end();
    if head.is_empty() {
        let gap = if text[limit..].trim().is_empty() { "" } else { newline };
        return Splice::insert(limit, format!("{block}{newline}{gap}"));
    }
    insert_below(text, head.len(), newline, &format!("{newline}{block}"))
}

/// The inverse of [`append_section`]: the section's lines and the blank line before them.
pub(in crate::documents) fn remove_section(text: &str, section: &Section) -> Splice {
    let start = line_start(text, section.start());
    let above = start.checked_sub(1).map_or(start, |end| line_start(text, end));
    let blank = matches!(&text[above..start], "\n" | "\r\n");
    let mut end = section.end();
    let below = next_line(text, end);
    if start == 0 && text[below..].trim_start_matches('\r').starts_with('\n') {
        // At the top of the file, the blank line below goes instead.
        end = below;
    }
    delete_lines(text, if blank { above } else { start }, end)
}

/// The start of the comment lines that stand directly above `offset`'s line.
fn comments_above(text: &str, offset: usize) -> usize {
    let mut start = line_start(text, offset);
    while start > 0 {
        let above = line_start(text, start - 1);
        if !text[above..start].trim_start().starts_with('#') {
            break;
        }
        start = above;
    }
    start
}

fn after_line(text: &str, start: usize, end: usize, line: &str) -> Splice {
    let indent = indent_at(text, start);
    insert_below(text, end, newline_of(text), &format!("{indent}{line}"))
}

/// Puts a line last into a section.
fn into_section(text: &str, all: &[Section], section: &Section, line: &str) -> Splice {
    if let Some(last) = section.assignments.last() {
        return after_line(text, last.start, last.value.end, line);
    }
    if let Some(header) = &section.header {
        return after_line(text, header.start, header.end, line);
    }
    // Nothing but comments before the first header.
    let newline = newline_of(text);
    let first = all.iter().find_map(|section| section.header.clone());
    let limit = first.map_or(text.len(), |header| comments_above(text, header.start));
    let head = text[..limit].trim_end();
    if head.is_empty() {
        let gap = if text[limit..].trim().is_empty() { "" } else { newline };
        return Splice::insert(limit, format!("{line}{newline}{gap}"));
    }
    insert_below(text, head.len(), newline, &format!("{newline}{line}"))
}

/// Takes out one piece of what stands at `path`; `None` when there is nothing any more.
pub(super) fn remove_one(text: &str, all: &[Section], path: &[String]) -> Option<Splice> {
    if path.is_empty() {
        return None;
    }
    if let Some(section) = all.iter().rev().find(|section| section.path.starts_with(path)) {
        return Some(remove_section(text, section));
    }
    for section in all.iter().filter(|section| !section.array) {
        let Some(rest) = path.strip_prefix(section.path.as_slice()) else { continue };
        for assignment in section.assignments.iter().rev() {
            if assignment.keys.starts_with(rest) {
                let start = line_start(text, assignment.start);
                return Some(delete_lines(text, start, assignment.value.end));
            }
            if let Some(inner) = rest.strip_prefix(assignment.keys.as_slice())
                && let Some(splice) = out_of_inline(assignment, inner)
            {
                return Some(splice);
            }
        }
    }
    None
}

fn out_of_inline(table: &Assignment, rest: &[String]) -> Option<Splice> {
    let members = table.members.as_ref()?;
    for (index, member) in members.iter().enumerate() {
        if !member.keys.starts_with(rest) {
            if let Some(inner) = rest.strip_prefix(member.keys.as_slice())
                && let Some(splice) = out_of_inline(member, inner)
            {
                return Some(splice);
            }
            continue;
        }
        let previous = index.checked_sub(1).and_then(|index| members.get(index));
        return Some(match (previous, members.get(index + 1)) {
            (_, Some(next)) => Splice::delete(member.start..next.start),
            (Some(previous), None) => Splice::delete(previous.value.end..member.value.end),
            (None, None) => Splice::delete(table.value.start + 1..table.value.end - 1),
        });
    }
    None
}
