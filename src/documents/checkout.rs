//! A git checkout, by its files. The git program is not run in one: it acts on what the checkout's
//! own configuration names.
//!
//! How it is laid out: `gitrepository-layout(5)`, `git-worktree(1)`, `gitsubmodules(7)`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{Limit, ReadError, final_target, read_bytes};

mod index;

/// A folder with a `.git`, and what stands behind that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The top folder.
    pub top: PathBuf,
    repository: Result<Repository, Unclear>,
}

/// What belongs to the checkout, after that was made sure of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Repository {
    /// Holds the checkout's own index.
    own: PathBuf,
    /// Holds what all linked checkouts share: objects, `info/exclude`.
    common: PathBuf,
}

/// What git does not clearly say, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unclear {
    pub(crate) why: String,
    pub(crate) remedy: &'static str,
}

/// Whether git tracks a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tracking {
    /// Clearly not.
    Untracked,
    Tracked {
        /// Whether the file is as it was when git last read it, by its time and length, as git itself
        /// tells. `false` where it can't be told.
        as_staged: bool,
    },
    Unclear(Unclear),
}

/// The checkout that `folder` is in. A bare repository around it is none.
pub(crate) fn find(folder: &Path) -> Option<Checkout> {
    folder.ancestors().find_map(|top| {
        let git = top.join(".git");
        let linked = git.is_symlink();
        let repository = match fs::metadata(&git).ok()? {
            found if found.is_file() => named_in(&git).and_then(|dir| elsewhere(top, &dir)),
            found if !found.is_dir() => return None,
            _ if linked => elsewhere(top, &git),
            _ if ["HEAD", "index", "objects"].iter().any(|name| is_there(&git.join(name))) => {
                within(top, &git)
            }
            _ => return None,
        };
        Some(Checkout { top: top.to_path_buf(), repository })
    })
}

/// Whether git tracks the file at `path`, or the one that it leads to. An index larger than `limit` is
/// not read.
pub(crate) fn tracking(path: &Path, limit: Limit) -> Tracking {
    let real = real(path);
    let mut places = vec![path.to_path_buf()];
    places.extend((real != path).then_some(real));
    let mut each = places.iter().map(|place| tracking_around(place, limit));
    each.find(|known| *known != Tracking::Untracked).unwrap_or(Tracking::Untracked)
}

/// The nearest checkout says it, and where that is new, the one around it.
fn tracking_around(path: &Path, limit: Limit) -> Tracking {
    let mut folder = nearest_folder(path).map(Path::to_path_buf);
    while let Some(checkout) = folder.as_deref().and_then(find) {
        let tracking = checkout.tracks(path, limit);
        if tracking != Tracking::Untracked || !checkout.is_new() {
            return tracking;
        }
        folder = checkout.top.parent().map(Path::to_path_buf);
    }
    Tracking::Untracked
}

impl Checkout {
    /// `info/exclude` in the repository that all linked checkouts share; it may not exist yet. One
    /// that leads elsewhere is not the repository's own.
    pub(crate) fn exclude(&self) -> Result<PathBuf, Unclear> {
        let exclude = self.repository.as_ref().map_err(Clone::clone)?.common.join("info/exclude");
        if real(&exclude) == exclude {
            return Ok(exclude);
        }
        Err(Unclear {
            why: format!("`{}` leads to another file", exclude.display()),
            remedy: "put a file of its own there",
        })
    }

    /// The folder that stands for all checkouts of the repository: for a linked one the main checkout,
    /// or the repository itself where that is bare; else the checkout's own top folder.
    pub(crate) fn main(&self) -> &Path {
        match &self.repository {
            Ok(Repository { own, common }) if own != common => {
                let is_in_checkout = common.file_name().is_some_and(|name| name == ".git");
                common.parent().filter(|_| is_in_checkout).unwrap_or(common)
            }
            _ => &self.top,
        }
    }

    fn is_new(&self) -> bool {
        self.repository.as_ref().is_ok_and(Repository::is_new)
    }

    fn tracks(&self, path: &Path, limit: Limit) -> Tracking {
        let repository = match &self.repository {
            Ok(repository) => repository,
            Err(why) => return Tracking::Unclear(why.clone()),
        };
        let Ok(relative) = path.strip_prefix(&self.top) else { return Tracking::Untracked };
        match index::entry_for(&repository.own, (relative, fs::symlink_metadata(path).ok()), limit)
        {
            Ok(tracking) => tracking,
            Err(error) if error.kind() == io::ErrorKind::NotFound && repository.is_new() => {
                Tracking::Untracked
            }
            Err(error) => {
                let index = repository.own.join("index");
                let (why, remedy) = if error.kind() == io::ErrorKind::NotFound {
                    ("is missing".to_owned(), "`git reset` writes it anew")
                } else {
                    (format!("can't be used: {error}"), "`git status` says what is wrong with it")
                };
                Tracking::Unclear(Unclear {
                    why: format!("git's index `{}` {why}", index.display()),
                    remedy,
                })
            }
        }
    }
}

