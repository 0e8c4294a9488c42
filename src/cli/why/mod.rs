//! `cargo agents why NAME`: one thing, followed through every decision.

mod crates;
mod mistakes;
pub(super) mod model;
mod others;
mod plugins;
mod skills;

use crate::report::ExitCode;
use std::path::Path;

use super::CommandResult;
use super::grammar::WhyArgs;
use super::screen::{Screen, column};
use crate::Symposium;
use crate::agents::Agent;
use crate::report::{Kind, Palette};
use crate::sync::survey::{Inputs, Survey};
use crate::text::{Diagnostic, closest, did_you_mean};
use mistakes::Mistaken;
use model::{Trail, Why};

pub(super) fn run(sym: &Symposium, args: &WhyArgs) -> CommandResult {
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let survey = inputs.survey()?;
    let mistaken = mistakes::mistaken(&inputs.registry.diagnostics);
    let inquiry = Inquiry { survey: &survey, name: args.name.clone(), mistaken };
    let why = Why { name: args.name.clone(), trails: inquiry.trails() };
    sym.report.json(&why);
    if why.trails.is_empty() {
        return Err(inquiry.unknown().into());
    }
    sym.report.result(&show(&why, sym.report.width()));
    Ok(ExitCode::SUCCESS)
}

/// A name, and where to look for it.
struct Inquiry<'a> {
    survey: &'a Survey<'a>,
    name: String,
    mistaken: Vec<Mistaken<'a>>,
}

impl Inquiry<'_> {
    /// Everything of that name, what is in force first.
    fn trails(&self) -> Vec<Trail> {
        let mut trails = self.of_skills();
        trails.extend(self.of_plugins());
        trails.extend(self.of_parts());
        trails.extend(self.of_others());
        trails.extend(self.of_crate());
        trails.extend(self.of_mistakes(&trails));
        let (mut found, others): (Vec<_>, Vec<_>) =
            trails.into_iter().partition(|trail| trail.in_force);
        found.extend(others);
        found
    }

    /// `-` and `_` are equal, as in names of crates.
    fn is_meant(&self, name: &str) -> bool {
        name.replace('_', "-") == self.name.replace('_', "-")
    }

    fn path(&self, path: &Path) -> String {
        self.survey.inputs.sym.report.path(path)
    }

    fn unknown(&self) -> Diagnostic {
        let name = self.name.escape_debug();
        let mut error = Diagnostic::error(format!("nothing is known by the name `{name}`"))
            .note("it is no skill, plugin, hook, server, subcommand or program of your sources")
            .note("it is no source, agent or diagnostic's code")
            .note(match (self.survey.inputs.root(), &self.survey.inputs.trouble) {
                (Some(_), _) => {
                    "and no crate that this workspace depends on, directly or not".to_owned()
                }
                (None, Some(problem)) => format!("the workspace can't be read: {problem}"),
                (None, None) => {
                    "this is no Rust workspace, so dependencies were not looked at".to_owned()
                }
            });
        let known = self.known_names();
        let near = closest(&self.name, known.iter().map(String::as_str));
        error.notes.extend(did_you_mean(&near));
        error
    }

    fn known_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for entry in &self.survey.inputs.registry.plugins {
            names.push(entry.plugin.name.clone());
            names.extend(entry.plugin.hooks.iter().map(|hook| hook.name.clone()));
            names.extend(entry.plugin.servers.iter().map(|server| server.name.clone()));
            names.extend(entry.plugin.subcommands.iter().map(|found| found.name.clone()));
        }
        names.extend(self.survey.skills().into_iter().map(|view| view.name));
        names.extend(Agent::ALL.map(|agent| agent.name().to_owned()));
        let sources = &self.survey.inputs.registry.sources;
        names.extend(sources.iter().map(|state| state.name.clone()));
        let workspace = self.survey.inputs.loaded.iter().map(|loaded| &loaded.workspace);
        names.extend(
            workspace.flat_map(|found| &found.dependencies).map(|found| found.name.clone()),
        );
        names
    }
}

fn show(why: &Why, width: usize) -> String {
    let palette = Palette::CARGO;
    let mut screen = Screen::new(width);
    for trail in &why.trails {
        let style = if trail.in_force { palette.good } else { palette.warning };
        let kind = kind_name(trail.kind);
        screen.marked(style, &trail.name, &format!("({kind}) {}", trail.verdict));
        let labels = column(trail.steps.iter().map(|step| step.label.as_str()), 12);
        for step in &trail.steps {
            screen.entry(&step.label, labels, std::slice::from_ref(&step.text));
        }
    }
    screen.finish()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Source => "source",
        Kind::Plugin => "plugin",
        Kind::Group => "group of skills",
        Kind::Skill => "skill",
        Kind::Crate => "crate",
        Kind::Hooks => "hook",
        Kind::Server => "server",
        Kind::Subcommand => "subcommand",
        Kind::Agent => "agent",
        Kind::Program => "program",
        Kind::Code => "diagnostic",
        Kind::File => "file",
    }
}
