//! Installations with a cargo, a server and repositories of the tests' own.

mod binaries;
mod cargo;
mod hooks;
mod order;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::fetcher::Tree;
use super::stamp::Stamp;
use super::*;
use crate::Symposium;
use crate::config::Environment;
use crate::plugins::model::{
    Gate, Hook, InstallSource, Installation, OnFailure, Plugin, Runnable, Subcommand,
};

/// A cargo that notes how it was called and does what the files beside it say.
const CARGO: &str = r#"#!/bin/sh
echo "$PWD|${RUSTUP_TOOLCHAIN-}${CARGO_TARGET_DIR-}|$*" >>"$FAKE/log"
command=$1
shift
while [ $# -gt 0 ]; do
    case $1 in
        --root) root=$2; shift ;;
        --version) version=$2; shift ;;
        --git) source="git+$2#$(cat "$FAKE/commit")"; shift ;;
        -*) ;;
        *) crate=$1 ;;
    esac
    shift
done
[ ! -e "$FAKE/sleep" ] || sleep "$(cat "$FAKE/sleep")"
case $command in
    info) cat "$FAKE/info"; exit ;;
    binstall) [ -e "$FAKE/binstall" ] || exit 94 ;;
esac
if [ -e "$FAKE/fail" ]; then
    echo "   Compiling $crate" >&2
    echo "error: it does not compile" >&2
    exit 101
fi
root=${root-$HOME/.cargo}
[ "$version" ] || version=$(cat "$FAKE/newest")
mkdir -p "$root/bin"
for program in $(cat "$FAKE/programs" 2>/dev/null || echo "$crate"); do
    printf '#!/bin/sh\necho %s %s\n' "$program" "$version" >"$root/bin/$program"
    chmod +x "$root/bin/$program"
done
printf '[v1]\n"%s %s (%s)" = []\n' "$crate" "$version" "${source-registry+x}" >"$root/.crates.toml"
"#;

/// A home with a fake cargo in it.
struct House {
    dir: tempfile::TempDir,
    sym: Symposium,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path();
        for folder in ["bin", "work", "plugin", "source"] {
            fs::create_dir(root.join(folder)).expect("creates");
        }
        program(&root.join("bin/cargo"), CARGO);
        let mut sym = Symposium::from_dir(&root.join("home"));
        let path = format!("{}:/usr/bin:/bin", root.join("bin").display());
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        sym.env = Environment::with(
            root.join("work"),
            [
                ("HOME", text(root.join("home"))),
                ("PATH", path),
                ("FAKE", text(root.to_path_buf())),
                ("RUSTUP_TOOLCHAIN", "the-checkouts".to_owned()),
                ("CARGO_TARGET_DIR", "/checkout/target".to_owned()),
            ],
        );
        Self { dir, sym }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("writes");
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("is there");
    }

    /// What the fake cargo was asked, since the last time.
    fn calls(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        let _ = fs::remove_file(self.path("log"));
        let clean = |line: &str| {
            // Outside of the workspace, and nothing of whoever started us.
            let call = line.strip_prefix("/||").unwrap_or_else(|| panic!("{line}"));
            let mut words: Vec<&str> = call.split(' ').collect();
            if let Some(at) = words.iter().position(|word| *word == "--root") {
                words[at + 1] = "ROOT";
            }
            words.join(" ")
        };
        log.lines().map(clean).collect()
    }

    fn newest(&self, version: &str) {
        self.write("newest", version);
        let info =
            format!("rg #x\nsearches files\nversion: {version}\nrepository: https://r.test\n");
        self.write("info", &info);
    }

    fn binaries(&self) -> PathBuf {
        self.sym.dirs.binaries()
    }

    fn plugin(&self, installations: Vec<Installation>) -> Plugin {
        Plugin {
            name: "plugin".to_owned(),
            version: None,
            description: None,
            package: None,
            source: "test".to_owned(),
            source_root: self.path("source"),
            manifest: self.path("source/plugin/SYMPOSIUM.toml"),
            dir: self.path("source/plugin"),
            gate: Gate::default(),
            installations,
            skills: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            subcommands: Vec::new(),
        }
    }

    fn acquire(&self, plugin: &Plugin, name: &str, mode: Mode) -> Result<Acquired, InstallError> {
        Acquirer::new(&self.sym, &self.fetcher()).acquire(plugin, name, mode)
    }

    fn probe(&self, plugin: &Plugin, name: &str) -> Option<Acquired> {
        Acquirer::new(&self.sym, &self.fetcher()).probe(plugin, name)
    }

    fn fetcher(&self) -> Repositories {
        Repositories { dir: self.path("repositories") }
    }

    /// Makes the record of an installation older.
    fn age(&self, plugin: &Plugin, name: &str, by: Duration) {
        let path = Stamp::path(&self.binaries(), plugin, name);
        let mut stamp = Stamp::load(&path);
        stamp.checked_at -= by.as_secs().min(stamp.checked_at);
        if let Some(failure) = &mut stamp.failure {
            failure.at -= by.as_secs();
        }
        stamp.save(&path);
    }
}

/// Repositories that are folders: `<url>/<commit>`, the last in order is the newest.
struct Repositories {
    dir: PathBuf,
}

impl Fetcher for Repositories {
    fn checkout(&self, url: &str, _refresh: bool, _limit: Duration) -> Result<Tree, String> {
        let mut commits: Vec<_> = fs::read_dir(self.dir.join(url))
            .map_err(|error| error.to_string())?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        commits.sort();
        let commit = commits.pop().ok_or("it is empty")?;
        Ok(Tree { dir: self.dir.join(url).join(&commit), commit })
    }

    fn unpack(&self, archive: &Path, name: &str, into: &Path) -> Result<(), String> {
        assert!(name.ends_with(".tar.gz"), "{name}");
        let file = fs::File::open(archive).map_err(|error| error.to_string())?;
        let reader = flate2::read::GzDecoder::new(file);
        tar::Archive::new(reader).unpack(into).map_err(|error| error.to_string())
    }
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("has one")).expect("creates");
    fs::write(path, text).expect("writes");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("sets the mode");
}

fn bare(name: &str) -> Installation {
    Installation {
        name: name.to_owned(),
        source: None,
        install_commands: Vec::new(),
        requirements: Vec::new(),
        runnable: None,
        args: None,
    }
}

fn crate_of(name: &str, version: Option<&str>) -> Installation {
    let source = InstallSource::Cargo {
        krate: name.to_owned(),
        version: version.map(str::to_owned),
        git: None,
        global: false,
    };
    Installation { source: Some(source), ..bare(name) }
}

fn executable(installation: Installation, name: &str) -> Installation {
    Installation { runnable: Some(Runnable::Executable(name.to_owned())), ..installation }
}

fn script(installation: Installation, path: &str) -> Installation {
    Installation { runnable: Some(Runnable::Script(path.to_owned())), ..installation }
}

fn said(result: Result<Acquired, InstallError>) -> String {
    result.expect_err("must fail").to_string()
}

fn path_of(acquired: &Acquired) -> &Path {
    &acquired.program.as_ref().expect("has a program").path
}

const HOUR: Duration = Duration::from_secs(60 * 60);
