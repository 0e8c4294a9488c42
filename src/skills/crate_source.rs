//! Where the sources of crates are on this machine, and how to get them here.
//!
//! Looked for, in order: a path dependency's folder, vendored sources, cargo's unpacked registry
//! sources, cargo's downloaded `.crate` files (unpacked into our cache), cargo's git checkouts.
//! Only [`fetch`] reaches the network, and only by running cargo.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use semver::{Version, VersionReq};

use crate::config::{Dirs, Environment};
use crate::plugins::predicate::NewestAdmitted;
use crate::text::{SecretUrl, same_crate};
use crate::workspace::{
    ByCrate, Dependency, DependencyOrigin, LockedPackage, Registries, SourceReplacement, Workspace,
    is_crates_io, vendored,
};

pub(crate) mod awaited;
pub(crate) mod fetch;
mod git;
mod not_on_disk;
mod on_demand;
mod package;
mod registry;
mod vendor;

#[cfg(test)]
mod tests;

pub(crate) use not_on_disk::{Needs, NotOnDisk, Unusable};
pub(crate) use on_demand::OnDemand;
pub(crate) use package::package_id;
use registry::RegistryDirs;
pub(crate) use registry::known_names;

/// How a crate's sources were found.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum How {
    /// A path dependency or a member.
    Path,
    /// A vendor folder.
    Vendor,
    /// Cargo's unpacked registry sources.
    RegistrySource,
    /// A `.crate` file that cargo downloaded, unpacked by us.
    RegistryCache,
    /// A git checkout of cargo's.
    Git,
}

/// Sources of a crate on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// The package's name as its manifest has it.
    pub name: String,
    pub version: Version,
    /// The folder of its manifest, absolute.
    pub dir: PathBuf,
    pub how: How,
}

/// Which crate is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrateRequest {
    /// Its name; `-` and `_` are equal.
    pub name: String,
    pub version: Option<Version>,
    pub requirement: Option<VersionReq>,
}

impl CrateRequest {
    pub(crate) fn any(name: impl Into<String>) -> Self {
        Self { name: name.into(), version: None, requirement: None }
    }

    fn takes(&self, version: &Version) -> bool {
        self.version.as_ref().is_none_or(|wanted| wanted == version)
            && self.requirement.as_ref().is_none_or(|wanted| wanted.matches(version))
    }
}

/// Where the sources of crates come from.
pub(crate) trait CrateSources {
    /// The sources of a crate.
    fn locate(&self, request: &CrateRequest) -> Result<Located, NotOnDisk>;

    /// Files and folders that change when sources that are missing come.
    fn awaited(&self, _request: &CrateRequest) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// The version of a dependency that `Cargo.lock` does not settle is that of the sources that are taken.
#[derive(Clone, Copy)]
pub(crate) struct Newest<'a>(pub &'a dyn CrateSources);

impl NewestAdmitted for Newest<'_> {
    fn newest_admitted(&self, dependency: &Dependency) -> Option<Version> {
        let is_asked = matches!(dependency.origin, DependencyOrigin::Unresolved(Some(_)));
        let located = is_asked.then(|| self.0.locate(&CrateRequest::any(&dependency.name)))?;
        Some(located.ok()?.version)
    }
}

/// Where to look.
#[derive(Debug, Clone)]
pub(crate) struct CrateDisk<'a> {
    /// The workspace whose dependencies and lock file tell versions and origins.
    pub workspace: &'a Workspace,
    pub cargo_home: Option<PathBuf>,
    pub vendor: Vec<PathBuf>,
    /// What cargo's configuration has in the place of registries.
    registries: Registries,
    /// Our own folders: `.crate` files are unpacked there.
    pub dirs: &'a Dirs,
    /// See [`Self::registry_dirs`]. Copies share it.
    registry_dirs: Rc<RefCell<Option<Rc<RegistryDirs>>>>,
    /// What the workspace says of crates. Copies share it.
    known: Rc<OnceCell<Known<'a>>>,
}

/// What a workspace says of crates, by their names.
#[derive(Debug)]
struct Known<'a> {
    dependencies: ByCrate<'a, Dependency>,
    locked: ByCrate<'a, LockedPackage>,
}

/// A crate with what tells it from others of its name.
#[derive(Debug, Clone)]
struct Candidate {
    name: String,
    version: Version,
    origin: DependencyOrigin,
}

impl<'a> CrateDisk<'a> {
    pub(crate) fn new(workspace: &'a Workspace, env: &Environment, dirs: &'a Dirs) -> Self {
        let (registry_dirs, known) = (Rc::default(), Rc::default());
        let (vendor, registries) = match &workspace.vendor_folders {
            Some(folders) => (folders.clone(), workspace.registries.clone()),
            None => {
                let found = vendored(&workspace.root, env);
                (found.folders, found.registries)
            }
        };
        let cargo_home = env.cargo_home();
        Self { workspace, cargo_home, vendor, registries, dirs, registry_dirs, known }
    }

    /// What the workspace's cargo asks in the place of a registry: `index` as in the lock file,
    /// `None` for crates.io.
    pub(crate) fn replacement(&self, index: Option<&str>) -> Option<SourceReplacement> {
        self.registries.replacement(index)
    }

