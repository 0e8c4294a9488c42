//! Crates whose sources are not on this machine, and where they would appear.

use std::path::PathBuf;

use super::{Candidate, CrateDisk, CrateRequest, CrateSources, Located, NotOnDisk, git};
use crate::workspace::{DependencyOrigin, Observer};

/// The sources of a crate. Where they are missing, `observer` learns of the places where cargo would
/// put them: whoever keeps what was found out here has to notice when they come.
pub(crate) fn locate(
    sources: &dyn CrateSources,
    request: &CrateRequest,
    observer: &Observer,
) -> Result<Located, NotOnDisk> {
    sources.locate(request).or_else(|missing| {
        let awaited = sources.awaited(request);
        awaited.iter().for_each(|path| observer.expect(path));
        // They may have come just before that.
        if awaited.is_empty() { Err(missing) } else { sources.locate(request) }
    })
}

impl CrateDisk<'_> {
    /// Files and folders that change when the sources of a crate of the lock file come. Of a crate that
    /// is not in it, the lock file tells: cargo writes that first.
    pub(super) fn would_be_in(&self, request: &CrateRequest) -> Vec<PathBuf> {
        let Some(Candidate { name, version, origin }) = self.resolved(request) else {
            return Vec::new();
        };
        let folder = format!("{name}-{version}");
        let mut paths = Vec::new();
        for vendor in &self.vendor {
            paths.push(vendor.clone());
            // The last file that cargo writes of a crate.
            paths.extend(
                [&name, &folder].map(|crate_| vendor.join(crate_).join(".cargo-checksum.json")),
            );
        }
        let Some(home) = &self.cargo_home else { return paths };
        match origin {
            DependencyOrigin::Registry { .. } => {
                let known = self.registry_dirs();
                paths.extend(known.iter().flat_map(|known| known.would_be_in(&folder)));
            }
            DependencyOrigin::Git { url, commit } => {
                paths.extend(git::would_be_in(home, url.expose(), &commit));
            }
            DependencyOrigin::Path(_) | DependencyOrigin::Unresolved(_) => {}
        }
        paths
    }
}
