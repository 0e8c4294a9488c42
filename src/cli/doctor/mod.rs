//! `cargo agents doctor`: what keeps agents from using what applies, and what to do about it.

mod agents;
mod fix;
pub(super) mod model;
mod programs;
mod sources;
mod workspace;

use crate::report::ExitCode;

use super::CommandResult;
use super::grammar::DoctorArgs;
use super::screen::{Screen, count};
use crate::Symposium;
use crate::config::ConfigState;
use crate::report::{Palette, Verbosity};
use crate::sync::survey::{Inputs, SkillView, Survey};
use model::{Doctor, Finding, Unchecked, Weight};

pub(super) fn run(sym: &Symposium, args: &DoctorArgs) -> CommandResult {
    let mut doctor = examine(sym)?;
    if args.fix && doctor.findings.iter().any(|finding| finding.fixable) {
        let fixed = fix::fix(sym)?;
        let before = doctor.findings;
        doctor = Doctor { fixed, ..examine(sym)? };
        for finding in doctor.findings.iter_mut().filter(|finding| finding.fixable) {
            if before.iter().any(|known| known == finding) {
                finding.fixable = false;
                "`--fix` could not mend it: see the errors, and whether the file can be written"
                    .clone_into(&mut finding.remedy);
            }
        }
    }
    sym.report.json(&doctor);
    sym.report.result(&show(sym, &doctor));
    let found = doctor.findings.iter().any(|finding| finding.severity != Weight::Note);
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What every check may look at.
struct CheckContext<'a> {
    /// The command's own context; [`Inputs::sym`] is always offline.
    sym: &'a Symposium,
    survey: &'a Survey<'a>,
    skills: &'a [SkillView<'a>],
    versions: &'a [programs::AgentProgram],
}

/// What a check can't be made without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// While the configuration can't be read, nobody knows what should be registered.
    Configuration,
    /// And an agent in it.
    Agents,
    /// A configuration that reads, and a workspace.
    Workspace,
}

/// A check: the name people see, what it needs, and what it finds.
type Check = (&'static str, Needs, fn(&CheckContext<'_>) -> Vec<Finding>);

/// In the order in which things build on each other.
const CHECKS: &[Check] = &[
    ("the configuration reads", Needs::Nothing, workspace::configuration),
    (WORKSPACE_READS, Needs::Nothing, workspace::workspace),
    ("agents find cargo-agents", Needs::Agents, programs::own_program),
    ("agents' files read", Needs::Agents, agents::files),
    ("hooks and servers are registered", Needs::Configuration, agents::registered),
    ("nothing is registered twice", Needs::Agents, agents::twice),
    ("agents use what is registered", Needs::Agents, agents::switches),
    ("nothing stale is left", Needs::Configuration, workspace::stale),
    ("skills are in place", Needs::Workspace, workspace::skills),
    ("descriptions fit", Needs::Workspace, agents::budget),
    ("programs of plugins may run", Needs::Workspace, programs::waiting),
    ("programs of plugins are here", Needs::Workspace, programs::of_plugins),
    (SOURCES_ANSWER, Needs::Configuration, sources::sources),
    (WELL_MADE, Needs::Configuration, sources::content),
    ("sources of crates are here", Needs::Workspace, sources::crates),
    ("agents' versions are known", Needs::Agents, programs::versions),
];

/// Checks that may be made of a part only.
const WORKSPACE_READS: &str = "the workspace reads";
const SOURCES_ANSWER: &str = "plugin sources answer";
const WELL_MADE: &str = "plugins and skills are well made";

const NO_WORKSPACE: &str = "this is no Rust workspace";

fn examine(sym: &Symposium) -> anyhow::Result<Doctor> {
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let busy = programs::busy(sym)?;
    let survey = inputs.survey()?;
    let versions = programs::ask(&survey);
    drop(busy);
    let skills = survey.skills();
    let context = CheckContext { sym, survey: &survey, skills: &skills, versions: &versions };
    let mut doctor = Doctor::default();
    for (name, needs, check) in CHECKS {
        let skip = |reason: String| Unchecked { check: (*name).to_owned(), reason };
        if let Err(reason) = context.can(*needs) {
            doctor.not_checked.push(skip(reason.to_owned()));
            continue;
        }
        let mut found = check(&context);
        let left_out = context.left_out(name);
        if found.is_empty() && left_out.is_none() {
            doctor.passed.push((*name).to_owned());
        }
        doctor.not_checked.extend(left_out.map(skip));
        for finding in &mut found {
            (*name).clone_into(&mut finding.check);
        }
        doctor.findings.append(&mut found);
    }
    doctor.findings.sort_by_key(|finding| finding.severity);
    Ok(doctor)
}

