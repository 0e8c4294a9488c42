//! Cargo's registry folders (The Cargo Book, "Cargo Home"): `registry/src/<registry>/` holds
//! unpacked crates, `registry/cache/<registry>/` the `.crate` files they come from. `<registry>` is
//! the host of the index and a hash.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;

use super::{How, Located, folders, package_id, split_name};
use crate::config::Dirs;
use crate::fetch::archive::{Format, Layout, Limits, unpack, verify_sha256};
use crate::files::{Lock, open};
use crate::text::spellings;

/// Cargo writes it when a crate is unpacked whole.
const COMPLETE: &str = ".cargo-ok";
/// Hosts of crates.io's own indexes.
const CRATES_IO: [&str; 2] = ["index.crates.io", "github.com"];
/// How long another process may take to unpack the same crate.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// A crate of a registry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub name: &'a str,
    pub version: &'a Version,
    /// The index as in the lock file; `None` for crates.io.
    pub index: Option<&'a str>,
    /// SHA-256 of the `.crate` file in hex.
    pub checksum: Option<&'a str>,
}

impl Wanted<'_> {
    /// Whether a registry's folder is that of the index. That of a mirror has another name; where
    /// cargo has never been to crates.io itself, every folder may be a mirror's.
    fn is_home(&self, registry: &Path, mirrored: bool) -> bool {
        let folder = registry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let host = folder.rsplit_once('-').map_or(folder, |(host, _)| host);
        match self.index {
            None => mirrored || CRATES_IO.contains(&host),
            Some(index) => index_host(index) == Some(host),
        }
    }

    /// The crate's folder or file in `registry`, in either spelling of its name.
    fn in_registry(&self, registry: &Path, suffix: &str) -> Option<(String, PathBuf)> {
        spellings(self.name).into_iter().find_map(|name| {
            let path = registry.join(format!("{name}-{}{suffix}", self.version));
            path.exists().then_some((name, path))
        })
    }

    fn located(&self, name: String, dir: PathBuf, how: How) -> Located {
        Located { name, version: self.version.clone(), dir, how }
    }
}

/// The folders of registries that cargo has. Hundreds of crates are looked for in them.
#[derive(Debug)]
pub(super) struct RegistryDirs {
    /// Cargo's `registry` folder.
    dir: PathBuf,
    /// With unpacked crates.
    sources: Vec<PathBuf>,
    /// With `.crate` files.
    caches: Vec<PathBuf>,
    /// Whether none of them belongs to crates.io itself.
    mirrored: bool,
}

fn index_host(index: &str) -> Option<&str> {
    let (_, rest) = index.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(host.split(':').next().unwrap_or(host))
}

impl RegistryDirs {
    pub(super) fn of(home: &Path) -> Self {
        let dir = home.join("registry");
        let (sources, caches) = (folders(&dir.join("src")), folders(&dir.join("cache")));
        let any = Version::new(0, 0, 0);
        let of_crates_io = Wanted { name: "", version: &any, index: None, checksum: None };
        let mut all = sources.iter().chain(&caches);
        let mirrored = !all.any(|dir| of_crates_io.is_home(dir, false));
        Self { dir, sources, caches, mirrored }
    }

    /// Those of the crate's own registry first.
    fn in_order<'s>(&self, registry_dirs: &'s [PathBuf], wanted: &Wanted<'_>) -> Vec<&'s PathBuf> {
        let mut registry_dirs: Vec<_> = registry_dirs.iter().collect();
        registry_dirs.sort_by_key(|folder| !wanted.is_home(folder, self.mirrored));
        registry_dirs
    }

