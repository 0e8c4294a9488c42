//! What the hook room calls: a snapshot that holds, made anew where it does not.

use std::path::{Path, PathBuf};

use super::run::{Caller, Mode, Request, sync};
use super::snapshot::{Snapshot, Stored};
use crate::Symposium;
use crate::config::state::State;
use crate::config::{AutoUpdate, Dirs, Environment};
use crate::process::{Child, spawn_detached};
use crate::report::{Reporter, log};
use crate::symposium::Options;

/// A snapshot to answer from.
#[derive(Debug)]
pub struct Current {
    /// The snapshot.
    pub stored: Stored,
    /// Whether it was made just now.
    pub fresh: bool,
}

/// The workspace's snapshot: the stored one while its inputs are as they were, else a new one, if
/// the user lets hooks sync. Never fails: trouble is logged, and the old one serves.
pub fn for_hook(env: &Environment, dirs: &Dirs, root: &Path) -> Option<Current> {
    let path = Snapshot::path(dirs, root);
    let stored = Stored::load(&path, crate::symposium::VERSION, root);
    if let Some(stored) = &stored
        && stored.holds(env)
    {
        return Some(Current { stored: stored.clone(), fresh: false });
    }
    let sym = Symposium::new(
        env.clone(),
        Reporter::silent(),
        Options { offline: true, ..Options::default() },
    )
    .ok()?;
    log::install(dirs.logs(), sym.config.log_level);
    for diagnostic in &sym.config_diagnostics {
        sym.report.diagnostic(diagnostic);
    }
    if !sym.config.auto_sync.0 {
        return stored.map(|stored| Current { stored, fresh: false });
    }
    let request = Request {
        start: root.to_path_buf(),
        mode: Mode::Apply,
        caller: Caller::Hook,
        ..Request::default()
    };
    if let Err(error) = sync(&sym, &request) {
        tracing::warn!("the sync before this event failed: {error:#}");
    }
    let made = Stored::load(&path, crate::symposium::VERSION, root);
    made.or(stored).map(|stored| Current { stored, fresh: true })
}

/// Refreshes sources and programs in a process of its own that nobody waits for.
pub fn refresh_in_background(env: &Environment, root: &Path) {
    if env.has("SYMPOSIUM_NO_BACKGROUND") {
        return;
    }
    let Some(program) = own_program() else { return };
    let child = Child::new(program).args(["sync", "--background"]).cwd(root);
    if let Err(error) = spawn_detached(&child) {
        tracing::debug!("no refresh in the background: {error}");
    }
}

/// The line for the agent that there is a newer Symposium, when the user wants to be told and a
/// check found one since.
pub fn update_nudge(env: &Environment, dirs: &Dirs) -> Option<String> {
    let _ = env;
    let state = State::load(&dirs.state_file());
    let newest = semver::Version::parse(state.newest.as_deref()?).ok()?;
    let own = semver::Version::parse(crate::symposium::VERSION).ok()?;
    let config = crate::config::Config::load(dirs).config;
    (newest > own && config.auto_update != AutoUpdate::Off).then(|| {
        format!(
            "symposium {newest} is available (this is {own}). Run `cargo agents self-update` to \
             upgrade."
        )
    })
}

#[allow(clippy::disallowed_methods, reason = "which program this is")]
fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
