//! `cargo agents plugin explain`: what a code means.

use crate::report::ExitCode;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::plugins::diagnostics::{EXPLANATIONS, explain};
use crate::report::{fit, wrap};
use crate::text::{Diagnostic, closest, did_you_mean};

pub(super) fn run(sym: &Symposium, code: &str) -> CommandResult {
    let Some(found) = explain(code) else {
        let shown = fit(code, 40);
        let mut problem = Diagnostic::error(format!("there is no code `{shown}`"));
        let codes = EXPLANATIONS.iter().map(|explanation| explanation.code);
        problem.notes.extend(did_you_mean(&closest(code, codes)));
        return Err(problem.into());
    };
    let paragraph = |text: &str| wrap(text, sym.report.width()).join("\n");
    let title = paragraph(&format!("{}: {}", found.code, found.title));
    sym.report.result(&format!("{title}\n\n{}", paragraph(&found.text)));
    sym.report.json(&found);
    Ok(ExitCode::SUCCESS)
}
