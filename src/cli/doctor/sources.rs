//! Plugin sources, what is in them, and the sources of crates.

use std::collections::BTreeMap;

use super::CheckContext;
use super::agents::is_about_budget;
use super::model::{Finding, Weight};
use crate::fetch::git::Repository;
use crate::plugins::registry::counted;
use crate::plugins::source::{Location, SourceKind, SourceSpec, SourceState, effective, unusable};
use crate::sync::facts::candidates::told_absent;
use crate::text::Diagnostic;

/// Each source is there, or answers.
pub(super) fn sources(context: &CheckContext<'_>) -> Vec<Finding> {
    let sym = &context.survey.inputs.sym;
    let specs = effective(sym);
    let states = &context.survey.inputs.registry.sources;
    let mut findings = Vec::new();
    for spec in &specs {
        let state = states.iter().find(|state| state.name == spec.name);
        match (&spec.location, state.and_then(|state| state.notice.as_ref())) {
            (Location::Path(path), Some(notice)) => findings.push(
                Finding::new(
                    "source-missing",
                    Weight::Error,
                    format!("source `{}`: {notice}", spec.name),
                )
                .at(path)
                .remedy("create the folder, or correct `path` in the configuration"),
            ),
            (Location::Unusable(_, problem), _) => {
                let problem = unusable(sym, spec, problem);
                findings.push(Finding::of("source-url", Weight::Error, &problem, "correct it"));
            }
            (Location::Builtin, Some(notice)) => findings.push(
                Finding::new(
                    "source-missing",
                    Weight::Warning,
                    format!("source `{}`: {notice}", spec.name),
                )
                .remedy("see to it that the cache folder can be written"),
            ),
            _ => {}
        }
    }
    if context.sym.options.offline {
        return findings;
    }
    let is_git = |spec: &&SourceSpec| matches!(spec.location, Location::Git(_));
    let asked: Vec<&str> = specs.iter().filter(is_git).map(|spec| spec.name.as_str()).collect();
    let _busy = (!asked.is_empty())
        .then(|| context.sym.report.busy("Asking", &format!("the source {}", asked.join(", "))));
    let asked = std::thread::scope(|scope| {
        let git = specs.iter().filter_map(|spec| match &spec.location {
            Location::Git(repository) => Some((spec, repository)),
            _ => None,
        });
        let threads: Vec<_> = git
            .map(|(spec, repository)| scope.spawn(move || ask(context, spec, repository)))
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect::<Vec<_>>()
    });
    findings.extend(asked);
    findings
}

/// Sources that were not asked whether they answer, and why.
pub(super) fn unasked(context: &CheckContext<'_>) -> Option<String> {
    let git = effective(&context.survey.inputs.sym);
    let git = git.iter().filter(|spec| matches!(spec.location, Location::Git(_)));
    let names = named(git.map(|spec| spec.name.as_str()))?;
    context.sym.options.offline.then(|| format!("with `--offline` {names} not asked"))
}

/// Sources whose content was not looked at, and why.
pub(super) fn unseen(context: &CheckContext<'_>) -> Option<String> {
    let registry = &context.survey.inputs.registry;
    let away = registry.sources.iter().filter(|state| !has_copy(state) && state.notice.is_some());
    let away = away.map(|state| state.name.as_str());
    if let Some(names) = named(away) {
        return Some(format!("{names} not on this machine"));
    }
    let outside = context.survey.planned.is_none() && !registry.plugins.is_empty();
    outside.then(|| "without a workspace that reads, skills are not looked at".to_owned())
}

/// `` `a` is``, `` `a`, `b` are``; `None` for none.
fn named<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb}", names.join(", ")))
}

fn ask(context: &CheckContext<'_>, spec: &SourceSpec, repository: &Repository) -> Option<Finding> {
    let (sym, limit) = (&context.survey.inputs.sym, context.sym.options.timeout);
    let states = &context.survey.inputs.registry.sources;
    let copy = states.iter().find(|state| state.name == spec.name).is_some_and(has_copy);
    let again = format!("`cargo agents plugin sync {}`", spec.name);
    match repository.ask(&spec.copies(sym), limit, &sym.env) {
        Ok(_) if copy => None,
        Ok(_) => {
            let message = format!("source `{}` was not fetched yet", spec.name);
            Some(Finding::new("source-not-fetched", Weight::Warning, message).remedy(again))
        }
        Err(problem) => {
            let (weight, used) = if copy {
                (Weight::Warning, "the copy that is here is used")
            } else {
                (Weight::Error, "there is no copy of it here")
            };
            let shown = repository.shown();
            let message =
                format!("source `{}` does not answer, {used}: {shown}: {problem}", spec.name);
            let remedy = format!("when the network or your access is back: {again}");
            Some(Finding::new("source-unreachable", weight, message).remedy(remedy))
        }
    }
}

fn has_copy(state: &SourceState) -> bool {
    state.root.is_some()
}

/// Manifests and skills have nothing wrong. What comes from others is only worth knowing.
pub(super) fn content(context: &CheckContext<'_>) -> Vec<Finding> {
    let survey = context.survey;
    let own: Vec<_> = survey
        .inputs
        .registry
        .sources
        .iter()
        .filter(|state| state.kind == SourceKind::Path)
        .filter_map(|state| state.root.clone())
        .collect();
    let weight = |found: &Diagnostic| {
        let path = found.location().map(|place| place.path);
        let is_own = path.is_some_and(|path| own.iter().any(|root| path.starts_with(root)));
        if is_own { Weight::Warning } else { Weight::Note }
    };
    // A source that can't be had has a finding of its own.
    let config = survey.inputs.sym.dirs.config_file();
    let of_source = |found: &&Diagnostic| {
        found.location().is_none_or(|place| place.path != config)
            && !found.message.starts_with("can't read the plugin source")
    };
    let registry = survey.inputs.registry.diagnostics.iter().filter(of_source);
    let known = survey.planned.iter().flat_map(|planned| {
        let chosen = planned.chosen.diagnostics.iter().filter(|found| !is_about_budget(found));
        planned.facts.diagnostics.iter().chain(chosen)
    });
    let others = survey.inputs.registry.others();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for found in registry.chain(known) {
        // A user can't mend what others maintain: who asks for details is told each.
        if let Some(source) = others.source_of(found).filter(|_| !context.sym.report.explains()) {
            *counts.entry(source).or_default() += 1;
            continue;
        }
        let weight = weight(found);
        let remedy = match weight {
            Weight::Note => "tell those who wrote it; everything else goes on",
            _ => "correct it: it is in a source of your own",
        };
        findings.push(Finding::of("content", weight, found, remedy));
    }
    findings.extend(counts.into_iter().map(|(source, count)| {
        Finding::new("content", Weight::Note, counted(source, count))
            .remedy("`cargo agents doctor -v` tells each; those who wrote them can mend them")
    }));
    findings
}

/// Dependencies have their sources on this machine.
pub(super) fn crates(context: &CheckContext<'_>) -> Vec<Finding> {
    let Some(planned) = &context.survey.planned else { return Vec::new() };
    let missing = planned.facts.missing.iter().map(|missing| {
        Finding::new("crate-missing", Weight::Warning, format!("no skills: {missing}"))
            .remedy(missing.needs.remedy().unwrap_or("`cargo fetch`, then `cargo agents sync`"))
    });
    let absent = told_absent(&planned.facts.absent).into_iter();
    let absent = absent
        .map(|(told, remedy)| Finding::new("crate-absent", Weight::Note, told).remedy(remedy));
    missing.chain(absent).collect()
}
