//! `cargo agents uninstall`: everything of ours goes, and nothing else.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use super::CommandResult;
use super::grammar::UninstallArgs;
use crate::Symposium;
use crate::documents::Ledger;
use crate::report::{Change, Event};
use crate::sync::remove::{self, Removal};
use crate::text::Diagnostic;

/// Runs the command.
pub(super) fn run(sym: &Symposium, args: &UninstallArgs) -> CommandResult {
    let start = Instant::now();
    let mut roots: Vec<PathBuf> = Vec::new();
    if let Some(cwd) = sym.env.cwd()
        && let Ok(Some(root)) = crate::workspace::locate(cwd, &sym.env)
    {
        roots.push(root);
    }
    let (ledgers, diagnostics) = Ledger::all_workspaces(&sym.dirs);
    sym.report.diagnostics(&diagnostics);
    let known: Vec<PathBuf> =
        ledgers.iter().filter_map(Ledger::root).map(Path::to_path_buf).collect();
    if args.all_workspaces {
        roots.extend(known);
    } else {
        let others = known.iter().filter(|root| !roots.contains(root)).count();
        if others > 0 {
            sym.report.diagnostic(
                &Diagnostic::warning(format!(
                    "something is installed in {others} other workspaces"
                ))
                .note("`--all-workspaces` takes it back, too"),
            );
        }
    }
    roots.sort();
    roots.dedup();
    let mut changes: Vec<Change> = Vec::new();
    let mut failed = false;
    for root in &roots {
        let removal = Removal { root: Some(root), apply: !args.dry_run };
        let removed = remove::remove(sym, &removal)?;
        failed |= removed.failed;
        changes.extend(removed.changes);
    }
    let removed = remove::remove(sym, &Removal { root: None, apply: !args.dry_run })?;
    failed |= removed.failed;
    changes.extend(removed.changes);
    for change in &changes {
        sym.report.event(&Event::Change(change.clone()));
    }
    let count = changes.iter().filter(|change| change.action.is_change()).count();
    let summary = match (count, args.dry_run) {
        (0, _) => "nothing of Symposium's is left".to_owned(),
        (count, true) => format!("{count} changes; run without --dry-run to make them"),
        (_, false) => {
            format!("your settings are in {}", sym.report.path(sym.dirs.config()))
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    sym.report.event(&Event::Finished { summary, changes: count, planned: args.dry_run, seconds });
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
