//! `cargo agents crate-info`: a crate's sources, and the skills it offers.
//!
//! Agents read this: one `Key: value` a line, on standard output.

mod skills;
mod wanted;

use crate::report::ExitCode;
use std::fmt::Write as _;
use std::path::PathBuf;

use semver::Version;
use serde::Serialize;

use super::CommandResult;
use super::grammar::CrateInfoArgs;
use crate::Symposium;
use crate::report::fit;
use crate::skills::crate_source::fetch::{FetchError, FetchRequest, Fetcher};
use crate::skills::crate_source::{
    CrateDisk, CrateRequest, CrateSources, How, Located, NotOnDisk, OnDemand,
};
use crate::text::{Diagnostic, SecretUrl, closest, did_you_mean, is_crate_name, same_crate};
use crate::workspace::{Dependency, DependencyOrigin, RegistryRequirement, Workspace};
use skills::{CrateSkills, SkillInfo, Withheld, WithheldSkill};
use wanted::Wanted;

/// One version of a crate.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Info {
    name: String,
    version: Version,
    /// The folder of its manifest.
    source: PathBuf,
    /// Why this version.
    from: String,
    /// How the folder was found.
    how: How,
    /// Those that are accepted here.
    skills: Vec<SkillInfo>,
    /// The others, by their names.
    withheld: Vec<WithheldSkill>,
}

/// The whole answer: more than one where the workspace uses several versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Answer {
    crates: Vec<Info>,
}

/// A version that is wanted, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    request: CrateRequest,
    from: String,
    /// Whether the workspace settled on it.
    is_settled: bool,
}

pub(super) fn run(sym: &Symposium, args: &CrateInfoArgs) -> CommandResult {
    if !is_crate_name(&args.name) {
        let shown = fit(&args.name, 80);
        return Err(Diagnostic::error(format!("`{shown}` can't be a crate's name")).into());
    }
    let wanted = args.version.as_deref().map(Wanted::parse).transpose()?;
    let workspace = workspace(sym)?;
    let lookup = Lookup { sym, workspace: workspace.as_ref(), name: &args.name };
    let mut answer = Answer { crates: Vec::new() };
    let mut problem = None;
    for choice in lookup.choices(wanted.as_ref()) {
        match lookup.info(&choice) {
            Ok(info) => answer.crates.push(info),
            Err(missing) => drop(problem.get_or_insert((missing, choice))),
        }
    }
    // One of several versions that can't be had is no reason to keep quiet about the others.
    match problem {
        Some((missing, choice)) if answer.crates.is_empty() => {
            return Err(lookup.failure(&missing, &choice, args.version.as_deref()).into());
        }
        Some((missing, _)) => sym.report.warn(missing.to_string()),
        None => {}
    }
    sym.report.json(&answer);
    let blocks: Vec<String> = answer.crates.iter().map(render).collect();
    sym.report.result(&blocks.join("\n\n"));
    Ok(ExitCode::SUCCESS)
}

/// The workspace we are in. One that can't be read is told: its versions are what is asked for.
fn workspace(sym: &Symposium) -> anyhow::Result<Option<Workspace>> {
    let loaded = Workspace::load(&sym.cwd()?, &sym.env)?;
    Ok(loaded.map(|loaded| loaded.workspace))
}

struct Lookup<'a> {
    sym: &'a Symposium,
    workspace: Option<&'a Workspace>,
    name: &'a str,
}

impl Lookup<'_> {
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

    fn disk<'w>(&'w self, workspace: &'w Workspace) -> CrateDisk<'w> {
        let sym = self.sym;
        CrateDisk::new(workspace, &sym.env, &sym.dirs)
    }

    fn info(&self, choice: &Choice) -> Result<Info, NotOnDisk> {
        let sym = self.sym;
        let outside = Workspace::default();
        let workspace = self.workspace.unwrap_or(&outside);
        let disk = self.disk(workspace);
        let fetcher = Fetcher {
            env: &sym.env,
            dirs: &sym.dirs,
            limit: sym.options.timeout,
            offline: sym.options.offline,
        };
        let sources = OnDemand::new(disk.clone(), fetcher, false).telling(&sym.report);
        let (located, from) = if choice.is_settled {
            (sources.locate(&choice.request)?, choice.from.clone())
        } else {
            self.newest(choice, &disk, &fetcher)?
        };
        let skills = CrateSkills::find(sym, self.workspace, &located, &sources);
        Ok(Info {
            skills: skills.accepted,
            withheld: skills.withheld,
            name: located.name,
            version: located.version,
            source: located.dir,
            from,
            how: located.how,
        })
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
                let is_without_cargo = matches!(error, FetchError::Run(_));
                Err(NotOnDisk { reason: Some(error.to_string()), is_without_cargo, ..missing })
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
            let meets = asked.map_or_else(String::new, |asked| format!(" that meets `{asked}`"));
            let here: Vec<_> = here.iter().map(ToString::to_string).collect();
            let here = here.join(", ");
            problem = problem.note(format!("on this machine is no version{meets}, only of {here}"));
        }
        if let Some(workspace) = self.workspace {
            let dependencies = workspace.dependencies.iter().map(|found| found.name.as_str());
            let locked = workspace.locked.iter().map(|found| found.name.as_str());
            let is_known = locked.clone().chain(dependencies.clone()).any(|name| name == self.name);
            if !is_known {
                let mut near = closest(self.name, dependencies);
                if near.is_empty() {
                    near = closest(self.name, locked);
                }
                problem.notes.extend(did_you_mean(&near));
            }
        }
        if missing.is_without_cargo || self.sym.options.offline {
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

/// Lines that a program or an agent can pick apart; a description is never cut.
fn render(info: &Info) -> String {
    let mut text = format!(
        "Crate: {}\nVersion: {}\nSource: {}\nFrom: {}\n",
        info.name,
        info.version,
        info.source.display(),
        info.from
    );
    if info.skills.is_empty() && info.withheld.is_empty() {
        text.push_str("Skills: none");
        return text;
    }
    text.push_str("Skills:");
    for skill in &info.skills {
        let of = skill.of.as_ref().map(|of| format!(" (in {of})")).unwrap_or_default();
        let description = fit(&skill.description, usize::MAX);
        let _ = write!(text, "\n- {}{of}: {description}\n  {}", skill.name, skill.path.display());
    }
    for skill in &info.withheld {
        let why = match skill.because {
            Withheld::Declined => "the user declined it",
            Withheld::Undecided => "nobody vouches for it, and the user has not decided",
        };
        let _ = write!(text, "\n- {}: not accepted: {why}", skill.name);
    }
    if info.withheld.iter().any(|skill| skill.because == Withheld::Undecided) {
        let _ = write!(text, "\nFor the user to decide: cargo agents use {}", info.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f199_a_whole_version_is_exact_and_the_rest_are_requirements() {
        let exact = |text: &str| Wanted::parse(text).expect("is one");
        assert_eq!(exact("1.0.3"), Wanted::Exact(Version::new(1, 0, 3)));
        assert_eq!(exact("= 1.0.3"), Wanted::Exact(Version::new(1, 0, 3)));
        for text in ["^1.0", "1.0", "1", ">=1, <2", "=1.0", "*"] {
            assert!(matches!(exact(text), Wanted::Requirement(_)), "{text}");
        }
        assert!(exact("1.0.3").takes(&Version::parse("1.0.3+build").expect("a version")));
        assert!(!exact("1.0.3").takes(&Version::new(1, 0, 4)));
        assert!(Wanted::parse("newest").is_err());
    }
}
