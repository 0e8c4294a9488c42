//! The folders that hold skill folders, with links resolved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::plan::Parent;
use crate::agents::Agent;
use crate::config::Environment;
use crate::sync::bounds::{self, Bounds, NEUTRAL, every_skill_dir};
use crate::text::Diagnostic;

/// All folders that any agent reads, each once, and which of them each relative name stands for.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    pub list: Vec<Parent>,
    names: Vec<(&'static str, Result<usize, Diagnostic>)>,
}

impl Parents {
    /// Looks at the folders of the workspace at `root`, with its bounds. Variables in `env` may make
    /// one of them the user's own.
    ///
    /// Two names may be one folder (`.claude/skills` as a link to `.agents/skills`): it is listed
    /// once.
    pub(crate) fn of(root: &Path, bounds: Option<&Bounds>, env: &Environment) -> Self {
        let mut parents = Self::default();
        for name in every_skill_dir() {
            let path = root.join(name);
            let refused = match bounds {
                Some(bounds) => bounds
                    .is_users_own(root, name)
                    .then(|| users_own(name, &path, &format!("`~/{name}`")))
                    .or_else(|| read_everywhere(root, name, env)),
                None => Some(everywhere(root)),
            };
            let place = match (refused, bounds) {
                (None, Some(bounds)) => {
                    place(name, &path, bounds).map(|real| parents.add(name, real))
                }
                (refused, _) => {
                    // What an earlier version put there goes.
                    crate::files::canonicalize(&path).ok().map(|real| parents.add(name, real));
                    Err(refused.unwrap_or_else(|| everywhere(root)))
                }
            };
            parents.names.push((name, place));
        }
        parents
    }

    fn add(&mut self, name: &str, path: PathBuf) -> usize {
        let known = self.list.iter().position(|parent| parent.path == path);
        known.unwrap_or_else(|| {
            let shown = name.trim_end_matches("/skills").to_owned();
            self.list.push(Parent { path, shown });
            self.list.len() - 1
        })
    }

    /// The folder that `name` (`.claude/skills`) stands for.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        let found = self.names.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, place)| place.as_ref().ok().copied())
    }

    /// The folders that some of `agents` read.
    pub(crate) fn read_by(&self, agents: impl IntoIterator<Item = Agent>) -> BTreeSet<usize> {
        let dirs = agents.into_iter().flat_map(|agent| agent.identity().skill_dirs);
        dirs.filter_map(|dir| self.index(dir)).collect()
    }

    /// What stands in the way of folders, each with its name.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = (&'static str, &Diagnostic)> {
        self.names.iter().filter_map(|(name, place)| Some((*name, place.as_ref().err()?)))
    }

    /// The vendor-neutral folder, where the workspace's own skills are.
    pub(crate) fn neutral(&self) -> Option<usize> {
        self.index(NEUTRAL)
    }
}

/// Where the skill folders of `path` are, or what stands in the way.
fn place(name: &str, path: &Path, bounds: &Bounds) -> Result<PathBuf, Diagnostic> {
    let real = bounds.real(path)?;
    let there = real.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    if there.is_some_and(|there| !there.is_dir()) {
        let message = format!("`{name}` can't hold skills: it is no folder, nor can it be one");
        return Err(Diagnostic::error(message).in_file(path).note("a file is in its way: move it"));
    }
    Ok(real)
}

fn everywhere(root: &Path) -> Diagnostic {
    Diagnostic::warning(
        "this workspace is your home folder, where agents read what is for everywhere",
    )
    .in_file(root)
    .note("so it gets no skills and no servers; move it to a folder of its own")
}

/// What stands in the way where an agent reads the folder `name` in every workspace.
fn read_everywhere(root: &Path, name: &str, env: &Environment) -> Option<Diagnostic> {
    let home = env.home()?;
    let (agent, place, variable) = bounds::reader_everywhere((&home, env), root, name)?;
    let title = agent.title();
    let what = match (variable, place.strip_prefix(&home)) {
        (Some(variable), _) => format!("folder of skills of {title}, by `{variable}`"),
        (None, Ok(below)) => format!("`~/{}` of {title}", below.display()),
        (None, Err(_)) => format!("folder of skills of {title}"),
    };
    Some(users_own(name, &root.join(name), &what))
}

fn users_own(name: &str, path: &Path, what: &str) -> Diagnostic {
    let message = format!(
        "`{name}` of this workspace is your own {what}, where agents read what is for everywhere"
    );
    Diagnostic::warning(message)
        .in_file(path)
        .note("so no skills go there; keep your own in a folder that is no Rust workspace")
}
