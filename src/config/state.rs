//! `state.toml`: what we remember about ourselves between runs.

use crate::files::{Limit, read_optional, read_text};
use std::io;
use std::path::Path;

/// The remembered facts. Unknown keys of a newer version are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Version of the program that last ran here.
    pub version: Option<String>,
    /// The version that stood there when we first ran here: of a program that had this folder before.
    pub version_before: Option<String>,
    /// When the registry last answered, in RFC 3339.
    pub last_update_check: Option<String>,
    /// When it was last asked in vain, in RFC 3339; nothing once it answered.
    pub last_failed_check: Option<String>,
    /// The newest version that it knew.
    pub newest: Option<String>,
    /// When the user was last told of it in an agent's window, in RFC 3339.
    pub last_update_nudge: Option<String>,
    /// When the user was last told of it before a command, or it was installed then.
    pub last_update_offer: Option<String>,
    /// Where everything of ours was taken back, and was not wanted again since.
    pub left: Vec<String>,
    /// Installations that failed, of which an agent was told, the newest last.
    pub told_failures: Vec<String>,
}

/// How often a change is tried anew because another process changed the file meanwhile.
const TRIES: usize = 20;

impl State {
    /// Reads the file; missing or unreadable counts as empty, for it holds nothing precious.
    pub(crate) fn load(path: &Path) -> Self {
        Self::parse(&read_text(path, Limit::SETTINGS).unwrap_or_default()).0
    }

    fn parse(text: &str) -> (Self, toml_edit::DocumentMut) {
        let document = text.parse::<toml_edit::DocumentMut>().unwrap_or_default();
        let get = |key: &str| document.get(key).and_then(|item| item.as_str()).map(str::to_owned);
        let state = Self {
            version: get("version"),
            version_before: get("version-before"),
            last_update_check: get("last-update-check"),
            last_failed_check: get("last-failed-update-check"),
            newest: get("newest-version"),
            last_update_nudge: get("last-update-nudge"),
            last_update_offer: get("last-update-offer"),
            left: list(&document, "left"),
            told_failures: list(&document, "told-failures"),
        };
        (state, document)
    }

    /// Changes the file as it is now, in one step: other keys, and what another process writes at
    /// the same time, stay. No change is no write.
    pub(crate) fn update(path: &Path, change: impl Fn(&mut Self)) -> io::Result<()> {
        for _ in 0..TRIES {
            let bytes = read_optional(path, Limit::SETTINGS)?;
            let text = bytes.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            let (before, mut document) = Self::parse(&text);
            let mut state = before.clone();
            change(&mut state);
            if state == before {
                return Ok(());
            }
            for (key, value) in [
                ("version", &state.version),
                ("version-before", &state.version_before),
                ("last-update-check", &state.last_update_check),
                ("last-failed-update-check", &state.last_failed_check),
                ("newest-version", &state.newest),
                ("last-update-nudge", &state.last_update_nudge),
                ("last-update-offer", &state.last_update_offer),
            ] {
                match value {
                    Some(value)
                        if document.get(key).and_then(|item| item.as_str()) == Some(value) => {}
                    Some(value) => document[key] = toml_edit::value(value),
                    None => drop(document.remove(key)),
                }
            }
            for (key, now, before) in [
                ("left", &state.left, &before.left),
                ("told-failures", &state.told_failures, &before.told_failures),
            ] {
                if now.is_empty() {
                    document.remove(key);
                } else if now != before {
                    let items = now.iter().map(String::as_str);
                    document[key] = toml_edit::value(items.collect::<toml_edit::Array>());
                }
            }
            let new = document.to_string();
            crate::files::private_folders(path.parent().unwrap_or(Path::new(".")))?;
            if crate::files::replace_if_same(path, bytes.as_deref(), new.as_bytes())? {
                return Ok(());
            }
        }
        Err(io::Error::other("other processes change it all the time"))
    }

    /// Stamps the running version when it is not there yet. Best effort: a place that can't be
    /// written is no reason to fail.
    pub(crate) fn stamp(path: &Path, version: &str) {
        let _ = Self::update(path, |state| {
            if state.version.as_deref() != Some(version) {
                let before = state.version.replace(version.to_owned());
                state.version_before = state.version_before.take().or(before);
            }
        });
    }
}

fn list(document: &toml_edit::DocumentMut, key: &str) -> Vec<String> {
    let items = document.get(key).and_then(|item| item.as_array()).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f218_the_version_is_stamped_once_and_other_keys_stay() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        std::fs::write(&path, "future = 1\n").expect("writes");
        State::stamp(&path, "1.2.3");
        let text = std::fs::read_to_string(&path).expect("reads");
        assert_eq!(text, "future = 1\nversion = \"1.2.3\"\n");
        assert_eq!(State::load(&path).version.as_deref(), Some("1.2.3"));
    }

    #[test]
    fn the_version_of_whoever_had_the_folder_before_is_kept() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        std::fs::write(&path, "version = \"0.5.1\"\n").expect("writes");
        for version in ["0.1.0", "0.2.0"] {
            State::stamp(&path, version);
            let state = State::load(&path);
            assert_eq!(state.version.as_deref(), Some(version));
            assert_eq!(state.version_before.as_deref(), Some("0.5.1"));
        }
    }

    #[test]
    fn where_everything_was_taken_back_is_a_list_that_comes_and_goes() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        let left = vec!["~".to_owned(), "/a \"b\"".to_owned()];
        State::stamp(&path, "1.2.3");
        let before = std::fs::read_to_string(&path).expect("reads");
        State::update(&path, |state| state.left.clone_from(&left)).expect("writes");
        assert_eq!(State::load(&path).left, left);
        State::update(&path, |state| state.left.clear()).expect("writes");
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), before);
    }

    #[test]
    fn f216_changes_at_the_same_time_are_all_kept() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        std::thread::scope(|scope| {
            scope.spawn(|| State::stamp(&path, "1.2.3"));
            scope.spawn(|| State::update(&path, |state| state.newest = Some("2.0.0".to_owned())));
            scope.spawn(|| {
                State::update(&path, |state| state.last_failed_check = Some("now".to_owned()))
            });
        });
        let state = State::load(&path);
        assert_eq!(state.version.as_deref(), Some("1.2.3"));
        assert_eq!(state.newest.as_deref(), Some("2.0.0"));
        assert_eq!(state.last_failed_check.as_deref(), Some("now"));
    }

    #[test]
    fn a_file_that_is_no_toml_is_made_anew_and_no_change_is_no_write() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("state.toml");
        std::fs::write(&path, "version = ").expect("writes");
        State::stamp(&path, "1.2.3");
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "version = \"1.2.3\"\n");
        let before = std::fs::metadata(&path).and_then(|found| found.modified()).expect("reads");
        State::stamp(&path, "1.2.3");
        let after = std::fs::metadata(&path).and_then(|found| found.modified()).expect("reads");
        assert_eq!(before, after);
    }
}
