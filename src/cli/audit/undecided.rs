//! Dependencies and plugins that nobody decided on, and crates that could not be looked at.

use super::model::Findings;
use crate::Symposium;
use crate::cli::audit_args::rules;
use crate::cli::team::notice;
use crate::config::team::{NAME, Standing};
use crate::files::{Limit, read_source};
use crate::sync::Whole;
use crate::sync::facts::candidates::told_absent;
use crate::text::Diagnostic;

pub(super) fn look(sym: &Symposium, whole: &Whole<'_>, found: &mut Findings) {
    let facts = whole.facts;
    for crate_ in &facts.candidates {
        let (name, version) = (&crate_.name, crate_.version.to_string());
        let what = format!("{name} {version} ships {}, and nobody decided on it", crate_.offer());
        let problem = Diagnostic::warning(what).note(decide(name));
        found.add(rules::UNDECIDED_CRATE, in_lock(whole, problem, name, &version));
    }
    for plugin in &facts.suggestions {
        let (name, source) = (&plugin.name, &plugin.source);
        let what = format!(
            "the source {source} suggests the plugin {name} ({}), and nobody decided on it",
            plugin.offer()
        );
        found.add(rules::UNDECIDED_PLUGIN, Diagnostic::warning(what).note(decide(name)));
    }
    for missing in &facts.missing {
        let remedy = missing.remedy(&whole.loaded.workspace, sym.options.offline);
        let problem = Diagnostic::warning(format!("could not look at skills: {missing}"));
        let version = missing.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let problem = in_lock(whole, problem, &missing.name, &version);
        found.add(rules::COULD_NOT_LOOK, problem.note(remedy));
    }
    for (told, remedy) in told_absent(&facts.absent) {
        let problem = Diagnostic::warning(format!("could not look at every dependency: {told}"));
        found.add(rules::COULD_NOT_LOOK, problem.note(remedy));
    }
}

fn decide(name: &str) -> String {
    format!(
        "`cargo agents use {name}` takes it, `cargo agents use --remove {name}` declines it, for all \
         by `[plugins] use` or `disable` in {NAME}"
    )
}

/// The problem at a package's entry in `Cargo.lock`.
fn in_lock(whole: &Whole<'_>, problem: Diagnostic, name: &str, version: &str) -> Diagnostic {
    let workspace = &whole.loaded.workspace;
    let lock = workspace.lock_file.as_ref().and_then(|path| read_source(path, Limit::CARGO).ok());
    let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
    let place = lock.and_then(|source| source.text.find(&entry).map(|at| (source, at)));
    match place {
        Some((source, at)) => problem.at(&source, at..at + entry.find('\n').unwrap_or_default()),
        None => problem.in_file(workspace.root.join("Cargo.toml")),
    }
}

/// That the team's file offers something that is not in force here, so that nothing of it was looked at.
pub(super) fn team(sym: &Symposium, found: &mut Findings) {
    let Some(team) = &sym.team else { return };
    for problem in &team.problems {
        found.warn(rules::MISTAKE, problem.clone());
    }
    // To decline it is a decision.
    if team.standing != Standing::Declined
        && let Some((what, remedy)) = notice(team)
    {
        let problem = Diagnostic::warning(what).in_file(&team.path).note(remedy);
        found.add(rules::COULD_NOT_LOOK, problem);
    }
}

/// What is wrong with sources, manifests and skills, as a sync tells it.
pub(super) fn problems(sym: &Symposium, whole: &Whole<'_>, found: &mut Findings) {
    let unread = whole.facts.unread.iter().flat_map(|unread| &unread.problems);
    let all = sym.config_diagnostics.iter().chain(&whole.loaded.diagnostics);
    let all = all.chain(&whole.registry.diagnostics).chain(&whole.facts.diagnostics).chain(unread);
    for problem in all {
        // Only what is a mistake by a code of ours was looked at: the rest could not be read.
        let rule = if problem.code.is_some() { rules::MISTAKE } else { rules::COULD_NOT_LOOK };
        found.warn(rule, problem.clone());
    }
}
