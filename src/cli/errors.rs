//! Failures as people read them: what happened and where, causes below, never a debug dump.

use crate::report::ExitCode;

use clap::error::ErrorKind;

use crate::report::{Format, Reporter};
use crate::text::Diagnostic;

/// Tells `error` and gives the exit code for it.
pub(super) fn fail(report: &Reporter, error: &anyhow::Error) -> ExitCode {
    report.diagnostic(&error.into());
    ExitCode::FAILURE
}

/// Tells that the command line is wrong, and gives the exit code for it.
pub(super) fn usage(report: &Reporter, error: &clap::Error) -> ExitCode {
    let text = error.render();
    if report.format() == Format::Json {
        report.diagnostic(&usage_diagnostic(error.kind(), &text.to_string()));
    } else {
        report.styled(text.ansi().to_string().trim_end());
    }
    ExitCode::from(2)
}

/// Clap's text in parts: the first line is what is wrong, the others help.
fn usage_diagnostic(kind: ErrorKind, text: &str) -> Diagnostic {
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Diagnostic::error("a command is missing").note(text.trim());
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("the command line is wrong");
    let problem = Diagnostic::error(first.strip_prefix("error: ").unwrap_or(first));
    lines.fold(problem, Diagnostic::note)
}
