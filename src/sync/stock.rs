//! What applies to a workspace, for those who write it down or compare it.

use std::path::PathBuf;

use super::facts::Facts;
use super::lockfile::{Inventory, take_inventory};
use super::request::{Caller, Mode, Request, SyncContext};
use super::run::{gather, load, load_registry, plan_skills};
use crate::Symposium;
use crate::plugins::registry::Registry;
use crate::workspace::Loaded;

/// Takes stock of what applies to the workspace; nothing is changed but what is fetched. With the
/// workspace's root.
///
/// # Errors
/// When there is no workspace, or its manifests are broken.
pub(crate) fn stock(sym: &Symposium, start: PathBuf) -> anyhow::Result<(PathBuf, Inventory)> {
    let request = Request { start, mode: Mode::Plan, ..Request::default() };
    let loaded = load(sym, &request)?;
    let sync = SyncContext::new(sym, &request, &loaded);
    let registry = load_registry(&sync);
    let planned = plan_skills(&sync, &registry, &[]);
    Ok((sync.root().to_path_buf(), take_inventory(sym, &registry, &planned.facts)))
}

/// All that applies to a workspace, and where it comes from.
pub(crate) struct Whole<'w> {
    pub loaded: &'w Loaded,
    pub registry: &'w Registry,
    pub facts: &'w Facts<'w>,
    pub inventory: &'w Inventory,
}

/// Shows `look` what applies to the workspace; of it nothing is written, and what was never fetched is.
///
/// # Errors
/// When there is no workspace, or its manifests are broken.
pub(crate) fn look_through<T>(
    sym: &Symposium,
    start: PathBuf,
    look: impl FnOnce(&Whole<'_>) -> T,
) -> anyhow::Result<T> {
    let caller = Caller::Audit;
    let request = Request { start, mode: Mode::Plan, caller, ..Request::default() };
    let loaded = load(sym, &request)?;
    let sync = SyncContext::new(sym, &request, &loaded);
    let registry = load_registry(&sync);
    let facts = gather(&sync, &registry);
    let inventory = take_inventory(sym, &registry, &facts);
    let (loaded, registry) = (&loaded, &registry);
    Ok(look(&Whole { loaded, registry, facts: &facts, inventory: &inventory }))
}
