//! Which version a heading of a changelog is about.

use semver::Version;

use crate::text::{is_crate_name, same_crate};

/// Words that may stand before the version.
const BEFORE: [&str; 15] = [
    "version",
    "release",
    "released",
    "releases",
    "ver",
    "v",
    "changes",
    "changelog",
    "notes",
    "with",
    "in",
    "for",
    "new",
    "what's",
    "-",
];
/// Words after the version that make it one of several, so that it is no section of its own.
const RANGE: [&str; 4] = ["through", "to", "until", "upgrade"];

/// The version of `name` that `heading` is about; `None` when it is about something else, such as
/// another crate of the repository.
pub(super) fn version_of(heading: &str, name: &str) -> Option<Version> {
    let plain = without_tags(heading);
    let words: Vec<&str> =
        plain.split([' ', '\t', ',', '(', ')']).map(bare).filter(|word| !word.is_empty()).collect();
    // `rayon 1.11.0 / rayon-core 1.13.0`: the one that is named counts.
    let named = words.windows(2).find(|pair| same_crate(&pair[0].to_lowercase(), name));
    if let Some(version) = named.and_then(|pair| version(pair[1])) {
        return Some(version);
    }
    let is_before = |word: &str| {
        let word = word.to_lowercase();
        BEFORE.contains(&word.as_str())
            || same_crate(&word, name)
            || !word.contains(char::is_alphanumeric)
    };
    let at = words.iter().position(|word| !is_before(word))?;
    let is_range =
        words.get(at + 1).is_some_and(|next| RANGE.contains(&next.to_lowercase().as_str()));
    let found = version(words[at]).or_else(|| version_after_name(words[at], name))?;
    (!is_range).then_some(found)
}

/// A word without the marks around it: `[1.2.0](https://…)`, `**1.2.0**`, `` `1.2.0` ``, `1.2.0:`.
fn bare(word: &str) -> &str {
    let word = word.trim_start_matches(['[', '*', '_', '`', '"', '=', '~']);
    let end = word.find(['[', ']', '*', '`', '"', ':', ';', '~']).unwrap_or(word.len());
    word[..end].trim_end_matches(['.', '_'])
}

/// `text` without what stands between `<` and `>`.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        let Some((_, after)) = tag.split_once('>') else { break };
        plain.push_str(before);
        plain.push(' ');
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// `name-v1.2.0`, `name@1.2.0`, `name/1.2.0`, `name-1.2.0`.
fn version_after_name(word: &str, name: &str) -> Option<Version> {
    let mut splits = word.match_indices(['@', '/', '-', '_']);
    let (at, _) = splits.find(|(at, _)| same_crate(&word[..*at].to_lowercase(), name))?;
    version(&word[at + 1..])
}

/// A version as people write it: `v1.2.0`, `1.2`, `1.2.0-rc.1`.
pub(crate) fn version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if !text.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let core_end = text.find(['-', '+']).unwrap_or(text.len());
    let (core, rest) = text.split_at(core_end);
    let filled = match core.matches('.').count() {
        1 => format!("{core}.0{rest}"),
        2 => text.to_owned(),
        _ => return None,
    };
    let found = Version::parse(&filled).ok();
    // Of `1.2.0-2020-01-01` the rest is a date.
    found
        .filter(|found| !is_date(&found.pre))
        .or_else(|| Version::parse(filled.strip_suffix(rest).filter(|_| !rest.is_empty())?).ok())
}

fn is_date(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
}

/// The version that a file of a folder of changelogs is about: `1.2.0.md`, `v1.2.md`.
pub(super) fn version_of_file(stem: &str, name: &str) -> Option<Version> {
    version(stem).or_else(|| {
        let (first, rest) = stem.split_once(['-', '_', '.'])?;
        let is_word =
            is_crate_name(first) && !first.contains(|letter: char| letter.is_ascii_digit());
        (is_word && BEFORE.contains(&first.to_lowercase().as_str()))
            .then(|| version(rest))
            .flatten()
            .or_else(|| version_after_name(stem, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_the_headings_that_people_write() {
        for heading in [
            "1.2.0",
            "[1.2.0] - 2020-01-01",
            "[1.2.0](https://example.com/compare/v1.1.0...v1.2.0) (2020-01-01)",
            "v1.2.0 (January 1st, 2020)",
            "Version 1.2.0 - 2020-01-01",
            "Release 1.2",
            "Widget 1.2.0",
            "Release widget 1.2.0 / widget-core 1.3.0 (2020-01-01)",
            "`widget` - [1.2.0](https://example.com) - 2020-01-01",
            "widget-v1.2.0",
            "widget@1.2.0",
            "CHANGES WITH 1.2.0:",
            "<a name=\"v1.2.0\"></a>v1.2.0",
            "**`1.2.0`**",
            "What's new in 1.2.0",
            "1.2.0-2020-01-01",
        ] {
            assert_eq!(version_of(heading, "widget"), Some(Version::new(1, 2, 0)), "{heading}");
        }
        let beta = version_of("[2.0.0-beta.1] - 2020-01-01", "widget");
        assert_eq!(beta, Version::parse("2.0.0-beta.1").ok());
    }

    #[test]
    fn other_headings_are_about_no_version_of_the_crate() {
        for heading in [
            "Unreleased",
            "Migrating from 0.9 to 1.0",
            "`widget_core` - [1.2.0] - 2020-01-01",
            "Release widget-core 1.2.0",
            "0.2.2 through 0.2.8",
            "2020-01-01",
            "01.02.2020",
            "1.2.x",
            "Rust 1.85 is needed",
            "5 things",
            "",
        ] {
            assert_eq!(version_of(heading, "widget"), None, "{heading}");
        }
    }

    #[test]
    fn files_of_a_folder_are_named_by_their_version() {
        for stem in ["1.2.0", "v1.2.0", "1.2", "release-1.2.0", "changelog-v1.2.0", "widget-1.2.0"]
        {
            assert_eq!(version_of_file(stem, "widget"), Some(Version::new(1, 2, 0)), "{stem}");
        }
        assert_eq!(version_of_file("notes", "widget"), None);
    }
}
