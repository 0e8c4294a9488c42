//! `cargo agents plugin validate`: everything that is wrong with a manifest, a skill, a plugin's
//! folder, a crate's skills or a whole source, for those who write them.
//!
//! [`target`] says what a path is and [`checks`] looks at it: [`of_crate`] at crates, [`skills`] at
//! skills, [`scripts`] at programs, [`never`] at conditions; [`names`] asks the registry about the crates
//! that are named.

mod checks;
mod descriptions;
mod found;
mod known;
mod levels;
mod names;
mod never;
mod of_crate;
mod programs;
mod scripts;
mod skills;
pub(super) mod target;

use std::path::{Path, PathBuf};
use std::time::Instant;

use found::Found;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::forges::{self, ReportFormat, Rule};
use crate::cli::grammar::ValidateArgs;
use crate::plugins::diagnostics::{EXPLANATIONS, explain};
use crate::report::{ExitCode, Format};
use crate::text::Diagnostic;

pub(super) fn run(sym: &Symposium, args: &ValidateArgs) -> CommandResult {
    let start = Instant::now();
    let cwd = sym.cwd()?;
    let base = crate::files::canonicalize(&cwd).unwrap_or_else(|_| cwd.clone());
    let mut found = Found::default();
    for path in &args.paths {
        one(sym, &cwd, path, &mut found);
    }
    if !args.no_check_crates {
        let names = std::mem::take(&mut found.names);
        found.diagnostics.extend(names::check(sym, names));
    }
    let diagnostics = in_order(&mut found);
    for problem in &diagnostics {
        tell(sym, &base, problem);
    }
    match args.format {
        Some(ReportFormat::Github) => {
            sym.report.result(&forges::github(&diagnostics, &base));
        }
        Some(ReportFormat::Sarif) => {
            let document = forges::sarif(&diagnostics, rules(), &base);
            sym.report.result(&serde_json::to_string_pretty(&document)?);
        }
        None | Some(ReportFormat::Human | ReportFormat::Json) => {}
    }
    if found.number() == 0 {
        return Ok(ExitCode::FAILURE);
    }
    let errors = diagnostics.iter().filter(|problem| problem.is_error()).count();
    let is_denied = !args.deny.is_empty() && errors < diagnostics.len();
    let denied = if is_denied { ", which are denied" } else { "" };
    let summary = format!("{}{denied}", found.summary(errors, diagnostics.len() - errors));
    sym.report.finished(start, summary, 0, false);
    Ok(if errors > 0 || is_denied { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Looks at what is at `path`; that there is nothing is a mistake, too.
fn one(sym: &Symposium, cwd: &Path, path: &PathBuf, found: &mut Found) {
    // Links above are resolved, so that what leads out of a source can be told from what does not.
    let whole = match crate::files::canonicalize(cwd.join(path)) {
        Ok(whole) => whole,
        Err(error) => {
            let problem = Diagnostic::error(format!("there is nothing to validate: {error}"));
            return found.push(problem.in_file(path));
        }
    };
    let before = found.number();
    match target::of(sym, &whole) {
        Ok(target) => checks::check(sym, &target, found),
        Err(problem) => return found.push(problem),
    }
    if found.number() == before && !found.has(&whole) {
        let problem = Diagnostic::error("there is nothing to validate: no plugin and no skill");
        found.push(
            problem.in_file(&whole).note("a plugin has a `SYMPOSIUM.toml`, a skill a `SKILL.md`"),
        );
    }
}

/// Every problem once, file by file from top to bottom.
fn in_order(found: &mut Found) -> Vec<Diagnostic> {
    let mut diagnostics = std::mem::take(&mut found.diagnostics);
    diagnostics.sort_by_cached_key(|diagnostic| {
        let path = diagnostic.location().map(|place| place.path);
        (path, diagnostic.span.as_ref().map(|span| span.start), diagnostic.message.clone())
    });
    Diagnostic::each_once(&mut diagnostics);
    diagnostics
}

/// Our codes, as SARIF has them.
fn rules() -> impl Iterator<Item = Rule> {
    EXPLANATIONS.iter().filter_map(|known| explain(known.code)).map(|known| Rule {
        id: known.code,
        title: known.title,
        text: known.text.into_owned(),
        help: format!("cargo agents plugin explain {}", known.code),
    })
}

fn tell(sym: &Symposium, base: &Path, problem: &Diagnostic) {
    let mut shown = problem.clone();
    if let Some(code) = shown.code
        && sym.report.format() == Format::People
        && explain(code).is_some()
    {
        shown = shown.note(format!("`cargo agents plugin explain {code}`"));
    }
    sym.report.snippet(&shown, base);
}
