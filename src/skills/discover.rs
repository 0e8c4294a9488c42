//! Finding `SKILL.md` folders below a folder.

use std::collections::HashSet;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

use crate::fetch::git::led_out;
use crate::files::{final_target, is_absent};
use crate::plugins::model::ANY_DEPTH;
use crate::text::Diagnostic;
use crate::workspace::Observer;

/// The file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";
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

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// Sorted by path.
    pub skills: Vec<FoundSkill>,
    /// What people should know.
    pub told: Vec<Diagnostic>,
    /// Folders that can't be looked into, each with why: what is in them is not known.
    pub unread: Vec<(FoundSkill, Diagnostic)>,
}

impl Discovered {
    /// The skills, and all that people should know, for callers that place no copies.
    pub(crate) fn told(self) -> (Vec<FoundSkill>, Vec<Diagnostic>) {
        let unread = self.unread.into_iter().map(|(_, problem)| problem);
        (self.skills, self.told.into_iter().chain(unread).collect())
    }
}

/// The skills in `start` or below it. `root` is what no link may lead out of.
///
/// A folder with a `SKILL.md` is a skill and nothing below it is. A folder whose file is called
/// `skill.md` or the like is told: agents do not read it. A `start` that does not exist has no
/// skills.
pub(crate) fn discover(root: &Path, start: &Path, observer: &Observer) -> Discovered {
    search((root, start), observer, ANY_DEPTH, &|_| false)
}

/// As [`discover`], with skills so deep below `start` only.
pub(crate) fn discover_at(
    depths: RangeInclusive<usize>,
    (root, start): (&Path, &Path),
    observer: &Observer,
) -> Discovered {
    search((root, start), observer, depths, &|_| false)
}

/// As [`discover`], but folders below `start` that `is_left_out` are not looked into.
pub(super) fn discover_unless(
    root: &Path,
    start: &Path,
    observer: &Observer,
    is_left_out: &dyn Fn(&Path) -> bool,
) -> Discovered {
    search((root, start), observer, ANY_DEPTH, is_left_out)
}

fn search(
    (root, start): (&Path, &Path),
    observer: &Observer,
    depths: RangeInclusive<usize>,
    is_left_out: &dyn Fn(&Path) -> bool,
) -> Discovered {
    let real_root = crate::files::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let mut search = Search {
        observer,
        is_left_out,
        depths,
        root,
        real_root,
        ancestors: Vec::new(),
        seen: HashSet::new(),
        left: FOLDERS,
        done: Discovered::default(),
    };
    match observer.metadata(start) {
        Ok(there) if there.is_dir() => search.folder(start, 0),
        Ok(_) => {}
        Err(error) if is_absent(&error) && !start.is_symlink() => {}
        Err(error) => search.unread(start, &format!("can't look into the folder: {error}")),
    }
    search.done.skills.sort_by(|one, other| one.path.cmp(&other.path));
    search.done
}

struct Search<'a> {
    observer: &'a Observer,
    is_left_out: &'a dyn Fn(&Path) -> bool,
    depths: RangeInclusive<usize>,
    root: &'a Path,
    real_root: PathBuf,
    /// The real folders we are in, so that a link to one of them ends the search there.
    ancestors: Vec<PathBuf>,
    /// The real folders that were looked into, each with the depth at which it was: a second link to
    /// one shows nothing new.
    seen: HashSet<(PathBuf, usize)>,
    left: usize,
    done: Discovered,
}

