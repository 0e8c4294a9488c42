//! What `git` prints: the remote's refs.

use super::GitError;
use super::commit::is_commit;
use super::url::Wanted;

/// One ref of the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteRef {
    pub(super) name: String,
    /// The commit, with annotated tags peeled.
    pub(super) commit: String,
}

/// What was found to be wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Target {
    /// What to fetch: a full ref name or a commit.
    pub(super) fetch: String,
    /// The ref for people: `main`.
    pub(super) reference: String,
    pub(super) commit: String,
    pub(super) subdir: String,
}

/// Lines of `ls-remote`: `<hash>\t<name>`, and `ref: <name>\tHEAD`.
pub(super) fn read_refs(text: &str) -> Vec<RemoteRef> {
    let mut refs: Vec<RemoteRef> = Vec::new();
    for line in text.lines() {
        let Some((what, name)) = line.split_once('\t') else { continue };
        if let Some(target) = what.strip_prefix("ref: ") {
            // Comes before the commit of HEAD, which is given to it below.
            refs.push(RemoteRef { name: target.to_owned(), commit: String::new() });
        } else if is_commit(what) {
            let commit = what.to_ascii_lowercase();
            if let Some(tag) = name.strip_suffix("^{}") {
                refs.iter_mut().filter(|found| found.name == tag).for_each(|found| {
                    found.commit.clone_from(&commit);
                });
                continue;
            }
            if name == "HEAD" {
                refs.iter_mut().filter(|found| found.commit.is_empty()).for_each(|found| {
                    found.commit.clone_from(&commit);
                });
            }
            refs.push(RemoteRef { name: name.to_owned(), commit });
        }
    }
    refs.retain(|found| !found.commit.is_empty());
    refs
}

/// What to fetch. A branch comes before a tag of the same name, as on the websites.
pub(super) fn choose(
    wanted: &Wanted,
    subdir: String,
    refs: &[RemoteRef],
) -> Result<Target, GitError> {
    let named = |name: &str| {
        let full = [format!("refs/heads/{name}"), format!("refs/tags/{name}")];
        let exact = name.starts_with("refs/").then(|| name.to_owned());
        exact.iter().chain(&full).find_map(|full| refs.iter().find(|found| found.name == *full))
    };
    let target = |found: &RemoteRef, subdir: String| {
        let short = ["refs/heads/", "refs/tags/"];
        let short = short.iter().find_map(|prefix| found.name.strip_prefix(prefix));
        Target {
            fetch: found.name.clone(),
            reference: short.unwrap_or(&found.name).to_owned(),
            commit: found.commit.clone(),
            subdir,
        }
    };
    match wanted {
        Wanted::Default => {
            let head = refs.iter().find(|found| found.name == "HEAD");
            let head = head.ok_or_else(|| GitError::NoSuchRef("HEAD".to_owned()))?;
            let branch = refs.iter().find(|found| found.name.starts_with("refs/heads/"));
            let mut target = target(branch.unwrap_or(head), subdir);
            target.fetch = "HEAD".to_owned();
            Ok(target)
        }
        Wanted::Named(name) => match named(name) {
            Some(found) => Ok(target(found, subdir)),
            None => Err(GitError::NoSuchRef(name.clone())),
        },
        Wanted::Commit(commit) => Ok(Target {
            fetch: commit.clone(),
            reference: commit.clone(),
            commit: commit.clone(),
            subdir,
        }),
        Wanted::Tree(rest) => {
            let mut end = rest.len();
            loop {
                if let Some(found) = named(&rest[..end]) {
                    return Ok(target(found, rest[end..].trim_start_matches('/').to_owned()));
                }
                match rest[..end].rfind('/') {
                    Some(slash) => end = slash,
                    None => return Err(GitError::NoSuchRef(rest[..end].to_owned())),
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
