//! What holds of every problem that is told, whatever the text that it is about.

use std::path::Path;

use super::safe::sanitize;
use super::snippet;
use crate::text::Diagnostic;

/// Problems of one text that are drawn: to draw one takes longer than to find it.
const MOST: usize = 4;

/// Asserts that each of `problems` says something, stands inside its text, and can be drawn.
pub(crate) fn told(problems: &[Diagnostic]) {
    for problem in problems.iter().take(MOST) {
        assert!(!problem.message.trim().is_empty(), "{problem:?}");
        assert!(problem.location().is_some(), "it names no place: {problem}");
        if let (Some(source), Some(span)) = (&problem.source, &problem.span) {
            let marked = source.text.get(span.clone());
            assert!(marked.is_some(), "{span:?} is no part of the text: {problem}");
        }
        for width in [None, Some(40)] {
            let drawn = sanitize(&snippet::render(problem, Path::new("/w"), width));
            let plain = anstream::adapter::strip_str(&drawn).to_string();
            let steers = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
            assert!(!plain.contains(steers), "{plain:?}");
        }
    }
}

/// `data` as text, as it is read of a file; `None` where that refuses it.
pub(crate) fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}
