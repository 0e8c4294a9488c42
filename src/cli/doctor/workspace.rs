//! The configuration, the workspace, and what of ours lies about in it.

use std::collections::BTreeSet;

use super::CheckContext;
use super::model::{Finding, Weight};
use crate::agents::Agent;
use crate::cli::team;
use crate::config::team::Team;
use crate::report::{Action, Change, Kind};
use crate::sync::placing::folders::is_writable;
use crate::sync::placing::plan::Step;
use crate::sync::registration::orphans;
use crate::text::{closest, did_you_mean, same_crate};

/// `config.toml` reads, and says nothing odd.
pub(super) fn configuration(context: &CheckContext<'_>) -> Vec<Finding> {
    let sym = &context.survey.inputs.sym;
    let weight = if sym.config_state.is_clear() { Weight::Warning } else { Weight::Error };
    let of = |found| Finding::of("configuration", weight, found, "correct or remove it");
    let mut findings: Vec<Finding> = sym.config_diagnostics.iter().map(of).collect();
    for name in &sym.config.agents {
        if Agent::from_name(name).is_none() {
            let problem = Agent::unknown(name);
            findings.push(
                Finding::new("unknown-agent", Weight::Warning, problem.message)
                    .at(sym.dirs.config_file())
                    .remedy(problem.notes.join("; ")),
            );
        }
    }
    findings.extend(disabled_nobody(context));
    findings.extend(sym.team.iter().flat_map(|team| of_team(team)));
    findings
}

/// The team's file reads, and does not wait for an answer.
fn of_team(team: &Team) -> Vec<Finding> {
    let code = "team-file";
    let of = |found| Finding::of(code, Weight::Error, found, "correct it");
    let mut findings: Vec<Finding> = team::problems(team).iter().map(of).collect();
    if let Some(told) = team::too_old(team) {
        findings.push(Finding::of(code, Weight::Warning, &told, "update"));
    } else if let Some((message, remedy)) = team::notice(team).filter(|_| findings.is_empty()) {
        findings.push(Finding::new(code, Weight::Note, message).at(&team.path).remedy(remedy));
    }
    findings
}

/// Names that `[plugins] disable` has and nobody else. Where a source is away it may be the one that
/// has them.
fn disabled_nobody(context: &CheckContext<'_>) -> Vec<Finding> {
    let inputs = context.survey.inputs;
    let registry = &inputs.registry;
    let (Some(loaded), true) = (&inputs.loaded, registry.unavailable.is_empty()) else {
        return Vec::new();
    };
    let plugins = registry.plugins.iter().map(|entry| entry.plugin.name.clone());
    let skills = registry.skills.iter().filter_map(|skill| skill.dir.file_name());
    let crates = loaded.workspace.dependencies.iter().map(|dependency| dependency.name.clone());
    let known: Vec<String> = plugins
        .chain(skills.map(|name| name.to_string_lossy().into_owned()))
        .chain(crates)
        .collect();
    let nobodys = |name: &&String| !known.iter().any(|known| same_crate(known, name));
    let choices = &inputs.sym.config.plugins;
    let here = choices.workspaces.iter().filter(|(root, _)| *root == loaded.workspace.root);
    let disabled = here.flat_map(|(_, choices)| &choices.disable).chain(&choices.disable);
    let finding = |name: &String| {
        let message =
            format!("`disable` names `{name}`, as no plugin, skill or dependency here is called");
        let meant = did_you_mean(&closest(name, known.iter().map(String::as_str)));
        let remedy =
            meant.unwrap_or_else(|| "take it out, unless another workspace has it".to_owned());
        Finding::new("disable-unknown", Weight::Note, message)
            .at(inputs.sym.dirs.config_file())
            .remedy(remedy)
    };
    disabled.filter(nobodys).map(finding).collect()
}