impl Search<'_> {
    fn folder(&mut self, dir: &Path, depth: usize) {
        let unreadable = |error: &io::Error| format!("can't look into the folder: {error}");
        let real = match crate::files::canonicalize(dir) {
            Ok(real) => real,
            Err(error) => return self.unread(dir, &unreadable(&error)),
        };
        if !real.starts_with(&self.real_root) {
            return self.leads_out(dir);
        }
        let is_known = self.ancestors.contains(&real) || !self.seen.insert((real.clone(), depth));
        if is_known || self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            let message = format!("more than {FOLDERS} folders: the search for skills ends here");
            self.done.told.push(Diagnostic::warning(message).in_file(dir));
        }
        let mut names: Vec<String> = match self.observer.entries(dir) {
            Ok(entries) => {
                entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
            }
            Err(error) => return self.unread(dir, &unreadable(&error)),
        };
        names.sort();
        // Listed, not asked for by name: a file system that ignores case would say yes to both.
        let is_one = names.iter().any(|name| name == SKILL_FILE);
        if is_one && self.depths.contains(&depth) && !self.is_folder(&dir.join(SKILL_FILE)) {
            let path = relative(self.root, dir);
            self.done.skills.push(FoundSkill { dir: dir.to_path_buf(), path });
            return;
        }
        let is_near = |name: &&String| name.eq_ignore_ascii_case(SKILL_FILE) && *name != SKILL_FILE;
        if let Some(near) = names.iter().find(is_near) {
            let warning = Diagnostic::warning(format!("`{near}` is not read"))
                .in_file(dir.join(near))
                .note(format!("call it `{SKILL_FILE}`"));
            self.done.told.push(warning);
        }
        if depth == *self.depths.end() {
            return;
        }
        self.ancestors.push(real);
        for name in names.iter().filter(|name| !SKIPPED.contains(&name.as_str())) {
            let below = dir.join(name);
            // Names with a dot in front are programs' own: editors lock files with broken links.
            if below.is_symlink() && !below.exists() && !name.starts_with('.') {
                match led_out(&below) {
                    true => self.leads_out(&below),
                    false => self.unread(&below, "the link leads nowhere; it is left out"),
                }
            }
            // Whether it is a folder, the listing has told the observer.
            if below.is_dir() && !(self.is_left_out)(&below) {
                self.folder(&below, depth + 1);
            }
        }
        self.ancestors.pop();
    }

    fn leads_out(&mut self, link: &Path) {
        let told = Diagnostic::warning("the link leads out; it is left out");
        self.done.told.push(told.in_file(link));
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.observer.metadata(path).is_ok_and(|found| found.is_dir())
    }

    /// Notes a folder that may have skills. A link that leads out has none, now or ever.
    fn unread(&mut self, dir: &Path, why: &str) {
        let problem = Diagnostic::warning(why).in_file(dir);
        match place_below(&self.real_root, dir) {
            Some(path) => {
                let folder = FoundSkill { dir: dir.to_path_buf(), path };
                self.done.unread.push((folder, problem));
            }
            None => self.done.told.push(problem),
        }
    }
}

/// Where `dir`, which may lead nowhere, is or would be below `real_root`, with `/`.
fn place_below(real_root: &Path, dir: &Path) -> Option<String> {
    let target = final_target(dir).unwrap_or_else(|_| dir.to_path_buf());
    let mut place = PathBuf::new();
    for part in target.components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            part => place.push(part),
        }
        place = crate::files::canonicalize(&place).unwrap_or(place);
    }
    let inside = place.strip_prefix(real_root).ok()?;
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    Some(parts.join("/"))
}

/// `dir` below `root`, with `/` between; where links are in the way, of the real folders.
pub(super) fn relative(root: &Path, dir: &Path) -> String {
    let real =
        |path: &Path| crate::files::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
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
            .skills
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
        let (found, told) = discover(dir.path(), dir.path(), &UNOBSERVED).told();
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
        let (found, told) = discover(&root, &root.join("s"), &UNOBSERVED).told();
        assert_eq!(found.len(), 2, "through the link and through the loop: {found:?}");
        assert!(found.iter().all(|skill| skill.path == "real/a"), "{found:?}");
        assert!(told.iter().all(|warning| warning.message.contains("leads out")), "{told:?}");
        let start = dir.path().join("outside");
        assert_eq!(discover(&root, &start, &UNOBSERVED).skills, []);
    }

    #[cfg(unix)]
    #[test]
    fn many_links_to_one_folder_are_looked_into_once() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        put(dir.path(), "real/a/SKILL.md");
        fs::create_dir_all(dir.path().join("s")).expect("creates");
        for number in 0..100 {
            let link = dir.path().join(format!("s/{number}"));
            std::os::unix::fs::symlink("../real", link).expect("links");
        }
        assert_eq!(found(dir.path(), "s"), ["real/a"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_can_t_be_looked_into_is_unread_by_the_place_that_it_has_or_would_have() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().join("root");
        put(&root, "s/a/SKILL.md");
        put(&root, "s/closed/b/SKILL.md");
        symlink("../real/c", root.join("s/c")).expect("links");
        symlink("c", root.join("s/d")).expect("links");
        symlink("../../gone", root.join("s/out")).expect("links");
        symlink("loop", root.join("loop")).expect("links");
        let closed = root.join("s/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("closes");
        let found = discover(&root, &root.join("s"), &UNOBSERVED);
        let paths: Vec<_> = found.unread.iter().map(|(folder, _)| folder.path.as_str()).collect();
        // Everything is readable for root.
        let mut expected = vec!["real/c", "real/c"];
        if fs::read_dir(&closed).is_err() {
            expected.insert(1, "s/closed");
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("opens");
        let mut sorted = paths.clone();
        sorted.sort_unstable();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
        assert_eq!(found.told.len(), 1, "the one that leads out: {:?}", found.told);
        let found = discover(&root, &root.join("loop"), &UNOBSERVED);
        assert_eq!(found.unread.len(), 1, "{found:?}");
        fs::remove_dir_all(root.join("s")).expect("removes");
        assert!(discover(&root, &root.join("s"), &UNOBSERVED).unread.is_empty());
        // A file that leads nowhere for a moment does not make its folder any other.
        fs::create_dir_all(root.join("s/e")).expect("creates");
        symlink("../gone.md", root.join("s/e/SKILL.md")).expect("links");
        assert_eq!(self::found(&root, "s"), ["s/e"]);
    }
}
