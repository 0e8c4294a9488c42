//! `cargo agents audit`: everything that a checkout brings to agents, looked through. Nothing of the
//! checkout, the configuration or agents' files is written, and nothing of it is run.
//!
//! [`skills`], [`programs`], [`sources`] and [`undecided`] each look at one kind of thing and add to the
//! [`model`]; [`show`] is for people.

mod licence;
mod links;
pub(super) mod model;
mod programs;
mod show;
mod skills;
mod sources;
mod undecided;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use self::model::{Audit, Finding, Findings};
use self::sources::Locked;
use super::CommandResult;
use super::audit_args::{AuditArgs, RULES, rules};
use super::forges::{self, ReportFormat};
use super::lock;
use super::screen::count;
use crate::Symposium;
use crate::report::{ExitCode, Verbosity};
use crate::sync::lockfile::LockFile;
use crate::sync::{Whole, look_through};
use crate::text::{Diagnostic, Severity};

pub(super) fn run(sym: &Symposium, args: &AuditArgs) -> CommandResult {
    let start = Instant::now();
    let mut own = sym.telling(sym.report.without_messages(), sym.options)?;
    // What is inside the program comes with no checkout, and would be unpacked to be looked at.
    own.config.defaults.builtin = false;
    if args.locked {
        lock::pin(&mut own)?;
    }
    let (mut audit, found) = look_through(&own, sym.cwd()?, |whole| look(&own, whole))?;
    let mut problems = in_order(found);
    for problem in &mut problems {
        if args.denies(problem.code, problem.severity == Severity::Warning) {
            problem.severity = Severity::Error;
        }
    }
    tell(sym, args, &mut audit, &problems)?;
    let of = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    sym.report.finished(start, summary(&audit, errors, warnings), 0, false);
    Ok(if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn look(sym: &Symposium, whole: &Whole<'_>) -> (Audit, Findings) {
    let workspace = &whole.loaded.workspace;
    let root = &workspace.root;
    let mut found = Findings::default();
    undecided::problems(sym, whole, &mut found);
    undecided::team(sym, &mut found);
    let locked = Locked::of(whole, &mut found);
    let sources = sources::look(sym, whole, locked.as_ref(), &mut found);
    let applying = whole.facts.skills.iter().chain(whole.facts.held_back());
    let applying = applying.chain(&whole.facts.own_skills);
    let mut skills: Vec<_> = applying.map(|skill| skills::look(skill, root, &mut found)).collect();
    let members = workspace.members.iter().map(|member| member.dir.clone());
    let bases: Vec<PathBuf> = std::iter::once(root.clone()).chain(members).collect();
    let committed = skills::committed(root, &bases, &skills, &mut found);
    skills.extend(committed);
    let programs = programs::look(sym, whole, &mut found);
    undecided::look(sym, whole, &mut found);
    if let Some(locked) = &locked {
        let unknown = Some(rules::COULD_NOT_LOOK.name);
        let is_whole = !found.0.iter().any(|problem| problem.code == unknown);
        sources::differences(whole, locked, is_whole, &mut found);
    }
    let dependencies: BTreeSet<_> =
        workspace.dependencies.iter().map(|dependency| &dependency.name).collect();
    let audit = Audit {
        workspace: root.clone(),
        dependencies: dependencies.len(),
        lock_file: Some(LockFile::path(root)).filter(|path| path.is_file()),
        skills: skills.into_iter().map(|seen| seen.row).collect(),
        programs,
        sources,
        findings: Vec::new(),
    };
    (audit, found)
}

/// Every finding once, file by file from top to bottom.
fn in_order(found: Findings) -> Vec<Diagnostic> {
    let mut problems = found.0;
    problems.sort_by_cached_key(|problem| {
        let path = problem.location().map(|place| place.path);
        (path, problem.span.as_ref().map(|span| span.start), problem.message.clone())
    });
    Diagnostic::each_once(&mut problems);
    problems
}

fn tell(
    sym: &Symposium,
    args: &AuditArgs,
    audit: &mut Audit,
    problems: &[Diagnostic],
) -> anyhow::Result<()> {
    let root = audit.workspace.clone();
    // What is worth knowing stands in the tables.
    let is_told = |problem: &&Diagnostic| {
        problem.severity != Severity::Note || sym.report.verbosity() == Verbosity::Verbose
    };
    problems.iter().filter(is_told).for_each(|problem| sym.report.snippet(problem, &root));
    match args.format {
        Some(ReportFormat::Github) => sym.report.result(&forges::github(problems, &root)),
        Some(ReportFormat::Sarif) => {
            let document = forges::sarif(problems, described(), &root);
            sym.report.result(&serde_json::to_string_pretty(&document)?);
        }
        None | Some(ReportFormat::Human) => {
            sym.report.result(&show::render(sym, audit));
        }
        Some(ReportFormat::Json) => {}
    }
    audit.findings = problems.iter().map(|problem| Finding::of(problem, &root)).collect();
    sym.report.json(audit);
    Ok(())
}

/// The rules, as SARIF has them.
fn described() -> impl Iterator<Item = forges::Rule> {
    RULES.iter().map(|rule| forges::Rule {
        id: rule.name,
        title: rule.title,
        text: rule.text.to_owned(),
        help: format!("cargo agents audit --deny {}", rule.name),
    })
}

/// `41 crates, 14 skills, 3 programs, 2 sources: 1 error, 2 warnings`.
fn summary(audit: &Audit, errors: usize, warnings: usize) -> String {
    let mut wrong = Vec::new();
    for (number, one) in [(errors, "error"), (warnings, "warning")] {
        if number > 0 {
            wrong.push(count(number, one));
        }
    }
    let wrong = if wrong.is_empty() { "nothing wrong".to_owned() } else { wrong.join(", ") };
    let looked_at = [
        (audit.dependencies, "crate"),
        (audit.skills.len(), "skill"),
        (audit.programs.len(), "program"),
        (audit.sources.len(), "source"),
    ];
    let looked_at = looked_at.map(|(number, one)| count(number, one)).join(", ");
    format!("{looked_at}: {wrong}")
}
