//! `crates`, `depends-on` and `predicates` at any level.

use std::ops::Range;

use super::context::{Context, shown};
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{CrateAtom, Gate, Predicate};
use crate::plugins::predicate::AtomError;
use crate::text::toml::{Located, Table};

/// The keys of a gate.
pub(super) const KEYS: [&str; 3] = ["crates", "depends-on", "predicates"];

/// Reads the gate of one level. What can't be read never widens it: a bad atom is dropped from its
/// list, a bad predicate does not hold, and a wrong type is an error of the entry.
pub(super) fn read(cx: &Context<'_>, table: &Table<'_>) -> Gate {
    if KEYS.iter().any(|key| table.has(key)) {
        cx.targeted.set(true);
    }
    if let (Some(_), Some(second)) = (table.key_span("crates"), table.key_span("depends-on")) {
        let message = "`crates` and `depends-on` mean the same; keep one of them";
        cx.reject(cx.problem(codes::TWO_SPELLINGS, &second, message));
    }
    let key = if table.has("depends-on") { "depends-on" } else { "crates" };
    let mut unread = None;
    let crates = table.string_or_strings(key).map(|list| {
        if list.value.is_empty() {
            let message = format!("`{}` is empty, so it never holds", table.path_of(key));
            let note = "`[\"*\"]` stands for every workspace";
            cx.advise(cx.problem(codes::EMPTY_CRATES, &list.span, message).note(note));
        }
        let atoms: Vec<_> = list.value.iter().filter_map(|item| atom(cx, item)).collect();
        // Nobody knows then which crates it is for, and it is not one that waits to be asked for.
        unread = list.value.first().filter(|_| atoms.is_empty()).map(|item| item.value.clone());
        atoms
    });
    let predicates = table.string_or_strings("predicates");
    let mut predicates: Vec<_> = predicates
        .map(|list| list.value.iter().map(|item| predicate(cx, item)).collect())
        .unwrap_or_default();
    predicates.extend(unread.map(Predicate::Unsupported));
    Gate { crates, predicates }
}

/// Reads the gate of an entry that acts by itself, and remembers if it says nothing.
pub(super) fn read_of(cx: &Context<'_>, table: &Table<'_>, what: &'static str) -> Gate {
    let gate = read(cx, table);
    if !is_given(&gate) {
        cx.ungated.borrow_mut().push((what, table.span.clone()));
    }
    gate
}

/// The gate of what names no crate.
pub(super) fn dormant() -> Gate {
    Gate { crates: Some(Vec::new()), predicates: Vec::new() }
}

/// A gate that never holds, in place of the one in `table` that can't be read: the first key that
/// `is_wrong` by its place tells people which it is.
pub(super) fn unread(
    cx: &Context<'_>,
    table: &Table<'_>,
    is_wrong: impl Fn(&Range<usize>) -> bool,
) -> Gate {
    let entries =
        KEYS.iter().filter_map(|key| Some(table.key_span(key)?.start..table.span_of(key)?.end));
    let wrong = entries.filter(is_wrong).min_by_key(|span| span.start);
    let text = wrong.and_then(|span| cx.diagnostics.source.text.get(span)).unwrap_or("crates");
    Gate { predicates: vec![Predicate::Unsupported(shown(text))], ..dormant() }
}

/// Whether the level says anything.
pub(super) fn is_given(gate: &Gate) -> bool {
    gate.crates.is_some() || !gate.predicates.is_empty()
}

fn atom(cx: &Context<'_>, item: &Located<String>) -> Option<CrateAtom> {
    match CrateAtom::parse(&item.value) {
        Ok(atom) => Some(atom),
        Err(error) => {
            let message = format!("`{}` is no crate predicate", shown(&item.value));
            let span = inner_span(cx, item, &error);
            let problem = cx.problem(codes::BAD_ATOM, &span, message).label(error.message);
            cx.diagnostics.note_loss();
            cx.tolerate(problem.note("for example `serde`, `tokio>=1.40`, `*`"));
            None
        }
    }
}

fn predicate(cx: &Context<'_>, item: &Located<String>) -> Predicate {
    match Predicate::parse(&item.value) {
        Ok(predicate) => {
            for text in predicate.unsupported() {
                let message = format!("the predicate `{}` is not supported", shown(text));
                cx.warn(
                    cx.problem(codes::UNSUPPORTED_PREDICATE, &item.span, message)
                        .remark("it is never run and counts as not holding"),
                );
            }
            predicate
        }
        Err(error) => {
            let message = format!("`{}` is no predicate", shown(&item.value));
            let span = inner_span(cx, item, &error);
            let problem = cx.problem(codes::BAD_PREDICATE, &span, message).label(error.message);
            cx.diagnostics.note_loss();
            cx.tolerate(problem.remark("it counts as not holding"));
            Predicate::Unsupported(item.value.clone())
        }
    }
}

/// The place of an error inside a string, if the string stands in the file as it is; else the
/// whole string.
pub(super) fn inner_span(
    cx: &Context<'_>,
    item: &Located<String>,
    error: &AtomError,
) -> Range<usize> {
    let (start, end) = (item.span.start + 1, item.span.end.saturating_sub(1));
    if error.offset == 0 || cx.diagnostics.source.text.get(start..end) != Some(item.value.as_str())
    {
        return item.span.clone();
    }
    let at = start + error.offset.min(item.value.len());
    at..end.max(at + 1)
}
