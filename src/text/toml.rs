//! TOML read with positions: each value knows where it stands, each unread key can be reported.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::{Diagnostic, Severity, Source};

/// A value together with its byte range in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located<T> {
    pub value: T,
    /// Where it stands, as a byte range.
    pub span: Range<usize>,
}

/// Where problems go while a document is read.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    pub source: Arc<Source>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    softened: Cell<bool>,
}

impl Diagnostics {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self { source, diagnostics: RefCell::default(), softened: Cell::new(false) }
    }

    pub(crate) fn error(&self, span: &Range<usize>, message: impl Into<String>) {
        self.push(Diagnostic::error(message).at(&self.source, span.clone()));
    }

    pub(crate) fn warning(&self, span: &Range<usize>, message: impl Into<String>) {
        self.push(Diagnostic::warning(message).at(&self.source, span.clone()));
    }

    pub(crate) fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Whether an error was recorded.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.borrow().iter().any(Diagnostic::is_error)
    }

    /// Whether an error was recorded, were it made a warning of since.
    pub(crate) fn had_errors(&self) -> bool {
        self.softened.get() || self.has_errors()
    }

    /// Something could not be read, though what is around it could.
    pub(crate) fn note_loss(&self) {
        self.softened.set(true);
    }

    /// A point in time, for [`Diagnostics::errors_since`] and [`Diagnostics::soften_since`].
    pub(crate) fn mark(&self) -> usize {
        self.diagnostics.borrow().len()
    }

    /// Whether an error was recorded after `mark`.
    pub(crate) fn errors_since(&self, mark: usize) -> bool {
        self.diagnostics.borrow().iter().skip(mark).any(Diagnostic::is_error)
    }

    /// Whether something recorded after `mark` is about a place in `range`.
    pub(crate) fn any_within(&self, mark: usize, range: &Range<usize>) -> bool {
        let all = self.diagnostics.borrow();
        let mut spans = all.iter().skip(mark).filter_map(|diagnostic| diagnostic.span.as_ref());
        spans.any(|span| range.contains(&span.start))
    }

    /// Makes warnings of the errors recorded after `mark`; `note` says what was left out for them.
    pub(crate) fn soften_since(&self, mark: usize, note: &str) {
        for diagnostic in self.diagnostics.borrow_mut().iter_mut().skip(mark) {
            if diagnostic.is_error() {
                diagnostic.severity = Severity::Warning;
                diagnostic.add_remark(note);
                self.softened.set(true);
            }
        }
    }

    /// Everything recorded, in the order of the file.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut all = self.diagnostics.into_inner();
        all.sort_by_key(|diagnostic| diagnostic.span.as_ref().map_or(0, |span| span.start));
        all
    }
}

/// Syntax errors of one text that are told: what is no TOML at all has one in each line.
const MOST: usize = 20;

/// Parses `source`; syntax errors go to `diagnostics` and what could be read is handed to `read`.
///
/// `None` when not even a table could be made of the text.
pub(crate) fn read<T>(diagnostics: &Diagnostics, read: impl FnOnce(&Table<'_>) -> T) -> Option<T> {
    let source = Arc::clone(&diagnostics.source);
    let (root, errors) = DeTable::parse_recoverable(&source.text);
    let places = errors.len();
    for (told, error) in errors.into_iter().enumerate() {
        let span = error.span().unwrap_or(0..0);
        if told == MOST {
            let more = places - told;
            diagnostics.error(&span, format!("its syntax is broken in {more} more places"));
            break;
        }
        diagnostics.error(&span, error.message().to_owned());
    }
    if places > 0 {
        return None;
    }
    let span = root.span();
    Some(read(&Table::new(root.get_ref(), span, String::new(), diagnostics)))
}

/// A table being read. Wrong types are reported to the diagnostics and count as absent.
pub(crate) struct Table<'a> {
    table: &'a DeTable<'a>,
    /// Byte range of the table (its header for `[table]`, the braces for an inline one).
    pub span: Range<usize>,
    path: String,
    diagnostics: &'a Diagnostics,
    seen: RefCell<BTreeSet<String>>,
}

impl<'a> Table<'a> {
    fn new(
        table: &'a DeTable<'a>,
        span: Range<usize>,
        path: String,
        diagnostics: &'a Diagnostics,
    ) -> Self {
        Self { table, span, path, diagnostics, seen: RefCell::default() }
    }

