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
    pub(super) fn insert(offset: usize, with: impl Into<String>) -> Self {
        Self { range: offset..offset, with: with.into() }
    }

    /// Takes `range` out.
    pub(super) fn delete(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }

    /// Puts `with` in the place of `range`.
    pub(super) fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
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

/// The line ending most lines of `text` have; `\n` when there is none. After a lone carriage return at the
/// end `\n` would make one line ending of the two, which removal would take for ours.
pub(super) fn newline_of(text: &str) -> &'static str {
    let crlf = text.matches("\r\n").count();
    let all = text.matches('\n').count();
    if crlf * 2 > all || text.ends_with('\r') { "\r\n" } else { "\n" }
}

/// Where the line with `offset` in it starts.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line after the one with `offset` in it starts; the text's length on the last line.
pub(super) fn next_line(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |newline| offset + newline + 1)
}

/// Where the line with `offset` in it ends, the line break left out.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    let line = rest.split('\n').next().unwrap_or(rest);
    offset + line.strip_suffix('\r').unwrap_or(line).len()
}

/// Puts the lines of `block` below the line with `offset` in it. A text that does not end its last
/// line still does not.
pub(super) fn insert_below(text: &str, offset: usize, newline: &str, block: &str) -> Splice {
    let next = next_line(text, offset);
    if next > offset && text[..next].ends_with('\n') {
        Splice::insert(next, format!("{block}{newline}"))
    } else {
        Splice::insert(text.len(), format!("{newline}{block}"))
    }
}

/// Takes the lines from the one that starts at `start` to the one with `end` in it out; on a last
/// line that has no end, with the line break before them. The inverse of [`insert_below`].
pub(super) fn delete_lines(text: &str, start: usize, end: usize) -> Splice {
    let next = next_line(text, end);
    if next == text.len() && !text.ends_with('\n') && start > 0 {
        let head = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
        let head = head.strip_suffix('\r').unwrap_or(head);
        return Splice::delete(head.len()..text.len());
    }
    Splice::delete(start..next)
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
        assert_eq!(newline_of("a\nb\r"), "\r\n");
    }
}
