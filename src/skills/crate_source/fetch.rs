//! Getting a crate's sources by running cargo, for explicit commands only.
//!
//! Cargo knows the user's mirrors, private registries and credentials. It runs in an empty folder
//! of ours, so that neither the configuration nor the toolchain file of a workspace applies, and
//! never changes a lock file of the user's.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use semver::{Version, VersionReq};

use super::registry::{self, RegistryDirs, Wanted};
use super::{Located, Unusable, git};
use crate::config::{Dirs, Environment};
use crate::files::{private_folders, without_its_name};
use crate::process::{Child, Output, RunError, Status};
use crate::text::{is_crate_name, same_crate, spellings};
use crate::workspace::{CRATES_IO, Lock, Registries, SourceReplacement, is_crates_io, is_offline};

mod entry;
mod metadata;
mod package_list;
mod refusal;

pub(crate) use entry::RegistryEntry;
use refusal::Reason;
pub(crate) use refusal::Refusal;

/// The name of the package that asks for the crate.
const PACKAGE: &str = "symposium-fetch";
/// Variables that would change where cargo writes or what it runs.
const UNWANTED: [&str; 14] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_RESOLVER_LOCKFILE_PATH",
    "CARGO_MANIFEST_PATH",
    // What cargo says is shown to people.
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
];

/// What a fetch needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fetcher<'a> {
    /// The process's surroundings: `SYMPOSIUM_CARGO`, `CARGO`, `CARGO_HOME`.
    pub env: &'a Environment,
    /// Our own folders: the empty folder is made in the cache.
    pub dirs: &'a Dirs,
    /// How long one fetch may take, whole.
    pub limit: Duration,
    pub offline: bool,
}

/// What to fetch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FetchRequest<'a> {
    /// The crate; `-` and `_` are equal.
    pub name: &'a str,
    pub version: Option<&'a Version>,
    /// The newest version that meets this; `None`: the newest.
    pub requirement: Option<&'a VersionReq>,
    /// The registry's index as in `Cargo.lock`; `None` for crates.io.
    pub index: Option<&'a str>,
    /// What the workspace's configuration has in the place of that registry. Cargo runs where that
    /// configuration does not apply, so it is told.
    pub replaced: Option<&'a SourceReplacement>,
    /// SHA-256 of the `.crate` file in hex, where the lock file has it.
    pub checksum: Option<&'a str>,
    /// The repository and the commit of a git dependency, instead of a registry.
    pub git: Option<(&'a str, &'a str)>,
}

