//! Lines for people that are never cut: paths and addresses are there to be copied.

use std::io::IsTerminal as _;

use crate::Symposium;
use crate::report::{Long, safe, wrap_hanging};

/// How far the rest of a line that is too long stands in.
const HANG: usize = 2;

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
        let Some(width) = self.width else { return self.push(indent, &safe(text)) };
        let first = width.saturating_sub(indent);
        let lines = wrap_hanging(text, first, first.saturating_sub(HANG), Long::Whole);
        for (number, line) in lines.iter().enumerate() {
            self.push(if number == 0 { indent } else { indent + HANG }, line);
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
