//! `cargo agents plugin sync`: fetch git sources.

use crate::report::ExitCode;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::fetch::git::{GitError, Outcome};
use crate::plugins::git::GitPlace;
use crate::plugins::model::SkillSource;
use crate::plugins::registry::{Registry, open_all};
use crate::plugins::source::{Refresh, SourceKind, SourceSpec, SourceState, effective};
use crate::report::{Event, fit};
use crate::symposium::UpdateLevel;
use crate::text::{Diagnostic, closest, did_you_mean};

pub(super) fn run(sym: &Symposium, only: Option<&str>) -> CommandResult {
    if sym.options.update == Some(UpdateLevel::None) {
        return Err(Diagnostic::error("`--update none` forbids what `plugin sync` is for")
            .note("leave one of them out")
            .into());
    }
    let mut specs = effective(sym);
    if let Some(only) = only {
        if !specs.iter().any(|spec| spec.name == only) {
            return Err(no_such_source(only, &specs).into());
        }
        specs.retain(|spec| spec.name == only);
    }
    let mut failed = false;
    let mut count = 0;
    for (spec, (state, diagnostics)) in
        specs.iter().zip(open_all(sym, &specs, &Refresh::for_plugin_sync(sym, only)))
    {
        if state.kind == SourceKind::Git {
            count += 1;
        }
        failed |= report_source(sym, spec, &state, diagnostics, only.is_some());
    }
    let registry = Registry::load(sym, &Refresh::cached());
    // What the indexes in them name, as they are now.
    let is_asked_for = |entry: &&SourceSpec| only.is_none_or(|only| entry.is_below(only));
    let entries: Vec<SourceSpec> = registry.followed.iter().filter(is_asked_for).cloned().collect();
    count += entries.len();
    let opened = open_all(sym, &entries, &Refresh::for_plugin_sync(sym, only));
    for (entry, (state, diagnostics)) in entries.iter().zip(opened) {
        failed |= report_source(sym, entry, &state, diagnostics, only.is_some());
    }
    let mut named = groups(&registry, only);
    count += named.len();
    named.retain(|place| !fetch_group(sym, place));
    failed |= !named.is_empty();
    if count == 0 && only.is_none() {
        sym.report.event(&Event::status("Finished", "no source is a git repository"));
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The repositories that plugins take skills from: those of one source, if that is named.
fn groups(registry: &Registry, only: Option<&str>) -> Vec<GitPlace> {
    let plugins = registry.active().filter(|plugin| only.is_none_or(|only| plugin.source == only));
    let mut places: Vec<GitPlace> = Vec::new();
    for group in plugins.flat_map(|plugin| &plugin.skills) {
        if let SkillSource::Git(place) = &group.source
            && !places.contains(place)
        {
            places.push(place.clone());
        }
    }
    places
}

/// Brings one of them up to date, and says whether that went well.
fn fetch_group(sym: &Symposium, place: &GitPlace) -> bool {
    let policy = Refresh::for_plugin_sync(sym, None).policy;
    let fetched = place.repository().map_err(|(_, problem)| problem).and_then(|repository| {
        let shown = repository.shown();
        let failed = |problem: &GitError| {
            Box::new(Diagnostic::error(format!("can't fetch `{shown}`")).note(problem.whole()))
        };
        let found = repository.checkout(&sym.dirs.plugin_sources(), &policy, &sym.env);
        let checkout = found.map_err(|problem| failed(&problem))?;
        match &checkout.stale {
            Some(problem) => Err(failed(problem)),
            None => Ok((shown, checkout)),
        }
    });
    match fetched {
        Ok((shown, checkout)) => {
            let verb = if checkout.outcome == Outcome::Fetched { "Fetched" } else { "Unchanged" };
            let commit = checkout.commit.get(..10).unwrap_or(&checkout.commit);
            sym.report.event(&Event::status(verb, format!("{shown} {commit}")));
            true
        }
        Err(problem) => {
            sym.report.diagnostic(&problem);
            false
        }
    }
}

/// Tells what became of one source, and whether it failed.
fn report_source(
    sym: &Symposium,
    spec: &SourceSpec,
    state: &SourceState,
    diagnostics: Vec<Diagnostic>,
    named: bool,
) -> bool {
    let name = &state.name;
    if state.kind != SourceKind::Git {
        // A folder that is missing is as good as a fetch that failed.
        let failed = state.notice.is_some() && (named || state.is_nowhere());
        if named && !failed {
            let what = match state.kind {
                SourceKind::Builtin => "it is inside the program",
                _ => "it is a folder, looked at each time",
            };
            let line = format!("{name} needs no fetch: {what} ({})", state.location);
            sym.report.event(&Event::status("Finished", line));
        }
        sym.report.diagnostics(&as_errors(diagnostics, failed));
        return failed;
    }
    if let Some(notice) = &state.notice {
        if diagnostics.is_empty() {
            let problem = Diagnostic::error(format!("can't fetch the plugin source `{name}`"));
            sym.report.diagnostic(&problem.note(notice.clone()));
        }
        sym.report.diagnostics(&as_errors(diagnostics, true));
        return true;
    }
    let commit = state.commit.as_deref().unwrap_or_default();
    let at = format!(
        "{name} {} {}",
        state.reference.as_deref().unwrap_or_default(),
        commit.get(..10).unwrap_or(commit)
    );
    match state.outcome {
        Some(Outcome::Fetched) => {
            sym.report.event(&state.event().unwrap_or_else(|| Event::status("Fetched", at)))
        }
        Some(Outcome::Cached) if !spec.auto_update && !named => {
            let line = format!("{name}: `auto-update = false`; name it to have it fetched");
            sym.report.event(&Event::status("Skipped", line));
        }
        _ => sym.report.event(&Event::status("Unchanged", at)),
    }
    false
}

/// What stops nothing elsewhere is what this command is about.
fn as_errors(mut diagnostics: Vec<Diagnostic>, failed: bool) -> Vec<Diagnostic> {
    if failed {
        for diagnostic in &mut diagnostics {
            diagnostic.severity = crate::text::Severity::Error;
        }
    }
    diagnostics
}

fn no_such_source(name: &str, specs: &[SourceSpec]) -> Diagnostic {
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let clean = fit(name, 80);
    let mut problem = Diagnostic::error(format!("there is no plugin source `{clean}`"));
    problem.notes.extend(did_you_mean(&closest(name, names.iter().copied())));
    problem.note(format!("the sources are {}", names.join(", ")))
}
