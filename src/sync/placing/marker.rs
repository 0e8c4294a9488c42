//! The marker `.symposium` in each skill folder we made: whose it is, and what we put there.
//!
//! A folder with a marker is ours; one without is the user's. The hashes tell what the user changed
//! since; a file that is not among them (`__pycache__`, `.DS_Store`, an editor's backup, notes) is
//! foreign: neither an edit nor ours. A marker that says nothing (an empty one) is of an older installation: the folder goes when
//! it is no longer needed, and what is in it is replaced only where it is what we would write.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub(crate) const MARKER: &str = ".symposium";

/// How the names of folders under construction (and on their way out) start.
pub(crate) const STAGING: &str = ".symposium-";

/// What a marker says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Marker {
    /// Where the skill came from, for people.
    pub origin: String,
    /// The skill's folder below the root of where it came from; `None` where an earlier version wrote
    /// the marker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The plugin source that brought it; empty for the workspace's own and for what the user asked
    /// for by name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Agents that it was placed for by `sync --agent` while none that reads the folder was
    /// configured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_hand_for: Vec<String>,
    /// Hash of each file as we wrote it.
    pub files: BTreeMap<String, String>,
    /// Whether there was something in it that could not be understood.
    #[serde(skip)]
    pub damaged: bool,
}

impl Marker {
    /// Whether a file of this path was put into the folder by somebody else. Of an older installation
    /// everything counts as ours.
    pub(crate) fn is_foreign(&self, path: &str) -> bool {
        !self.files.is_empty() && path != MARKER && !self.files.contains_key(path)
    }

    /// Reads a marker; what can't be understood says nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let mut marker: Self = toml::from_str(text).unwrap_or_default();
        marker.damaged = marker.files.is_empty() && !text.trim().is_empty();
        marker
    }

    pub(crate) fn render(&self) -> String {
        let head = "# This folder was installed by Symposium (`cargo agents sync`), which keeps it up to date\n\
                    # and removes it when it is no longer needed. Delete this file to keep the folder as\n\
                    # your own.\n";
        let body = toml::to_string(self).unwrap_or_default();
        format!("{head}{body}")
    }
}

/// Whether two paths below a folder can't both be there, being one or one below the other.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    Path::new(one).starts_with(other) || Path::new(other).starts_with(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_survives_writing_and_reading_and_an_empty_one_says_nothing() {
        let files = [("scripts/a b.sh".to_owned(), "00ff".to_owned())].into();
        let marker = Marker {
            origin: "serde 1.0.0".to_owned(),
            path: Some("skills/a".to_owned()),
            source: "team".to_owned(),
            by_hand_for: vec!["claude".to_owned()],
            files,
            damaged: false,
        };
        assert_eq!(Marker::parse(&marker.render()), marker);
        assert_eq!(Marker::parse(""), Marker::default());
        let damaged = Marker { damaged: true, ..Marker::default() };
        assert_eq!(Marker::parse("{not toml"), damaged);
        assert!(Marker::parse("origin = \"x\"").damaged);
    }
}
