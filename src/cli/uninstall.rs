//! `cargo agents uninstall`: everything of ours goes, and nothing else.

use crate::report::ExitCode;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::CommandResult;
use super::grammar::UninstallArgs;
use super::sync::planned;
use crate::Symposium;
use crate::documents::Ledger;
use crate::report::{Change, Event};
use crate::sync::remove::{self, Removed};
use crate::text::Diagnostic;

const UNDONE: &str = "some things could not be taken back; mend them and try again";

pub(super) fn run(sym: &Symposium, args: &UninstallArgs) -> CommandResult {
    let start = Instant::now();
    let mut roots = Vec::from_iter(current_workspace(sym));
    let known = known_workspaces(sym);
    if args.all_workspaces {
        roots.extend(known);
        roots.sort();
        roots.dedup();
    } else {
        hint_at_others(sym, &known, &roots);
    }
    let removed = take_back(sym, &roots, !args.dry_run)?;
    let changes = Change::count(&removed.changes);
    let summary = match (changes, args.dry_run, removed.failed) {
        (_, false, true) => UNDONE.to_owned(),
        (0, ..) if removed.is_shared => "only what is shared through git is left".to_owned(),
        (0, ..) => "nothing of Symposium's is left".to_owned(),
        (_, true, _) => planned(changes),
        (_, false, false) => format!(
            "everything is taken back{}; your settings stay in {}",
            but_shared(&removed),
            sym.report.path(sym.dirs.config())
        ),
    };
    sym.report.finished(start, summary, changes, args.dry_run);
    Ok(exit_code(&removed))
}

/// The last agent was removed: hooks without an agent are no use to anybody.
pub(super) fn last_agent(sym: &Symposium, start: Instant) -> CommandResult {
    let roots = Vec::from_iter(current_workspace(sym));
    let removed = take_back(sym, &roots, true)?;
    hint_at_others(sym, &known_workspaces(sym), &roots);
    let settings = sym.report.path(sym.dirs.config());
    let summary = match removed.failed {
        true => UNDONE.to_owned(),
        false => format!(
            "no agents are left, and all that was installed for them is taken back{}; your settings \
             stay in {settings}, and `cargo agents init` starts over",
            but_shared(&removed)
        ),
    };
    sym.report.finished(start, summary, 1 + Change::count(&removed.changes), false);
    Ok(exit_code(&removed))
}

fn but_shared(removed: &Removed) -> &'static str {
    if removed.is_shared { " but what is shared through git" } else { "" }
}

fn exit_code(removed: &Removed) -> ExitCode {
    if removed.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn take_back(sym: &Symposium, roots: &[PathBuf], apply: bool) -> anyhow::Result<Removed> {
    let removed = remove::remove(sym, roots, apply)?;
    for change in &removed.changes {
        sym.report.event(&Event::Change(change.clone()));
    }
    Ok(removed)
}

/// The workspace that the command runs in. Broken manifests do not hide it where the ledger knows
/// it.
fn current_workspace(sym: &Symposium) -> Option<PathBuf> {
    let cwd = sym.env.cwd()?;
    let found = crate::workspace::locate(cwd, &sym.env).ok().flatten();
    found.or_else(|| known_workspaces(sym).into_iter().filter(|root| cwd.starts_with(root)).max())
}

/// Workspaces where something is installed.
fn known_workspaces(sym: &Symposium) -> Vec<PathBuf> {
    let (ledgers, diagnostics) = Ledger::all_workspaces(&sym.dirs);
    for diagnostic in &diagnostics {
        tracing::warn!("{}", diagnostic.message);
    }
    ledgers.iter().filter_map(Ledger::root).map(Path::to_path_buf).collect()
}

fn hint_at_others(sym: &Symposium, known: &[PathBuf], roots: &[PathBuf]) {
    let others: Vec<&PathBuf> = known.iter().filter(|root| !roots.contains(root)).collect();
    let what = match others.as_slice() {
        [] => return,
        [one] => format!("something is still installed in {}", sym.report.path(one)),
        [first, rest @ ..] => format!(
            "something is still installed in {} and {} more",
            sym.report.path(first),
            rest.len()
        ),
    };
    sym.report.diagnostic(
        &Diagnostic::warning(what)
            .note("`cargo agents uninstall --all-workspaces` takes it back, too"),
    );
}
