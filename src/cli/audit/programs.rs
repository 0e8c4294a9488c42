//! Hooks, servers and subcommands that apply: what they are, from where, and whether they may run.

use std::path::Path;
use std::sync::Arc;

use super::model::{Findings, ProgramRow};
use crate::Symposium;
use crate::cli::audit_args::rules;
use crate::cli::plugin::trust::Standing;
use crate::files::{Limit, read_source};
use crate::plugins::model::{InstallSource, Plugin};
use crate::plugins::trust::part::Part;
use crate::plugins::trust::record::Owner;
use crate::plugins::trust::{Trust, Waits};
use crate::skills::scan::scan_invisible;
use crate::sync::Whole;
use crate::sync::lockfile::programs;
use crate::text::{Diagnostic, Source};
use crate::workspace::UNOBSERVED;

pub(super) fn look(sym: &Symposium, whole: &Whole<'_>, found: &mut Findings) -> Vec<ProgramRow> {
    let trust = Trust::of(sym, &UNOBSERVED);
    let mut rows = Vec::new();
    let mut seen: Vec<&Path> = Vec::new();
    for (plugin, part) in programs(whole.facts, &trust) {
        if !seen.contains(&plugin.manifest.as_path()) {
            seen.push(&plugin.manifest);
            of_plugin(plugin, found);
        }
        match part {
            Ok(part) => rows.push(of_part((plugin, part), &trust, found)),
            Err(why) => {
                let what = format!("could not look at what {} could run: {why}", plugin.name);
                let problem = Diagnostic::warning(what).in_file(&plugin.manifest);
                found.add(rules::COULD_NOT_LOOK, problem);
            }
        }
    }
    for waiting in whole.facts.waiting.iter().filter(|waiting| waiting.why != Waits::Denied) {
        let (kind, name, owner) = (waiting.kind, &waiting.name, &waiting.owner.name);
        let what = format!("{kind} {name} of {owner} does not run: {}", waiting.why);
        let mut plugins = whole.registry.active();
        let plugin = plugins.find(|plugin| Owner::of(plugin) == waiting.owner);
        let problem = Diagnostic::warning(what).note(format!(
            "`cargo agents plugin review {owner}` shows it, `cargo agents plugin allow {owner}` lets \
             it run"
        ));
        found.add(
            rules::NOT_ALLOWED,
            match plugin {
                Some(plugin) => problem.in_file(&plugin.manifest),
                None => problem,
            },
        );
    }
    rows
}

/// What is hidden in the manifest, and what of its installations nothing holds.
fn of_plugin(plugin: &Plugin, found: &mut Findings) {
    if let Ok(source) = read_source(&plugin.manifest, Limit::MANIFEST) {
        hidden(&source, &plugin.name, found);
    }
    for installation in &plugin.installations {
        let (what, remedy) = match &installation.source {
            Some(InstallSource::Cargo { krate, version, git: None, .. })
                if !version.as_deref().is_some_and(is_exact) =>
            {
                let what = format!("{krate} is installed in whatever version is newest");
                (what, "name an exact `version` in its plugin's manifest")
            }
            Some(InstallSource::Cargo { krate, git: Some(url), .. }) => {
                let what = format!("{krate} is installed from what {url} has last");
                (what, "take it from a registry, with an exact `version`")
            }
            Some(InstallSource::Git { url }) => (
                format!("{} is whatever {url} has last", installation.name),
                "take an archive with its checksum (`source = \"binary\"`), or a crate's exact version",
            ),
            Some(InstallSource::Cargo { .. } | InstallSource::Binary { .. }) | None => continue,
        };
        let what = format!("{what} (plugin {})", plugin.name);
        let problem = Diagnostic::warning(what).in_file(&plugin.manifest).note(remedy);
        found.add(rules::LOOSE_PROGRAM, problem);
    }
}

fn is_exact(version: &str) -> bool {
    semver::Version::parse(version.trim_start_matches('=').trim()).is_ok()
}

fn of_part((plugin, part): (&Plugin, Part), trust: &Trust<'_>, found: &mut Findings) -> ProgramRow {
    for (path, file) in &part.files {
        if let Some(text) = &file.text {
            hidden(&Source::new(plugin.dir.join(path), text), &plugin.name, found);
        }
    }
    let record = trust.record(&Owner::of(plugin)).ok();
    let why = trust.waits(plugin, part.kind, &part.name);
    let standing = Standing::of(&part, why, record.as_deref());
    let runs = part.lines.iter().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        matches!(key, "runs" | "http" | "sse").then_some(value)
    });
    let fact = format!(
        "{} of {} ({}) is {}: {}",
        part.title(),
        plugin.name,
        plugin.source,
        runs.unwrap_or_default(),
        standing.told(),
    );
    let review = format!("`cargo agents plugin review {}` shows all of it", plugin.name);
    found.add(rules::PROGRAM, Diagnostic::fact(fact).in_file(&plugin.manifest).note(review));
    ProgramRow {
        kind: part.kind,
        plugin: plugin.name.clone(),
        source: plugin.source.clone(),
        files: part.files.into_keys().collect(),
        name: part.name,
        lines: part.lines,
        standing,
        sha256: part.sha256,
    }
}

fn hidden(source: &Arc<Source>, plugin: &str, found: &mut Findings) {
    for finding in scan_invisible(&source.text) {
        found.hidden(finding.diagnostic(source));
        if let Some(problem) = found.0.last_mut() {
            problem.add_remark(format!("in the plugin {plugin}"));
        }
    }
}
