//! Paths of a sandbox, and texts with paths, that mean the same on every system.

use std::path::PathBuf;

use crate::Sandbox;

/// A text for people, with `/` in its paths on every system.
pub fn slashes(text: &str) -> String {
    if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() }
}

impl Sandbox {
    /// The absolute path of something below the sandbox's folder, as the system writes it.
    pub fn path(&self, path: &str) -> PathBuf {
        path.split('/').fold(self.dir(), |path, name| path.join(name))
    }

    /// The absolute path of something below the sandbox's folder, with `/` on every system: so it can
    /// stand in TOML and JSON as it is.
    pub fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.dir().display()).replace('\\', "/")
    }

    /// The `file://` URL of something below the sandbox's folder.
    pub fn file_url(&self, path: &str) -> String {
        format!("file:///{}", self.at(path).trim_start_matches('/'))
    }

    /// `text` with this sandbox's own folder written as `[DIR]`, and `/` in the paths that begin
    /// with it.
    pub fn redact(&self, text: &str) -> String {
        let dir = self.dir().display().to_string();
        let mut redacted = text.to_owned();
        for written in [dir.replace('\\', r"\\"), dir.replace('\\', "/"), dir] {
            let mut parts = redacted.split(&written);
            let mut whole = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let ends = |sign: char| sign.is_whitespace() || "\"'`".contains(sign);
                let (path, rest) = part.split_at(part.find(ends).unwrap_or(part.len()));
                let path = if cfg!(windows) { &path.replace(r"\\", "/") } else { path };
                whole.extend(["[DIR]", &slashes(path), rest]);
            }
            redacted = whole;
        }
        redacted
    }
}
