//! Finding `SKILL.md` folders below a folder.

use std::path::{Path, PathBuf};

use crate::text::Diagnostic;
use crate::workspace::Observer;

/// The file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";
/// How many folders deep a skill may be below the start.
pub(crate) const DEPTH: usize = 6;
/// Folders that hold other people's files or made ones.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];
/// How many folders are looked into; more than that is no skills folder.
const FOLDERS: usize = 50_000;

/// A folder with a `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundSkill {
    pub dir: PathBuf,
    /// The folder below the root that was searched, with `/`; empty for the root itself.
    pub path: String,
}

/// The skills in `start` or below it, sorted by path. `root` is what no link may lead out of.
///
/// A folder with a `SKILL.md` is a skill and nothing below it is. A folder whose file is called
/// `skill.md` or the like is told: agents do not read it. A `start` that does not exist has no
/// skills.
pub(crate) fn discover(
    root: &Path,
    start: &Path,
    observer: &Observer,
) -> (Vec<FoundSkill>, Vec<Diagnostic>) {
    discover_unless(root, start, observer, &|_| false)
}

/// As [`discover`], but folders below `start` that `is_left_out` are not looked into.
pub(super) fn discover_unless(
    root: &Path,
    start: &Path,
    observer: &Observer,
    is_left_out: &dyn Fn(&Path) -> bool,
) -> (Vec<FoundSkill>, Vec<Diagnostic>) {
    let real_root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let mut search = Search {
        observer,
        is_left_out,
        root,
        real_root,
        ancestors: Vec::new(),
        left: FOLDERS,
        found: Vec::new(),
        told: Vec::new(),
    };
    if observer.is_dir(start) {
        search.folder(start, 0);
    }
    search.found.sort_by(|one, other| one.path.cmp(&other.path));
    (search.found, search.told)
}

struct Search<'a> {
    observer: &'a Observer,
    is_left_out: &'a dyn Fn(&Path) -> bool,
    root: &'a Path,
    real_root: PathBuf,
    /// The real folders we are in, so that a link to one of them ends the search there.
    ancestors: Vec<PathBuf>,
    left: usize,
    found: Vec<FoundSkill>,
    told: Vec<Diagnostic>,
}

impl Search<'_> {
    fn folder(&mut self, dir: &Path, depth: usize) {
        let Ok(real) = dunce::canonicalize(dir) else { return };
        if !real.starts_with(&self.real_root) {
            self.told.push(Diagnostic::warning("the link leads out; it is left out").in_file(dir));
            return;
        }
        if self.ancestors.contains(&real) || self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            let message = format!("more than {FOLDERS} folders: the search for skills ends here");
            self.told.push(Diagnostic::warning(message).in_file(dir));
        }
        let mut names: Vec<String> = match self.observer.entries(dir) {
            Ok(entries) => {
                entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
            }
            Err(error) => {
                let message = format!("can't look into the folder: {error}");
                self.told.push(Diagnostic::warning(message).in_file(dir));
                return;
            }
        };
        names.sort();
        // Listed, not asked for by name: a file system that ignores case would say yes to both.
        if names.iter().any(|name| name == SKILL_FILE) && self.is_file(&dir.join(SKILL_FILE)) {
            let path = relative(self.root, dir);
            self.found.push(FoundSkill { dir: dir.to_path_buf(), path });
            return;
        }
        if let Some(near) = names.iter().find(|name| name.eq_ignore_ascii_case(SKILL_FILE)) {
            let warning = Diagnostic::warning(format!("`{near}` is not read"))
                .in_file(dir.join(near))
                .note(format!("call it `{SKILL_FILE}`"));
            self.told.push(warning);
        }
        if depth == DEPTH {
            return;
        }
        self.ancestors.push(real);
        for name in names.iter().filter(|name| !SKIPPED.contains(&name.as_str())) {
            let below = dir.join(name);
            // Names with a dot in front are programs' own: editors lock files with broken links.
            if below.is_symlink() && !below.exists() && !name.starts_with('.') {
                let message = "the link leads nowhere; it is left out";
                self.told.push(Diagnostic::warning(message).in_file(&below));
            }
            // Whether it is a folder, the listing has told the observer.
            if below.is_dir() && !(self.is_left_out)(&below) {
                self.folder(&below, depth + 1);
            }
        }
        self.ancestors.pop();
    }

    fn is_file(&self, path: &Path) -> bool {
        self.observer.metadata(path).is_ok_and(|found| found.is_file())
    }
}

/// `dir` below `root`, with `/` between; where links are in the way, of the real folders.
pub(super) fn relative(root: &Path, dir: &Path) -> String {
    let real = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (real_root, real_dir) = (real(root), real(dir));
    let inside = real_dir.strip_prefix(&real_root).unwrap_or(Path::new(""));
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::UNOBSERVED;

    fn put(root: &Path, path: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(path, "---\nname: x\ndescription: d\n---\n").expect("writes");
    }

    fn found(root: &Path, start: &str) -> Vec<String> {
        discover(root, &root.join(start), &UNOBSERVED)
            .0
            .into_iter()
            .map(|skill| skill.path)
            .collect()
    }

    #[test]
    fn f91_the_search_is_recursive_and_ends_at_a_skill() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for path in ["s/b/SKILL.md", "s/b/inner/SKILL.md", "s/a/x/SKILL.md", "other/SKILL.md"] {
            put(dir.path(), path);
        }
        assert_eq!(found(dir.path(), "s"), ["s/a/x", "s/b"]);
        assert_eq!(found(dir.path(), "s/b"), ["s/b"]);
        assert_eq!(found(dir.path(), "missing"), [""; 0]);
        put(dir.path(), "SKILL.md");
        assert_eq!(found(dir.path(), "."), [""]);
    }

    #[test]
    fn section_3_six_levels_and_no_made_folders() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for path in [
            "1/2/3/4/5/6/SKILL.md",
            "1/2/3/4/5/x/7/SKILL.md",
            ".git/a/SKILL.md",
            "target/a/SKILL.md",
            "node_modules/a/SKILL.md",
            ".agents/a/SKILL.md",
        ] {
            put(dir.path(), path);
        }
        assert_eq!(found(dir.path(), "."), [".agents/a", "1/2/3/4/5/6"]);
    }

    #[test]
    fn a_near_miss_is_told() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        put(dir.path(), "a/skill.md");
        let (found, told) = discover(dir.path(), dir.path(), &UNOBSERVED);
        assert_eq!(found, []);
        assert!(told[0].to_string().contains("`skill.md` is not read; call it `SKILL.md`"));
    }

    #[cfg(unix)]
    #[test]
    fn section_3_links_are_followed_inside_the_root_only() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().join("root");
        put(&root, "real/a/SKILL.md");
        put(dir.path(), "outside/b/SKILL.md");
        fs::create_dir_all(root.join("s")).expect("creates");
        symlink(dir.path().join("outside"), root.join("s/out")).expect("links");
        symlink("../real", root.join("s/in")).expect("links");
        symlink("..", root.join("s/loop")).expect("links");
        let (found, told) = discover(&root, &root.join("s"), &UNOBSERVED);
        assert_eq!(found.len(), 2, "through the link and through the loop: {found:?}");
        assert!(found.iter().all(|skill| skill.path == "real/a"), "{found:?}");
        assert!(told.iter().all(|warning| warning.message.contains("leads out")), "{told:?}");
        let start = dir.path().join("outside");
        assert_eq!(discover(&root, &start, &UNOBSERVED).0, []);
    }
}
