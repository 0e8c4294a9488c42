//! Skills that dependencies ship, whoever vouches for them.

use semver::Version;

use super::Inputs;
use crate::skills::crate_source::{CrateDisk, CrateRequest, CrateSources as _, Located, NotOnDisk};
use crate::sync::facts::candidates::{ships, skill_name};
use crate::workspace::Dependency;

/// One skill in a direct dependency's own sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shipped {
    pub crate_name: String,
    pub version: Version,
    /// The skill's folder below the crate's, with `/`.
    pub folder: String,
    /// The names it goes by: the folder's, and the one in its `SKILL.md`.
    pub names: Vec<String>,
}

impl Inputs {
    /// Where a dependency's sources are on this machine.
    ///
    /// # Errors
    /// They are not here; outside of a workspace none are.
    pub(crate) fn locate(&self, dependency: &Dependency) -> Result<Located, NotOnDisk> {
        let sym = &self.sym;
        let (name, version) = (dependency.name.clone(), dependency.version.clone());
        let request = CrateRequest { name, version, requirement: None };
        let Some(loaded) = &self.loaded else {
            let CrateRequest { name, version, .. } = request;
            return Err(NotOnDisk { name, version, ..NotOnDisk::default() });
        };
        let workspace = &loaded.workspace;
        CrateDisk::new(workspace, &sym.env, &sym.dirs).locate(&request)
    }

    /// The skills in the sources of every direct dependency that has them on this machine.
    pub(crate) fn shipped(&self) -> Vec<Shipped> {
        let loaded = self.loaded.iter();
        let dependencies = loaded.flat_map(|loaded| &loaded.workspace.dependencies);
        let mut shipped: Vec<Shipped> = Vec::new();
        for located in dependencies.filter_map(|dependency| self.locate(dependency).ok()) {
            for folder in ships(&located).unwrap_or_default() {
                let names = names(&located, &folder);
                let (crate_name, version) = (located.name.clone(), located.version.clone());
                shipped.push(Shipped { crate_name, version, folder, names });
            }
        }
        shipped.dedup();
        shipped
    }
}

fn names(located: &Located, folder: &str) -> Vec<String> {
    let mut names = vec![folder.rsplit('/').next().unwrap_or(folder).to_owned()];
    names.extend(skill_name(&located.dir, folder).filter(|name| !names.contains(name)));
    names
}
