//! `workspace.members` patterns, expanded as cargo does, noting every folder that is looked into.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use glob::Pattern;

use super::paths::normalize;

/// Folders that `**` does not enter: nobody's members live there, and they change all the time.
const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];
/// How deep `**` goes.
const MAX_DEPTH: usize = 32;
/// How many folders a pattern may look into: one like `/**/x` must not walk a whole disk.
const MAX_FOLDERS: usize = 20_000;

/// What a pattern stands for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expansion {
    /// Folders that match, sorted; a pattern without wildcards is its own match, there or not.
    pub folders: Vec<PathBuf>,
    pub wild: bool,
}

/// Expands `pattern`, relative to `root`; `observe` is called with a path before it is looked at.
///
/// # Errors
/// The pattern is malformed, or leads through too many folders: what is wrong with it.
pub(super) fn expand(
    root: &Path,
    pattern: &str,
    observe: &mut dyn FnMut(&Path),
) -> Result<Expansion, String> {
    expand_within(root, pattern, MAX_FOLDERS, observe)
}

fn expand_within(
    root: &Path,
    pattern: &str,
    limit: usize,
    observe: &mut dyn FnMut(&Path),
) -> Result<Expansion, String> {
    let mut fixed = PathBuf::new();
    let mut wild: Vec<Pattern> = Vec::new();
    let anchored = Path::new(pattern).is_absolute();
    for (index, part) in pattern.split(std::path::is_separator).enumerate() {
        if wild.is_empty() && !part.contains(['*', '?', '[']) {
            if index == 0 && anchored {
                fixed.push(format!("{part}{}", std::path::MAIN_SEPARATOR));
            } else {
                fixed.push(part);
            }
        } else if !part.is_empty() && part != "." {
            // `**/**` is `**`.
            if part != "**" || wild.last().is_none_or(|last| last.as_str() != "**") {
                wild.push(Pattern::new(part).map_err(|error| error.msg.to_owned())?);
            }
        }
    }
    let base = normalize(&root.join(&fixed));
    if wild.is_empty() {
        return Ok(Expansion { folders: vec![base], wild: false });
    }
    let mut walk =
        Walk { observe, found: Vec::new(), entered: HashSet::new(), folders_left: limit + 1 };
    walk.step(&base, &wild, 0);
    if walk.folders_left == 0 {
        return Err(format!("it leads through more than {limit} folders"));
    }
    let Walk { observe, found: mut folders, .. } = walk;
    folders.sort();
    folders.dedup();
    if folders.is_empty() {
        // A folder whose real name has a bracket in it.
        let literal = normalize(&root.join(pattern));
        observe(&literal);
        if literal.is_dir() {
            return Ok(Expansion { folders: vec![literal], wild: false });
        }
    }
    Ok(Expansion { folders, wild: true })
}

struct Walk<'a> {
    observe: &'a mut dyn FnMut(&Path),
    found: Vec<PathBuf>,
    /// Folders that a `**` was followed into, links resolved, for a link may lead in circles; with
    /// the number of patterns after it.
    entered: HashSet<(PathBuf, usize)>,
    folders_left: usize,
}

