//! Paths from outside, kept inside their root.

use std::path::{Component, Path, PathBuf};

/// A path that would lead out of the folder it belongs to.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{path}` leads out of {root}")]
pub(crate) struct Escape {
    pub path: String,
    pub root: String,
}

/// `path` in normal form when it is relative and never climbs above its start (`a/../b` → `b`).
pub(crate) fn relative_inside(path: &str) -> Option<PathBuf> {
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    if path.contains('\0') {
        return None;
    }
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => {
                // A drive or stream on Windows must not hide in a name on any system.
                if part.to_string_lossy().contains(['\\', ':']) {
                    return None;
                }
                parts.push(part);
            }
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.iter().collect())
}

/// Whether `name` is one ordinary path component: not empty, no separator, not `.` or `..`.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\', ':', '\0'])
        && !name.chars().any(char::is_control)
}

/// `path` joined to `root`, checked to stay inside it with every link resolved.
///
/// What does not exist yet is checked as far as it exists. The result is not canonical: it is
/// `root` joined with the normal form of `path`.
///
/// # Errors
/// [`Escape`] when the path is absolute, climbs out, or passes a link that leads out.
pub(crate) fn contained(root: &Path, path: &str) -> Result<PathBuf, Escape> {
    let escape = || Escape { path: path.to_owned(), root: root.display().to_string() };
    let relative = relative_inside(path).ok_or_else(escape)?;
    let joined = root.join(&relative);
    let Ok(real_root) = crate::files::canonicalize(root) else { return Ok(joined) };
    let mut existing = joined.as_path();
    loop {
        match crate::files::canonicalize(existing) {
            Ok(real) if real.starts_with(&real_root) => return Ok(joined),
            Ok(_) => return Err(escape()),
            Err(_) if existing.is_symlink() => return Err(escape()),
            Err(_) => match existing.parent() {
                Some(parent) => existing = parent,
                None => return Ok(joined),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_paths_that_stay_inside_pass() {
        assert_eq!(relative_inside("a/./b/../c"), Some(PathBuf::from("a/c")));
        assert_eq!(relative_inside("."), Some(PathBuf::new()));
        for bad in ["..", "a/../../b", "/etc", "C:\\x", "a\\..\\..\\b", "a\0b"] {
            assert_eq!(relative_inside(bad), None, "{bad}");
        }
        // To Windows it is a path as any other.
        let inside = cfg!(windows).then(|| PathBuf::from("b"));
        assert_eq!(relative_inside("a\\..\\b"), inside);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_an_escape() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("in")).expect("creates");
        std::os::unix::fs::symlink(dir.path(), root.join("out")).expect("links");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), root.join("dangling"))
            .expect("links");
        assert!(contained(&root, "in/new").is_ok());
        assert!(contained(&root, "out/x").is_err());
        assert!(contained(&root, "dangling").is_err());
    }
}
