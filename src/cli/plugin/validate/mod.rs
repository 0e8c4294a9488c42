//! `cargo agents plugin validate`: everything that is wrong with a manifest, a skill, a plugin's
//! folder, a crate's skills or a whole source, for those who write them.
//!
//! [`target`] says what a path is, [`checks`] looks at it, [`names`] asks the registry about the
//! crates it names.

mod checks;
mod names;
mod target;

use crate::report::ExitCode;
use std::path::Path;
use std::time::Instant;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::plugins::diagnostics::explain;
use crate::report::Format;
use crate::text::Diagnostic;

pub(super) fn run(sym: &Symposium, path: &Path, check_crates: bool) -> CommandResult {
    let start = Instant::now();
    let cwd = sym.cwd()?;
    // Links above are resolved, so that what leads out of a source can be told from what does not.
    let path = dunce::canonicalize(cwd.join(path)).map_err(|error| {
        Diagnostic::error(format!("there is nothing to validate: {error}")).in_file(path)
    })?;
    let mut found = checks::Found::default();
    checks::check(sym, &target::of(sym, &path)?, &mut found);
    if found.is_empty() {
        // A file with nearly the right name has been told of.
        report_all(sym, &cwd, &mut found.diagnostics);
        return Err(Diagnostic::error("there is nothing to validate: no plugin and no skill")
            .in_file(&path)
            .note("a plugin has a `SYMPOSIUM.toml`, a skill a `SKILL.md`")
            .into());
    }
    if check_crates {
        let names = std::mem::take(&mut found.names);
        found.diagnostics.extend(names::check(sym, names));
    }
    report_all(sym, &cwd, &mut found.diagnostics);
    let errors = found.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    sym.report.finished(start, found.summary(errors), 0, false);
    Ok(if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Tells every problem once, file by file from top to bottom.
fn report_all(sym: &Symposium, cwd: &Path, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_cached_key(|diagnostic| {
        let path = diagnostic.location().map(|place| place.path);
        (path, diagnostic.span.as_ref().map(|span| span.start), diagnostic.message.clone())
    });
    diagnostics.dedup();
    let base = dunce::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
    for diagnostic in diagnostics {
        let mut shown = diagnostic.clone();
        if let Some(code) = shown.code
            && sym.report.format() == Format::People
            && explain(code).is_some()
        {
            shown = shown.note(format!("`cargo agents plugin explain {code}`"));
        }
        sym.report.snippet(&shown, &base);
    }
}
