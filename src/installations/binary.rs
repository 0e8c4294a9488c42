//! `source = "binary"`: an archive or a bare executable by URL, known by its checksum.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::job::{Got, Job};
use super::{Root, Trouble};
use crate::fetch::http::{self, Limits};
use crate::files::{is_plain_name, open, private_folders, rename};
use crate::plugins::model::{Checksum, Runnable};
use crate::text::{SecretUrl, hex};

/// The largest file that is downloaded, in bytes.
const LARGEST: u64 = 300 * 1024 * 1024;
/// The longest a download may take.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// The file or the archive's files.
pub(super) fn get(
    job: &Job<'_>,
    url: &SecretUrl,
    version: Option<&str>,
    sums: &Checksum,
) -> Result<Got, Trouble> {
    let url: SecretUrl = expand(url.expose(), version).map_err(Trouble::Unusable)?.into();
    let sum = checksum(sums).map_err(Trouble::Unusable)?;
    let Some(short) = sum.get(..16) else { return Err(Trouble::Unusable(bad_sum(&sum))) };
    let dir = job.binaries().join(format!("sha256-{short}"));
    if !dir.is_dir() {
        job.need_network()?;
        job.say("Downloading", url.to_string());
        download(job, &url, &sum, &dir)?;
    }
    Ok(Got {
        root: Root::Tree(dir.clone()),
        dir: Some(dir),
        version: Some(sum),
        executable: None,
        stale: None,
    })
}

fn download(job: &Job<'_>, url: &SecretUrl, sum: &str, dir: &Path) -> Result<(), Trouble> {
    let binaries = job.binaries();
    let failed = Job::io(&binaries);
    private_folders(&binaries).map_err(&failed)?;
    let staging =
        tempfile::Builder::new().prefix(".new-").tempdir_in(&binaries).map_err(&failed)?;
    let file = staging.path().join("download");
    let mut out = Hashing { file: File::create(&file).map_err(&failed)?, hash: Sha256::new() };
    let limits = Limits { bytes: LARGEST, time: job.left().min(LONGEST) };
    http::download(url.expose(), &mut out, &limits).map_err(|error| {
        let problem = error.to_string();
        if job.left().is_zero() { Trouble::OutOfTime(problem) } else { Trouble::Failed(problem) }
    })?;
    let found = hex(&out.hash.finalize());
    drop(out.file);
    if found != sum {
        return Err(Trouble::Failed(format!(
            "the file at {url} is another one: its SHA-256 is {found}, the manifest says {sum}"
        )));
    }
    let name = url_name(url.expose());
    let tree = staging.path().join("tree");
    match kind(&name, &file).map_err(&failed)? {
        Kind::Archive => job.fetcher.unpack(&file, &name, &tree).map_err(Trouble::Failed)?,
        Kind::Unknown(what) => {
            return Err(Trouble::Unusable(format!(
                "{name} is {what}; only .tar.gz, .tgz, .tar and bare executables are unpacked"
            )));
        }
        Kind::Bare => {
            fs::create_dir(&tree).map_err(&failed)?;
            let bare = tree.join(bare_name(job, &name)?);
            rename(&file, &bare).map_err(&failed)?;
            make_executable(&bare).map_err(&failed)?;
        }
    }
    rename(&tree, dir).map_err(Job::io(dir))
}