    /// The diagnostics problems go to.
    pub(crate) fn diagnostics(&self) -> &'a Diagnostics {
        self.diagnostics
    }

    /// The table's place in the document, such as `hooks[0]`; empty at the top.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// `key` with the table's place before it.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Whether `key` is there, of whatever type.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where `key`'s name stands.
    pub(crate) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.table.get_key_value(key).map(|(name, _)| name.span())
    }

    /// Where `key`'s value stands, of whatever type.
    pub(crate) fn span_of(&self, key: &str) -> Option<Range<usize>> {
        self.table.get(key).map(Spanned::span)
    }

    /// The keys in the order of the file.
    pub(crate) fn keys(&self) -> Vec<Located<String>> {
        let mut keys: Vec<_> = self
            .table
            .keys()
            .map(|key| Located { value: key.get_ref().to_string(), span: key.span() })
            .collect();
        keys.sort_by_key(|key| key.span.start);
        keys
    }

    /// Whether `key` holds a table, written as `[key]` or inline.
    pub(crate) fn is_table(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| matches!(value.get_ref(), DeValue::Table(_)))
    }

    fn raw(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.seen.borrow_mut().insert(key.to_owned());
        self.table.get(key)
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = value.get_ref().type_str();
        self.diagnostics.error(
            &value.span(),
            format!("`{}` must be {expected}, found {}", self.path_of(key), article(found)),
        );
    }

    pub(crate) fn string(&self, key: &str) -> Option<Located<String>> {
        self.typed(key, "a string", |value| value.as_str().map(str::to_owned))
    }

    pub(crate) fn bool(&self, key: &str) -> Option<Located<bool>> {
        self.typed(key, "true or false", DeValue::as_bool)
    }

    pub(crate) fn integer(&self, key: &str) -> Option<Located<i64>> {
        self.typed(key, "a whole number", |value| {
            let number = value.as_integer()?;
            i64::from_str_radix(number.as_str(), number.radix()).ok()
        })
    }

    /// The value at `key` as `of` understands it; where it does not, it must have been `expected`.
    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        of: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Option<Located<T>> {
        let value = self.raw(key)?;
        let found = of(value.get_ref());
        if found.is_none() {
            self.wrong_type(key, value, expected);
        }
        found.map(|found| Located { value: found, span: value.span() })
    }

    pub(crate) fn strings(&self, key: &str) -> Option<Located<Vec<Located<String>>>> {
        let items = self.typed(key, "an array of strings", DeValue::as_array)?;
        Some(Located { value: self.string_items(key, items.value), span: items.span })
    }

    /// A string, or an array of strings; a string counts as an array of one.
    pub(crate) fn string_or_strings(&self, key: &str) -> Option<Located<Vec<Located<String>>>> {
        if self.raw(key)?.get_ref().is_str() {
            let one = self.string(key)?;
            return Some(Located { span: one.span.clone(), value: vec![one] });
        }
        let expected = "a string or an array of strings";
        let items = self.typed(key, expected, DeValue::as_array)?;
        Some(Located { value: self.string_items(key, items.value), span: items.span })
    }

    fn string_items(&self, key: &str, items: &DeArray<'_>) -> Vec<Located<String>> {
        let mut strings = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.get_ref() {
                DeValue::String(text) => {
                    strings.push(Located { value: text.to_string(), span: item.span() });
                }
                _ => self.wrong_type(&format!("{key}[{index}]"), item, "a string"),
            }
        }
        strings
    }

    /// A sub-table, written as `[key]` or inline.
    pub(crate) fn table(&self, key: &str) -> Option<Table<'a>> {
        let table = self.typed(key, "a table", DeValue::as_table)?;
        Some(Table::new(table.value, table.span, self.path_of(key), self.diagnostics))
    }

    pub(crate) fn tables(&self, key: &str) -> Option<Vec<Table<'a>>> {
        let mut tables = Vec::new();
        let items = self.typed(key, "an array of tables", DeValue::as_array)?.value;
        for (index, item) in items.iter().enumerate() {
            let place = format!("{key}[{index}]");
            match item.get_ref() {
                DeValue::Table(table) => {
                    let path = self.path_of(&place);
                    tables.push(Table::new(table, item.span(), path, self.diagnostics));
                }
                _ => self.wrong_type(&place, item, "a table"),
            }
        }
        Some(tables)
    }

    /// How many items the array has, of whatever type; 0 where there is none.
    pub(crate) fn count(&self, key: &str) -> usize {
        match self.raw(key).map(|value| value.get_ref()) {
            Some(DeValue::Array(items)) => items.len(),
            _ => 0,
        }
    }

    /// A value that may be a string or a table.
    pub(crate) fn string_or_table(&self, key: &str) -> Option<StringOrTable<'a>> {
        self.one_of_both(key, self.raw(key)?)
    }

    fn one_of_both(
        &self,
        place: &str,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Option<StringOrTable<'a>> {
        let span = value.span();
        match value.get_ref() {
            DeValue::String(text) => {
                Some(StringOrTable::String(Located { value: text.to_string(), span }))
            }
            DeValue::Table(table) => {
                let path = self.path_of(place);
                Some(StringOrTable::Table(Table::new(table, span, path, self.diagnostics)))
            }
            _ => {
                self.wrong_type(place, value, "a string or a table");
                None
            }
        }
    }

    /// An array whose items are strings or tables.
    pub(crate) fn strings_or_tables(&self, key: &str) -> Option<Vec<StringOrTable<'a>>> {
        let items = self.typed(key, "an array", DeValue::as_array)?.value.iter().enumerate();
        let read = |(index, item)| self.one_of_both(&format!("{key}[{index}]"), item);
        Some(items.filter_map(read).collect())
    }

    /// The keys that were asked for, there or not.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.seen.borrow().iter().cloned().collect()
    }

    /// The keys that nothing has asked for, in the order of the file.
    pub(crate) fn unread(&self) -> Vec<Located<String>> {
        let seen = self.seen.borrow();
        self.keys().into_iter().filter(|key| !seen.contains(&key.value)).collect()
    }
}

