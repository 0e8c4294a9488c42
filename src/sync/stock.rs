//! What applies to a workspace, for those who write it down or compare it.

use std::path::PathBuf;

use super::lockfile::{Inventory, take_inventory};
use super::request::{Mode, Request, SyncContext};
use super::run::{load, load_registry, plan_skills};
use crate::Symposium;

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
