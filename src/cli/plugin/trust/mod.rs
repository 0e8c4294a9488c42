//! `cargo agents plugin review`, `allow` and `deny`: the user's word on what plugins run.

pub(in crate::cli::plugin) mod difference;
pub(in crate::cli) mod review;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::plugin::show;
use crate::config::TrustPrograms;
use crate::plugins::model::Plugin;
use crate::plugins::source::BUILTIN;
use crate::plugins::trust::part::{Part, PartKind};
use crate::plugins::trust::record::{CRATES, Owner, Record};
use crate::plugins::trust::{Trust, Waits};
use crate::report::{Event, ExitCode};
use crate::sync::snapshot::Stored;
use crate::sync::survey::{Inputs, Survey};
use crate::sync::{Mode, Request, sync};
use crate::text::Diagnostic;
use crate::workspace::{UNOBSERVED, locate};

pub(super) use review::run as review;

/// A plugin of which something could run, or a crate whose skills have commands.
struct Runnables {
    owner: Owner,
    manifest: Option<PathBuf>,
    parts: Vec<(Part, Option<Waits>)>,
    /// What the user said of it; `None` where that can't be read.
    record: Option<Rc<Record>>,
    /// Why it can't be told what could run.
    unknown: Option<Waits>,
}

impl Runnables {
    fn waits(&self) -> bool {
        self.unknown.is_some() || self.parts.iter().any(|(_, why)| why.is_some())
    }
}

/// Whether `name`, or `source/name`, stands for `owner`.
fn is_meant(owner: &Owner, name: &str) -> bool {
    match name.rsplit_once('/') {
        Some((source, own)) => owner.source == source && owner.name == own,
        None => owner.name == name,
    }
}

/// What of the plugin `name` could run, or of all that apply here, as far as it is on this machine.
fn everything(sym: &Symposium, survey: &Survey<'_>, name: Option<&str>) -> Vec<Runnables> {
    let trust = Trust::of(sym, &UNOBSERVED);
    let facts = survey.planned.as_ref().map(|planned| &planned.facts);
    let applies = |plugin: &Plugin| {
        facts.is_none_or(|facts| facts.active.iter().any(|it| it.manifest == plugin.manifest))
    };
    let mut found: Vec<Runnables> = Vec::new();
    let plugins = survey.inputs.registry.active().filter(|plugin| plugin.source != BUILTIN);
    for plugin in plugins {
        let owner = Owner::of(plugin);
        if !name.map_or_else(|| applies(plugin), |name| is_meant(&owner, name)) {
            continue;
        }
        let record = trust.record(&owner).ok();
        let known = trust.parts(plugin);
        let parts = known.as_ref().as_ref().map(Vec::as_slice).unwrap_or_default();
        let judged = parts
            .iter()
            .map(|part| (part.clone(), trust.waits(plugin, part.kind, &part.name)))
            .collect();
        let (manifest, unknown) = (Some(plugin.manifest.clone()), known.as_ref().as_ref().err());
        found.push(Runnables { owner, manifest, parts: judged, record, unknown: unknown.copied() });
    }
    let skills = facts.map(|facts| facts.skills_that_run(&UNOBSERVED)).unwrap_or_default();
    for (owner, part) in skills {
        if name.is_some_and(|name| !is_meant(&owner, name)) {
            continue;
        }
        let why = trust.skill_waits(&owner, Ok(&part));
        match found.iter_mut().find(|known| known.owner == owner) {
            Some(known) => known.parts.push((part, why)),
            None => {
                let (manifest, record) = (None, trust.record(&owner).ok());
                let parts = vec![(part, why)];
                found.push(Runnables { owner, manifest, parts, record, unknown: None });
            }
        }
    }
    found.retain(|known| !known.parts.is_empty() || known.unknown.is_some());
    found
}

/// The one that `name`, or `source/name`, stands for.
///
/// # Errors
/// There is none, or nothing of it could run.
fn find(survey: &Survey<'_>, all: Vec<Runnables>, name: &str) -> Result<Runnables, Diagnostic> {
    if let Some(found) = all.into_iter().next() {
        return Ok(found);
    }
    let plugin = &show::find(&survey.inputs.registry, name)?.plugin;
    Ok(Runnables {
        owner: Owner::of(plugin),
        manifest: Some(plugin.manifest.clone()),
        parts: Vec::new(),
        record: None,
        unknown: None,
    })
}

