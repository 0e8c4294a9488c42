//! Which versions of a crate are wanted, and where they are.

use std::iter::repeat;

use semver::Version;

use super::wanted::Wanted;
use crate::Symposium;
use crate::skills::crate_source::fetch::{FetchRequest, Fetcher};
use crate::skills::crate_source::{
    CrateDisk, CrateRequest, CrateSources as _, Located, Needs, NotOnDisk, OnDemand,
};
use crate::text::{Diagnostic, SecretUrl, same_crate};
use crate::text::{closest, did_you_mean};
use crate::workspace::{Dependency, DependencyOrigin, RegistryRequirement, Workspace};

/// A version that is wanted, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    request: CrateRequest,
    from: String,
    /// Whether the workspace settled on it.
    is_settled: bool,
}

pub(super) struct Lookup<'a> {
    pub(super) sym: &'a Symposium,
    pub(super) workspace: Option<&'a Workspace>,
    name: &'a str,
    pub(super) fetcher: Fetcher<'a>,
}

/// A version that was found, and why it is that one.
pub(super) struct Found {
    pub(super) located: Located,
    pub(super) from: String,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(sym: &'a Symposium, workspace: Option<&'a Workspace>, name: &'a str) -> Self {
        let fetcher = Fetcher {
            env: &sym.env,
            dirs: &sym.dirs,
            limit: sym.options.timeout,
            offline: sym.options.offline,
        };
        Self { sym, workspace, name, fetcher }
    }

    /// The versions that are wanted, where they are.
    pub(super) fn found(
        &self,
        wanted: Option<&Wanted>,
        asked: Option<&str>,
    ) -> Result<Vec<Found>, Diagnostic> {
        let (mut all, mut problem) = (Vec::new(), None);
        for choice in self.choices(wanted) {
            match self.locate(&choice) {
                Ok(found) => all.push(found),
                Err(missing) => drop(problem.get_or_insert((missing, choice))),
            }
        }
        // One of several versions that can't be had is no reason to keep quiet about the others.
        match problem {
            Some((missing, choice)) if all.is_empty() => {
                return Err(self.failure(&missing, &choice, asked));
            }
            Some((missing, _)) => self.sym.report.warn(missing.to_string()),
            None => {}
        }
        Ok(all)
    }

    /// The versions to show: those of the workspace that are wanted, newest first; else the newest
    /// that is.
    fn choices(&self, wanted: Option<&Wanted>) -> Vec<Choice> {
        let mut known: Vec<(Version, String)> = self
            .known()
            .into_iter()
            .filter(|(version, _)| wanted.is_none_or(|wanted| wanted.takes(version)))
            .collect();
        known.sort_by(|one, other| other.0.cmp(&one.0));
        known.dedup_by(|later, kept| later.0 == kept.0);
        if !known.is_empty() {
            let choice = |(version, from): (Version, String)| {
                let name = self.name.to_owned();
                let request = CrateRequest { name, version: Some(version), requirement: None };
                Choice { request, from, is_settled: true }
            };
            return known.into_iter().map(choice).collect();
        }
        let mut request =
            wanted.map_or_else(|| CrateRequest::any(self.name), |w| w.request(self.name));
        if wanted.is_none() {
            request.requirement = self.declared().map(|asked| asked.requirement.clone());
        }
        vec![Choice { request, from: self.why_not_ours(wanted), is_settled: false }]
    }

    /// The versions of it that the workspace uses, with the reason. What is a direct dependency or
    /// a member hides what only others depend on.
    fn known(&self) -> Vec<(Version, String)> {
        let Some(workspace) = self.workspace else { return Vec::new() };
        let is_it = |name: &str| same_crate(name, self.name);
        let members = workspace.members.iter().filter(|member| is_it(&member.name));
        let members = members.map(|member| {
            let version = member.version.clone().unwrap_or(Version::new(0, 0, 0));
            (version, "a member of this workspace".to_owned())
        });
        let direct = workspace.dependencies.iter().filter(|dependency| is_it(&dependency.name));
        let direct =
            direct.filter_map(|found| Some((found.version.clone()?, from_dependency(found)?)));
        let own: Vec<_> = members.chain(direct).collect();
        // What others lock is not what this workspace's manifest asks for.
        if !own.is_empty() || self.declared().is_some() {
            return own;
        }
        let locked = workspace.locked.iter().filter(|package| is_it(&package.name));
        let from = "this workspace's Cargo.lock, where other dependencies need it";
        locked.map(|package| (package.version.clone(), from.to_owned())).collect()
    }

