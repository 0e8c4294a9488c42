//! A crate that ships skills: where its manifest says they are, and whether they would still be there once
//! it is published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::found::Found;
use super::levels::{self, Named};
use super::skills::{gate, of_skills};
use super::{descriptions, never};
use crate::Symposium;
use crate::files::{Limit, contained, read_source};
use crate::plugins::diagnostics::codes;
use crate::skills::crate_source::fetch::Fetcher;
use crate::skills::discover::{SKILL_FILE, discover};
use crate::skills::metadata::{self, read_crate_skills};
use crate::text::toml::{Diagnostics, read};
use crate::text::{Diagnostic, Severity};
use crate::workspace::UNOBSERVED;

pub(super) fn check(sym: &Symposium, dir: &Path, found: &mut Found) {
    found.crates += 1;
    let said = read_crate_skills(dir, &UNOBSERVED);
    for mut problem in said.warnings {
        problem.severity = Severity::Error;
        found.push(problem);
    }
    let manifest = dir.join("Cargo.toml");
    let mut skills = Vec::new();
    let before = found.listed.len();
    for entry in &said.entries {
        if let Some(source) = &said.source {
            gate(sym, &entry.gate, source, found);
            let level = levels::of_gate(&entry.gate);
            found.diagnostics.extend(never::check("this entry", &level, &[], source));
        }
        let path = match &entry.place {
            metadata::Place::Path(path) => path,
            metadata::Place::Crate { name, .. } => {
                if let Some(source) = &said.source {
                    found.names.push(Named::at(name, source, entry.span.clone()));
                }
                continue;
            }
        };
        let at = |problem: Diagnostic| match &said.source {
            Some(source) if !entry.span.is_empty() => problem.at(source, entry.span.clone()),
            _ => problem.in_file(&manifest),
        };
        let here = match contained(dir, path) {
            Ok(start) => of_skills(sym, dir, discover(dir, &start, &UNOBSERVED), &[], found),
            Err(escape) => {
                found.push(at(Diagnostic::error(escape.to_string()).code(codes::SKILL_FOLDER)));
                continue;
            }
        };
        if here.is_empty() {
            let mut problem = Diagnostic::error(format!("there is no skill in `{path}`"))
                .code(codes::SKILL_FOLDER);
            // Nobody asked for the folder that is looked into by default.
            if entry.span.is_empty() {
                problem.severity = Severity::Warning;
            }
            found.push(at(problem));
        }
        skills.extend(here);
    }
    let cut = descriptions::cut(&found.listed[before..]);
    found.diagnostics.extend(cut.map(|problem| problem.in_file(&manifest)));
    found.diagnostics.extend(published(sym, dir, &skills));
}

/// What of the skills a crate would lack once published.
fn published(sym: &Symposium, dir: &Path, skills: &[PathBuf]) -> Vec<Diagnostic> {
    let manifest = dir.join("Cargo.toml");
    if skills.is_empty() || is_never_published(&manifest) {
        return Vec::new();
    }
    let fetcher = Fetcher { env: &sym.env, dirs: &sym.dirs, limit: PATIENCE, offline: true };
    let packaged: BTreeSet<String> = match fetcher.packaged(&manifest) {
        Ok(files) => files.into_iter().collect(),
        Err(error) => {
            let message = "could not check whether the published crate would have its skills";
            return vec![
                Diagnostic::warning(message)
                    .code(codes::UNCHECKED)
                    .in_file(&manifest)
                    .note(format!("`cargo package --list`: {error}")),
            ];
        }
    };
    skills.iter().filter_map(|skill| lacking(dir, skill, &packaged)).collect()
}

/// How long cargo may take for a list of files.
const PATIENCE: Duration = Duration::from_secs(20);

/// A skill that would not be in the published crate, or not whole.
fn lacking(dir: &Path, skill: &Path, packaged: &BTreeSet<String>) -> Option<Diagnostic> {
    let relative = |path: &Path| {
        let inside = path.strip_prefix(dir).ok()?;
        Some(inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"))
    };
    let files = walkdir::WalkDir::new(skill).into_iter().filter_entry(|entry| {
        entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
    });
    let files = files.flatten().filter(|entry| entry.file_type().is_file());
    let missing: Vec<String> = files
        .filter_map(|entry| relative(entry.path()))
        .filter(|path| !packaged.contains(path))
        .collect();
    let document = skill.join(SKILL_FILE);
    let is_gone = relative(&document).is_some_and(|path| missing.contains(&path));
    let message = match missing.as_slice() {
        [] => return None,
        _ if is_gone => "the published crate would be without this skill".to_owned(),
        missing => format!("the published crate would be without {}", missing.join(", ")),
    };
    let problem = Diagnostic::error(message).code(codes::NOT_PACKAGED).in_file(&document);
    Some(problem.note(
        "`exclude`, `include` or `.gitignore` keep it out, or a `Cargo.toml` above it makes it a \
         package of its own; `cargo package --list` shows what is in",
    ))
}

/// Whether the crate says that it is never published.
fn is_never_published(manifest: &Path) -> bool {
    let Ok(source) = read_source(manifest, Limit::CARGO) else { return false };
    let publish = read(&Diagnostics::new(source), |root| {
        let package = root.table("package")?;
        if package.is_table("publish") { None } else { package.bool("publish") }
    });
    publish.flatten().is_some_and(|publish| !publish.value)
}
