//! Whose item an error is about: which of the workspace's dependencies may have it.

use std::path::{Path, PathBuf};

use semver::Version;

use super::asking::Asking;
use super::wanted::{Root, Wanted};
use crate::config::{Dirs, Environment};
use crate::files::{Limit, contained, read_text};
use crate::skills::crate_source::{CrateDisk, CrateRequest, CrateSources};
use crate::text::same_crate;
use crate::workspace::{Dependency, Workspace};

/// Crates that are asked for one item, at most.
const MOST: usize = 6;

/// What is known of a workspace's dependencies.
pub(super) struct Dependencies<'a> {
    workspace: &'a Workspace,
    disk: CrateDisk<'a>,
    /// Where the agent works: the other folder that paths may start at.
    cwd: &'a Path,
}

/// A crate that may have the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub name: String,
    pub version: Version,
    pub dir: PathBuf,
    pub trust: Trust,
}

/// How sure it is that the item is this crate's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The error says so.
    Named,
    /// It is, if the crate declares the type.
    IfItHasTheType,
    /// The file uses the crate: only a clear word of it counts.
    Used,
}

impl<'a> Dependencies<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        (env, dirs): (&Environment, &'a Dirs),
        cwd: &'a Path,
    ) -> Self {
        Self { disk: CrateDisk::new(workspace, env, dirs), workspace, cwd }
    }

    /// The crates that may have what is wanted, the likeliest first.
    pub(super) fn candidates(&self, wanted: &Wanted) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut add = |candidate: Option<Candidate>| {
            if let Some(candidate) = candidate
                && !found.iter().any(|known| known.name == candidate.name)
                && found.len() < MOST
            {
                found.push(candidate);
            }
        };
        if let Some(shown) = &wanted.shown {
            add(self.locked(&shown.name, Some(&shown.version), Trust::Named));
            return found;
        }
        for name in &wanted.named {
            add(self.dependency(name, Trust::Named));
        }
        let [first, ..] = wanted.path.as_slice() else { return found };
        let asking = self.asking(wanted);
        match wanted.root {
            Root::Crate if !asking.declares(first) => add(self.dependency(first, Trust::Named)),
            Root::Crate => {}
            // A type without a path is the file's own, imported, or one that it only gets to see.
            Root::Type if asking.declares(first) => {}
            Root::Type => {
                if let Some(root) = asking.import_of(first) {
                    let known = self.dependency(root, Trust::Named);
                    add(known.clone());
                    known.iter().flat_map(|it| self.re_exported(it)).for_each(|it| add(Some(it)));
                    return found;
                }
                for root in asking.roots() {
                    add(self.dependency(root, Trust::IfItHasTheType));
                }
            }
            Root::Member => {
                for root in asking.roots() {
                    add(self.dependency(root, Trust::Used));
                }
            }
        }
        found
    }

    /// The file that asks; only one of the workspace is looked at.
    fn asking(&self, wanted: &Wanted) -> Asking {
        let root = self.workspace.root.as_path();
        let file = wanted.file.as_deref().map(Path::new);
        let file = file.map(|file| file.strip_prefix(root).unwrap_or(file)).and_then(Path::to_str);
        let folders = [root, self.cwd].into_iter().filter(|folder| folder.starts_with(root));
        let mut paths = folders.filter_map(|folder| contained(folder, file?).ok());
        let text = paths.find_map(|path| read_text(&path, Limit::MANIFEST).ok());
        text.map(|text| Asking::read(&text)).unwrap_or_default()
    }

    /// The dependency that the code calls `name`.
    fn dependency(&self, name: &str, trust: Trust) -> Option<Candidate> {
        let dependencies = &self.workspace.dependencies;
        let is_renamed =
            |it: &&Dependency| it.usage.renames.iter().any(|key| same_crate(key, name));
        let renamed = dependencies.iter().find(is_renamed);
        let name = renamed.map_or(name, |it| it.name.as_str());
        let direct = dependencies.iter().filter(|it| same_crate(&it.name, name));
        let version = direct.filter_map(|it| it.version.as_ref()).max();
        self.locked(name, version, trust)
    }

    /// The crates whose items `candidate` passes on: a type's methods may be of a trait of theirs.
    fn re_exported(&self, candidate: &Candidate) -> Vec<Candidate> {
        let text = read_text(&candidate.dir.join("src/lib.rs"), Limit::MANIFEST);
        let passed_on = Asking::of_exports(&text.unwrap_or_default());
        let others = passed_on.roots().filter(|root| !same_crate(root, &candidate.name));
        others.filter_map(|root| self.locked(root, None, Trust::Used)).collect()
    }

    /// A package of the lock file that somebody else wrote.
    fn locked(&self, name: &str, version: Option<&Version>, trust: Trust) -> Option<Candidate> {
        let is_it = |known: &str| same_crate(known, name);
        if self.workspace.members.iter().any(|member| is_it(&member.name)) {
            return None;
        }
        let locked = self.workspace.locked.iter().filter(|known| is_it(&known.name));
        let mut locked = locked.filter(|known| version.is_none_or(|it| *it == known.version));
        let locked = locked.rfind(|known| known.source.is_some())?;
        let version = Some(locked.version.clone());
        let request = CrateRequest { version, ..CrateRequest::any(&*locked.name) };
        let located = self.disk.locate(&request).ok()?;
        let (name, version, dir) = (located.name, located.version, located.dir);
        Some(Candidate { name, version, dir, trust })
    }
}
