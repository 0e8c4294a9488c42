//! What holds of every changelog.

use std::path::Path;

use semver::Version;

use super::{Changelog, sections, split};
use crate::crates::quote::quote;

/// Bytes of a quotation.
const BUDGET: usize = 600;

/// Sections stand one below the other, each at its line; what is said of a name has it in it, and a
/// quotation keeps to its length and marks every line.
pub(crate) fn changelog(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut end = 0;
    for found in sections::sections(&text, "widget") {
        assert!(found.span.start >= end, "{found:?} begins before {end}");
        end = found.span.end;
        assert!(text.get(found.span.clone()).is_some(), "{found:?}");
        let before = text[..found.span.start].matches('\n').count();
        assert_eq!(found.line, before + 1, "{found:?}");
    }
    let file = Path::new("/w/CHANGELOG.md").to_path_buf();
    let sections = split(&file, &text, "widget");
    let until = Version::new(u64::MAX, 0, 0);
    let changelog = Changelog { file, sections };
    for section in &changelog.sections {
        assert!(changelog.section(&section.version).is_some(), "{section:?}");
        let quoted = quote(&section.text, BUDGET);
        assert!(quoted.len() <= BUDGET, "{quoted}");
        let is_marked = |line: &str| line.starts_with('>') || line.starts_with("… ");
        assert!(quoted.lines().all(is_marked), "{quoted:?}");
    }
    let lines = text.lines().count();
    for mention in changelog.mentions(&["Widget", "turn"], &until, 60) {
        assert!(mention.text.contains("turn") && mention.line <= lines, "{mention:?}");
    }
}
