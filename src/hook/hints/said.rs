//! What a changelog says of an item: its own words, and whether they tell what became of it.

use semver::Version;

use super::wanted::Kind;
use crate::crates::changelog::{Changelog, Mention};

/// Mentions that are looked at.
const MOST: usize = 60;
/// Letters of a mention that hardly says more than the name, and of what it stands below.
const SHORT: usize = 40;
const PARENT: usize = 200;
/// Lines before a mention among which is the item that it is a part of.
const NEARBY: usize = 60;
/// Words that say what became of something.
const BECAME: [&str; 16] = [
    "rename",
    "remove",
    "replac",
    "deprecat",
    "instead",
    "moved",
    "in favo",
    "no longer",
    "merged",
    "superseded",
    "breaking",
    "->",
    "→",
    "deleted",
    "dropped",
    " is now ",
];
/// Words that say that something takes other things.
const TAKES: [&str; 6] = ["param", "generic", "argument", "syntax", "signature", "accept"];

/// A mention.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub mention: Mention,
    /// The headings that it stands below.
    pub below: String,
    /// Whether it tells what became of the item.
    pub is_clear: bool,
}

/// What is said of the last of `path`'s names up to the version `until`; the clear words first.
pub(super) fn said(changelog: &Changelog, path: &[&str], until: &Version, kind: Kind) -> Vec<Said> {
    let takes: &[&str] = if matches!(kind, Kind::Arguments | Kind::Bound) { &TAKES } else { &[] };
    let tells = |text: &str| BECAME.iter().chain(takes).any(|word| text.contains(word));
    let judge = |mention: Mention| {
        let below = below(changelog, &mention);
        let is_clear = tells(&format!("{below} {}", mention.text).to_lowercase());
        Said { mention, below, is_clear }
    };
    let mentions = changelog.mentions(path, until, MOST).into_iter();
    // A sample of code says nothing of what is in it.
    let mentions = mentions.filter(|it| !it.text.contains("```") && is_about(&it.text, path));
    let mut all: Vec<Said> = mentions.map(judge).collect();
    // Of two that say it, the one that says it in its own words.
    all.sort_by_key(|it| (!it.is_clear, it.mention.text.len() < SHORT));
    all.dedup_by(|later, kept| later.mention.text == kept.mention.text);
    all
}

/// What a mention stands below: the heading of its part of the section, and the item of which it is
/// a part.
fn below(changelog: &Changelog, mention: &Mention) -> String {
    let Some(section) = changelog.section(&mention.version) else { return String::new() };
    let index = mention.line.saturating_sub(section.line);
    let lines: Vec<&str> = section.text.lines().take(index + 1).collect();
    let Some((own, before)) = lines.split_last() else { return String::new() };
    let heading = before.iter().skip(1).rev().find(|line| line.starts_with('#'));
    let heading = heading.map(|line| line.trim_start_matches('#').trim().to_owned());
    let parts = [heading, parent(own, before)].into_iter().flatten();
    let parts: Vec<String> = parts.filter(|it| it.len() < PARENT).collect();
    parts.join(" › ")
}

/// The item that `own`, an item of a list, is a part of, or the line that the list is about.
fn parent(own: &str, before: &[&str]) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_item = |line: &str| line.trim_start().starts_with(['-', '*', '+']);
    if !is_item(own) {
        return None;
    }
    let near = before.len().saturating_sub(NEARBY);
    let mut at = (near..before.len()).rev().find(|at| {
        let line = before[*at];
        let is_beside = is_item(line) && indent(line) >= indent(own);
        !line.trim().is_empty() && !is_beside && indent(line) <= indent(own)
    })?;
    let end = at;
    let is_inner = indent(own) > 0;
    if before[at].starts_with('#') || !is_inner && !before[at].trim_end().ends_with(':') {
        return None;
    }
    // The line may be the last of several.
    while !is_item(before[at])
        && at > near
        && !before[at - 1].trim().is_empty()
        && !before[at - 1].starts_with('#')
    {
        at -= 1;
    }
    let whole = before[at..=end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let marks = ["- ", "* ", "+ "];
    let item = marks.iter().find_map(|mark| whole.strip_prefix(mark));
    Some(item.unwrap_or(&whole).to_owned())
}

/// Whether `text` speaks of the item, not of a word or of another type's item of the same name.
fn is_about(text: &str, path: &[&str]) -> bool {
    let Some((name, parents)) = path.split_last() else { return false };
    let is_spelt = name.contains('_') || name.chars().skip(1).any(char::is_uppercase);
    let marks = [("", "()"), (".", "("), ("", "!`")];
    let has_mark =
        || marks.iter().any(|(before, after)| text.contains(&format!("{before}{name}{after}")));
    let parent = parents.last().copied();
    // reStructuredText has code between two of these.
    let plain = text.replace("``", "`");
    let in_code = || plain.split('`').skip(1).step_by(2).any(|it| names_it(it, name, parent, true));
    is_spelt || has_mark() || in_code() || names_it(&plain, name, parent, false)
}

/// Whether `name` is in `text` behind its own parent; or, where a bare name counts, behind nothing.
fn names_it(text: &str, name: &str, parent: Option<&str>, bare_counts: bool) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        let Some(before) = before.strip_suffix("::") else { return bare_counts };
        let of = before.rsplit(|letter| !is_part(letter)).next();
        parent.is_none_or(|parent| of == Some(parent))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn all(text: &str, path: &[&str], kind: Kind) -> Vec<(bool, String)> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("CHANGELOG.md"), text).expect("writes");
        let changelog = Changelog::read(dir.path(), "widget").expect("has one");
        let found = said(&changelog, path, &Version::new(9, 0, 0), kind);
        let shown = |it: &Said| (it.is_clear, format!("{} | {}", it.below, it.mention.text));
        found.iter().map(shown).collect()
    }

    #[test]
    fn what_became_of_it_comes_first() {
        let text = "## 3.0.0\n\n- Documents `Widget::turn`\n\n## 2.0.0\n\n### Changed\n\n\
                    - Rename `Widget::turn` to `rotate`\n";
        let found = all(text, &["Widget", "turn"], Kind::Missing);
        assert_eq!(found[0], (true, "Changed | - Rename `Widget::turn` to `rotate`".into()));
        assert!(!found[1].0);
    }

    #[test]
    fn a_bare_name_says_what_the_list_is_about() {
        let text = "## 2.0.0\n\n### Removed\n\n- `Turn` (#1)\n\n### Changed\n\n- These have no\n  \
                    parameter any more (#2):\n  - `Next`\n  - `Layer`\n";
        assert_eq!(all(text, &["Turn"], Kind::Missing), [(true, "Removed | - `Turn` (#1)".into())]);
        let below = "Changed › These have no parameter any more (#2): | - `Layer`";
        assert_eq!(all(text, &["Layer"], Kind::Arguments), [(true, below.into())]);
        assert!(!all(text, &["Layer"], Kind::Missing)[0].0);
    }

    #[test]
    fn words_and_other_types_are_not_the_item() {
        let text = "## 2.0.0\n\n- Removed a new line\n- Removed `Other::new`\n";
        assert_eq!(all(text, &["Widget", "new"], Kind::Missing), []);
    }
}
