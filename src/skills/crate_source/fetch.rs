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

use super::registry::{self, Wanted};
use super::{How, Located, git, is_crates_io};
use crate::config::{Dirs, Environment};
use crate::process::{Child, Output, RunError, Status};
use crate::skills::metadata::is_crate_name;
use crate::workspace::same_crate;

/// The name of the package that asks for the crate.
const PACKAGE: &str = "symposium-fetch";
/// Variables that would change where cargo writes or what it runs.
const UNWANTED: [&str; 12] = [
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
];

/// What a fetch needs to know.
#[derive(Debug, Clone, Copy)]
pub struct Fetcher<'a> {
    /// The process's surroundings: `SYMPOSIUM_CARGO`, `CARGO`, `CARGO_HOME`.
    pub env: &'a Environment,
    /// Our own folders: the empty folder is made in the cache.
    pub dirs: &'a Dirs,
    /// How long one fetch may take, whole.
    pub limit: Duration,
    /// Never touch the network.
    pub offline: bool,
}

/// What to fetch.
#[derive(Debug, Clone, Copy)]
pub struct FetchRequest<'a> {
    /// The crate; `-` and `_` are equal.
    pub name: &'a str,
    /// Exactly this version.
    pub version: Option<&'a Version>,
    /// The newest version that meets this; `None`: the newest.
    pub requirement: Option<&'a VersionReq>,
    /// The registry's index as in `Cargo.lock`; `None` for crates.io.
    pub index: Option<&'a str>,
    /// The repository and the commit of a git dependency, instead of a registry.
    pub git: Option<(&'a str, &'a str)>,
}

/// What a registry knows of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryEntry {
    /// The name as published.
    pub name: String,
    /// The newest version.
    pub version: Option<Version>,
    /// Where it is developed, by its own word.
    pub repository: Option<String>,
}

impl RegistryEntry {
    /// Reads what `cargo info` prints: the name first, then `key: value` lines.
    fn parse(name: &str, text: &str) -> Self {
        let value = |key: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            found.and_then(|value| value.split_whitespace().next())
        };
        let first = text.split_whitespace().next().filter(|first| same_crate(first, name));
        Self {
            name: first.unwrap_or(name).to_owned(),
            version: value("version").and_then(|version| Version::parse(version).ok()),
            repository: value("repository").map(str::to_owned),
        }
    }
}

/// Why a crate could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// It is not to be.
    #[error("the network is not to be used")]
    Offline,
    /// Nothing can be called so.
    #[error("`{0}` can't be a crate's name")]
    BadName(String),
    /// Cargo could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Cargo took too long.
    #[error("cargo took longer than {} s", .0.as_secs())]
    TimedOut(Duration),
    /// Cargo failed.
    #[error("cargo says: {0}")]
    Cargo(String),
    /// Cargo was content, and still the sources are nowhere.
    #[error("cargo has them in no place we know")]
    Nowhere,
    /// The empty folder could not be made.
    #[error("can't write {}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Fetcher<'_> {
    /// Fetches a crate into cargo's own folders, downloading nothing else where cargo is new enough
    /// (`cargo info`, since 1.82), and says where it is.
    ///
    /// # Errors
    /// [`FetchError`].
    pub fn fetch(&self, request: &FetchRequest<'_>) -> Result<Located, FetchError> {
        if self.offline {
            return Err(FetchError::Offline);
        }
        if !is_crate_name(request.name) {
            return Err(FetchError::BadName(request.name.escape_debug().to_string()));
        }
        let parent = self.dirs.cache().join("fetch");
        let failed = |source| FetchError::Io { path: parent.clone(), source };
        fs::create_dir_all(&parent).map_err(failed)?;
        let folder = tempfile::tempdir_in(&parent).map_err(failed)?;
        let session = Session {
            fetcher: self,
            folder: folder.path(),
            index: request.index.filter(|index| !is_crates_io(index)),
            deadline: Instant::now() + self.limit,
        };
        let locked = session.resolve(request)?;
        match request.git {
            // Cargo had to check it out to know its version.
            Some((url, commit)) => {
                let home = self.env.cargo_home().ok_or(FetchError::Nowhere)?;
                git::find(&home, url, commit, &locked.name, &locked.version)
                    .ok_or(FetchError::Nowhere)
            }
            None => session.bring(&locked),
        }
    }

    /// What the registry that crates come from (crates.io, or what the user's cargo has in its
    /// place) knows of a crate, by `cargo info`; `None` when there is no crate of this name. `-` and
    /// `_` are equal.
    ///
    /// # Errors
    /// When the registry can't be asked.
    pub fn look_up(&self, name: &str) -> Result<Option<RegistryEntry>, FetchError> {
        if self.offline || self.is_cargo_offline() {
            return Err(FetchError::Offline);
        }
        if !is_crate_name(name) {
            return Err(FetchError::BadName(name.escape_debug().to_string()));
        }
        let parent = self.dirs.cache().join("fetch");
        let failed = |source| FetchError::Io { path: parent.clone(), source };
        fs::create_dir_all(&parent).map_err(failed)?;
        let folder = tempfile::tempdir_in(&parent).map_err(failed)?;
        let deadline = Instant::now() + self.limit;
        let session = Session { fetcher: self, folder: folder.path(), index: None, deadline };
        for spelling in spellings(name) {
            let output = session.cargo(["info".to_owned(), spelling])?;
            if output.success() {
                return Ok(Some(RegistryEntry::parse(name, &output.stdout_text())));
            }
            if !is_unknown(&output.stderr_text()) {
                return Err(FetchError::Cargo(cargo_says(&output)));
            }
        }
        Ok(None)
    }

    /// Whether the user told cargo to stay off the network: it then says of every crate that it
    /// has not got that there is none.
    fn is_cargo_offline(&self) -> bool {
        let yes = |text: &str| text == "true" || text == "1";
        if let Some(text) = self.env.text("CARGO_NET_OFFLINE") {
            return yes(text);
        }
        let Some(home) = self.env.cargo_home() else { return false };
        let config = ["config.toml", "config"]
            .into_iter()
            .find_map(|name| fs::read_to_string(home.join(name)).ok()?.parse::<toml::Table>().ok());
        let net = config.as_ref().and_then(|config| config.get("net"));
        net.and_then(|net| net.get("offline")?.as_bool()) == Some(true)
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
    folder: &'a Path,
    index: Option<&'a str>,
    deadline: Instant,
}