/// Why a crate could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("the network is not to be used")]
    Offline,
    #[error("`{0}` can't be a crate's name")]
    BadName(String),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("cargo took longer than {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("cargo says:{0}")]
    Cargo(Refusal),
    /// What cargo has is not what is wanted.
    #[error("{0}")]
    Other(Unusable),
    /// The folder that the workspace has in the place of the registry is without it.
    #[error("the workspace takes crates from {}, which does not have it", .0.display())]
    NotIn(PathBuf),
    /// Cargo was content, and still the sources are nowhere.
    #[error("cargo has them in no place we know")]
    Nowhere,
    #[error("can't write {}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

impl Fetcher<'_> {
    /// Fetches a crate into cargo's own folders, downloading nothing else where cargo is new enough
    /// (`cargo info`, since 1.82), and says where it is. A yanked version comes with what it
    /// depends on: only a whole lock file makes cargo take it.
    pub(crate) fn fetch(&self, request: &FetchRequest<'_>) -> Result<Located, FetchError> {
        let mut session =
            self.session(request.name, request.index.filter(|index| !is_crates_io(index)))?;
        if let Some(replaced) = request.replaced
            && session.mirror().as_ref() != Some(replaced)
        {
            match replaced {
                SourceReplacement::Index(index) => session.index = Some(index),
                SourceReplacement::Crates(folder) | SourceReplacement::Sources(folder) => {
                    return session.in_replacement(request, folder);
                }
            }
        }
        if request.git.is_none()
            && let Some(version) = request.version
        {
            return session.exact(request, version);
        }
        let locked = session.resolve(request)?;
        match request.git {
            // Cargo had to check it out to know its version.
            Some((url, commit)) => {
                let home = self.env.cargo_home().ok_or(FetchError::Nowhere)?;
                git::find(&home, url, commit, &locked.name, &locked.version)
                    .ok_or(FetchError::Nowhere)
            }
            None => session.download(&locked),
        }
    }

    /// What the registry that crates come from (crates.io, or what the user's cargo has in its
    /// place) knows of a crate, by `cargo info`; `None` when there is no crate of this name. `-` and
    /// `_` are equal.
    pub(crate) fn look_up(&self, name: &str) -> Result<Option<RegistryEntry>, FetchError> {
        if self.is_cargo_offline() {
            return Err(FetchError::Offline);
        }
        let session = self.session(name, None)?;
        for spelling in spellings(name) {
            let output = session.cargo(["info".to_owned(), spelling])?;
            if output.success() {
                return Ok(Some(RegistryEntry::parse(name, &output.stdout_text())));
            }
            let refusal = session.refusal(&output);
            match refusal.reason {
                Reason::Replaced => return session.look_up_replaced(name),
                Reason::NoSuchCrate => {}
                _ => return Err(FetchError::Cargo(refusal)),
            }
        }
        Ok(None)
    }

    /// An empty folder for cargo to work in on the crate `name`.
    fn session<'a>(
        &'a self,
        name: &str,
        index: Option<&'a str>,
    ) -> Result<Session<'a>, FetchError> {
        if self.offline {
            return Err(FetchError::Offline);
        }
        if !is_crate_name(name) {
            return Err(FetchError::BadName(name.escape_debug().to_string()));
        }
        self.empty_folder(index)
    }

    /// An empty folder for cargo to work in.
    fn empty_folder<'a>(&'a self, index: Option<&'a str>) -> Result<Session<'a>, FetchError> {
        let parent = self.dirs.cache().join("fetch");
        let failed = |source| FetchError::Io { path: parent.clone(), source };
        private_folders(&parent).map_err(failed)?;
        let folder = tempfile::tempdir_in(&parent).map_err(without_its_name).map_err(failed)?;
        Ok(Session { fetcher: self, folder, index, deadline: Instant::now() + self.limit })
    }

    /// Whether the user told cargo to stay off the network: it then says of every crate that it
    /// has not got that there is none.
    fn is_cargo_offline(&self) -> bool {
        let yes = |text: &str| text == "true" || text == "1";
        if let Some(text) = self.env.text("CARGO_NET_OFFLINE") {
            return yes(text);
        }
        is_offline(self.dirs.cache(), self.env)
    }

    /// The cargo to run: `SYMPOSIUM_CARGO`, else `CARGO` (which cargo sets for its subcommands),
    /// else the one on `PATH`.
    fn program(&self) -> OsString {
        let named = self.env.var("SYMPOSIUM_CARGO").or_else(|| self.env.var("CARGO"));
        named.map_or_else(|| "cargo".into(), ToOwned::to_owned)
    }
}

/// The version that cargo chose.
struct Locked {
    name: String,
    version: Version,
    checksum: Option<String>,
}

/// One fetch, in its folder and its time.
struct Session<'a> {
    fetcher: &'a Fetcher<'a>,
    folder: tempfile::TempDir,
    index: Option<&'a str>,
    deadline: Instant,
}

