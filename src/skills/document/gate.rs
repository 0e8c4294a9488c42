//! `crates`, `depends-on` and `predicates` of a frontmatter.

use serde_yaml::Value;

use super::{RawGate, Reader};
use crate::plugins::diagnostics::codes;
use crate::text::toml::Located;

/// The two spellings of the list of crates.
const SPELLINGS: [&str; 2] = ["crates", "depends-on"];

/// The list of crates as found first.
struct First {
    key: &'static str,
    place: String,
    items: Vec<Located<String>>,
}

impl Reader {
    /// The gate; what can't be read of it is among the errors.
    pub(super) fn gate(&mut self) -> RawGate {
        let mut first: Option<First> = None;
        for key in SPELLINGS {
            for within in [None, Some("metadata")] {
                let Some(items) = self.list(within, key) else { continue };
                let place = within.map_or(key.to_owned(), |parent| format!("{parent}.{key}"));
                match &first {
                    None => first = Some(First { key, place, items }),
                    Some(other) => self.compare(other, &First { key, place, items }, within),
                }
            }
        }
        if let Some(First { place, items, .. }) = &first
            && items.iter().all(|item| item.value.trim().is_empty())
        {
            let span = self.front.span(place.split('.').next().unwrap_or(place));
            let message = format!("`{place}` is empty: the skill never applies");
            self.warn(codes::SKILL_GATE, span, message);
        }
        let mut predicates = self.list(None, "predicates").unwrap_or_default();
        predicates.extend(self.list(Some("metadata"), "predicates").unwrap_or_default());
        RawGate { crates: first.map(|found| found.items), predicates }
    }

    /// One spelling may stand at the top and in `metadata`, for the sake of two readers, as long
    /// as it says the same; both spellings never stand side by side.
    fn compare(&mut self, first: &First, second: &First, within: Option<&str>) {
        let message = if first.key != second.key {
            format!("`{}` and `{}` mean the same", first.place, second.place)
        } else if atoms(&first.items) == atoms(&second.items) {
            return;
        } else {
            format!("`{}` and `{}` say different things", first.place, second.place)
        };
        let span = self.place(within, second.key);
        let problem = self.error(codes::SKILL_GATE, span, message).note("keep one of them");
        self.errors.push(problem);
    }

    fn place(&self, within: Option<&str>, key: &str) -> std::ops::Range<usize> {
        match within {
            None => self.front.span(key),
            Some(parent) => self.front.span_within(&self.source.text, parent, key),
        }
    }

    /// A string, or a list of strings, at the top or inside a mapping. What is neither is an error
    /// and is left out.
    fn list(&mut self, within: Option<&str>, key: &str) -> Option<Vec<Located<String>>> {
        let value = match within {
            None => self.front.get(key),
            Some(parent) => self.front.get(parent).and_then(|values| values.get(key)),
        };
        let span = self.place(within, key);
        let wrong = |span| {
            let message = format!("`{key}` must be a string or a list of strings");
            self.error(codes::SKILL_GATE, span, message)
        };
        match value? {
            Value::Null => Some(Vec::new()),
            Value::String(text) => Some(vec![Located { value: text.clone(), span }]),
            Value::Sequence(items) => {
                let spans = self.front.item_spans(&self.source.text, within, key);
                let place = |at: usize| match spans.get(at) {
                    Some(place) if spans.len() == items.len() => place.clone(),
                    _ => span.clone(),
                };
                let mut strings = Vec::new();
                let mut problems = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    match item.as_str() {
                        Some(text) => {
                            strings.push(Located { value: text.to_owned(), span: place(at) });
                        }
                        None => problems.push(wrong(place(at))),
                    }
                }
                self.errors.extend(problems);
                Some(strings)
            }
            _ => {
                let problem = wrong(span);
                self.errors.push(problem);
                None
            }
        }
    }
}

/// The atoms of a list, in whatever way they were written.
fn atoms(items: &[Located<String>]) -> Vec<String> {
    let parts = items.iter().flat_map(|item| item.value.split(','));
    let mut all: Vec<_> = parts
        .map(|part| part.split_whitespace().collect())
        .filter(|part: &String| !part.is_empty())
        .collect();
    all.sort();
    all
}
