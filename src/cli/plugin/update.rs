//! `cargo agents plugin update`: what is newer in git, shown before it is taken.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use super::trust::difference::{self, of_parts};
use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::screen::count;
use crate::cli::{lock, sync as sync_command};
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::report::{ExitCode, safe};
use crate::symposium::{Pin, UpdateLevel};
use crate::sync::lockfile::{Difference, How, Inventory, LockFile};
use crate::sync::{Mode, Request, stock, sync};
use crate::text::Diagnostic;
use crate::workspace::locate;

/// Shows what differs between what is in force and what is newest, and takes it.
pub(super) fn run(sym: &Symposium, name: Option<&str>, dry_run: bool) -> CommandResult {
    let start = Instant::now();
    if sym.options.offline {
        return Err(Diagnostic::error("can't look for what is newer without the network").into());
    }
    let cwd = sym.cwd()?;
    let root = locate(&cwd, &sym.env)?;
    let lock = root.as_deref().map(LockFile::load).transpose()?.flatten();
    let mut quiet = sym.telling(sym.report.without_messages(), sym.options)?;
    quiet.options.update = Some(UpdateLevel::None);
    if let Some(lock) = &lock {
        quiet.pins = Arc::new(lock.repositories.clone());
        // What was locked may not be on this machine yet.
        quiet.options.update = None;
    }
    let (root, before) = stock(&quiet, cwd.clone())?;
    let pins = newest(sym, &before, name)?;
    let mut moved = sym.reread();
    moved.pins = Arc::new(pins);
    let (_, now) = stock(&moved, cwd.clone())?;
    let differences = before.lock.differences(&now.lock);
    sym.report.result(show(&before, &now, &differences).trim_end());
    if differences.is_empty() {
        sym.report.finished(start, "nothing is newer".to_owned(), 0, dry_run);
        return Ok(ExitCode::SUCCESS);
    }
    if dry_run {
        let would = format!("{} would move", count(differences.len(), "thing"));
        sym.report.finished(start, would, differences.len(), true);
        return Ok(ExitCode::SUCCESS);
    }
    if lock.is_some() {
        lock::write(sym, &root, &now.lock)?;
    } else {
        let fetched = Registry::load(sym, &Refresh::for_plugin_sync(sym, name));
        sym.report.diagnostics(&fetched.diagnostics);
        moved.pins = Arc::default();
    }
    let synced = sync(&moved, &Request { start: cwd, ..Request::default() })?;
    sync_command::finish(sym, &synced, Mode::Apply, start);
    Ok(if synced.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The commit that each repository has now; those of other sources than `name` stay.
fn newest(sym: &Symposium, before: &Inventory, name: Option<&str>) -> anyhow::Result<Vec<Pin>> {
    let specs = crate::plugins::source::effective(sym);
    if let Some(name) = name
        && !specs.iter().any(|spec| spec.name == name)
    {
        return Err(Diagnostic::error(format!("there is no plugin source `{}`", safe(name))).into());
    }
    let of_source = |pin: &Pin| {
        name.is_none_or(|name| before.sources.get(name).is_some_and(|of| of.contains(pin)))
    };
    let mut pins = Vec::new();
    for (repository, pin) in &before.repositories {
        if !of_source(pin) {
            pins.push(pin.clone());
            continue;
        }
        let _busy = sym.report.busy("Asking", &pin.git);
        let asked = repository.ask(&sym.dirs.plugin_sources(), sym.options.timeout, &sym.env);
        let commit = asked.map_err(|problem| {
            Diagnostic::error(format!("can't ask {}: {problem}", pin.git))
                .note("nothing was changed")
        })?;
        pins.push(Pin { commit, ..pin.clone() });
    }
    Ok(pins)
}

/// Each difference, with that of the texts below it.
fn show(before: &Inventory, now: &Inventory, differences: &[Difference]) -> String {
    let mut out = String::new();
    for Difference { what, how, .. } in differences {
        let how = match how {
            How::New => "new",
            How::Gone => "gone",
            How::Changed => "changed",
        };
        let _ = writeln!(out, "{}: {how}", safe(what));
        let pin = |inventory: &Inventory| {
            let found = inventory.lock.repositories.iter().find(|pin| what.contains(&pin.git))?;
            Some(found.commit.get(..10).unwrap_or(&found.commit).to_owned())
        };
        if what.starts_with("repository ") {
            let commit = |inventory| pin(inventory).unwrap_or_else(|| "none".to_owned());
            let _ = writeln!(out, "  {} → {}", commit(before), commit(now));
        }
        if let (Some(old), Some(new)) = (before.programs.get(what), now.programs.get(what)) {
            of_parts(&mut out, old, new);
        }
        let text = |inventory: &Inventory| inventory.skills.get(what).cloned().unwrap_or_default();
        difference::of_contents(&mut out, &text(before), &text(now));
    }
    out
}
