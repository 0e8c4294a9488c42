//! Where a program is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The file that `name` stands for.
///
/// A bare name is searched in the folders of `path_var`; entries that are empty or relative are
/// skipped, so that a checkout can't put a program of its own before the user's. A name with a
/// separator is a path, relative to `cwd`. What can't be executed does not count. On Windows the
/// extensions of `PATHEXT` are tried.
pub(crate) fn find_program(name: &OsStr, path_var: &OsStr, cwd: &Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    let path = absolute_entries(path_var);
    // An empty list would be taken for a list of the current folder.
    if path.is_empty() && is_bare_name(name) {
        return None;
    }
    which::which_in(name, Some(path), cwd).ok()
}

/// The user's `sh`.
pub(crate) fn find_sh(path_var: &OsStr) -> Option<PathBuf> {
    let name = OsStr::new("sh");
    let found = find_program(name, path_var, Path::new("/"));
    #[cfg(windows)]
    let found = found.or_else(|| sh_of_git(name, path_var));
    found
}

/// The `sh` or `bash` that came with the `git` on the `PATH`, where `name` asks for one: the installer of
/// Git for Windows puts only `Git\cmd` on the `PATH`, and they lie in `Git\bin`.
#[cfg(windows)]
pub(super) fn sh_of_git(name: &OsStr, path_var: &OsStr) -> Option<PathBuf> {
    let file = ["sh", "bash"].iter().find(|shell| name.eq_ignore_ascii_case(shell))?;
    let git = find_program("git".as_ref(), path_var, Path::new("/"))?;
    let beside = git.parent()?.parent()?.join("bin").join(file).with_extension("exe");
    beside.is_file().then_some(beside)
}

/// Whether `name` is to be searched on `PATH`.
pub(super) fn is_bare_name(name: &OsStr) -> bool {
    let path = Path::new(name);
    path.components().count() == 1 && path.file_name() == Some(name)
}

fn absolute_entries(path_var: &OsStr) -> OsString {
    let entries = std::env::split_paths(path_var).filter(|entry| entry.is_absolute());
    // Entries that came out of a list can be joined again; were one odd, nothing would be found.
    std::env::join_paths(entries).unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn program(path: &Path, mode: u32) {
        std::fs::create_dir_all(path.parent().expect("has a parent")).expect("creates");
        std::fs::write(path, "#!/bin/sh\n").expect("writes");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("sets");
    }

    #[test]
    fn a_program_of_the_current_folder_is_never_found_by_name() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (work, bin) = (dir.path().join("work"), dir.path().join("bin"));
        program(&work.join("tool"), 0o755);
        program(&bin.join("tool"), 0o755);
        let find = |path: &str| find_program("tool".as_ref(), path.as_ref(), &work);
        for relative in ["", ".", ":", "::.", "sub:../work"] {
            assert_eq!(find(relative), None, "{relative:?}");
        }
        let path = format!(".::{}", bin.display());
        assert_eq!(find(&path), Some(bin.join("tool")));
    }

    #[test]
    fn a_path_is_relative_to_the_folder_and_must_be_executable() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        program(&dir.path().join("a/tool"), 0o755);
        program(&dir.path().join("a/text"), 0o644);
        let find = |name: &str| find_program(name.as_ref(), "".as_ref(), dir.path());
        assert_eq!(find("./a/tool"), Some(dir.path().join("a/tool")));
        assert_eq!(find("a/text"), None);
        assert_eq!(find(""), None);
    }
}