impl Session<'_> {
    /// Lets cargo choose a version: a lock file for a package that depends on nothing else.
    fn resolve(&self, request: &FetchRequest<'_>) -> Result<Locked, FetchError> {
        let mut first = None;
        for name in spellings(request.name) {
            self.write_package(&name, request)?;
            let output = self.cargo(["generate-lockfile"])?;
            if output.success() {
                return self.locked(&name).ok_or(FetchError::Nowhere);
            }
            first.get_or_insert_with(|| cargo_says(&output));
        }
        Err(FetchError::Cargo(first.unwrap_or_default()))
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
        let write = |file: &str, text: String| {
            let path = self.folder.join(file);
            fs::write(&path, text).map_err(|source| FetchError::Io { path, source })
        };
        write("lib.rs", String::new())?;
        write("Cargo.toml", format!("{head}{manifest}"))
    }

    fn locked(&self, name: &str) -> Option<Locked> {
        let lock = cargo_lock::Lockfile::load(self.folder.join("Cargo.lock")).ok()?;
        let ours = lock.packages.iter().find(|package| package.name.as_str() == PACKAGE)?;
        let wanted =
            ours.dependencies.iter().find(|found| same_crate(found.name.as_str(), name))?;
        let package = lock.packages.iter().find(|package| wanted.matches(package))?;
        Some(Locked {
            name: package.name.as_str().to_owned(),
            version: package.version.clone(),
            checksum: package.checksum.as_ref().map(ToString::to_string),
        })
    }

    /// Has the one crate downloaded; where that can't be, the whole tree of it.
    fn bring(&self, locked: &Locked) -> Result<Located, FetchError> {
        if let Some(located) = self.find(locked) {
            return Ok(located);
        }
        let spec = format!("{}@{}", locked.name, locked.version);
        let mut args = vec!["info".to_owned(), spec];
        if let Some(index) = self.index {
            args.extend(["--index".to_owned(), index_url(index).to_owned()]);
        }
        // What it thinks of the crate's manifest does not matter as long as the crate is there.
        self.cargo(args)?;
        if let Some(located) = self.find(locked) {
            return Ok(located);
        }
        let output = self.cargo(["metadata", "--format-version", "1"])?;
        if !output.success() {
            return Err(FetchError::Cargo(cargo_says(&output)));
        }
        self.find(locked).or_else(|| from_metadata(&output, locked)).ok_or(FetchError::Nowhere)
    }

    fn find(&self, locked: &Locked) -> Option<Located> {
        let home = self.fetcher.env.cargo_home()?;
        let Locked { name, version, checksum } = locked;
        let wanted = Wanted { name, version, index: self.index, checksum: checksum.as_deref() };
        registry::find(&home, self.fetcher.dirs, &wanted).ok()
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
            .cwd(self.folder)
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

/// The name as it is, then with one and the other character throughout.
fn spellings(name: &str) -> Vec<String> {
    let mut all = vec![name.to_owned()];
    for other in [name.replace('_', "-"), name.replace('-', "_")] {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// An index as cargo's manifests and options take it: the lock file marks git indexes.
fn index_url(index: &str) -> &str {
    index.strip_prefix("registry+").unwrap_or(index)
}

/// Whether cargo says that there is no crate of this name.
fn is_unknown(text: &str) -> bool {
    text.contains("could not find `") && text.contains(" in registry `")
}

/// What cargo said last, in one line.
fn cargo_says(output: &Output) -> String {
    let text = output.stderr_text();
    let error = text.find("error: ").map_or(text.as_str(), |at| &text[at + "error: ".len()..]);
    let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return format!("nothing ({:?})", output.status);
    }
    line.chars().take(400).collect()
}

/// The place that `cargo metadata` names: the one way to know a replaced source's.
fn from_metadata(output: &Output, locked: &Locked) -> Option<Located> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        version: Version,
        manifest_path: PathBuf,
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).ok()?;
    let found = metadata
        .packages
        .into_iter()
        .find(|package| package.name == locked.name && package.version == locked.version)?;
    Some(Located {
        name: found.name,
        version: found.version,
        dir: found.manifest_path.parent()?.to_path_buf(),
        how: How::Vendor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f207_what_cargo_info_prints_is_read() {
        let text = "serde_json #json #serde\nA format, version: none\nversion: 1.0.150 (latest \
                    1.0.154)\nlicense: MIT\nrepository: https://example.com/json\nfeatures:\n";
        let entry = RegistryEntry::parse("serde-json", text);
        assert_eq!(entry.name, "serde_json");
        assert_eq!(entry.version, Some(Version::new(1, 0, 150)));
        assert_eq!(entry.repository.as_deref(), Some("https://example.com/json"));
        let nothing = RegistryEntry { name: "x".to_owned(), version: None, repository: None };
        assert_eq!(RegistryEntry::parse("x", ""), nothing);
    }
}
