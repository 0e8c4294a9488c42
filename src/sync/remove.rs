//! Everything of ours taken back.

use std::collections::BTreeSet;
use std::path::Path;

use super::apply::apply;
use super::observe::observe;
use super::parents::Parents;
use super::plan::{Wanted, plan};
use super::registration::{Desired, Registrar};
use super::setup::{Setup, Sweep};
use super::snapshot::Snapshot;
use crate::Symposium;
use crate::documents::exclude;
use crate::report::Change;
use crate::text::Diagnostic;

/// Where from.
#[derive(Debug, Clone, Copy)]
pub struct Removal<'a> {
    /// A workspace; `None` for the home folder.
    pub root: Option<&'a Path>,
    /// Whether something is changed.
    pub apply: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Removed {
    /// For people.
    pub changes: Vec<Change>,
    /// Whether something could not be done.
    pub failed: bool,
}

/// Takes back hooks, servers, skills, files and lines: in one workspace, or in the home folder.
/// What the user changed since is kept and named.
///
/// # Errors
/// When there is no home folder.
pub fn remove(sym: &Symposium, removal: &Removal<'_>) -> anyhow::Result<Removed> {
    let mut removed = Removed::default();
    if let Some(root) = removal.root {
        remove_skills(sym, root, removal.apply, &mut removed);
    }
    let setup = Setup::new(sym, removal.root, removal.root.is_none())?;
    let (mut registrar, diagnostics) = Registrar::open(sym, removal.root, removal.apply);
    sym.report.diagnostics(&diagnostics);
    let mut desired = Desired::default();
    setup.hooks(&mut desired, &[], registrar.ledgers(), Sweep::Everything);
    let registered = registrar.carry_out(desired);
    sym.report.diagnostics(&registered.diagnostics);
    removed.failed |= registered.failed();
    removed.changes.extend(registered.changes);
    if let (Some(root), true) = (removal.root, removal.apply) {
        let _ = std::fs::remove_file(Snapshot::path(&sym.dirs, root));
    }
    Ok(removed)
}

fn remove_skills(sym: &Symposium, root: &Path, apply_it: bool, removed: &mut Removed) {
    let checkout = exclude::find(root).map_or_else(|| root.to_path_buf(), |found| found.top);
    let parents = Parents::of(root, &checkout, true);
    let disk = observe(&parents.list);
    let wanted = Wanted { parents: parents.list.clone(), ..Wanted::default() };
    let plan = plan(&wanted, &disk);
    let mut changes = plan.changes();
    if apply_it {
        let mut gone: BTreeSet<&Path> = BTreeSet::new();
        for done in apply(&plan) {
            match done.result {
                Ok(()) => {
                    gone.insert(&done.step.parent.path);
                }
                Err(error) => {
                    removed.failed = true;
                    sym.report.diagnostic(&Diagnostic::error(error.to_string()));
                }
            }
        }
        for change in &mut changes {
            change.planned = false;
        }
    }
    removed.changes.extend(changes);
}