impl CheckContext<'_> {
    /// Whether there is what a check needs.
    ///
    /// # Errors
    /// Why it can't be made.
    fn can(&self, needs: Needs) -> Result<(), &'static str> {
        let inputs = self.survey.inputs;
        let refuse = |is_refused, reason| if is_refused { Err(reason) } else { Ok(()) };
        let configured = refuse(
            inputs.sym.config_state == ConfigState::Broken,
            "the configuration can't be read",
        );
        match needs {
            Needs::Nothing => Ok(()),
            Needs::Configuration => configured,
            Needs::Agents => configured
                .and_then(|()| refuse(self.survey.agents.is_empty(), "no agent is configured")),
            Needs::Workspace => configured
                .and_then(|()| refuse(inputs.trouble.is_some(), "the workspace can't be read"))
                .and_then(|()| refuse(inputs.loaded.is_none(), NO_WORKSPACE)),
        }
    }

    /// What a check that was made could not look at, and why.
    fn left_out(&self, check: &str) -> Option<String> {
        let inputs = self.survey.inputs;
        let no_workspace = inputs.loaded.is_none() && inputs.trouble.is_none();
        match check {
            WORKSPACE_READS if no_workspace => Some(NO_WORKSPACE.to_owned()),
            SOURCES_ANSWER => sources::unasked(self),
            WELL_MADE => sources::unseen(self),
            _ => None,
        }
    }
}

fn show(sym: &Symposium, doctor: &Doctor) -> String {
    let palette = Palette::CARGO;
    let mut screen = Screen::new(sym.report.width());
    for finding in &doctor.findings {
        let (style, label) = match finding.severity {
            Weight::Error => (palette.error, "error"),
            Weight::Warning => (palette.warning, "warn "),
            Weight::Note => (palette.accent, "note "),
        };
        let agent = finding.agent.as_ref().map(|agent| format!("{agent}: ")).unwrap_or_default();
        screen.marked(style, label, &format!("{agent}{}", finding.message));
        if let Some(place) = &finding.location {
            let lines = [place.line, place.column].into_iter().flatten();
            let lines: String = lines.map(|number| format!(":{number}")).collect();
            screen.line(6, &format!("{}{lines}", sym.report.path(&place.path)));
        }
        screen.line(6, &format!("remedy: {}", finding.remedy));
    }
    if sym.report.verbosity() >= Verbosity::Verbose {
        for skipped in &doctor.not_checked {
            let text = format!("{}: {}", skipped.check, skipped.reason);
            screen.marked(palette.warning, "skip ", &text);
        }
        for passed in &doctor.passed {
            screen.marked(palette.good, "ok   ", passed);
        }
    } else {
        let check = if doctor.findings.is_empty() { "check" } else { "more check" };
        if !doctor.passed.is_empty() {
            let text = format!("{} (`-v` names them)", count(doctor.passed.len(), check));
            screen.marked(palette.good, "ok   ", &text);
        }
        let mut reasons: Vec<&str> = Vec::new();
        for skipped in &doctor.not_checked {
            if !reasons.contains(&skipped.reason.as_str()) {
                reasons.push(&skipped.reason);
            }
        }
        for reason in reasons {
            let skipped = doctor.not_checked.iter().filter(|skipped| skipped.reason == reason);
            let names: Vec<&str> = skipped.map(|skipped| skipped.check.as_str()).collect();
            let what = match names.as_slice() {
                [name] => (*name).to_owned(),
                names => count(names.len(), "check"),
            };
            screen.marked(palette.warning, "skip ", &format!("{what}: {reason}"));
        }
    }
    let fixable = doctor.findings.iter().filter(|finding| finding.fixable).count();
    if fixable > 0 {
        let them = if fixable == 1 { "1 of these" } else { &format!("{fixable} of these") };
        screen.line(0, &format!("`cargo agents doctor --fix` mends {them}"));
    }
    screen.finish()
}