/// The workspace's manifests and lock file read.
pub(super) fn workspace(context: &CheckContext<'_>) -> Vec<Finding> {
    let inputs = context.survey.inputs;
    let mut findings = Vec::new();
    if let Some(problem) = &inputs.trouble {
        findings.push(Finding::of("workspace", Weight::Error, problem, "mend the file"));
    }
    for found in inputs.loaded.iter().flat_map(|loaded| &loaded.diagnostics) {
        findings.push(Finding::of("workspace", Weight::Note, found, "mend it, if it matters"));
    }
    let blocked = context.survey.planned.iter().flat_map(|planned| &planned.chosen.blocked);
    findings
        .extend(blocked.map(|found| Finding::of("folder", Weight::Warning, found, "look at it")));
    findings
}

/// Nothing of ours is left that nobody needs.
pub(super) fn stale(context: &CheckContext<'_>) -> Vec<Finding> {
    let survey = context.survey;
    let agents: Vec<&str> = survey.agents.iter().map(|agent| agent.name()).collect();
    let mut findings = Vec::new();
    for change in survey.changes() {
        // Of configured agents, the check for duplicates tells.
        let of_others = !agents.iter().any(|agent| change.is_of(agent));
        match (change.action, change.kind) {
            (Action::Remove, Kind::Skill) => findings.push(left(&change, "the skill")),
            (Action::Unregister, Kind::Server) => findings.push(left(&change, "the server")),
            (Action::Unregister, Kind::Hooks) if of_others => findings.push(left(&change, "our")),
            _ => {}
        }
    }
    let (gone, mut damaged) = orphans::find(&survey.inputs.sym);
    for found in &survey.damaged {
        if !damaged.contains(found) {
            damaged.push(found.clone());
        }
    }
    for found in &damaged {
        findings.push(Finding::of("ledger", Weight::Warning, found, "`cargo agents sync`"));
    }
    for root in gone {
        let message = "this workspace is gone, but something registered for it is left";
        findings.push(
            Finding::new("workspace-gone", Weight::Warning, message)
                .at(root)
                .remedy("`cargo agents doctor --fix` takes it back")
                .fixable(),
        );
    }
    findings
}

fn left(change: &Change, what: &str) -> Finding {
    let name =
        if change.kind == Kind::Hooks { change.name.clone() } else { format!("`{}`", change.name) };
    let why = change.reason.as_deref().unwrap_or("nothing that applies here asks for it");
    let message = format!("{what} {name} ({}): {why}", change.shown_places());
    Finding::new("stale", Weight::Warning, message).remedy("`cargo agents sync`").fixable()
}

/// Copies are as they should be.
pub(super) fn skills(context: &CheckContext<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for view in context.skills {
        if let Some(why) = &view.left_alone {
            let message = format!("the skill `{}` stays as it is: {why}", view.name);
            findings.push(
                Finding::new("skill-left-alone", Weight::Note, message)
                    .remedy("nothing to do, if that is how you want it"),
            );
        }
    }
    findings.extend(context.survey.by_hand().iter().map(|placed| {
        Finding::new("by-hand", Weight::Note, placed.told()).remedy(placed.remedy())
    }));
    let brings = |step: &&Step| {
        let comes = [Action::Install, Action::Update, Action::Restore].contains(&step.action);
        comes && !step.silent && is_writable(&step.parent.path)
    };
    let survey = context.survey;
    let planned = survey.planned.iter().filter(|_| survey.inputs.sym.config_state.is_clear());
    let steps = planned.flat_map(|planned| &planned.plan.steps);
    let pending: BTreeSet<_> =
        steps.filter(brings).map(|step| format!("`{}`", step.name)).collect();
    if !pending.is_empty() {
        let pending = Vec::from_iter(pending).join(", ");
        let message = format!("skills that are missing or out of date: {pending}");
        findings.push(
            Finding::new("not-synced", Weight::Warning, message)
                .remedy("`cargo agents sync`")
                .fixable(),
        );
    }
    // Where no agent is configured, that is the finding.
    if !context.survey.agents.is_empty() {
        for view in context.skills.iter().filter(|view| view.agents.is_empty()) {
            let message = format!("no configured agent sees the skill `{}`", view.name);
            findings.push(
                Finding::new("skill-unseen", Weight::Warning, message).remedy(
                    "`agents-syncing = true` in the configuration copies the workspace's own",
                ),
            );
        }
    }
    findings
}