    /// What the workspace asks of a registry where its lock file has no version that meets it.
    fn declared(&self) -> Option<&RegistryRequirement> {
        let mut dependencies = self.workspace?.dependencies.iter();
        let found = dependencies.find(|found| same_crate(&found.name, self.name))?;
        match &found.origin {
            DependencyOrigin::Unresolved(asked) => asked.as_ref(),
            _ => None,
        }
    }

    /// Why a version is shown that the workspace does not use.
    fn why_not_ours(&self, wanted: Option<&Wanted>) -> String {
        let declared = self.workspace.is_some_and(|workspace| {
            workspace.dependencies.iter().any(|found| same_crate(&found.name, self.name))
        });
        match (wanted, self.workspace) {
            (Some(Wanted::Exact(_)), _) => "the version that was asked for".to_owned(),
            (Some(Wanted::Requirement(requirement)), _) => {
                format!("the newest version that meets {requirement}")
            }
            (None, Some(_)) if declared => {
                "the newest version that this workspace's Cargo.toml admits; its Cargo.lock has none \
                 yet"
                    .to_owned()
            }
            (None, Some(_)) => {
                "the newest version; this workspace does not depend on it".to_owned()
            }
            (None, None) => "the newest version; this is no Rust workspace".to_owned(),
        }
    }

    pub(super) fn disk<'w>(&'w self, workspace: &'w Workspace) -> CrateDisk<'w> {
        let sym = self.sym;
        CrateDisk::new(workspace, &sym.env, &sym.dirs)
    }

    fn locate(&self, choice: &Choice) -> Result<Found, NotOnDisk> {
        let outside = Workspace::default();
        let disk = self.disk(self.workspace.unwrap_or(&outside));
        if !choice.is_settled {
            let (located, from) = self.newest(choice, &disk, &self.fetcher)?;
            return Ok(Found { located, from });
        }
        let sources = OnDemand::new(disk, self.fetcher, false).telling(&self.sym.report);
        Ok(Found { located: sources.locate(&choice.request)?, from: choice.from.clone() })
    }

    /// Says that the workspace does not have the crate, and which of its own may have been meant.
    pub(super) fn stranger(&self) -> Option<String> {
        let workspace = self.workspace?;
        if self.is_known(workspace) {
            return None;
        }
        let meant = self.meant(workspace);
        let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
        Some(format!("this workspace does not depend on `{}`{meant}", self.name))
    }

    fn is_known(&self, workspace: &Workspace) -> bool {
        let Workspace { members, dependencies, locked, .. } = workspace;
        let names = members.iter().map(|found| &found.name);
        let names = names.chain(dependencies.iter().map(|found| &found.name));
        let mut names = names.chain(locked.iter().map(|found| &found.name));
        names.any(|name| same_crate(name, self.name))
    }

    /// The dependency that is renamed to this name, or those with a near one.
    fn meant(&self, workspace: &Workspace) -> Option<String> {
        let direct = &workspace.dependencies;
        let renames =
            || direct.iter().flat_map(|found| found.usage.renames.iter().zip(repeat(found)));
        let mut renamed = renames().filter(|(key, _)| same_crate(key, self.name));
        if let Some((key, Dependency { name, .. })) = renamed.next() {
            return Some(format!(
                "`{key}` is what it calls `{name}`: `cargo agents crate-info {name}`"
            ));
        }
        let names = direct.iter().map(|found| &found.name).chain(renames().map(|(key, _)| key));
        let mut near = closest(self.name, names.map(String::as_str));
        if near.is_empty() {
            near = closest(self.name, workspace.locked.iter().map(|found| found.name.as_str()));
        }
        did_you_mean(&near)
    }

