//! Replacing pieces of a text, and what its lines look like.

use std::ops::Range;

/// One piece of a text and what comes in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    /// The bytes that go.
    pub range: Range<usize>,
    /// The bytes that come.
    pub with: String,
}

impl Splice {
    /// Puts `with` at `offset`.
    pub fn insert(offset: usize, with: impl Into<String>) -> Self {
        Self { range: offset..offset, with: with.into() }
    }

    /// Takes `range` out.
    pub fn delete(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }

    /// Puts `with` in the place of `range`.
    pub fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
        Self { range, with: with.into() }
    }
}

/// `text` with all `splices` made; they may come in any order and must not overlap. Those at one
/// offset are made in the order given.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut result = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for splice in splices {
        let start = splice.range.start.max(done);
        result.push_str(&text[done..start]);
        result.push_str(&splice.with);
        done = splice.range.end.max(start);
    }
    result.push_str(&text[done..]);
    result
}

/// The line ending most lines of `text` have; `\n` when there is none.
pub(super) fn newline_of(text: &str) -> &'static str {
    let crlf = text.matches("\r\n").count();
    let all = text.matches('\n').count();
    if crlf * 2 > all { "\r\n" } else { "\n" }
}

/// Where the line with `offset` in it starts.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line after the one with `offset` in it starts; the text's length on the last line.
pub(super) fn next_line(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |newline| offset + newline + 1)
}

/// The blanks at the start of the line with `offset` in it, up to `offset` at most.
pub(super) fn indent_at(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether what follows `offset`, blanks left out, is the end of a line or of the text.
pub(super) fn ends_line(text: &str, offset: usize) -> bool {
    let rest = text[offset..].trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_are_made_in_the_order_of_the_text() {
        let splices = vec![
            Splice::delete(4..5),
            Splice::insert(1, "x"),
            Splice::insert(1, "y"),
            Splice::replace(2..3, "CC"),
        ];
        assert_eq!(apply("abcdef", splices), "axybCCdf");
    }

    #[test]
    fn the_majority_of_line_endings_wins() {
        assert_eq!(newline_of("a\r\nb\r\nc\n"), "\r\n");
        assert_eq!(newline_of("a\r\nb\n"), "\n");
        assert_eq!(newline_of("a"), "\n");
    }
}
