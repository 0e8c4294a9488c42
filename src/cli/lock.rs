//! `cargo agents lock`: what a workspace's agents get, written down.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::CommandResult;
use super::screen::count;
use crate::Symposium;
use crate::files::{contained, write_if_changed};
use crate::report::{Event, ExitCode};
use crate::sync::lockfile::{self, LockFile};
use crate::sync::stock;
use crate::text::Diagnostic;
use crate::workspace::locate;

/// Writes the lock file. Repositories that it has already stay at their commits: `plugin update` moves
/// them.
pub(super) fn run(sym: &Symposium) -> CommandResult {
    let start = Instant::now();
    let cwd = sym.cwd()?;
    let root = locate(&cwd, &sym.env)?;
    let mut pinned = sym.reread();
    if let Some(lock) = root.as_deref().map(LockFile::load).transpose()?.flatten() {
        pinned.pins = Arc::new(lock.repositories);
    }
    let (root, inventory) = stock(&pinned, cwd)?;
    let is_new = write(sym, &root, &inventory.lock)?;
    let summary = if is_new { told(&inventory.lock) } else { "nothing to do".to_owned() };
    sym.report.finished(start, summary, usize::from(is_new), false);
    Ok(ExitCode::SUCCESS)
}

/// Writes `lock`, where it says something new.
///
/// # Errors
/// It can't be written, or a link in its place leads out of the workspace: a checkout may bring one.
pub(super) fn write(sym: &Symposium, root: &Path, lock: &LockFile) -> anyhow::Result<bool> {
    let path = contained(root, lockfile::NAME).map_err(|escape| {
        let problem = Diagnostic::error(format!("the link is not followed: {escape}"));
        problem.in_file(LockFile::path(root)).note("put a file there, or nothing")
    })?;
    let is_new = write_if_changed(&path, lock.render()?.as_bytes())?;
    if is_new {
        sym.report.event(&Event::status("Locked", sym.report.path(&path)));
    }
    Ok(is_new)
}

fn told(lock: &LockFile) -> String {
    let programs = count(lock.programs.len(), "program");
    let skills = count(lock.skills.len(), "skill");
    match lock.repositories.len() {
        1 => format!("{skills} and {programs}, 1 repository"),
        number => format!("{skills} and {programs}, {number} repositories"),
    }
}

/// Has `sym` take repositories at the commits of the workspace's lock file, which is returned.
///
/// # Errors
/// There is none, or it can't be read.
pub(super) fn pin(sym: &mut Symposium) -> anyhow::Result<LockFile> {
    let root = locate(&sym.cwd()?, &sym.env)?;
    let lock = root.as_deref().map(LockFile::load).transpose()?.flatten();
    let lock = lock.ok_or_else(|| {
        Diagnostic::error(format!("this workspace has no {}", lockfile::NAME))
            .note("`cargo agents lock` writes one")
    })?;
    sym.pins = Arc::new(lock.repositories.clone());
    Ok(lock)
}