    /// Finds a crate. Where the registry is another than the index's own, a mirror or a stranger,
    /// the `.crate` file must have the checksum of the lock file.
    ///
    /// # Errors
    /// `Some` with the reason when it is there and can't be used.
    pub(super) fn find(&self, dirs: &Dirs, wanted: &Wanted<'_>) -> Result<Located, Option<String>> {
        let mut problem = None;
        let mut incomplete = None;
        for source in self.in_order(&self.sources, wanted) {
            let Some((name, dir)) = wanted.in_registry(source, "") else { continue };
            let cache = self.dir.join("cache").join(source.file_name().unwrap_or_default());
            let known = wanted.is_home(source, self.mirrored) || is_the_one(&cache, wanted);
            if !known {
                continue;
            }
            if dir.join(COMPLETE).is_file() {
                return Ok(wanted.located(name, dir, How::RegistrySource));
            }
            incomplete.get_or_insert((name, dir));
        }
        for cache in self.in_order(&self.caches, wanted) {
            let Some((name, file)) = wanted.in_registry(cache, ".crate") else { continue };
            if wanted.checksum.is_none() && !wanted.is_home(cache, self.mirrored) {
                continue;
            }
            match unpacked(&file, &name, dirs, wanted) {
                Ok(dir) => return Ok(wanted.located(name, dir, How::RegistryCache)),
                Err(reason) => problem = Some(format!("{}: {reason}", file.display())),
            }
        }
        // Sources that something else than cargo put there are whole if their manifest is.
        if let Some((name, dir)) = incomplete
            && package_id(&dir).is_some_and(|id| id.version.as_ref() == Some(wanted.version))
        {
            return Ok(wanted.located(name, dir, How::RegistrySource));
        }
        Err(problem)
    }

    /// The versions of a crate of crates.io, in either form.
    pub(super) fn versions(&self, name: &str) -> Vec<(String, Version)> {
        let any = Version::new(0, 0, 0);
        let of_crates_io = Wanted { name, version: &any, index: None, checksum: None };
        let mut found = Vec::new();
        let registry_dirs = self.sources.iter().chain(&self.caches);
        for folder in registry_dirs.filter(|folder| of_crates_io.is_home(folder, self.mirrored)) {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            found.extend(names.filter_map(|entry| {
                split_name(entry.strip_suffix(".crate").unwrap_or(&entry), name)
            }));
        }
        found.sort_by(|one, other| one.1.cmp(&other.1));
        found.dedup();
        found
    }
}

/// A crate in a folder of `.crate` files, cargo's "local registry"; it has to have the checksum of
/// the lock file.
pub(super) fn in_folder(folder: &Path, dirs: &Dirs, wanted: &Wanted<'_>) -> Option<Located> {
    let (name, file) = wanted.in_registry(folder, ".crate")?;
    wanted.checksum?;
    let dir = unpacked(&file, &name, dirs, wanted).ok()?;
    Some(wanted.located(name, dir, How::RegistryCache))
}

/// Whether the `.crate` file in `cache` has the checksum that is wanted.
fn is_the_one(cache: &Path, wanted: &Wanted<'_>) -> bool {
    let file = wanted.in_registry(cache, ".crate");
    wanted.checksum.is_some_and(|checksum| {
        file.is_some_and(|(_, file)| verify_sha256(&file, checksum).is_ok())
    })
}

/// The `.crate` file's content in our own cache: unpacked once, whole or not at all.
fn unpacked(file: &Path, name: &str, dirs: &Dirs, wanted: &Wanted<'_>) -> Result<PathBuf, String> {
    let folder = format!("{name}-{}", wanted.version);
    let hash = wanted.checksum.and_then(|sum| sum.get(..8));
    let place = match (hash, wanted.index) {
        (Some(hash), _) => format!("{folder}-{}", hash.to_ascii_lowercase()),
        (None, Some(index)) => {
            format!("{folder}-{}", &crate::fetch::archive::sha256_hex(index.as_bytes())[..8])
        }
        (None, None) => folder.clone(),
    };
    let target = dirs.crates().join(&place);
    if target.is_dir() {
        return Ok(target);
    }
    let lock = dirs.locks().join(format!("crate-{place}.lock"));
    let _lock = Lock::acquire(&lock, LOCK_TIMEOUT).map_err(|error| error.to_string())?;
    if target.is_dir() {
        return Ok(target);
    }
    if let Some(checksum) = wanted.checksum {
        verify_sha256(file, checksum).map_err(|error| error.to_string())?;
    }
    let reader = open(file).map_err(|error| error.to_string())?;
    let layout = Layout::InFolder(&folder);
    unpack(reader, Format::TarGz, &target, layout, &Limits::default())
        .map_err(|error| error.to_string())?;
    Ok(target)
}

/// Names of crates that cargo has met: the files of its index caches, to find what a misspelt name
/// was meant to be. (The Cargo Book, "Cargo Home": `registry/index/<registry>/.cache`.)
pub(crate) fn known_names(home: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for index in folders(&home.join("registry").join("index")) {
        let files = walkdir::WalkDir::new(index.join(".cache")).max_depth(3).into_iter();
        let files = files.filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
        names.extend(files.filter_map(|entry| entry.file_name().to_str().map(str::to_owned)));
    }
    names.sort();
    names.dedup();
    names
}
