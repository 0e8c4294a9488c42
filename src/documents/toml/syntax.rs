//! TOML text as sections and assignments, with the place of each, as `toml_edit` found them.

use std::ops::Range;

use toml_edit::{Document, Item as Node, Key, Table, Value};

use crate::documents::splice::{indent_at, line_end, line_start};

/// `key = value`, in a section or in an inline table.
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
    pub(crate) fn start(&self) -> usize {
        self.header.as_ref().map_or(0, |header| header.start)
    }

    /// Where its last header or value ends.
    pub(crate) fn end(&self) -> usize {
        let header = self.header.as_ref().map_or(0, |header| header.end);
        self.assignments.last().map_or(header, |last| last.value.end)
    }
}

/// The sections of `text` in its order; `text` must have been found sound before.
pub(in crate::documents) fn sections(text: &str) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Ok(document) = Document::parse(text) {
        collect(text, document.as_table(), &mut Vec::new(), false, &mut sections);
    }
    sections.sort_by_key(Section::start);
    sections
}

fn collect(
    text: &str,
    table: &Table,
    path: &mut Vec<String>,
    array: bool,
    sections: &mut Vec<Section>,
) {
    if path.is_empty() || !(table.is_dotted() || table.is_implicit()) {
        let header = table.span().filter(|_| !path.is_empty());
        let values = table.get_values();
        let mut assignments: Vec<_> = values
            .into_iter()
            .map(|(keys, value)| {
                let on_line = keys.last().and_then(|key| key.span()).unwrap_or_default().start;
                let line = line_start(text, on_line);
                assignment(text, &keys, line + indent_at(text, on_line).len(), value)
            })
            .collect();
        // Dotted keys come in groups, wherever they stand.
        assignments.sort_by_key(|assignment| assignment.start);
        sections.push(Section { path: path.clone(), array, header, assignments });
    }
    for (key, node) in table {
        path.push(key.to_owned());
        match node {
            Node::Table(table) => collect(text, table, path, false, sections),
            Node::ArrayOfTables(tables) => {
                tables.iter().for_each(|table| collect(text, table, path, true, sections));
            }
            Node::None | Node::Value(_) => {}
        }
        path.pop();
    }
}

fn assignment(text: &str, keys: &[&Key], start: usize, value: &Value) -> Assignment {
    let range = value.span().unwrap_or_default();
    let items = value.as_array().map(|items| {
        let item = |value: &Value| {
            let range = value.span().unwrap_or_default();
            let next = past_blanks(text, range.end);
            let comma = text[next..].starts_with(',').then_some(next + 1);
            Item { range, comma }
        };
        items.iter().map(item).collect()
    });
    let members = value.as_inline_table().map(|table| {
        let mut next = range.start + 1;
        let member = |(keys, value): (Vec<&Key>, &Value)| {
            let member = assignment(text, &keys, past_blanks(text, next), value);
            next = past_blanks(text, member.value.end) + 1;
            member
        };
        table.get_values().into_iter().map(member).collect()
    });
    let keys = keys.iter().map(|key| key.get().to_owned()).collect();
    Assignment { keys, start, value: range, members, items }
}

/// Where something other than blanks, line breaks and comments stands, at `offset` or after.
fn past_blanks(text: &str, offset: usize) -> usize {
    let next = text.len() - text[offset..].trim_start().len();
    if text[next..].starts_with('#') { past_blanks(text, line_end(text, next)) } else { next }
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