/// Records what `name` could run as it is now.
pub(super) fn allow(sym: &Symposium, name: &str) -> CommandResult {
    let start = Instant::now();
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let survey = inputs.survey()?;
    let found = find(&survey, everything(sym, &survey, Some(name)), name)?;
    if let Some(why) = found.unknown {
        return Err(Diagnostic::error(format!("`{name}` can't be allowed"))
            .note(why.told(&found.owner.name))
            .into());
    }
    let mut record = Record::of(&found.owner);
    record.parts = found.parts.iter().map(|(part, _)| part.clone()).collect();
    // What is not seen from here (a skill of another workspace's dependency) stays allowed.
    let known = found.record.map(|record| record.parts.clone()).unwrap_or_default();
    let is_elsewhere = |part: &Part| {
        part.kind == PartKind::Skill
            && !record.parts.iter().any(|new| new.is(part.kind, &part.name))
    };
    let elsewhere: Vec<Part> = known.into_iter().filter(is_elsewhere).collect();
    record.parts.extend(elsewhere);
    record.save(&sym.dirs.trust())?;
    let titles: Vec<String> = found.parts.iter().map(|(part, _)| part.title()).collect();
    let what =
        if titles.is_empty() { "nothing of it could run".to_owned() } else { titles.join(", ") };
    sym.report.event(&Event::status("Allowed", format!("{}: {what}", found.owner.name)));
    let is_asked = sym.config.is_in_checkout(&found.owner.source);
    if sym.config.trust_programs == TrustPrograms::Source && !is_asked {
        let note = "you are not asked about programs: `[trust] programs = \"ask\"` in the \
                    configuration has each wait for your word";
        sym.report.event(&Event::status("Note", note));
    }
    follow(sym, &survey, start)
}

/// Nothing of `name` runs any more.
pub(super) fn deny(sym: &Symposium, name: &str) -> CommandResult {
    let start = Instant::now();
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let survey = inputs.survey()?;
    let found = find(&survey, everything(sym, &survey, Some(name)), name)?;
    if found.owner.source == BUILTIN {
        return Err(Diagnostic::error("the plugin inside the program runs nothing")
            .note("`[defaults] builtin = false` in the configuration leaves it out")
            .into());
    }
    let record = Record { denied: true, ..Record::of(&found.owner) };
    record.save(&sym.dirs.trust())?;
    let told = format!("{}: nothing of it runs; its other skills stay", found.owner.name);
    sym.report.event(&Event::status("Denied", told));
    follow(sym, &survey, start)
}

/// Tells of plugins that are no longer what the user allowed, as the last sync here found.
pub(in crate::cli) fn tell_changed(sym: &Symposium) {
    if sym.config.trust_programs != TrustPrograms::Ask && !sym.config.has_sources_in_checkout() {
        return;
    }
    let root = sym.env.cwd().and_then(|cwd| locate(cwd, &sym.env).ok().flatten());
    let stored = root.and_then(|root| Stored::of(&sym.dirs, &root));
    for name in stored.map(|stored| stored.offer().changed).unwrap_or_default() {
        let told = format!(
            "plugin {name} changed since you allowed it, and what changed does not run: `cargo \
             agents plugin review {name}`"
        );
        sym.report.event(&Event::status("Note", told));
    }
}

/// Brings the workspace, in one, up to date with what was said.
fn follow(sym: &Symposium, survey: &Survey<'_>, start: Instant) -> CommandResult {
    if survey.inputs.loaded.is_none() {
        return Ok(ExitCode::SUCCESS);
    }
    let synced = sync(sym, &Request { start: sym.cwd()?, ..Request::default() })?;
    crate::cli::sync::finish(sym, &synced, Mode::Apply, start);
    Ok(if synced.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// How a part stands with the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(in crate::cli) enum Standing {
    /// It is what was allowed.
    Allowed,
    /// It runs without being asked about: `[trust] programs = "source"`.
    Trusted,
    New,
    Changed,
    Denied,
    Unreadable,
    TooLarge,
}

impl Standing {
    pub(in crate::cli) fn of(part: &Part, why: Option<Waits>, record: Option<&Record>) -> Self {
        match why {
            Some(Waits::New) => Self::New,
            Some(Waits::Changed) => Self::Changed,
            Some(Waits::Denied) => Self::Denied,
            Some(Waits::Unreadable) => Self::Unreadable,
            Some(Waits::TooLarge) => Self::TooLarge,
            None => {
                let allowed = record.and_then(|record| record.allowed(part));
                if allowed.is_some_and(|allowed| part.is_within(allowed)) {
                    Self::Allowed
                } else {
                    Self::Trusted
                }
            }
        }
    }

    /// Whether the user's word makes it run.
    fn waits(self) -> bool {
        !matches!(self, Self::Allowed | Self::Trusted | Self::TooLarge)
    }

    pub(in crate::cli) fn told(self) -> String {
        match self {
            Self::Allowed => "allowed".to_owned(),
            Self::Trusted => "runs, as its source is configured".to_owned(),
            Self::New => Waits::New.to_string(),
            Self::Changed => Waits::Changed.to_string(),
            Self::Denied => Waits::Denied.to_string(),
            Self::Unreadable => Waits::Unreadable.to_string(),
            Self::TooLarge => Waits::TooLarge.to_string(),
        }
    }
}

/// What a crate's own skills are shown under.
fn source_shown(owner: &Owner) -> &str {
    if owner.source == CRATES { "a dependency" } else { &owner.source }
}
