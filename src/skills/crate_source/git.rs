//! Cargo's git checkouts: `git/checkouts/<repository>-<hash>/<short commit>/` (The Cargo Book,
//! "Cargo Home").

use std::path::{Path, PathBuf};

use semver::Version;

use super::{How, Located, folders, package_id};
use crate::text::same_crate;

/// Where cargo has its checkouts.
const CHECKOUTS: &str = "git/checkouts";
/// Digits of a commit that a checkout's folder has at least.
const SHORT: usize = 7;
/// Folders below a checkout that a package may be in.
const DEPTH: usize = 6;
/// Cargo writes it when a checkout is complete.
const COMPLETE: &str = ".cargo-ok";

/// The package `name` in cargo's checkout of `commit` of the repository at `url`.
pub(super) fn find(
    home: &Path,
    url: &str,
    commit: &str,
    name: &str,
    version: &Version,
) -> Option<Located> {
    let of_commit = |dir: &PathBuf| {
        let short = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        short.len() >= SHORT && commit.starts_with(short) && dir.join(COMPLETE).is_file()
    };
    let checkouts = repositories(home, url).into_iter().flat_map(|dir| folders(&dir));
    checkouts.filter(of_commit).find_map(|checkout| {
        let dir = package_in(&checkout, name, version)?;
        Some(Located { name: name.to_owned(), version: version.clone(), dir, how: How::Git })
    })
}

/// What changes when cargo checks out `commit`.
pub(super) fn would_be_in(home: &Path, url: &str, commit: &str) -> Vec<PathBuf> {
    let short = commit.get(..SHORT).unwrap_or(commit);
    let mut paths = vec![home.join(CHECKOUTS)];
    for repository in repositories(home, url) {
        paths.push(repository.join(short).join(COMPLETE));
        paths.push(repository);
    }
    paths
}

/// Cargo's folders for repositories that are called like that at `url`.
fn repositories(home: &Path, url: &str) -> Vec<PathBuf> {
    let repository = repository_name(url);
    let of_repository = |dir: &PathBuf| {
        let folder = dir.file_name().and_then(|name| name.to_str());
        let name = folder.and_then(|folder| folder.rsplit_once('-')).map(|(name, _)| name);
        name.is_some_and(|name| name.eq_ignore_ascii_case(repository))
    };
    folders(&home.join(CHECKOUTS)).into_iter().filter(of_repository).collect()
}

/// The last part of a URL, as cargo names the folder.
fn repository_name(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    let last = url.rsplit(['/', ':']).next().unwrap_or(url);
    last.strip_suffix(".git").unwrap_or(last)
}

/// The nearest folder whose manifest is that of the package. An inherited version counts as right:
/// a repository has one package of a name.
fn package_in(checkout: &Path, name: &str, version: &Version) -> Option<PathBuf> {
    let mut level = vec![checkout.to_path_buf()];
    for _ in 0..=DEPTH {
        let found = level.iter().find(|dir| {
            package_id(dir).is_some_and(|id| {
                same_crate(&id.name, name) && id.version.is_none_or(|found| &found == version)
            })
        });
        if let Some(dir) = found {
            return Some(dir.clone());
        }
        level = level.iter().flat_map(|dir| folders(dir)).filter(|dir| is_source(dir)).collect();
    }
    None
}

fn is_source(dir: &Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    name != ".git" && name != "target" && !dir.is_symlink()
}
