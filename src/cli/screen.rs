//! Lines of a screen: labels, hanging indents, and a width to stay within.

use std::fmt::Write as _;

use anstyle::Style;

use crate::report::{Palette, columns, end_within, safe};

/// Narrower screens have the label on a line of its own.
const NARROW: usize = 60;

/// Text for standard output, put together line by line.
#[derive(Debug)]
pub(super) struct Screen {
    text: String,
    width: usize,
}

impl Screen {
    /// An empty one, `width` columns wide.
    pub(super) fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    /// A heading.
    pub(super) fn heading(&mut self, text: &str) {
        let style = Palette::CARGO.good;
        let _ = writeln!(self.text, "{style}{text}{style:#}");
    }

    /// A label in a column of `column` (plus the indent of 2) and lines of body beside it, or below
    /// it where there is no room.
    pub(super) fn entry(&mut self, label: &str, column: usize, body: &[String]) {
        let style = Palette::CARGO.strong;
        let label = safe(label);
        let below = self.width < NARROW || column + 2 > self.width / 2;
        let indent = if below { 4 } else { column + 4 };
        let mut lines =
            body.iter().flat_map(|line| wrap(line, self.width.saturating_sub(indent).max(16)));
        let padding = column.saturating_sub(columns(&label));
        match lines.next() {
            Some(first) if !below => {
                let _ = writeln!(self.text, "  {style}{label}{style:#}{:padding$}  {first}", "");
            }
            first => {
                let _ = writeln!(self.text, "  {style}{label}{style:#}");
                if let Some(line) = first {
                    let _ = writeln!(self.text, "{:indent$}{line}", "");
                }
            }
        }
        for line in lines {
            let _ = writeln!(self.text, "{:indent$}{line}", "");
        }
    }

    /// A line that wraps, with `indent` columns before each of its lines.
    pub(super) fn line(&mut self, indent: usize, text: &str) {
        for line in wrap(text, self.width.saturating_sub(indent).max(16)) {
            let _ = writeln!(self.text, "{:indent$}{line}", "");
        }
    }

    /// A word in `style`, then text that wraps under itself.
    pub(super) fn marked(&mut self, style: Style, word: &str, text: &str) {
        let word = safe(word);
        let indent = columns(&word) + 1;
        let mut lines = wrap(text, self.width.saturating_sub(indent).max(16)).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(self.text, "{style}{word}{style:#} {first}");
        for line in lines {
            let _ = writeln!(self.text, "{:indent$}{line}", "");
        }
    }

    /// What was put together, without the last newline.
    pub(super) fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end_matches('\n').len());
        // They held words together while lines were wrapped.
        self.text.replace('\u{a0}', " ")
    }
}

/// The widest of `labels`, but not over `most`.
pub(super) fn column<'a>(labels: impl Iterator<Item = &'a str>, most: usize) -> usize {
    labels.map(|label| columns(&safe(label))).max().unwrap_or(0).min(most)
}

/// `text` in lines of at most `width` columns, cut at spaces; three spaces between parts stay
/// together on a line. A word longer than that is cut, a path between
/// folders. Text from outside can't steer the terminal: see [`safe`].
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let clean = safe(text);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut gap = 0;
    for word in clean.split(' ') {
        if word.is_empty() {
            gap += 1;
            continue;
        }
        let mut word = word;
        let room = |line: &str, gap: usize| width.saturating_sub(columns(line) + gap);
        if !line.is_empty() && columns(word) > room(&line, gap) {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push_str(&" ".repeat(gap));
        }
        while columns(word) > width && word.chars().count() > 1 {
            let end = end_within(word, width);
            // A path reads best when it is cut between folders.
            let cut = word[..end].rfind('/').map_or(end, |slash| slash + 1);
            lines.push(word[..cut].to_owned());
            word = &word[cut..];
        }
        line.push_str(word);
        gap = 1;
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// `1 skill`, `2 skills`.
pub(super) fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_wrap_and_gaps_stay() {
        assert_eq!(wrap("one two  three", 9), ["one two", "three"]);
        assert_eq!(wrap("a   b c", 20), ["a   b c"]);
        assert_eq!(wrap("abcdefgh i", 4), ["abcd", "efgh", "i"]);
        assert_eq!(wrap("/ab/cde/fgh", 9), ["/ab/cde/", "fgh"]);
        assert_eq!(wrap("a\u{1b}[1mb", 20), ["a [1mb"]);
        assert_eq!(wrap("a\u{202e}b", 20), ["ab"]);
        assert_eq!(wrap("漢字漢字 a", 5), ["漢字", "漢字", "a"]);
        assert_eq!(wrap("", 20), [""; 0]);
    }

    #[test]
    fn a_label_stands_above_its_body_where_there_is_no_room() {
        let show = |width| {
            let mut screen = Screen::new(width);
            screen.entry("name", 6, &["some words of body".to_owned(), "more".to_owned()]);
            anstream::adapter::strip_str(&screen.finish()).to_string()
        };
        assert_eq!(show(80), "  name    some words of body\n          more");
        assert_eq!(show(40), "  name\n    some words of body\n    more");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_it_may_be_and_no_word_is_lost(
            text in "[a-zé漢 ]{0,200}", width in 4_usize..60,
        ) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
