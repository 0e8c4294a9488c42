//! Where everything was taken back.
//!
//! An agent that runs meanwhile has read its hooks when it started, and calls us until it ends. Its
//! events bring nothing back: only `init` and `sync` do.

use std::path::{Path, PathBuf};

use crate::Symposium;
use crate::config::HookScope;
use crate::config::state::State;
use crate::sync::request::{Caller, Mode, Request};
use crate::text::Diagnostic;

/// Stands for the home folder; workspaces are absolute paths.
const HOME: &str = "~";

/// Remembers that the home folder and the workspaces of `roots` were left. Trouble is logged: it
/// must not keep anybody from leaving.
pub(crate) fn record(sym: &Symposium, roots: &[PathBuf]) {
    let roots = roots.iter().map(|root| name(root));
    let left: Vec<String> = std::iter::once(HOME.to_owned()).chain(roots).collect();
    update(sym, |known| {
        for one in &left {
            if !known.contains(one) {
                known.push(one.clone());
            }
        }
    });
}

/// The user wants it back: in the workspace at `root`, or everywhere.
pub(crate) fn forget(sym: &Symposium, root: Option<&Path>) {
    if State::load(&sym.dirs.state_file()).left.is_empty() {
        return;
    }
    let here = root.map(name);
    let global = sym.config.hook_scope == HookScope::Global;
    update(sym, |known| match &here {
        None => known.clear(),
        Some(here) => known.retain(|one| one != here && !(global && one == HOME)),
    });
}

/// Whether the hooks that would be called in the workspace at `root` were taken back.
pub(crate) fn is_opted_out(sym: &Symposium, root: &Path) -> bool {
    let left = State::load(&sym.dirs.state_file()).left;
    let here = name(root);
    let global = sym.config.hook_scope == HookScope::Global;
    left.iter().any(|one| *one == here || (global && one == HOME))
}

/// Lets a sync at `root` begin, or not.
///
/// # Errors
/// When everything was taken back there, and nobody asked for this.
pub(in crate::sync) fn check(
    sym: &Symposium,
    root: &Path,
    request: &Request,
) -> Result<(), Diagnostic> {
    if request.mode != Mode::Apply {
        return Ok(());
    }
    match request.caller {
        Caller::Hook | Caller::Background if is_opted_out(sym, root) => Err(Diagnostic::error(
            "everything was taken back here, so nothing is changed by itself",
        )
        .note("`cargo agents sync` brings it back")),
        // `--agent` places skills and says nothing about hooks.
        Caller::Command if request.named.is_none() => {
            forget(sym, Some(root));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn name(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}

fn update(sym: &Symposium, change: impl Fn(&mut Vec<String>)) {
    if let Err(error) = State::update(&sym.dirs.state_file(), |state| change(&mut state.left)) {
        tracing::warn!("not remembered: {error}");
    }
}
