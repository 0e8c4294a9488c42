//! A crate's changelog: which sections there are, those between two versions, and what they say of a
//! name.

use std::path::{Path, PathBuf};

use semver::Version;

use crate::files::{Limit, ReadError, read_bytes};

mod files;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod heading;
mod mentions;
mod sections;
#[cfg(test)]
mod tests;

pub(crate) use files::place;
pub(crate) use heading::version;
pub(crate) use mentions::Mention;

/// Files of changelogs that are read of one crate, in bytes: all together.
const MOST: usize = 8 * 1024 * 1024;

/// A crate's changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changelog {
    /// The file that most of it is in.
    pub file: PathBuf,
    /// Newest first, one for each version.
    pub sections: Vec<Section>,
}

/// What is written of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub version: Version,
    pub file: PathBuf,
    /// The number of its first line.
    pub line: usize,
    /// As it stands, with its heading.
    pub text: String,
    /// Whether it says that it breaks something.
    pub is_breaking: bool,
}

impl Changelog {
    /// The changelog of the crate `name` whose files are in `dir`; `None` where it ships none. One
    /// whose sections nobody can tell has none.
    pub(crate) fn read(dir: &Path, name: &str) -> Option<Self> {
        let mut left = MOST;
        let mut read: Vec<(PathBuf, Vec<Section>)> = Vec::new();
        for candidate in files::candidates(dir, name) {
            let bytes = match read_bytes(&candidate.path, Limit::CARGO) {
                Ok(bytes) if bytes.len() <= left => bytes,
                // It is there all the same.
                Ok(_) | Err(ReadError::TooLarge(_)) => Vec::new(),
                Err(_) => continue,
            };
            left -= bytes.len();
            let text = String::from_utf8_lossy(&bytes);
            let sections = match candidate.version {
                Some(version) => vec![whole(version, &candidate.path, &text)],
                None => split(&candidate.path, &text, name),
            };
            read.push((candidate.path, sections));
        }
        // The one with most sections is it; the others add what it has not.
        read.sort_by_key(|(_, sections)| std::cmp::Reverse(sections.len()));
        let file = read.first()?.0.clone();
        let mut all: Vec<Section> = read.into_iter().flat_map(|(_, sections)| sections).collect();
        all.sort_by(|one, other| other.version.cmp(&one.version));
        all.dedup_by(|later, kept| later.version == kept.version);
        Some(Self { file, sections: all })
    }

    /// The section of `version`.
    pub(crate) fn section(&self, version: &Version) -> Option<&Section> {
        self.sections.iter().find(|section| section.version.cmp_precedence(version).is_eq())
    }

    /// The sections of the versions after `since` up to `until`: those that say that they break
    /// something first, each kind newest first.
    pub(crate) fn between(&self, since: &Version, until: &Version) -> Vec<&Section> {
        let is_between = |section: &&Section| {
            section.version.cmp_precedence(since).is_gt()
                && section.version.cmp_precedence(until).is_le()
        };
        let (mut found, others): (Vec<_>, Vec<_>) =
            self.sections.iter().filter(is_between).partition(|section| section.is_breaking);
        found.extend(others);
        found
    }
}

fn split(path: &Path, text: &str, name: &str) -> Vec<Section> {
    let mut found: Vec<Section> = sections::sections(text, name)
        .into_iter()
        .map(|found| section(found.version, path, found.line, &text[found.span]))
        .collect();
    // Of a version that is there twice, the longer one says more.
    found.sort_by(|one, other| {
        other.version.cmp(&one.version).then(other.text.len().cmp(&one.text.len()))
    });
    found.dedup_by(|later, kept| later.version == kept.version);
    found
}

fn whole(version: Version, path: &Path, text: &str) -> Section {
    section(version, path, 1, text.trim_end())
}

fn section(version: Version, file: &Path, line: usize, text: &str) -> Section {
    let is_breaking = says_breaking(text);
    Section { version, file: file.to_path_buf(), line, text: text.to_owned(), is_breaking }
}

/// Words before `breaking` that turn its meaning.
const NOT: [&str; 11] =
    ["no ", "non", "non-", "not ", "not a ", "without ", "un", "any ", "line ", "line-", "word "];

fn says_breaking(text: &str) -> bool {
    let text = text.to_lowercase();
    text.match_indices("breaking").any(|(at, _)| {
        let before = text[..at].trim_end_matches(['*', '_', '`']);
        !NOT.iter().any(|word| before.ends_with(word))
    })
}