    /// A version that the workspace did not settle on: the registry is asked which is the newest,
    /// and what is on this machine serves when it can't be.
    fn newest(
        &self,
        choice: &Choice,
        disk: &CrateDisk<'_>,
        fetcher: &Fetcher<'_>,
    ) -> Result<(Located, String), NotOnDisk> {
        let (request, from) = (&choice.request, &choice.from);
        let on_disk = disk.locate(request);
        // A version never changes.
        if request.version.is_some() && on_disk.is_ok() || fetcher.offline {
            let note = if request.version.is_none() { "; offline: of those here" } else { "" };
            return on_disk.map(|located| (located, format!("{from}{note}")));
        }
        // A crate of a private registry is looked for there.
        let dependencies = self.workspace.map_or(&[][..], |workspace| &workspace.dependencies);
        let index = dependencies.iter().find_map(|found| match &found.origin {
            DependencyOrigin::Registry { index, .. } if same_crate(&found.name, self.name) => {
                index.as_ref().map(SecretUrl::expose)
            }
            DependencyOrigin::Unresolved(Some(asked)) if same_crate(&found.name, self.name) => {
                asked.index.as_ref().map(SecretUrl::expose)
            }
            _ => None,
        });
        let replaced = disk.replacement(index);
        let _progress = self.sym.report.busy("Fetching", self.name);
        let fetched = fetcher.fetch(&FetchRequest {
            name: self.name,
            version: request.version.as_ref(),
            requirement: request.requirement.as_ref(),
            index,
            replaced: replaced.as_ref(),
            ..FetchRequest::default()
        });
        match (fetched, on_disk) {
            (Ok(located), _) => Ok((located, from.clone())),
            (Err(error), Ok(located)) => {
                Ok((located, format!("{from}; of those here, for the registry: {error}")))
            }
            (Err(error), Err(missing)) => {
                let needs = error.needs();
                Err(NotOnDisk { reason: Some(error.to_string()), needs, ..missing })
            }
        }
    }

    /// The error for a crate that can't be had.
    fn failure(&self, missing: &NotOnDisk, choice: &Choice, asked: Option<&str>) -> Diagnostic {
        let outside = Workspace::default();
        let workspace = self.workspace.unwrap_or(&outside);
        let here = self.disk(workspace).versions(self.name);
        // A version that the workspace settled on is the only one that is of use.
        let has_others = !here.is_empty() && !choice.is_settled;
        let mut problem = Diagnostic::error(format!("can't find the crate `{}`", self.name));
        if !has_others || missing.reason.is_some() {
            problem = problem.note(missing.to_string());
        }
        if has_others {
            let declared = self.declared().map(|asked| asked.requirement.to_string());
            let wanted = asked.map(str::to_owned).or(declared);
            let meets = wanted.map_or_else(String::new, |it| format!(" that meets `{it}`"));
            let here: Vec<_> = here.iter().map(ToString::to_string).collect();
            let here = here.join(", ");
            problem = problem.note(format!("on this machine is no version{meets}, only of {here}"));
        }
        problem.notes.extend(self.stranger());
        if missing.needs != Needs::Fetch || self.sym.options.offline {
            problem = problem.note(missing.remedy(&outside, true));
        }
        problem
    }
}

/// Why a dependency's version is what it is; `None` when nothing says which it is.
fn from_dependency(dependency: &Dependency) -> Option<String> {
    match &dependency.origin {
        DependencyOrigin::Path(_) => Some("a path dependency of this workspace".to_owned()),
        DependencyOrigin::Git { url, commit } => {
            let commit = commit.get(..10).unwrap_or(commit);
            Some(format!("this workspace's Cargo.lock (git {url} at {commit})"))
        }
        DependencyOrigin::Registry { index: Some(index), .. } => {
            Some(format!("this workspace's Cargo.lock (registry {index})"))
        }
        DependencyOrigin::Registry { index: None, .. } => {
            Some("this workspace's Cargo.lock".to_owned())
        }
        DependencyOrigin::Unresolved(_) => None,
    }
}
