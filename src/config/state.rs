//! `state.toml`: what we remember about ourselves between runs.

use std::io;
use std::path::Path;

/// The remembered facts. Unknown keys of a newer version are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Version of the program that last ran here.
    pub version: Option<String>,
    /// When the registry last answered, in RFC 3339.
    pub last_update_check: Option<String>,
    /// The newest version that it knew.
    pub newest: Option<String>,
    /// When an agent was last told of it, in RFC 3339.
    pub last_update_nudge: Option<String>,
}

impl State {
    /// Reads the file; missing or unreadable counts as empty, for it holds nothing precious.
    pub fn load(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let document = text.parse::<toml_edit::DocumentMut>().unwrap_or_default();
        let get = |key: &str| document.get(key).and_then(|item| item.as_str()).map(str::to_owned);
        Self {
            version: get("version"),
            last_update_check: get("last-update-check"),
            newest: get("newest-version"),
            last_update_nudge: get("last-update-nudge"),
        }
    }

    /// Writes what changed, in one step, keeping the other keys.
    ///
    /// # Errors
    /// Trouble writing the file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut document = text.parse::<toml_edit::DocumentMut>().unwrap_or_default();
        for (key, value) in [
            ("version", &self.version),
            ("last-update-check", &self.last_update_check),
            ("newest-version", &self.newest),
            ("last-update-nudge", &self.last_update_nudge),
        ] {
            match value {
                Some(value) if document.get(key).and_then(|item| item.as_str()) == Some(value) => {}
                Some(value) => document[key] = toml_edit::value(value),
                None => {
                    document.remove(key);
                }
            }
        }
        crate::files::write_if_changed(path, document.to_string().as_bytes()).map(drop)
    }

    /// Stamps the running version when it is not there yet. Best effort: a place that can't be
    /// written is no reason to fail.
    pub fn stamp(path: &Path, version: &str) {
        let mut state = Self::load(path);
        if state.version.as_deref() != Some(version) {
            state.version = Some(version.to_owned());
            let _ = state.save(path);
        }
    }
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
}
