//! The folders that hold skill folders, with links resolved.

use std::path::{Path, PathBuf};

use super::plan::Parent;
use super::targets::NEUTRAL;
use crate::agents::Agent;
use crate::text::Diagnostic;

/// All folders that any agent reads, each once, and which of them each relative name stands for.
#[derive(Debug, Default)]
pub struct Parents {
    /// The folders.
    pub list: Vec<Parent>,
    /// The workspace's root, which the names start from.
    pub root: PathBuf,
    names: Vec<(&'static str, Option<usize>)>,
    blocked: Vec<&'static str>,
    /// Folders that were left out, and why.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parents {
    /// Looks at the workspace's folders.
    ///
    /// Two names may be one folder (`.claude/skills` as a link to `.agents/skills`): it is listed
    /// once. A link that leads out of the checkout is followed when `trust_links`, for then it is
    /// the user's own arrangement.
    pub fn of(root: &Path, checkout: &Path, trust_links: bool) -> Self {
        let mut parents = Self { root: root.to_path_buf(), ..Self::default() };
        for name in every_skill_dir() {
            let path = root.join(name);
            let Some(real) = resolve(&path) else {
                parents.blocked.push(name);
                parents.names.push((name, None));
                continue;
            };
            let inside = [root, checkout]
                .iter()
                .any(|base| dunce::canonicalize(base).is_ok_and(|base| real.starts_with(base)));
            if !inside && !trust_links {
                parents.diagnostics.push(
                    Diagnostic::warning(
                        "the folder is a link out of this checkout and is left alone",
                    )
                    .in_file(&path)
                    .note("the link is committed: remove it from git to make it your own"),
                );
                parents.names.push((name, None));
                continue;
            }
            let known = parents.list.iter().position(|parent| parent.path == real);
            let index = known.unwrap_or_else(|| {
                let shown = name.trim_end_matches("/skills").to_owned();
                parents.list.push(Parent { path: real, shown });
                parents.list.len() - 1
            });
            parents.names.push((name, Some(index)));
        }
        parents
    }

    /// The folder that `name` (`.claude/skills`) stands for.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| *known == name).and_then(|(_, index)| *index)
    }

    /// Whether something that is no folder stands in the way of `name`.
    pub fn is_blocked(&self, name: &str) -> bool {
        self.blocked.contains(&name)
    }

    /// The vendor-neutral folder, where the workspace's own skills are.
    pub fn neutral(&self) -> Option<usize> {
        self.index(NEUTRAL)
    }
}

/// Every folder that some agent reads, the neutral one first.
pub fn every_skill_dir() -> Vec<&'static str> {
    let mut dirs = vec![NEUTRAL];
    for agent in Agent::ALL {
        for dir in agent.spec().skill_dirs().project {
            if !dirs.contains(dir) {
                dirs.push(dir);
            }
        }
    }
    dirs
}

/// The real folder behind `path`, whose last parts may not exist yet; `None` when something that is
/// no folder is in the way.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = path.to_path_buf();
    loop {
        if existing.symlink_metadata().is_ok() {
            let real = dunce::canonicalize(&existing).ok()?;
            if !real.is_dir() {
                return None;
            }
            return Some(missing.iter().rev().fold(real, |path: PathBuf, part| path.join(part)));
        }
        missing.push(existing.file_name()?.to_owned());
        existing = existing.parent()?.to_path_buf();
    }
}
