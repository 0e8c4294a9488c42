//! `source = "github"`: a repository, or a folder of one, by any URL that git takes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::job::{Got, Job};
use super::stamp::key;
use super::{Root, Trouble};
use crate::files::{private_folders, rename};
use crate::text::SecretUrl;

/// The files of a repository.
pub(super) fn get(job: &Job<'_>, url: &SecretUrl) -> Result<Got, Trouble> {
    let known = job.before.dir.as_deref().filter(|dir| dir.is_dir());
    if known.is_none() || job.refresh {
        job.say("Fetching", url.to_string());
    }
    // What failed a moment ago is not asked again there; who watches wants it to be.
    let again = job.is_watched() && job.before.failure.is_some();
    let checkout = job.fetcher.checkout(url.expose(), job.refresh || again, job.left());
    let tree = checkout.map_err(Trouble::Failed)?;
    // Commands may write; the fetched files are shared, and never change.
    let dir = if job.installation.install_commands.is_empty() {
        tree.dir
    } else {
        working_copy(job, url.expose(), &tree.dir, &tree.commit)?
    };
    Ok(Got {
        root: Root::Tree(dir.clone()),
        dir: Some(dir),
        version: Some(tree.commit),
        executable: None,
        stale: None,
    })
}

fn working_copy(job: &Job<'_>, url: &str, tree: &Path, commit: &str) -> Result<PathBuf, Trouble> {
    let base = job.binaries().join(format!(
        "work-{}",
        &key(&[&job.plugin.source, &job.plugin.name, &job.installation.name, url,])[..8]
    ));
    let name = if crate::files::is_plain_name(commit) { commit } else { "tree" };
    let target = base.join(name);
    if target.is_dir() {
        return Ok(target);
    }
    let failed = |error| Job::io(&target)(error);
    private_folders(&base).map_err(&failed)?;
    let staging = tempfile::Builder::new().prefix(".new-").tempdir_in(&base).map_err(&failed)?;
    let copy = staging.path().join("tree");
    copy_tree(tree, &copy).map_err(&failed)?;
    rename(&copy, &target).map_err(&failed)?;
    Ok(target)
}

/// Copies folders and files; links are left out, for they may lead anywhere.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry?;
        let inside = entry.path().strip_prefix(from).map_err(io::Error::other)?;
        let target = to.join(inside);
        let kind = entry.file_type();
        if kind.is_dir() {
            private_folders(&target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