impl Walk<'_> {
    /// `dir` is there, or there is at least one pattern left.
    fn step(&mut self, dir: &Path, rest: &[Pattern], depth: usize) {
        let Some((first, rest)) = rest.split_first() else {
            self.found.push(dir.to_path_buf());
            return;
        };
        match first.as_str() {
            "**" => self.any_depth(dir, rest, depth),
            ".." => self.step(&normalize(&dir.join("..")), rest, depth),
            _ => {
                for name in self.subfolders(dir, |name| first.matches(name)) {
                    self.step(&dir.join(name), rest, depth);
                }
            }
        }
    }

    fn any_depth(&mut self, dir: &Path, rest: &[Pattern], depth: usize) {
        let Ok(real) = crate::files::canonicalize(dir) else { return };
        if depth > MAX_DEPTH || !self.entered.insert((real, rest.len())) {
            return;
        }
        self.step(dir, rest, depth);
        for name in self.subfolders(dir, |name| !SKIPPED.contains(&name)) {
            self.any_depth(&dir.join(name), rest, depth + 1);
        }
    }

    /// Names of the folders in `dir` that `wanted` accepts. A link counts when it leads to one; it
    /// is noted in any case, for its target may appear without a change in `dir`.
    fn subfolders(&mut self, dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut names = Vec::new();
        self.folders_left = self.folders_left.saturating_sub(1);
        if self.folders_left == 0 {
            return names;
        }
        (self.observe)(dir);
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !wanted(&name) {
                continue;
            }
            let is_dir = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    (self.observe)(&entry.path());
                    entry.path().is_dir()
                }
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            };
            if is_dir {
                names.push(name);
            }
        }
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(folders: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for folder in folders {
            fs::create_dir_all(dir.path().join(folder)).expect("creates");
        }
        dir
    }

    fn expanded(dir: &Path, pattern: &str) -> (Vec<String>, Vec<String>) {
        let mut looked = Vec::new();
        let show = |path: &Path| {
            path.strip_prefix(dir).expect("below").to_string_lossy().replace('\\', "/")
        };
        let expansion = expand(dir, pattern, &mut |path| looked.push(show(path))).expect("valid");
        (expansion.folders.iter().map(|folder| show(folder)).collect(), looked)
    }

    #[test]
    fn f49_patterns_match_folders_and_tell_where_they_looked() {
        let dir = tree(&["crates/a", "crates/.b", "libs/x/rust", "libs/y/js", "libs/z/w/rust"]);
        fs::write(dir.path().join("crates/file"), "").expect("writes");
        let (found, looked) = expanded(dir.path(), "crates/*");
        assert_eq!(
            (found, looked),
            (vec!["crates/.b".into(), "crates/a".into()], vec!["crates".into()])
        );
        let (found, looked) = expanded(dir.path(), "./libs/?/rust/");
        assert_eq!(found, ["libs/x/rust"]);
        assert!(looked.contains(&"libs".into()) && looked.contains(&"libs/y".into()), "{looked:?}");
        let (found, _) = expanded(dir.path(), "libs/**/rust");
        assert_eq!(found, ["libs/x/rust", "libs/z/w/rust"]);
        assert_eq!(expanded(dir.path(), "**/libs/**/**/rust").0, ["libs/x/rust", "libs/z/w/rust"]);
        assert_eq!(expanded(dir.path(), "**/?/**/rust").0, ["libs/x/rust", "libs/z/w/rust"]);
        assert_eq!(expanded(dir.path(), "one/../two").0, ["two"]);
        assert!(expand(dir.path(), "a***", &mut |_| ()).is_err());
    }

    #[test]
    fn a_pattern_does_not_lead_through_a_whole_disk() {
        let dir = tree(&["a/b/c"]);
        let within = |limit| expand_within(dir.path(), "**/c", limit, &mut |_| ());
        let problem = within(3).expect_err("too many");
        assert_eq!(problem, "it leads through more than 3 folders");
        assert_eq!(within(100).expect("few enough").folders, [dir.path().join("a/b/c")]);
    }

    #[test]
    fn a_bracket_in_a_real_name_is_found() {
        let dir = tree(&["a[1]", "ro[o]t/crates/x"]);
        assert_eq!(expanded(dir.path(), "a[1]").0, ["a[1]"]);
        let root = dir.path().join("ro[o]t");
        assert_eq!(expanded(&root, "crates/*").0, ["crates/x"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_circles_end() {
        let dir = tree(&["a/b"]);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/b/up")).expect("links");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), dir.path().join("dangling"))
            .expect("links");
        let (found, _) = expanded(dir.path(), "**/b");
        assert_eq!(found, ["a/b"]);
        let (found, looked) = expanded(dir.path(), "*");
        assert_eq!(found, ["a"]);
        assert!(looked.contains(&"dangling".into()));
    }
}
