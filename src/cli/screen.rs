//! Lines of a screen: labels, hanging indents, and a width to stay within.

use std::fmt::Write as _;

use anstyle::Style;

use crate::report::{Palette, columns, safe, wrap};

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

    /// A line of columns, as wide as it is.
    pub(super) fn row(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}", text.trim_end());
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

/// `1 skill`, `2 skills`.
pub(super) fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