impl Repository {
    /// Whether nothing was ever added.
    fn is_new(&self) -> bool {
        if is_there(&self.own.join("index")) {
            return false;
        }
        let is_empty =
            |folder: &Path| fs::read_dir(folder).is_ok_and(|mut all| all.next().is_none());
        match fs::read_dir(self.common.join("objects")) {
            Ok(mut folders) => folders.all(|folder| folder.is_ok_and(|it| is_empty(&it.path()))),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// The repository in `top` itself: its configuration may not say that it belongs elsewhere.
fn within(top: &Path, git: &Path) -> Result<Repository, Unclear> {
    if !is_there(&git.join("HEAD")) {
        return Err(Unclear {
            why: format!("`{}` is damaged", git.display()),
            remedy: "`git status` says what is wrong with it",
        });
    }
    let worktree = worktree_of(git)?;
    let here = worktree.is_none_or(|named| is_same(&git.join(named), top));
    if !here || is_there(&git.join("commondir")) {
        return Err(foreign(git));
    }
    let own = crate::files::canonicalize(git).map_err(|error| unreadable(git, &error.into()))?;
    Ok(Repository { common: own.clone(), own })
}

/// The repository in `dir`, which `top/.git` leads to. Anybody can write such a file: the repository
/// has to name `top`, as git has it do for linked checkouts and submodules.
fn elsewhere(top: &Path, dir: &Path) -> Result<Repository, Unclear> {
    let git = top.join(".git");
    let own = crate::files::canonicalize(dir).map_err(|_| foreign(&git))?;
    if !is_there(&own.join("HEAD")) {
        return Err(foreign(&git));
    }
    let Some(common) = line_of(&own.join("commondir"))? else {
        let worktree = worktree_of(&own)?.ok_or_else(|| foreign(&git))?;
        let ours = is_same(&own.join(worktree), top);
        return if ours { Ok(Repository { common: own.clone(), own }) } else { Err(foreign(&git)) };
    };
    let common = crate::files::canonicalize(own.join(common)).map_err(|_| foreign(&git))?;
    let back = line_of(&own.join("gitdir"))?.map(|back| own.join(back));
    let back = back.filter(|back| back.file_name() == git.file_name());
    let names_top = back.is_some_and(|back| back.parent().is_some_and(|back| is_same(back, top)));
    if names_top && own.parent() == Some(&common.join("worktrees")) {
        return Ok(Repository { own, common });
    }
    Err(foreign(&git))
}

/// The folder that a `.git` file names.
fn named_in(git: &Path) -> Result<PathBuf, Unclear> {
    let text = line_of(git)?.unwrap_or_default();
    let named = text.strip_prefix("gitdir:").ok_or_else(|| foreign(git))?;
    Ok(git.with_file_name(named.trim_start()))
}

/// `core.worktree`. With `extensions.worktreeConfig` it is in a file of its own.
fn worktree_of(dir: &Path) -> Result<Option<PathBuf>, Unclear> {
    for name in ["config.worktree", "config"] {
        let text = text_of(&dir.join(name), Limit::SETTINGS)?;
        if let Some(worktree) = text.as_deref().and_then(worktree_in) {
            return Ok(Some(PathBuf::from(worktree)));
        }
    }
    Ok(None)
}

/// What git itself writes is understood, anything else names no folder.
fn worktree_in(config: &str) -> Option<String> {
    let mut in_core = false;
    let mut worktree = None;
    for line in config.lines().map(str::trim) {
        let mut setting = line;
        if let Some((section, rest)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
            in_core = section.trim().eq_ignore_ascii_case("core");
            setting = rest;
        }
        match setting.split_once('=') {
            Some((key, value)) if in_core && key.trim().eq_ignore_ascii_case("worktree") => {
                let value = value.trim().trim_matches('"');
                worktree = Some(value.replace("\\\"", "\"").replace("\\\\", "\\"));
            }
            _ => {}
        }
    }
    worktree
}

/// What a file of one line says.
fn line_of(path: &Path) -> Result<Option<String>, Unclear> {
    let text = text_of(path, Limit::LINE)?;
    Ok(text.map(|text| text.trim_end_matches(['\n', '\r']).to_owned()))
}

fn text_of(path: &Path, limit: Limit) -> Result<Option<String>, Unclear> {
    match read_bytes(path, limit) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn foreign(git: &Path) -> Unclear {
    Unclear {
        why: format!(
            "`{}` leads to a repository that does not name this folder as its own",
            git.display()
        ),
        remedy: "if it is this folder's, `git worktree repair` or `git config core.worktree` in it \
                 says so",
    }
}

fn unreadable(path: &Path, error: &ReadError) -> Unclear {
    Unclear {
        why: format!("`{}` can't be read: {error}", path.display()),
        remedy: "make it a file that you may read",
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path| crate::files::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

fn nearest_folder(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|folder| folder.is_dir())
}

/// The path of what is read and written at `path`, be it there yet or not.
fn real(path: &Path) -> PathBuf {
    let target = final_target(path).unwrap_or_else(|_| path.to_path_buf());
    let real = nearest_folder(&target).and_then(|folder| {
        let rest = target.strip_prefix(folder).ok()?;
        Some(crate::files::canonicalize(folder).ok()?.join(rest))
    });
    real.unwrap_or(target)
}

#[cfg(test)]
#[path = "checkout_tests.rs"]
mod tests;
