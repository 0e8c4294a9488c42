//! Lines in a git checkout's own exclude file, which is never committed.
//!
//! How it is written: `gitignore(5)`.

use std::path::Path;
use std::time::Duration;

use super::edited::Change;
use super::file::{Outcome, edit_file};
use super::splice::newline_of;
use crate::text::Diagnostic;

/// The pattern for exactly this path, given relative to the checkout's top with `/` between.
/// Characters that mean something in patterns are escaped.
pub(crate) fn pattern(relative: &str, folder: bool) -> String {
    let mut pattern = String::from("/");
    for c in relative.trim_matches('/').chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    if folder {
        pattern.push('/');
    } else if let Some(head) = pattern.strip_suffix(' ') {
        pattern = format!("{head}\\ ");
    }
    pattern
}

/// What adding did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Added {
    /// The lines that were not there before: ours to take back.
    pub lines: Vec<String>,
    /// What became of the file.
    pub outcome: Outcome,
}

/// Adds the lines of `lines` that are not there yet, last.
pub(crate) fn add(
    locks_dir: &Path,
    exclude: &Path,
    lines: &[String],
    patience: Duration,
) -> Result<Added, Diagnostic> {
    let mut added = Vec::new();
    let outcome = edit_file(locks_dir, exclude, patience, &mut |text| {
        let text = text.unwrap_or_default();
        added = missing(text, lines);
        Ok(match with_lines(text, &added) {
            Some(text) => Change::Write(text),
            None => Change::Keep,
        })
    })?;
    Ok(Added { lines: added, outcome })
}

/// Takes out each of `lines` once. The file goes when it is `created` by us and blank.
pub(crate) fn remove(
    locks_dir: &Path,
    exclude: &Path,
    lines: &[String],
    created: bool,
    patience: Duration,
) -> Result<Outcome, Diagnostic> {
    edit_file(locks_dir, exclude, patience, &mut |text| {
        let Some(text) = text else { return Ok(Change::Keep) };
        let rest = without_lines(text, lines);
        Ok(if created && rest.trim().is_empty() {
            Change::Delete
        } else if rest == text {
            Change::Keep
        } else {
            Change::Write(rest)
        })
    })
}

pub(super) fn missing(text: &str, lines: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        if !text.lines().any(|there| there == line) && !found.contains(line) {
            found.push(line.clone());
        }
    }
    found
}

pub(super) fn with_lines(text: &str, lines: &[String]) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let newline = newline_of(text);
    let block = lines.join(newline);
    // A file that does not end its last line still does not, so that removal gives it back.
    Some(if text.is_empty() || text.ends_with('\n') {
        format!("{text}{block}{newline}")
    } else {
        format!("{text}{newline}{block}")
    })
}

pub(super) fn without_lines(text: &str, lines: &[String]) -> String {
    let mut wanted = lines.to_vec();
    let mut pieces: Vec<&str> = Vec::new();
    // From the end: ours were appended, an equal line further up is somebody else's.
    for piece in text.split_inclusive('\n').rev() {
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        let line = line.strip_suffix('\r').unwrap_or(line);
        match wanted.iter().position(|wanted| wanted == line) {
            Some(index) => drop(wanted.swap_remove(index)),
            None => pieces.push(piece),
        }
    }
    pieces.reverse();
    let mut rest = pieces.concat();
    if !text.ends_with('\n') && rest.ends_with('\n') {
        rest.pop();
        if rest.ends_with('\r') {
            rest.pop();
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_25_exclude_lines_and_folders_come_and_go_without_a_trace() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let locks = dir.path().join("locks");
        let git = dir.path().join(".git");
        fs::create_dir(&git).expect("creates");
        let exclude = git.join("info/exclude");
        let lines = vec!["/a/".to_owned(), "/b".to_owned()];
        let added = add(&locks, &exclude, &lines, Duration::from_secs(1)).expect("adds");
        assert_eq!(added.lines, lines);
        let Outcome::Created { folders } = added.outcome else { panic!("must be new") };
        assert_eq!(fs::read_to_string(&exclude).expect("reads"), "/a/\n/b\n");
        let again = add(&locks, &exclude, &lines, Duration::from_secs(1)).expect("adds");
        assert_eq!((again.lines, again.outcome), (vec![], Outcome::Unchanged));
        remove(&locks, &exclude, &lines, true, Duration::from_secs(1)).expect("removes");
        super::super::remove_empty_folders(&folders);
        assert_eq!(fs::read_dir(&git).expect("lists").count(), 0);
    }

    #[test]
    fn patterns_mean_exactly_one_path() {
        assert_eq!(pattern(".agents/skills/x", true), "/.agents/skills/x/");
        assert_eq!(pattern("a*[b]?\\c", false), "/a\\*\\[b]\\?\\\\c");
        assert_eq!(pattern("end ", false), "/end\\ ");
    }

    proptest! {
        #[test]
        fn case_25_removing_our_lines_gives_the_bytes_back(
            text in "([a-z#/ ]{0,6}(\r\n|\n|\r)?){0,6}",
            lines in proptest::collection::vec("/[a-z]{1,6}X", 0..4),
        ) {
            let added = missing(&text, &lines);
            if let Some(with) = with_lines(&text, &added) {
                prop_assert!(missing(&with, &lines).is_empty());
                prop_assert_eq!(without_lines(&with, &added), text);
            }
        }
    }
}
