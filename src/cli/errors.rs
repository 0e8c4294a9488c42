//! Failures as people read them: what happened and where, causes below, never a debug dump.

use std::process::ExitCode;

use crate::report::Reporter;
use crate::text::Diagnostic;

/// Tells `error` and gives the exit code for it.
pub(super) fn fail(report: &Reporter, error: &anyhow::Error) -> ExitCode {
    let diagnostic = match error.downcast_ref::<Diagnostic>() {
        Some(diagnostic) => diagnostic.clone(),
        None => {
            let mut diagnostic = Diagnostic::error(error.to_string());
            for cause in error.chain().skip(1) {
                diagnostic = diagnostic.note(cause.to_string());
            }
            diagnostic
        }
    };
    report.diagnostic(&diagnostic);
    ExitCode::FAILURE
}
