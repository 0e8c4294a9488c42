//! TOML text as sections and assignments, with the place of each.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};

/// Deeper nesting than this is refused before we come here.
const DEPTH: u32 = 100;

/// `key = value`, at the top or in an inline table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::documents) struct Assignment {
    /// The keys as written, dotted ones in parts.
    pub keys: Vec<String>,
    /// Where the first key starts.
    pub start: usize,
    /// Where the value stands.
    pub value: Range<usize>,
    /// The members, when the value is an inline table.
    pub members: Option<Vec<Assignment>>,
    /// The items, when the value is an array.
    pub items: Option<Vec<Item>>,
}

/// An item of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::documents) struct Item {
    /// Where it stands.
    pub range: Range<usize>,
    /// Where the comma after it ends.
    pub comma: Option<usize>,
}

/// A header and what follows it up to the next; the first section has no header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::documents) struct Section {
    /// The keys in the header.
    pub path: Vec<String>,
    /// Whether it is an element of an array of tables, `[[x]]`.
    pub array: bool,
    /// The header with its brackets.
    pub header: Option<Range<usize>>,
    /// What it holds.
    pub assignments: Vec<Assignment>,
}

impl Section {
    /// Where it starts: the header, or the beginning of the text.
    pub fn start(&self) -> usize {
        self.header.as_ref().map_or(0, |header| header.start)
    }

    /// Where its last header or value ends.
    pub fn end(&self) -> usize {
        let header = self.header.as_ref().map_or(0, |header| header.end);
        self.assignments.last().map_or(header, |last| last.value.end)
    }
}

/// The sections of `text`, which must have been found sound before.
pub(in crate::documents) fn sections(text: &str) -> Vec<Section> {
    let source = Source::new(text);
    let tokens: Vec<_> = source.lex().collect();
    let mut events: Vec<Event> = Vec::new();
    let mut guard = RecursionGuard::new(&mut events, DEPTH);
    parse_document(&tokens, &mut guard, &mut ());
    let events: Vec<Event> = events
        .into_iter()
        .filter(|event| {
            !matches!(event.kind(), EventKind::Whitespace | EventKind::Comment | EventKind::Newline)
        })
        .collect();
    Reader { source, events, next: 0 }.sections()
}

struct Reader<'s> {
    source: Source<'s>,
    events: Vec<Event>,
    next: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<EventKind> {
        self.events.get(self.next).map(Event::kind)
    }

    fn take(&mut self) -> Option<Event> {
        let event = self.events.get(self.next).copied();
        self.next += 1;
        event
    }

    fn sections(mut self) -> Vec<Section> {
        let mut sections = vec![Section::default()];
        while let Some(kind) = self.peek() {
            match kind {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                    let start = self.take().map_or(0, |event| event.span().start());
                    let path = self.keys();
                    let end = self.take().map_or(start, |event| event.span().end());
                    sections.push(Section {
                        path,
                        array: kind == EventKind::ArrayTableOpen,
                        header: Some(start..end),
                        assignments: Vec::new(),
                    });
                }
                EventKind::SimpleKey => {
                    let assignment = self.assignment();
                    if let Some(section) = sections.last_mut() {
                        section.assignments.push(assignment);
                    }
                }
                _ => self.next += 1,
            }
        }
        sections
    }

    fn keys(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        while let Some(EventKind::SimpleKey | EventKind::KeySep) = self.peek() {
            let Some(event) = self.take() else { break };
            if event.kind() == EventKind::SimpleKey
                && let Some(raw) = self.source.get(event)
            {
                let mut key = String::new();
                raw.decode_key(&mut key, &mut ());
                keys.push(key);
            }
        }
        keys
    }

    fn assignment(&mut self) -> Assignment {
        let start = self.events.get(self.next).map_or(0, |event| event.span().start());
        let keys = self.keys();
        if self.peek() == Some(EventKind::KeyValSep) {
            self.next += 1;
        }
        let Parsed { range: value, members, items } = self.value();
        Assignment { keys, start, value, members, items }
    }

    fn value(&mut self) -> Parsed {
        let Some(first) = self.take() else { return Parsed::default() };
        let start = first.span().start();
        match first.kind() {
            EventKind::InlineTableOpen => {
                let mut members = Vec::new();
                loop {
                    match self.peek() {
                        Some(EventKind::SimpleKey) => members.push(self.assignment()),
                        Some(EventKind::InlineTableClose) | None => break,
                        Some(_) => self.next += 1,
                    }
                }
                let end = self.take().map_or(start, |event| event.span().end());
                Parsed { range: start..end, members: Some(members), items: None }
            }
            EventKind::ArrayOpen => {
                let mut items: Vec<Item> = Vec::new();
                loop {
                    match self.peek() {
                        Some(EventKind::ArrayClose) | None => break,
                        Some(EventKind::ValueSep) => {
                            let comma = self.take().map(|event| event.span().end());
                            if let Some(last) = items.last_mut() {
                                last.comma = comma;
                            }
                        }
                        Some(_) => items.push(Item { range: self.value().range, comma: None }),
                    }
                }
                let end = self.take().map_or(start, |event| event.span().end());
                Parsed { range: start..end, members: None, items: Some(items) }
            }
            _ => Parsed { range: start..first.span().end(), ..Parsed::default() },
        }
    }
}

/// A value as far as editing cares.
#[derive(Default)]
struct Parsed {
    range: Range<usize>,
    members: Option<Vec<Assignment>>,
    items: Option<Vec<Item>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assignment_is_found_with_its_place() {
        let text = "a.\"b c\" = [1, { x = 2 }] # c\n[t.u]\nv = { w.z = \"}\" }\n[[l]]\n";
        let found = sections(text);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].assignments[0].keys, ["a", "b c"]);
        assert_eq!(&text[found[0].assignments[0].value.clone()], "[1, { x = 2 }]");
        assert_eq!(found[1].path, ["t", "u"]);
        let members = found[1].assignments[0].members.as_deref().expect("an inline table");
        assert_eq!(members[0].keys, ["w", "z"]);
        assert_eq!(&text[members[0].value.clone()], "\"}\"");
        assert!(found[2].array);
    }
}
