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
use model::{Doctor, Finding, Weight};

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
    /// And a workspace that is not broken; where there is none, there is nothing to check.
    Workspace,
}

/// A check: the name people see, what it needs, and what it finds.
type Check = (&'static str, Needs, fn(&CheckContext<'_>) -> Vec<Finding>);

/// In the order in which things build on each other.
const CHECKS: &[Check] = &[
    ("the configuration reads", Needs::Nothing, workspace::configuration),
    ("the workspace reads", Needs::Nothing, workspace::workspace),
    ("agents find cargo-agents", Needs::Configuration, programs::own_program),
    ("agents' files read", Needs::Configuration, agents::files),
    ("hooks and servers are registered", Needs::Configuration, agents::registered),
    ("nothing is registered twice", Needs::Configuration, agents::twice),
    ("agents use what is registered", Needs::Configuration, agents::switches),
    ("nothing stale is left", Needs::Configuration, workspace::stale),
    ("skills are in place", Needs::Workspace, workspace::skills),
    ("descriptions fit", Needs::Workspace, agents::budget),
    ("plugin sources answer", Needs::Configuration, sources::sources),
    ("plugins and skills are well made", Needs::Configuration, sources::content),
    ("sources of crates are here", Needs::Workspace, sources::crates),
    ("agents' versions are known", Needs::Configuration, programs::versions),
];

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
        if !context.can(*needs) {
            doctor.not_checked.push((*name).to_owned());
            continue;
        }
        let mut found = check(&context);
        if found.is_empty() {
            doctor.passed.push((*name).to_owned());
        }
        for finding in &mut found {
            (*name).clone_into(&mut finding.check);
        }
        doctor.findings.append(&mut found);
    }
    doctor.findings.sort_by_key(|finding| finding.severity);
    Ok(doctor)
}

impl CheckContext<'_> {
    fn can(&self, needs: Needs) -> bool {
        let inputs = self.survey.inputs;
        let configured = inputs.sym.config_state != ConfigState::Broken;
        match needs {
            Needs::Nothing => true,
            Needs::Configuration => configured,
            Needs::Workspace => configured && inputs.trouble.is_none(),
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
        for name in &doctor.not_checked {
            screen.marked(palette.warning, "skip ", &format!("{name}: not checked"));
        }
        for passed in &doctor.passed {
            screen.marked(palette.good, "ok   ", passed);
        }
    } else {
        let check = if doctor.findings.is_empty() { "check" } else { "more check" };
        if !doctor.passed.is_empty() {
            screen.marked(palette.good, "ok   ", &count(doctor.passed.len(), check));
        }
        if !doctor.not_checked.is_empty() {
            let checks = count(doctor.not_checked.len(), "check");
            let text = format!("{checks} not made, because of the errors above");
            screen.marked(palette.warning, "skip ", &text);
        }
    }
    let fixable = doctor.findings.iter().filter(|finding| finding.fixable).count();
    if fixable > 0 {
        let them = if fixable == 1 { "1 of these" } else { &format!("{fixable} of these") };
        screen.line(0, &format!("`cargo agents doctor --fix` mends {them}"));
    }
    screen.finish()
}