    /// What the workspace resolved for this name, for a fetch: name, version and origin.
    pub(crate) fn resolution(
        &self,
        request: &CrateRequest,
    ) -> Option<(String, Version, DependencyOrigin)> {
        self.resolved(request).map(|found| (found.name, found.version, found.origin))
    }

    /// The versions of a crate of crates.io, or of a vendor folder, that are on this machine; the
    /// newest first.
    pub(crate) fn versions(&self, name: &str) -> Vec<Version> {
        let found = self.present(name, None).into_iter();
        let mut versions: Vec<_> = found.map(|(_, version)| version).collect();
        versions.dedup();
        versions
    }

    /// As [`Self::versions`], each with the name as it is spelt there.
    fn present(&self, name: &str, index: Option<&str>) -> Vec<(String, Version)> {
        let mut found = vendor::versions(&self.vendor, name);
        if let Some(registry_dirs) = self.registry_dirs() {
            let replaced = self.replacement(index);
            found.extend(registry_dirs.versions(name, asked(index, replaced.as_ref())));
        }
        found.sort_by(|one, other| other.1.cmp(&one.1));
        found
    }

    /// A member, a path dependency, or a `[patch]` by path.
    fn by_path(&self, request: &CrateRequest) -> Option<Located> {
        let members = self
            .workspace
            .members
            .iter()
            .map(|member| (&member.name, member.version.as_ref(), member.dir.as_path()));
        let dependencies = self.known().dependencies.get(&request.name);
        let dependencies = dependencies.iter().filter_map(|dependency| {
            let DependencyOrigin::Path(dir) = &dependency.origin else { return None };
            Some((&dependency.name, dependency.version.as_ref(), dir.as_path()))
        });
        let members = members.filter(|(name, ..)| same_crate(name, &request.name));
        // A dependency says more than membership: it is what the request is about.
        dependencies.chain(members).find_map(|(name, version, dir)| {
            let version = version
                .cloned()
                .or_else(|| package_id(dir)?.version)
                .unwrap_or(Version::new(0, 0, 0));
            let known = request.takes(&version) && dir.is_dir();
            known.then(|| Located {
                name: name.clone(),
                version,
                dir: dir.to_path_buf(),
                how: How::Path,
            })
        })
    }

