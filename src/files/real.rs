//! Where a path leads, written as people and other programs write it.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// The absolute path without links, `.` and `..`, and without Windows's prefix `\\?\`, however long it
/// is: std puts it there where the system asks for it.
///
/// # Errors
/// When there is nothing at `path`, or it can't be followed.
#[allow(clippy::disallowed_methods, reason = "the one place that asks")]
pub(crate) fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let real = dunce::canonicalize(path)?;
    Ok(without_prefix(&real).into_owned())
}

/// The path without the prefix `\\?\`, which most programs do not take. Where it stands because of a
/// name that Windows else gives to a device, it stays.
#[cfg(windows)]
pub(crate) fn without_prefix(path: &Path) -> Cow<'_, Path> {
    use std::path::{Component, Prefix};

    // It stays where it is for a path that is too long for some programs.
    let path = dunce::simplified(path);
    let mut parts = path.components();
    let Some(Component::Prefix(prefix)) = parts.next() else { return path.into() };
    let Prefix::VerbatimDisk(letter) = prefix.kind() else { return path.into() };
    let is_everyday = |part: Component<'_>| {
        let alone = Path::new(r"\\?\C:\").join(part);
        part == Component::RootDir || dunce::simplified(&alone) != alone
    };
    if !parts.clone().all(is_everyday) {
        return path.into();
    }
    let mut plain = std::ffi::OsString::from(format!("{}:", char::from(letter)));
    plain.push(parts.as_path());
    PathBuf::from(plain).into()
}

/// As on Windows, where paths may have a prefix.
#[cfg(not(windows))]
pub(crate) fn without_prefix(path: &Path) -> Cow<'_, Path> {
    path.into()
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_any_length_has_no_prefix_unless_a_name_in_it_needs_it() {
        let long = ["x".repeat(60).as_str(); 6].join("\\");
        for (path, plain) in [
            (r"\\?\C:\a\b".to_owned(), r"C:\a\b".to_owned()),
            (format!(r"\\?\C:\{long}"), format!(r"C:\{long}")),
            (format!(r"C:\{long}"), format!(r"C:\{long}")),
            (format!(r"\\?\C:\{long}\aux"), format!(r"\\?\C:\{long}\aux")),
            (format!(r"\\?\UNC\server\share\{long}"), format!(r"\\?\UNC\server\share\{long}")),
        ] {
            assert_eq!(without_prefix(Path::new(&path)), Path::new(&plain));
        }
    }
}
