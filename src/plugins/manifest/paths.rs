//! Paths in a manifest: where they start and what they must stay inside.

use std::path::{Component, Path, PathBuf};

use super::context::{Context, shown};
use crate::files::{Escape, contained, relative_inside};
use crate::plugins::diagnostics::codes;
use crate::plugins::model::Plugin;
use crate::text::toml::Located;

impl Plugin {
    /// A relative path of the manifest on disk: it starts at the plugin's folder and stays, links
    /// included, inside the plugin's source, or a package's own folder.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, Escape> {
        let boundary = self.boundary();
        contained(boundary, &in_source(boundary, &self.dir, path))
    }
}

/// `path`, taken from `dir`, as a path from `root`.
fn in_source(root: &Path, dir: &Path, path: &str) -> String {
    let mut parts = String::new();
    for component in dir.strip_prefix(root).unwrap_or(Path::new("")).components() {
        if let Component::Normal(part) = component {
            parts.push_str(&part.to_string_lossy());
            parts.push('/');
        }
    }
    // An absolute path must stay one, to be refused.
    if is_absolute(path) { path.to_owned() } else { parts + path }
}

/// Whether `path` is absolute on any system.
pub(super) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'/' | b'\\'));
    drive || path.starts_with(['/', '\\'])
}

/// Why a program is refused whose path is absolute, but on another system: on Windows `/a` would be
/// taken from whichever drive the program is started on.
pub(crate) fn of_another_system(path: &str) -> Option<String> {
    let foreign = is_absolute(path) && !Path::new(path).is_absolute();
    foreign.then(|| format!("`{path}` is a path of another system"))
}

/// Checks a path that starts at the plugin's folder.
pub(super) fn check_in_source(cx: &Context<'_>, path: &Located<String>) -> bool {
    let dir = cx.place.manifest.parent().unwrap_or(Path::new(""));
    let whole = in_source(cx.place.source_root, dir, &path.value);
    check(cx, path, relative_inside(&whole).is_some(), "the plugin's source")
}

/// Checks a path inside something that is fetched.
pub(super) fn check_in_tree(cx: &Context<'_>, path: &Located<String>, tree: &str) -> bool {
    let inside = relative_inside(&path.value);
    check(cx, path, inside.is_some_and(|inside| inside != Path::new("")), tree)
}

/// Checks a program or script that is not fetched: in the plugin's source, or absolute.
pub(super) fn check_on_disk(cx: &Context<'_>, path: &Located<String>) -> bool {
    let absolute = is_absolute(&path.value) && !path.value.contains('\0');
    absolute || check_in_source(cx, path)
}

fn check(cx: &Context<'_>, path: &Located<String>, inside: bool, root: &str) -> bool {
    let text = shown(&path.value);
    let (message, note) = if path.value.is_empty() {
        ("a path is empty".to_owned(), "`.` is the folder itself")
    } else if path.value.starts_with('~') {
        (format!("`{text}` starts with `~`"), "`~` is not expanded")
    } else if inside {
        return true;
    } else {
        let note = "paths are relative, with `/` between folders, and stay inside";
        (format!("`{text}` leads out of {root}"), note)
    };
    cx.reject(cx.problem(codes::PATH_ESCAPES, &path.span, message).note(note));
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_26_paths_start_at_the_plugin_and_stay_in_its_source() {
        let root = Path::new("/src");
        let dir = Path::new("/src/a/b");
        for (path, expected) in [
            ("x.sh", Some("a/b/x.sh")),
            ("../x.sh", Some("a/x.sh")),
            ("../../x.sh", Some("x.sh")),
            ("../../../x.sh", None),
            ("/etc/passwd", None),
        ] {
            let inside = relative_inside(&in_source(root, dir, path));
            assert_eq!(inside, expected.map(PathBuf::from), "{path}");
        }
    }

    #[test]
    fn absolute_paths_of_any_system_are_seen() {
        for path in ["/usr/bin/x", "C:\\x", "c:/x", "\\\\server\\x"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["usr/bin", "./x", "C:x", "é", ""] {
            assert!(!is_absolute(path), "{path}");
        }
    }
}
