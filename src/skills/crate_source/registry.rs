//! Cargo's registry folders (The Cargo Book, "Cargo Home"): `registry/src/<registry>/` holds
//! unpacked crates, `registry/cache/<registry>/` the `.crate` files they come from. `<registry>` is
//! the host of the index and a hash.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;

use super::{How, Located, Unusable, folders, package_id, split_name};
use crate::config::Dirs;
use crate::fetch::archive::{
    ArchiveError, Format, Layout, Limits, sha256_file, unpack, verify_sha256,
};
use crate::files::{Limit, Lock, open, read_optional, write_atomic};
use crate::text::spellings;

/// Cargo writes it when a crate is unpacked whole.
const COMPLETE: &str = ".cargo-ok";
/// The host of crates.io's index, and the folders of the git repository that it was before: another
/// folder of that host belongs to somebody else's registry.
const CRATES_IO: &str = "index.crates.io";
const CRATES_IO_IN_GIT: [&str; 2] = ["github.com-1ecc6299db9ec823", "github.com-25cdd57fae9f0462"];
/// How long another process may take to unpack the same crate.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// A crate of a registry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub name: &'a str,
    pub version: &'a Version,
    /// The index that cargo asks: that of the lock file, or what the configuration has in its place;
    /// `None` for crates.io.
    pub index: Option<&'a str>,
    /// SHA-256 of the `.crate` file in hex.
    pub checksum: Option<&'a str>,
}

