//! The disk first, then cargo: for explicit commands.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::fetch::{FetchError, FetchRequest, Fetcher};
use super::{CrateDisk, CrateRequest, CrateSources, Located, Needs, NotOnDisk};
use crate::report::Reporter;
use crate::text::{Diagnostic, SecretUrl};
use crate::workspace::DependencyOrigin;

/// What is on disk, and what is not after a fetch. Each crate is fetched once, also when that
/// fails. A dependency whose version the lock file does not settle is asked for even if one is on
/// disk: there may be a newer one that the manifest admits.
#[derive(Debug)]
pub(crate) struct OnDemand<'a> {
    disk: CrateDisk<'a>,
    fetcher: Fetcher<'a>,
    refresh: bool,
    report: Option<&'a Reporter>,
    fetched: RefCell<BTreeMap<String, Result<Located, NotOnDisk>>>,
    /// What was taken from disk though a newer one may be published, with why nobody was asked.
    made_do: RefCell<BTreeMap<String, Diagnostic>>,
}

impl<'a> OnDemand<'a> {
    /// With `refresh`, crates that the workspace does not fix a version of are fetched anew.
    pub(crate) fn new(disk: CrateDisk<'a>, fetcher: Fetcher<'a>, refresh: bool) -> Self {
        let (fetched, made_do) = (RefCell::default(), RefCell::default());
        Self { disk, fetcher, refresh, report: None, fetched, made_do }
    }

    /// Warnings of dependencies of which what is on disk had to do.
    pub(crate) fn made_do(&self) -> Vec<Diagnostic> {
        self.made_do.borrow().values().cloned().collect()
    }

    /// The newest that the manifest admits, as cargo finds it; else what is on disk, which is noted.
    fn newest_admitted(&self, request: &CrateRequest, here: Located) -> Located {
        let problem = match self.fetch(request) {
            Ok(located) => return located,
            Err(missing) => missing.reason.clone().unwrap_or_else(|| missing.to_string()),
        };
        let Located { name, version, .. } = &here;
        let warning = format!(
            "Cargo.lock does not settle the version of {name}: {version} is taken, the newest on this \
             machine that the manifest admits"
        );
        let warning =
            Diagnostic::warning(warning).note(format!("a newer one may be out: {problem}"));
        self.made_do.borrow_mut().insert(name.clone(), warning);
        here
    }

    /// The same, telling `report` of each fetch while it lasts.
    #[must_use]
    pub(crate) fn telling(mut self, report: &'a Reporter) -> Self {
        self.report = Some(report);
        self
    }

    fn fetch(&self, request: &CrateRequest) -> Result<Located, NotOnDisk> {
        let key = format!("{request:?}");
        if let Some(known) = self.fetched.borrow().get(&key) {
            return known.clone();
        }
        let fetched = self.fetch_now(request);
        self.fetched.borrow_mut().insert(key, fetched.clone());
        fetched
    }

    fn fetch_now(&self, request: &CrateRequest) -> Result<Located, NotOnDisk> {
        let (request, declared_index) = self.disk.as_declared(request)?;
        let resolved = self.disk.resolution(&request);
        let (name, version) = match &resolved {
            Some((name, version, _)) => (name.as_str(), Some(version)),
            None => (request.name.as_str(), request.version.as_ref()),
        };
        let requirement = request.requirement.as_ref();
        let mut wanted = FetchRequest { name, version, requirement, ..FetchRequest::default() };
        let replaced;
        match resolved.as_ref().map(|(_, _, origin)| origin) {
            Some(DependencyOrigin::Registry { index, checksum }) => {
                wanted.index = index.as_ref().map(SecretUrl::expose);
                wanted.checksum = checksum.as_deref();
            }
            Some(DependencyOrigin::Git { url, commit }) => {
                wanted.git = Some((url.expose(), commit))
            }
            _ => wanted.index = declared_index.as_ref().map(SecretUrl::expose),
        }
        if wanted.git.is_none() {
            replaced = self.disk.replacement(wanted.index);
            wanted.replaced = replaced.as_ref();
        }
        let what = version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"));
        let report = self.report.filter(|_| !self.fetcher.offline);
        let _progress = report.map(|report| report.busy("Fetching", &what));
        let fetched = self.fetcher.fetch(&wanted);
        self.disk.forget_registry_dirs();
        fetched.map_err(|error| NotOnDisk {
            name: name.to_owned(),
            version: version.cloned(),
            requirement: requirement.cloned(),
            needs: error.needs(),
            reason: Some(error.to_string()),
        })
    }
}

impl FetchError {
    /// What the crate waits for then.
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Self::Run(_) => Needs::Cargo,
            Self::Other(found) => found.needs,
            _ => Needs::Fetch,
        }
    }
}

impl CrateSources for OnDemand<'_> {
    fn locate(&self, request: &CrateRequest) -> Result<Located, NotOnDisk> {
        let found = self.disk.locate(request);
        match found {
            Ok(located) if self.disk.is_open(request) => Ok(self.newest_admitted(request, located)),
            found if self.fetcher.offline => found,
            Ok(located) => {
                let fixed = request.version.is_some()
                    || located.how == super::How::Path
                    || self.disk.resolution(request).is_some();
                if self.refresh && !fixed {
                    self.fetch(request).or(Ok(located))
                } else {
                    Ok(located)
                }
            }
            Err(_) => self.fetch(request),
        }
    }

    fn awaited(&self, request: &CrateRequest) -> Vec<PathBuf> {
        self.disk.awaited(request)
    }
}