impl Session<'_> {
    /// Lets cargo choose a version: a lock file for a package that depends on nothing else.
    fn resolve(&self, request: &FetchRequest<'_>) -> Result<Locked, FetchError> {
        let mut first: Option<Refusal> = None;
        for name in spellings(request.name) {
            self.write_package(&name, request)?;
            let output = self.cargo(["generate-lockfile"])?;
            if output.success() {
                return self.locked(&name).ok_or(FetchError::Nowhere);
            }
            first.get_or_insert_with(|| self.refusal(&output));
        }
        Err(first.map_or(FetchError::Nowhere, FetchError::Cargo))
    }

    /// As [`Fetcher::look_up`], by letting cargo choose a version.
    fn look_up_replaced(&self, name: &str) -> Result<Option<RegistryEntry>, FetchError> {
        let any = FetchRequest { name, ..FetchRequest::default() };
        let entry = |name: String, version| RegistryEntry { name, version, repository: None };
        match self.resolve(&any) {
            Ok(locked) => Ok(Some(entry(locked.name, Some(locked.version)))),
            Err(FetchError::Cargo(refusal)) if refusal.reason == Reason::NoSuchCrate => Ok(None),
            Err(FetchError::Cargo(refusal)) if refusal.reason == Reason::NoUsableVersion => {
                Ok(Some(entry(name.to_owned(), None)))
            }
            Err(error) => Err(error),
        }
    }

    fn write_package(&self, name: &str, request: &FetchRequest<'_>) -> Result<(), FetchError> {
        let mut dependency = toml::Table::new();
        dependency.insert("default-features".into(), false.into());
        if let Some((url, commit)) = request.git {
            dependency.insert("git".into(), url.into());
            dependency.insert("rev".into(), commit.into());
        } else {
            let version = match (request.version, request.requirement) {
                (Some(version), _) => format!("={version}"),
                (None, Some(requirement)) => requirement.to_string(),
                (None, None) => "*".to_owned(),
            };
            dependency.insert("version".into(), version.into());
            if let Some(index) = self.index {
                dependency.insert("registry-index".into(), index_url(index).into());
            }
        }
        let mut dependencies = toml::Table::new();
        dependencies.insert(name.into(), dependency.into());
        let mut manifest = toml::Table::new();
        manifest.insert("dependencies".into(), dependencies.into());
        let head = format!(
            "[package]\nname = \"{PACKAGE}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
             [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n"
        );
        self.write("lib.rs", String::new())?;
        self.write("Cargo.toml", format!("{head}{manifest}"))
    }

    fn write(&self, file: &str, text: String) -> Result<(), FetchError> {
        let path = self.folder.path().join(file);
        fs::write(&path, text).map_err(|source| FetchError::Io { path, source })
    }

    fn locked(&self, name: &str) -> Option<Locked> {
        let lock = Lock::read(&self.folder.path().join("Cargo.lock")).ok().flatten()?;
        let resolved = lock.dependencies_of(PACKAGE, None);
        let package = resolved.into_iter().find(|package| same_crate(&package.name, name))?;
        Some(Locked {
            name: package.name.clone(),
            version: package.version.clone(),
            checksum: package.checksum.clone(),
        })
    }

    /// A version that needs no choosing. Its lock file says which file it is; without one, cargo
    /// does.
    fn exact(&self, request: &FetchRequest<'_>, version: &Version) -> Result<Located, FetchError> {
        let checksum = request.checksum.map(str::to_owned);
        let locked = Locked { name: request.name.to_owned(), version: version.clone(), checksum };
        if let Some(located) = self.download_alone(&locked)? {
            return Ok(located);
        }
        let Some(checksum) = &locked.checksum else {
            return self.download(&self.resolve(request)?);
        };
        self.write_package(&locked.name, request)?;
        let source = self.index.map_or_else(|| CRATES_IO.to_owned(), lock_source);
        let lock = format!(
            "version = 3\n\n[[package]]\nname = \"{0}\"\nversion = \"{version}\"\n\
             source = \"{source}\"\nchecksum = \"{checksum}\"\n\n\
             [[package]]\nname = \"{PACKAGE}\"\nversion = \"0.0.0\"\n\
             dependencies = [\"{0}\"]\n",
            locked.name
        );
        self.write("Cargo.lock", lock)?;
        self.download_tree(&locked)
    }

    /// Has the one crate downloaded; where that can't be, the whole tree of it.
    fn download(&self, locked: &Locked) -> Result<Located, FetchError> {
        match self.download_alone(locked)? {
            Some(located) => Ok(located),
            None => self.download_tree(locked),
        }
    }

    /// The one crate, if cargo can be made to download it alone. `cargo info` asks no mirror of
    /// crates.io unless the mirror's index is named.
    fn download_alone(&self, locked: &Locked) -> Result<Option<Located>, FetchError> {
        if let Ok(located) = self.find(locked) {
            return Ok(Some(located));
        }
        let mirror = self.mirror();
        if let Some(SourceReplacement::Crates(folder)) = &mirror {
            return registry::in_folder(folder, self.fetcher.dirs, &self.wanted(locked))
                .map_err(FetchError::Other);
        }
        let spec = format!("{}@{}", locked.name, locked.version);
        let mut args = vec!["info".to_owned(), spec];
        let mirror = mirror.as_ref().and_then(SourceReplacement::index);
        if let Some(index) = mirror.or(self.index) {
            args.extend(["--index".to_owned(), index_url(index).to_owned()]);
        }
        // Its exit status does not matter: only whether the crate is on disk afterwards.
        self.cargo(args)?;
        Ok(self.find(locked).ok())
    }

    /// What the user's own configuration has in the place of the registry.
    fn mirror(&self) -> Option<SourceReplacement> {
        Registries::load(self.folder.path(), self.fetcher.env).replacement(self.index)
    }

    /// A crate of a folder that the workspace has in the place of the registry. Folders of unpacked
    /// crates have been looked into by now.
    fn in_replacement(
        &self,
        request: &FetchRequest<'_>,
        folder: &Path,
    ) -> Result<Located, FetchError> {
        let (name, checksum) = (request.name, request.checksum);
        let not_in = || FetchError::NotIn(folder.to_path_buf());
        let version = request.version.ok_or_else(not_in)?;
        let wanted = Wanted { name, version, index: self.index, checksum };
        let found = registry::in_folder(folder, self.fetcher.dirs, &wanted);
        found.map_err(FetchError::Other)?.ok_or_else(not_in)
    }

    /// The crate and all that it depends on.
    fn download_tree(&self, locked: &Locked) -> Result<Located, FetchError> {
        let output = self.cargo(["metadata", "--format-version", "1"])?;
        match self.find(locked) {
            Ok(located) => Ok(located),
            _ if output.success() => {
                let Locked { name, version, .. } = locked;
                metadata::located(&output, name, version).ok_or(FetchError::Nowhere)
            }
            Err(Some(reason)) => Err(FetchError::Other(reason)),
            Err(None) => Err(FetchError::Cargo(self.refusal(&output))),
        }
    }

    fn find(&self, locked: &Locked) -> Result<Located, Option<Unusable>> {
        let home = self.fetcher.env.cargo_home().ok_or(None)?;
        RegistryDirs::of(&home).find(self.fetcher.dirs, &self.wanted(locked))
    }

    fn wanted<'b>(&'b self, locked: &'b Locked) -> Wanted<'b> {
        let Locked { name, version, checksum } = locked;
        Wanted { name, version, index: self.index, checksum: checksum.as_deref() }
    }

    fn refusal(&self, output: &Output) -> Refusal {
        Refusal::of(output, self.folder.path(), PACKAGE)
    }

    fn cargo<T: Into<OsString>>(
        &self,
        args: impl IntoIterator<Item = T>,
    ) -> Result<Output, FetchError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FetchError::TimedOut(self.fetcher.limit));
        }
        let env = self.fetcher.env;
        let mut child = Child::new(self.fetcher.program())
            .args(args)
            .cwd(self.folder.path())
            .limit(left)
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TERM_PROGRESS_WHEN", "never")
            .env("GIT_TERMINAL_PROMPT", "0")
            // A toolchain that is missing is not worth a download.
            .env("RUSTUP_AUTO_INSTALL", "0");
        child.output_cap = 64 * 1024 * 1024;
        if env.var("GIT_SSH_COMMAND").is_none() {
            child = child.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        if let Some(home) = env.var("CARGO_HOME") {
            child = child.env("CARGO_HOME", home);
        }
        for name in UNWANTED {
            child = child.env_remove(name);
        }
        let output = crate::process::run(&child)?;
        match output.status {
            Status::TimedOut => Err(FetchError::TimedOut(self.fetcher.limit)),
            _ => Ok(output),
        }
    }
}

/// An index as cargo's manifests and options take it: the lock file marks git indexes.
fn index_url(index: &str) -> &str {
    index.strip_prefix("registry+").unwrap_or(index)
}

/// An index as cargo's lock files name it.
fn lock_source(index: &str) -> String {
    let has_kind = index.starts_with("sparse+") || index.starts_with("registry+");
    if has_kind { index.to_owned() } else { format!("registry+{index}") }
}
