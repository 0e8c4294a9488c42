//! `cargo agents crate-info`: a crate's sources, and the skills it offers.
//!
//! Agents read this: one `Key: value` a line, on standard output.

pub(super) mod item;
mod lookup;
mod render;
mod since;
mod skills;
mod wanted;

use crate::report::ExitCode;
use std::path::PathBuf;

use semver::Version;
use serde::Serialize;

use super::CommandResult;
use super::grammar::CrateInfoArgs;
use crate::Symposium;
use crate::crates::about::About;
use crate::crates::changelog::Changelog;
use crate::crates::changes::Changes;
use crate::report::fit;
use crate::skills::crate_source::{How, Located, OnDemand};
use crate::text::{Diagnostic, is_crate_name, same_crate};
use crate::workspace::{Workspace, dependents};
use lookup::{Found, Lookup};
use render::render;
pub(super) use since::ChangesAnswer;
use since::Since;
use skills::{CrateSkills, SkillInfo, WithheldSkill};
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
    #[serde(flatten)]
    about: About,
    /// Its changelog.
    #[serde(skip_serializing_if = "Option::is_none")]
    changelog: Option<Notes>,
    /// The packages in Cargo.lock that depend on some version of it.
    used_by: Vec<String>,
    /// Those that are accepted here.
    skills: Vec<SkillInfo>,
    /// The others, by their names.
    withheld: Vec<WithheldSkill>,
}

/// A crate's changelog.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Notes {
    file: PathBuf,
    /// Whether it has a section of this version.
    has_version: bool,
}

/// The whole answer: more than one where the workspace uses several versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Answer {
    /// That the crate is not in the workspace, and what may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    crates: Vec<Info>,
}

pub(super) fn run(sym: &Symposium, args: &CrateInfoArgs) -> CommandResult {
    if !is_crate_name(&args.name) {
        let shown = fit(&args.name, 80);
        return Err(Diagnostic::error(format!("`{shown}` can't be a crate's name")).into());
    }
    let wanted = args.version.as_deref().map(Wanted::parse).transpose()?;
    let since = args.since.as_ref().map(|since| Since::parse(since.as_deref())).transpose()?;
    let workspace = workspace(sym)?;
    let lookup = Lookup::new(sym, workspace.as_ref(), &args.name);
    let found = lookup.found(wanted.as_ref(), args.version.as_deref())?;
    match (since, &args.path) {
        (Some(since), _) => lookup.tell_changes(&since, found),
        (None, Some(path)) => lookup.tell_item(path, found),
        (None, None) => lookup.tell_about(found),
    }
}

/// The workspace we are in. One that can't be read is told: its versions are what is asked for.
fn workspace(sym: &Symposium) -> anyhow::Result<Option<Workspace>> {
    let loaded = Workspace::load(&sym.cwd()?, &sym.env)?;
    Ok(loaded.map(|loaded| loaded.workspace))
}

impl Lookup<'_> {
    fn tell_about(&self, found: Vec<Found>) -> CommandResult {
        let crates = found.into_iter().map(|found| self.info(found)).collect();
        let answer = Answer { note: self.stranger(), crates };
        self.sym.report.json(&answer);
        let notes = answer.note.iter().map(|note| format!("Note: {note}"));
        let blocks: Vec<_> = notes.chain(answer.crates.iter().map(render)).collect();
        self.sym.report.result(&blocks.join("\n\n"));
        Ok(ExitCode::SUCCESS)
    }

    fn tell_changes(&self, since: &Since, found: Vec<Found>) -> CommandResult {
        let mut answer = ChangesAnswer { note: self.stranger(), crates: Vec::new() };
        for Found { located, .. } in found {
            let Located { name, version, dir, .. } = &located;
            let (since, from) = since.resolve(&self.sym.env, self.workspace, name, version)?;
            answer.crates.push(Changes::read(dir, (name, version), since, from));
        }
        self.sym.report.json(&answer);
        let note = answer.note.iter().map(|note| format!("Note: {note}"));
        let blocks = answer.crates.iter().map(|changes| changes.render(since::BUDGET));
        self.sym.report.result(&note.chain(blocks).collect::<Vec<_>>().join("\n\n"));
        Ok(ExitCode::SUCCESS)
    }

    fn info(&self, Found { located, from }: Found) -> Info {
        let outside = Workspace::default();
        let disk = self.disk(self.workspace.unwrap_or(&outside));
        let sources = OnDemand::new(disk, self.fetcher, false).telling(&self.sym.report);
        let skills = CrateSkills::find(self.sym, self.workspace, &located, &sources);
        let Located { name, version, dir, how } = located;
        let dependencies = self.workspace.iter().flat_map(|workspace| &workspace.dependencies);
        let uses = dependencies
            .filter(|found| same_crate(&found.name, &name))
            .filter(|found| found.version.as_ref().is_none_or(|locked| *locked == version));
        let uses: Vec<_> = uses.map(|found| &found.usage).collect();
        let mut about = About::read(&dir, &uses);
        if matches!(how, How::RegistrySource | How::RegistryCache | How::Vendor) {
            let other = about.docs.take_if(|url| !url.starts_with("https://docs.rs/"));
            about.docs = other.or_else(|| Some(format!("https://docs.rs/{name}/{version}")));
        }
        let changelog = Changelog::read(&dir, &name);
        let changelog = changelog.map(|found| Notes {
            has_version: found.section(&version).is_some(),
            file: found.file,
        });
        let lock_file = self.workspace.and_then(|workspace| workspace.lock_file.as_deref());
        let used_by = lock_file.map(|path| dependents(path, &name, &version)).unwrap_or_default();
        let CrateSkills { accepted: skills, withheld } = skills;
        Info { name, version, source: dir, from, how, about, changelog, used_by, skills, withheld }
    }
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