struct Hashing {
    file: File,
    hash: Sha256,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

enum Kind {
    Archive,
    Bare,
    Unknown(&'static str),
}

/// What a file is, by its name and its first bytes.
fn kind(name: &str, file: &Path) -> io::Result<Kind> {
    let name = name.to_ascii_lowercase();
    if [".tar.gz", ".tgz", ".tar"].iter().any(|end| name.ends_with(end)) {
        return Ok(Kind::Archive);
    }
    let mut head = Vec::new();
    open(file)?.take(6).read_to_end(&mut head)?;
    let is = |magic: &[u8]| head.starts_with(magic);
    Ok(if is(b"PK\x03\x04") {
        Kind::Unknown("a zip archive")
    } else if is(b"\xfd7zXZ") {
        Kind::Unknown("compressed with xz")
    } else if is(b"\x28\xb5\x2f\xfd") {
        Kind::Unknown("compressed with zstd")
    } else if is(b"BZh") {
        Kind::Unknown("compressed with bzip2")
    } else if is(b"\x1f\x8b") {
        Kind::Unknown("compressed with gzip, and no .tar.gz by its name")
    } else {
        Kind::Bare
    })
}

/// A bare executable is called what the manifest calls it, else what its URL does.
fn bare_name(job: &Job<'_>, url_name: &str) -> Result<String, Trouble> {
    let name = match &job.installation.runnable {
        Some(Runnable::Executable(name) | Runnable::Script(name)) => name,
        Some(Runnable::Shell) | None => url_name,
    };
    if !is_plain_name(name) {
        return Err(Trouble::Unusable(format!(
            "the URL is that of a single file, so `{name}` can be no path inside an archive"
        )));
    }
    Ok(name.to_owned())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn url_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

fn checksum(sums: &Checksum) -> Result<String, String> {
    let sum = match sums {
        Checksum::One(sum) => sum,
        Checksum::ByTarget(sums) => sums.get(&target()).ok_or_else(|| {
            let known = sums.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("there is nothing for {} (`sha256` has {known})", target())
        })?,
    };
    let sum = sum.trim().to_ascii_lowercase();
    if sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(sum)
    } else {
        Err(bad_sum(&sum))
    }
}

fn bad_sum(sum: &str) -> String {
    format!("`sha256` must be 64 hex digits, not `{sum}`")
}

/// Puts values in the place of `{target}`, `{version}`, `{arch}` and `{os}`.
///
/// # Errors
/// A placeholder that has no value, for people.
pub(super) fn expand(text: &str, version: Option<&str>) -> Result<String, String> {
    let shown = SecretUrl::from(text);
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(format!("`{shown}` has a `{{` without a `}}`"));
        };
        out.push_str(before);
        match (name, version) {
            ("target", _) => out.push_str(&target()),
            ("arch", _) => out.push_str(std::env::consts::ARCH),
            ("os", _) => out.push_str(std::env::consts::OS),
            ("version", Some(version)) => out.push_str(version),
            ("version", None) => {
                return Err(format!("`{shown}` holds {{version}}, and there is no `version`"));
            }
            _ => {
                return Err(format!(
                    "`{shown}` holds {{{name}}}; known are {{target}}, {{version}}, {{arch}}, {{os}}"
                ));
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// The target triple that this program was built for, so far as its name follows from its parts.
pub(super) fn target() -> String {
    let arch = std::env::consts::ARCH;
    let environment = if cfg!(target_env = "musl") {
        "musl"
    } else if cfg!(target_env = "msvc") {
        "msvc"
    } else {
        "gnu"
    };
    let float = if cfg!(target_arch = "arm") { "eabihf" } else { "" };
    match std::env::consts::OS {
        "linux" => format!("{arch}-unknown-linux-{environment}{float}"),
        "macos" => format!("{arch}-apple-darwin"),
        "windows" => format!("{arch}-pc-windows-{environment}"),
        other => format!("{arch}-unknown-{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_11_placeholders_have_values_or_are_errors() {
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        let all = expand("v{version}/{target}/{arch}-{os}.tgz", Some("1.2"));
        assert_eq!(all, Ok(format!("v1.2/{}/{arch}-{os}.tgz", target())));
        assert_eq!(expand("plain", None), Ok("plain".to_owned()));
        assert!(expand("{version}", None).is_err_and(|error| error.contains("no `version`")));
        assert!(expand("{name}", None).is_err_and(|error| error.contains("known are {target}")));
        assert!(expand("{target", None).is_err());
    }

    #[test]
    fn decision_11_checksums_are_one_or_one_a_target() {
        let sum = "AB".repeat(32);
        assert_eq!(checksum(&Checksum::One(sum.clone())), Ok("ab".repeat(32)));
        assert!(checksum(&Checksum::One("abc".to_owned())).is_err());
        assert!(checksum(&Checksum::One("zz".repeat(32))).is_err());
        let here = [(target(), sum.clone())].into_iter().collect();
        assert!(checksum(&Checksum::ByTarget(here)).is_ok());
        let there = [("mips-unknown-none".to_owned(), sum)].into_iter().collect();
        let error = checksum(&Checksum::ByTarget(there)).expect_err("is not there");
        assert!(error.contains(&target()) && error.contains("mips-unknown-none"));
    }
}
