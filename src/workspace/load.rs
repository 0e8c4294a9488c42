//! A whole workspace.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::cargo_config::CargoConfig;
use super::discover::{self, locate};
use super::lock::Lock;
use super::manifest::Manifest;
use super::overrides::{self, Overrides};
use super::reader::Reader;
use super::resolve::{self, Facts};
use super::{Fingerprint, Member, Workspace};
use crate::config::Environment;
use crate::text::Diagnostic;

/// Why something can't be matched with a workspace that is there, for people.
pub(crate) const UNREAD_WORKSPACE: &str = "the workspace can't be read";

/// A workspace, as it was when it was read.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub workspace: Workspace,
    /// Its inputs, each observed before it was read: while it holds, so does `workspace`.
    pub fingerprint: Fingerprint,
    /// Folders of members from which [`locate`] finds this workspace: while the fingerprint holds, it
    /// is found from there, without a manifest being read.
    pub member_entry_dirs: Vec<PathBuf>,
    /// What was tolerated, as warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether nothing is known of it: see [`Loaded::unknown`].
    pub is_unknown: bool,
}

impl Loaded {
    /// Where there is no workspace, or one that can't be read: nothing is known to be in it.
    pub(crate) fn unknown(root: PathBuf) -> Self {
        Self {
            workspace: Workspace { root, ..Workspace::default() },
            fingerprint: Fingerprint::default(),
            member_entry_dirs: Vec::new(),
            diagnostics: Vec::new(),
            is_unknown: true,
        }
    }
}

impl Workspace {
    /// Reads the workspace that `start` belongs to (see [`locate`]); `None` when it is in no Rust
    /// project.
    ///
    /// # Errors
    /// The root's or a member's manifest, or the lock file, is broken; a listed member is missing.
    pub(crate) fn load(start: &Path, env: &Environment) -> Result<Option<Loaded>, Diagnostic> {
        let Some(dir) = locate(start, env)? else { return Ok(None) };
        // Once more from the root, so that what is noted does not depend on where we started.
        let mut reader = Reader::new(env, true);
        let Some(root) = discover::root(&mut reader, &dir)? else { return Ok(None) };
        let members = discover::members(&mut reader, &root)?;
        let member_entry_dirs = member_entry_dirs(&mut reader, &root, &members);
        let lock_path = root.dir.join("Cargo.lock");
        let lock = Lock::load(&mut reader, &lock_path)?;
        let mut config = CargoConfig::load(&root.dir, env, &mut |path| reader.observe(path));
        reader.diagnostics.append(&mut config.diagnostics);
        let mut patches = overrides::patch_folders(&root.dir, &root.patches);
        patches.append(&mut config.patches);
        let packages = discover::packages_below(&mut reader, &config.override_folders);
        let overrides = Overrides { patches, replaced: root.replaced.clone(), packages };
        let vendor_folders = Some(config.registries.vendor_folders());
        let (lock_facts, registries) = (lock.as_ref(), &config.registries);
        let facts =
            Facts { root: &root, members: &members, lock: lock_facts, overrides, registries };
        let dependencies = resolve::dependencies(&mut reader, &facts);
        let (fingerprint, diagnostics) = reader.finish();
        let members = members
            .iter()
            .filter_map(|manifest| {
                Some(Member {
                    name: manifest.package.as_ref()?.name.clone(),
                    version: resolve::version_of(&root, manifest),
                    dir: manifest.dir.clone(),
                    names_us: manifest.source.text.contains("symposium"),
                })
            })
            .collect();
        let workspace = Workspace {
            root: root.dir.clone(),
            members,
            dependencies,
            lock_file: lock.is_some().then_some(lock_path),
            locked: lock.map(|lock| lock.packages).unwrap_or_default(),
            inputs: fingerprint.paths().map(Path::to_path_buf).collect(),
            vendor_folders,
            registries: config.registries,
        };
        Ok(Some(Loaded {
            workspace,
            fingerprint,
            member_entry_dirs,
            diagnostics,
            is_unknown: false,
        }))
    }
}

/// Members whose manifests lead to `root`. A manifest of another workspace that stands in between,
/// or the border of cargo's own folder, keeps them from it.
fn member_entry_dirs(
    reader: &mut Reader,
    root: &Rc<Manifest>,
    members: &[Rc<Manifest>],
) -> Vec<PathBuf> {
    // Told when somebody starts there.
    let told = reader.diagnostics.len();
    let mut member_entry_dirs = Vec::new();
    for member in members {
        let found = discover::root_of(reader, member);
        if found.is_ok_and(|found| found.is_some_and(|found| found.dir == root.dir)) {
            member_entry_dirs.push(member.dir.clone());
        }
    }
    reader.diagnostics.truncate(told);
    member_entry_dirs
}