/// Either form of a value that accepts two.
pub(crate) enum StringOrTable<'a> {
    String(Located<String>),
    Table(Table<'a>),
}

fn article(type_name: &str) -> String {
    let vowel = type_name.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {type_name}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_types_are_reported_with_their_place_and_count_as_absent() {
        let diagnostics =
            Diagnostics::new(Source::new("c.toml", "a = 1\n[[b]]\nc = \"x\"\nd = 2\n"));
        read(&diagnostics, |root| {
            assert_eq!(root.string("a"), None);
            let tables = root.tables("b").expect("an array of tables");
            assert_eq!(tables[0].string("c").expect("a string").value, "x");
            assert_eq!(tables[0].unread()[0].value, "d");
        });
        let found: Vec<_> = diagnostics.finish().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["c.toml:1:5: `a` must be a string, found an integer"]);
    }

    #[test]
    fn errors_after_a_mark_can_be_softened() {
        let diagnostics = Diagnostics::new(Source::new("c.toml", "a = 1"));
        diagnostics.error(&(0..1), "before");
        let mark = diagnostics.mark();
        assert!(!diagnostics.errors_since(mark));
        diagnostics.error(&(4..5), "after");
        assert!(diagnostics.errors_since(mark));
        diagnostics.soften_since(mark, "left out");
        assert!(!diagnostics.errors_since(mark));
        assert!(diagnostics.has_errors());
        assert_eq!(diagnostics.finish()[1].notes, ["left out"]);
    }

    #[test]
    fn a_text_that_is_no_toml_is_told_of_in_few_words() {
        let diagnostics = Diagnostics::new(Source::new("f", "name\\\n".repeat(1000)));
        assert!(read(&diagnostics, |_| ()).is_none());
        let told = diagnostics.finish();
        assert_eq!(told.len(), MOST + 1);
        let last = &told[MOST].message;
        assert!(last.starts_with("its syntax is broken in ") && last.ends_with(" more places"));
    }

    #[test]
    fn syntax_errors_carry_their_place() {
        let diagnostics = Diagnostics::new(Source::new("c.toml", "a = 1\nb = = 2\n"));
        assert!(read(&diagnostics, |_| ()).is_none());
        assert!(diagnostics.finish()[0].to_string().starts_with("c.toml:2:5: "));
    }
}
