//! Paths as manifests write them.

use std::path::{Component, Path, PathBuf};

use crate::config::Environment;

/// `path` without `.` and `..`, by its text alone: links are not followed, as cargo does it.
pub(super) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // `..` at the root of a file system stays there.
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// The folder a search begins in: `start` made absolute, its links resolved. Where it does not
/// exist (any more), the nearest folder above that does; where it is a file, the folder it is in.
pub(super) fn existing_folder(start: &Path, env: &Environment) -> Option<PathBuf> {
    let absolute = match env.cwd() {
        Some(cwd) if start.is_relative() => cwd.join(start),
        _ => start.to_path_buf(),
    };
    if !absolute.is_absolute() {
        return None;
    }
    let real = absolute.ancestors().find_map(|folder| crate::files::canonicalize(folder).ok())?;
    if real.is_dir() { Some(real) } else { real.parent().map(Path::to_path_buf) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_by_text() {
        assert_eq!(normalize(Path::new("/a/./b/../c/")), PathBuf::from("/a/c"));
        assert_eq!(normalize(Path::new("/../../a")), PathBuf::from("/a"));
    }

    #[test]
    fn f50_a_deleted_folder_stands_for_the_nearest_one_above() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let real = crate::files::canonicalize(dir.path()).expect("exists");
        std::fs::write(real.join("file"), "").expect("writes");
        let env = Environment::with(&real, [("HOME", "/h")]);
        assert_eq!(existing_folder(Path::new("gone/deeper"), &env), Some(real.clone()));
        assert_eq!(existing_folder(&real.join("file"), &env), Some(real.clone()));
        let nowhere = Environment::default();
        assert_eq!(existing_folder(Path::new("relative"), &nowhere), None);
    }
}
