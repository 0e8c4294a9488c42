//! What a changelog says of a name.

use std::path::PathBuf;

use semver::Version;
use serde::Serialize;

use super::{Changelog, Section};

/// Letters of one mention.
const LONGEST: usize = 400;

/// A paragraph or an item of a list that has the name in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Mention {
    pub version: Version,
    pub file: PathBuf,
    pub line: usize,
    /// As it stands, its lines joined.
    pub text: String,
}

impl Changelog {
    /// What the sections up to `until` say of the last of `path`'s names, at most `most`: first those
    /// that have it as code, and more of the path; each kind newest first.
    pub(crate) fn mentions(&self, path: &[&str], until: &Version, most: usize) -> Vec<Mention> {
        let Some(name) = path.last() else { return Vec::new() };
        let known = self.sections.iter().filter(|it| it.version.cmp_precedence(until).is_le());
        let mut found: Vec<(usize, Mention)> = Vec::new();
        for section in known {
            for mention in paragraphs(section).filter(|it| has_word(&it.text, name)) {
                found.push((rank(&mention.text, path), mention));
            }
        }
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, mention)| mention).take(most).collect()
    }
}

/// The better the smaller.
fn rank(text: &str, path: &[&str]) -> usize {
    let (name, parents) = path.split_last().unwrap_or((&"", &[]));
    let is_code = [("`", ""), ("::", ""), (".", ""), ("", "("), ("", "!"), ("", "`")]
        .iter()
        .any(|(before, after)| text.contains(&format!("{before}{name}{after}")))
        // A name of several words is one in prose too.
        || name.contains('_')
        || name.chars().skip(1).any(char::is_uppercase);
    let parents = parents.iter().filter(|parent| !has_word(text, parent)).count();
    parents + if is_code { 0 } else { 10 }
}

/// Whether `text` has `word` with nothing of a name around it.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(is_part)
                && !text[at + word.len()..].chars().next().is_some_and(is_part)
        })
}

/// The paragraphs and items of a section.
fn paragraphs(section: &Section) -> impl Iterator<Item = Mention> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in section.text.lines().enumerate() {
        let text = line.trim();
        let begins = ["- ", "* ", "+ ", "#"].iter().any(|mark| text.starts_with(mark));
        if text.is_empty() {
            is_open = false;
        } else if let Some((_, open)) = found.last_mut().filter(|_| is_open && !begins) {
            if open.len() < LONGEST {
                open.push(' ');
                open.push_str(text);
            }
        } else {
            found.push((number, text.to_owned()));
            is_open = true;
        }
    }
    found.into_iter().map(|(number, text)| Mention {
        version: section.version.clone(),
        file: section.file.clone(),
        line: section.line + number,
        text,
    })
}