impl Wanted<'_> {
    /// Whether a registry's folder is that of the index. That of a mirror has another name; where
    /// cargo has never been to crates.io itself, every folder may be a mirror's.
    fn is_home(&self, registry: &Path, mirrored: bool) -> bool {
        match self.index {
            None => mirrored || is_crates_io(registry),
            Some(index) => index_host(index) == Some(host_of(registry)),
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

/// `index.crates.io-1949cf8c6b5b557f` without the hash.
fn host_of(registry: &Path) -> &str {
    let folder = registry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    folder.rsplit_once('-').map_or(folder, |(host, _)| host)
}

fn is_crates_io(registry: &Path) -> bool {
    let folder = registry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    host_of(registry) == CRATES_IO || CRATES_IO_IN_GIT.contains(&folder)
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
        let (mut ordered, others): (Vec<_>, Vec<_>) =
            registry_dirs.iter().partition(|folder| wanted.is_home(folder, self.mirrored));
        ordered.extend(others);
        ordered
    }

    /// Whether what the folder `registry` has is the crate that is wanted. The lock file's checksum
    /// decides; where it has none, or there is no `.crate` file to hold it against, the registry must
    /// be the crate's own beyond doubt.
    ///
    /// # Errors
    /// It is another crate, or can't be told from one.
    fn is_the_one(
        &self,
        registry: &Path,
        dirs: &Dirs,
        wanted: &Wanted<'_>,
    ) -> Result<bool, Unusable> {
        let cache = self.dir.join("cache").join(registry.file_name().unwrap_or_default());
        match (wanted.checksum, wanted.in_registry(&cache, ".crate")) {
            (Some(checksum), Some((_, file))) => verify(&file, checksum, dirs).map(|()| true),
            (Some(_), None) => Ok(wanted.index.is_none() && is_crates_io(registry)),
            (None, _) if !wanted.is_home(registry, self.mirrored) => Ok(false),
            (None, _) if !is_crates_io(registry) && self.has_rival(registry) => {
                Err(Unusable::from(format!(
                    "there are several registries of {}, and Cargo.lock has no checksum to tell by",
                    host_of(registry)
                )))
            }
            (None, _) => Ok(true),
        }
    }

    /// Whether there is another registry of the same host.
    fn has_rival(&self, registry: &Path) -> bool {
        let mut all = self.sources.iter().chain(&self.caches);
        let name = registry.file_name();
        all.any(|other| other.file_name() != name && host_of(other) == host_of(registry))
    }

    /// Finds a crate.
    ///
    /// # Errors
    /// `Some` with the reason when it is there and can't be used.
    pub(super) fn find(
        &self,
        dirs: &Dirs,
        wanted: &Wanted<'_>,
    ) -> Result<Located, Option<Unusable>> {
        let mut problem = None;
        let mut incomplete = None;
        for source in self.in_order(&self.sources, wanted) {
            let Some((name, dir)) = wanted.in_registry(source, "") else { continue };
            match self.is_the_one(source, dirs, wanted) {
                Ok(true) if dir.join(COMPLETE).is_file() => {
                    return Ok(wanted.located(name, dir, How::RegistrySource));
                }
                Ok(true) => incomplete = incomplete.or(Some((name, dir))),
                Ok(false) => {}
                Err(reason) => problem = problem.or(Some(reason)),
            }
        }
        for cache in self.in_order(&self.caches, wanted) {
            let Some((name, file)) = wanted.in_registry(cache, ".crate") else { continue };
            match self.is_the_one(cache, dirs, wanted) {
                Ok(true) => match unpacked(&file, &name, dirs, wanted) {
                    Ok(dir) => return Ok(wanted.located(name, dir, How::RegistryCache)),
                    Err(found) => problem = Some(found),
                },
                Ok(false) => {}
                Err(reason) => problem = problem.or(Some(reason)),
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

    /// What changes when cargo unpacks a crate into its folder of that name.
    pub(super) fn would_be_in(&self, folder: &str) -> Vec<PathBuf> {
        let complete = self.sources.iter().map(|source| source.join(folder).join(COMPLETE));
        // Another registry may come first.
        complete.chain([self.dir.join("src")]).collect()
    }

    /// The versions of a crate of the registry at `index`, in either form.
    pub(super) fn versions(&self, name: &str, index: Option<&str>) -> Vec<(String, Version)> {
        let any = Version::new(0, 0, 0);
        let of_index = Wanted { name, version: &any, index, checksum: None };
        let mut found = Vec::new();
        let registry_dirs = self.sources.iter().chain(&self.caches);
        for folder in registry_dirs.filter(|folder| of_index.is_home(folder, self.mirrored)) {
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
///
/// # Errors
/// It is there and can't be used, with the reason.
pub(super) fn in_folder(
    folder: &Path,
    dirs: &Dirs,
    wanted: &Wanted<'_>,
) -> Result<Option<Located>, Unusable> {
    let found = wanted.in_registry(folder, ".crate").filter(|_| wanted.checksum.is_some());
    let Some((name, file)) = found else { return Ok(None) };
    let dir = unpacked(&file, &name, dirs, wanted)?;
    Ok(Some(wanted.located(name, dir, How::RegistryCache)))
}

/// Checks a `.crate` file against the lock file's checksum. Hundreds are asked about in each run, so
/// a file that was found right is not read again while its size and time are the same.
fn verify(file: &Path, checksum: &str, dirs: &Dirs) -> Result<(), Unusable> {
    let broken = |error: std::io::Error| format!("{}: {error}", file.display());
    if !is_sha256(checksum) {
        return Err(format!("`{}` in Cargo.lock is no checksum", checksum.escape_debug()).into());
    }
    let metadata = fs::metadata(file).map_err(broken)?;
    let modified = metadata.modified().map_err(broken)?;
    let state = format!("{}\n{}\n{modified:?}\n", file.display(), metadata.len());
    let note = dirs.cache().join("verified").join(checksum.to_ascii_lowercase());
    let known = read_optional(&note, Limit::LINE);
    if known.is_ok_and(|known| known.as_deref() == Some(state.as_bytes())) {
        return Ok(());
    }
    let found = sha256_file(file).map_err(broken)?;
    if !found.eq_ignore_ascii_case(checksum) {
        return Err(Unusable::other_file(file, &found, checksum));
    }
    if let Err(error) = write_atomic(&note, state.as_bytes()) {
        tracing::debug!("{}: {error}", note.display());
    }
    Ok(())
}

fn is_sha256(checksum: &str) -> bool {
    checksum.len() == 64 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The `.crate` file's content in our own cache: unpacked once, whole or not at all.
fn unpacked(
    file: &Path,
    name: &str,
    dirs: &Dirs,
    wanted: &Wanted<'_>,
) -> Result<PathBuf, Unusable> {
    let broken = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let folder = format!("{name}-{}", wanted.version);
    // Half of the checksum tells any two files apart, also those that were made to be confused.
    let sum = match wanted.checksum.filter(|checksum| is_sha256(checksum)) {
        Some(checksum) => checksum.to_ascii_lowercase(),
        None => sha256_file(file).map_err(|error| broken(&error))?,
    };
    let place = format!("{folder}-{}", &sum[..32]);
    let target = dirs.crates().join(&place);
    if target.is_dir() {
        return Ok(target);
    }
    let lock = dirs.locks().join(format!("crate-{place}.lock"));
    let _lock = Lock::acquire(&lock, LOCK_TIMEOUT).map_err(|error| broken(&error))?;
    if target.is_dir() {
        return Ok(target);
    }
    if let Some(checksum) = wanted.checksum {
        match verify_sha256(file, checksum) {
            Err(ArchiveError::Checksum { expected, found }) => {
                return Err(Unusable::other_file(file, &found, &expected));
            }
            verified => verified.map_err(|error| broken(&error))?,
        }
    }
    let reader = open(file).map_err(|error| broken(&error))?;
    let layout = Layout::InFolder(&folder);
    unpack(reader, Format::TarGz, &target, layout, &Limits::default())
        .map_err(|error| broken(&error))?;
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
