//! Lines for people that are never cut: paths and addresses are there to be copied.

use std::io::IsTerminal as _;

use crate::Symposium;
use crate::report::fit;

/// How far the rest of a line that is too long stands in.
const HANG: usize = 2;

/// Lines being written.
pub(super) struct Lines {
    out: String,
    /// Columns of the terminal; `None` where a program reads, which wants each line whole.
    width: Option<usize>,
}

impl Lines {
    /// For standard output as it is.
    pub(super) fn new(sym: &Symposium) -> Self {
        let width = std::io::stdout().is_terminal().then(|| sym.report.width());
        Self { out: String::new(), width }
    }

    /// Adds a line, broken at blanks where the terminal is too narrow for it; a word that is too
    /// long stays whole. Control characters become blanks.
    pub(super) fn add(&mut self, indent: usize, text: &str) {
        let text = fit(text, usize::MAX);
        let (mut rest, mut at) = (text.as_str(), indent);
        let fits = |at: usize| self.width.map(|width| width.saturating_sub(at));
        let mut parts = Vec::new();
        while let Some(end) = fits(at).and_then(|width| break_at(rest, width)) {
            parts.push((at, rest[..end].trim_end()));
            rest = rest[end..].trim_start();
            at = indent + HANG;
        }
        parts.push((at, rest));
        for (at, part) in parts {
            self.push(at, part);
        }
    }

    /// What was written, without the last line's end.
    pub(super) fn finish(self) -> String {
        self.out.trim_end().to_owned()
    }

    fn push(&mut self, indent: usize, text: &str) {
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(text);
        self.out.push('\n');
    }
}

/// Where the first line of `text` ends if it has to be broken for `width` columns: at the last blank
/// that fits, else at the first one after a word that does not.
fn break_at(text: &str, width: usize) -> Option<usize> {
    let mut last = None;
    let mut is_word = false;
    for (column, (at, letter)) in text.char_indices().enumerate() {
        if letter == ' ' && is_word {
            if column > width {
                return last.or(Some(at));
            }
            last = Some(at);
        }
        is_word |= letter != ' ';
    }
    if text.chars().count() > width { last } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(width: Option<usize>, indent: usize, text: &str) -> String {
        let mut lines = Lines { out: String::new(), width };
        lines.add(indent, text);
        lines.finish()
    }

    #[test]
    fn f205_a_path_is_never_cut() {
        let path = format!("manifest   /{}/SYMPOSIUM.toml", "long-name/".repeat(20));
        assert_eq!(lines(None, 2, &path), format!("  {path}"));
        let on_terminal = lines(Some(40), 2, &path);
        assert_eq!(on_terminal.split_whitespace().last(), path.split_whitespace().last());
        assert!(!on_terminal.contains('…'), "{on_terminal}");
    }

    #[test]
    fn a_terminal_has_long_lines_broken_at_blanks() {
        assert_eq!(lines(Some(12), 2, "one two three four"), "  one two\n    three\n    four");
        assert_eq!(lines(Some(12), 0, "a\u{1b}[31mb\nc"), "a [31mb c");
        assert_eq!(lines(Some(8), 0, "longer-than-that x"), "longer-than-that\n  x");
        assert_eq!(lines(Some(8), 0, "one"), "one");
        assert_eq!(lines(Some(8), 0, ""), "");
    }
}