    fn known(&self) -> &Known<'a> {
        let Workspace { dependencies, locked, .. } = self.workspace;
        self.known.get_or_init(|| Known {
            dependencies: ByCrate::new(dependencies, |dependency| &dependency.name),
            locked: ByCrate::new(locked, |package| &package.name),
        })
    }

    /// Cargo's registry folders, as they were when they were first asked for.
    fn registry_dirs(&self) -> Option<Rc<RegistryDirs>> {
        let home = self.cargo_home.as_deref()?;
        let mut registry_dirs = self.registry_dirs.borrow_mut();
        Some(Rc::clone(registry_dirs.get_or_insert_with(|| Rc::new(RegistryDirs::of(home)))))
    }

    /// Has the folders looked at anew: something was fetched.
    fn forget_registry_dirs(&self) {
        self.registry_dirs.take();
    }

    /// What the lock file resolved for this name: the newest that is wanted.
    fn resolved(&self, request: &CrateRequest) -> Option<Candidate> {
        let known = self.known();
        let declared = known.dependencies.get(&request.name);
        let direct = declared.iter().filter_map(|dependency| Candidate::of_dependency(dependency));
        let locked = known.locked.get(&request.name).iter().filter_map(|package| {
            let origin = DependencyOrigin::of_locked(package)?;
            let (name, version) = (package.name.clone(), package.version.clone());
            Some(Candidate { name, version, origin })
        });
        let newest = |candidates: Vec<Candidate>| {
            let wanted = candidates.into_iter().filter(|found| request.takes(&found.version));
            wanted.max_by(|one, other| one.version.cmp(&other.version))
        };
        // Of a dependency that the lock file lacks, what others have locked under its name is another
        // crate, or one that the manifest does not admit.
        if declared.iter().any(|known| matches!(known.origin, DependencyOrigin::Unresolved(_))) {
            return newest(direct.collect());
        }
        newest(direct.collect()).or_else(|| newest(locked.collect()))
    }

    fn on_disk(&self, candidate: &Candidate) -> Result<Located, Option<Unusable>> {
        let Candidate { name, version, origin } = candidate;
        let checksum = match origin {
            DependencyOrigin::Registry { checksum, .. } => checksum.as_deref(),
            _ => None,
        };
        let other = match vendor::exact(&self.vendor, name, version, checksum) {
            Ok(Some(located)) => return Ok(located),
            Ok(None) => None,
            Err(reason) => Some(reason),
        };
        let home = self.cargo_home.as_deref().ok_or_else(|| other.clone())?;
        match origin {
            DependencyOrigin::Git { url, commit } => {
                git::find(home, url.expose(), commit, name, version).ok_or(None)
            }
            DependencyOrigin::Registry { index, .. } => {
                let index = index.as_ref().map(SecretUrl::expose);
                let replaced = self.replacement(index);
                let index = asked(index, replaced.as_ref());
                let wanted = registry::Wanted { name, version, index, checksum };
                let found = self.registry_dirs().ok_or(None)?.find(self.dirs, &wanted);
                found.map_err(|reason| other.or(reason))
            }
            DependencyOrigin::Path(_) | DependencyOrigin::Unresolved(_) => Err(None),
        }
    }

    /// The request with what the manifest asks for, where the lock file does not settle that; and the
    /// index of the registry that it asks, `None` for crates.io.
    ///
    /// # Errors
    /// It is a dependency of which nothing says where it comes from: a crate of the same name on a
    /// registry is another one.
    fn as_declared(
        &self,
        request: &CrateRequest,
    ) -> Result<(CrateRequest, Option<SecretUrl>), NotOnDisk> {
        let declared = self.known().dependencies.get(&request.name).iter();
        let asked: Option<Vec<_>> = declared
            .map(|dependency| match &dependency.origin {
                DependencyOrigin::Unresolved(asked) => Some(asked.as_ref()),
                _ => None,
            })
            .collect();
        let mut request = request.clone();
        match asked.as_deref() {
            None | Some([]) => Ok((request, None)),
            Some([Some(asked), ..]) => {
                if request.version.is_none() && request.requirement.is_none() {
                    request.requirement = Some(asked.requirement.clone());
                }
                Ok((request, asked.index.clone()))
            }
            Some([None, ..]) => Err(NotOnDisk {
                name: request.name,
                version: request.version,
                reason: Some("nothing says where it comes from; Cargo.lock lacks it".to_owned()),
                ..NotOnDisk::default()
            }),
        }
    }

    /// Whether it is a dependency of a registry in a version that the lock file does not settle.
    fn is_open(&self, request: &CrateRequest) -> bool {
        let is_asked =
            |known: &&Dependency| matches!(known.origin, DependencyOrigin::Unresolved(Some(_)));
        self.known().dependencies.get(&request.name).iter().any(is_asked)
            && self.by_path(request).is_none()
    }

    /// The newest version on this machine that is wanted, of a registry or a vendor folder.
    fn newest(&self, request: &CrateRequest, index: Option<&SecretUrl>) -> Option<Located> {
        let mut versions = self.present(&request.name, index.map(SecretUrl::expose));
        // As cargo does: a pre-release only for those who ask for one.
        let asked = request.version.is_some() || request.requirement.is_some();
        versions.retain(|(_, version)| request.takes(version) && (version.pre.is_empty() || asked));
        versions.into_iter().find_map(|(name, version)| {
            let origin = DependencyOrigin::Registry { index: index.cloned(), checksum: None };
            self.on_disk(&Candidate { name, version, origin }).ok()
        })
    }
}

impl CrateSources for CrateDisk<'_> {
    /// What the workspace depends on first, then anything in its lock file, then the newest on this
    /// machine that is wanted. A version that the workspace resolved is never replaced by another
    /// one.
    fn locate(&self, request: &CrateRequest) -> Result<Located, NotOnDisk> {
        if let Some(located) = self.by_path(request) {
            return Ok(located);
        }
        let (request, index) = self.as_declared(request)?;
        match self.resolved(&request) {
            Some(candidate) => self.on_disk(&candidate).map_err(|found| NotOnDisk {
                name: candidate.name.clone(),
                version: Some(candidate.version.clone()),
                needs: found.as_ref().map(|found| found.needs).unwrap_or_default(),
                reason: found.map(|found| found.why),
                ..NotOnDisk::default()
            }),
            None => self.newest(&request, index.as_ref()).ok_or_else(|| NotOnDisk {
                name: request.name,
                version: request.version,
                requirement: request.requirement,
                ..NotOnDisk::default()
            }),
        }
    }

    fn awaited(&self, request: &CrateRequest) -> Vec<PathBuf> {
        self.would_be_in(request)
    }
}

impl Candidate {
    fn of_dependency(dependency: &Dependency) -> Option<Self> {
        let resolved = matches!(
            dependency.origin,
            DependencyOrigin::Registry { .. } | DependencyOrigin::Git { .. }
        );
        let version = dependency.version.clone().filter(|_| resolved)?;
        Some(Self { name: dependency.name.clone(), version, origin: dependency.origin.clone() })
    }
}

/// The index that is asked for what the lock file has from `index`; `None` for crates.io.
fn asked<'a>(index: Option<&'a str>, replaced: Option<&'a SourceReplacement>) -> Option<&'a str> {
    replaced.and_then(SourceReplacement::index).or(index).filter(|index| !is_crates_io(index))
}

/// The folders in `dir`, sorted; none when it can't be read.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<_> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// Name and version of a folder or file called `<name>-<version>`, for a crate of that name.
fn split_name(text: &str, wanted: &str) -> Option<(String, Version)> {
    let name = text.get(..wanted.len()).filter(|name| same_crate(name, wanted))?;
    let version = text[wanted.len()..].strip_prefix('-')?;
    Some((name.to_owned(), Version::parse(version).ok()?))
}
