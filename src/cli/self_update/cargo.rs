//! What cargo is asked for: the newest version, and to install it.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use semver::Version;

use crate::Symposium;
use crate::config::Environment;
use crate::files::{private_folders, without_its_name};
use crate::process::{Child, Output, Status, find_program, run, run_inherited};

const PACKAGE: &str = "symposium";
/// Variables that would change what is built, or where to.
const UNWANTED: [&str; 12] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_INSTALL_ROOT",
    "CARGO_MANIFEST_PATH",
    "CARGO_RESOLVER_LOCKFILE_PATH",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_UNSTABLE_BUILD_STD",
];

/// A published version: no pre-release, not yanked, and one that this compiler can build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) version: Version,
    /// Where its sources are, by its manifest.
    pub(super) repository: Option<String>,
}

/// Cargo, in an empty folder of ours and within a time.
#[derive(Debug)]
pub(super) struct Cargo<'a> {
    program: OsString,
    env: &'a Environment,
    folder: tempfile::TempDir,
    deadline: Instant,
}

impl<'a> Cargo<'a> {
    /// Cargo, for `limit` in all.
    ///
    /// The folder keeps the configuration and the toolchain of a checkout out of it.
    pub(super) fn new(sym: &'a Symposium, limit: Duration) -> Result<Self, String> {
        let parent = sym.dirs.cache().join("self-update");
        let folder =
            private_folders(&parent).and_then(|()| tempfile::tempdir_in(&parent)).map_err(
                |error| format!("can't write {}: {}", parent.display(), without_its_name(error)),
            )?;
        let deadline = Instant::now() + limit;
        Ok(Self { program: program(&sym.env), env: &sym.env, folder, deadline })
    }

    fn child(&self) -> Child {
        let mut child = Child::new(&self.program)
            .in_environment(self.env)
            .cwd(self.folder.path())
            .limit(self.deadline.saturating_duration_since(Instant::now()));
        for name in UNWANTED {
            child = child.env_remove(name);
        }
        // When cargo started us: the toolchain of the folder that we were started in.
        if self.env.has("CARGO") {
            child = child.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        }
        child
    }

    /// What a question to cargo answers.
    fn ask(&self, args: &[&str]) -> Result<Output, String> {
        let shown = format!("cargo {}", args.join(" "));
        let child = self.child().args(args.iter().copied()).env("CARGO_TERM_COLOR", "never");
        if child.limit.is_zero() {
            return Err(format!("there was no time for `{shown}`"));
        }
        let output = run(&child).map_err(|error| error.to_string())?;
        match output.status {
            Status::Exited(0) => Ok(output),
            Status::TimedOut => Err(format!("`{shown}` took too long")),
            status => {
                let folder = self.folder.path().display().to_string();
                let said = output.said().replace(&format!("{folder}/"), "");
                let said = said.replace(&folder, "an empty folder");
                let said = if said.is_empty() { status.to_string() } else { said };
                Err(format!("`{shown}`: {}", said.replace('\n', "\n  ")))
            }
        }
    }

    /// The newest version in the registry with this index (`None`: crates.io, or what the user's
    /// configuration puts in its place).
    ///
    /// `cargo info` knows mirrors but may name a pre-release; `cargo search` knows neither mirrors
    /// nor compilers; `cargo add` needs a package, and no other registry than crates.io. Only `cargo
    /// info` tells whose package it is, so it has the last word.
    pub(super) fn newest(&self, index: Option<&str>) -> Result<Published, String> {
        let mut problems = Vec::new();
        match self.info(PACKAGE, index) {
            Ok(newest) if newest.version.pre.is_empty() => return Ok(newest),
            Ok(newest) => problems.push(format!("{} is a pre-release", newest.version)),
            Err(problem) => problems.push(problem),
        }
        let steps: [&dyn Fn() -> Result<Version, String>; 2] =
            [&|| self.search(index), &|| self.add(index)];
        for step in steps {
            let found = step().and_then(|version| match version.pre.is_empty() {
                true => self.info(&format!("{PACKAGE}@{version}"), index),
                false => Err(format!("{version} is a pre-release")),
            });
            match found {
                Ok(newest) => return Ok(newest),
                Err(problem) => problems.push(problem),
            }
        }
        problems.dedup();
        Err(problems.join("; "))
    }

    fn info(&self, package: &str, index: Option<&str>) -> Result<Published, String> {
        let place = match index {
            Some(index) => ["--index", index],
            // Said outright, because cargo refuses to choose when a mirror takes its place.
            None => ["--registry", "crates-io"],
        };
        let output = self.ask(&["info", package, place[0], place[1]])?;
        parse_info(&output.stdout_text()).ok_or_else(|| "`cargo info` names no version".to_owned())
    }

    fn search(&self, index: Option<&str>) -> Result<Version, String> {
        let mut args = vec!["search", PACKAGE, "--limit", "1"];
        args.extend(index.iter().flat_map(|index| ["--index", index]));
        let output = self.ask(&args)?;
        parse_search(&output.stdout_text()).ok_or_else(|| "`cargo search` finds none".to_owned())
    }

    fn add(&self, index: Option<&str>) -> Result<Version, String> {
        if index.is_some() {
            return Err("`cargo add` takes no index".to_owned());
        }
        let write = |name: &str, text: &str| std::fs::write(self.folder.path().join(name), text);
        let manifest = "[package]\nname = \"symposium-newest\"\nversion = \"0.0.0\"\n\
                        edition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n";
        write("Cargo.toml", manifest)
            .and_then(|()| write("lib.rs", ""))
            .map_err(|error| error.to_string())?;
        let output = self.ask(&["add", PACKAGE, "--dry-run"])?;
        parse_add(&output.stderr_text()).ok_or_else(|| "`cargo add` names no version".to_owned())
    }

    /// Installs this very version, whose package is known to be ours, with cargo's talk on our
    /// streams.
    pub(super) fn install(&self, version: &Version, index: Option<&str>) -> Result<Status, String> {
        let version = version.to_string();
        let args = ["install", PACKAGE, "--force", "--locked", "--version", version.as_str()];
        let mut child = self.child().args(args);
        if let Some(index) = index {
            child = child.args(["--index", index]);
        }
        run_inherited(&child).map_err(|error| error.to_string())
    }

    /// What the program at `exe` says of its version.
    pub(super) fn version_of(&self, exe: &Path) -> Option<Version> {
        let child = Child::new(exe)
            .args(["--version"])
            .in_environment(self.env)
            .cwd(self.folder.path())
            .limit(Duration::from_secs(10));
        let output = run(&child).ok().filter(Output::success)?;
        let text = output.stdout_text();
        text.split_whitespace().nth(1).and_then(|version| Version::parse(version).ok())
    }
}

/// The cargo to run: `SYMPOSIUM_CARGO`, else the one on `PATH` (a new version is built with the
/// user's own toolchain, not with a checkout's), else the one that started us.
fn program(env: &Environment) -> OsString {
    if let Some(program) = env.var("SYMPOSIUM_CARGO") {
        return program.to_owned();
    }
    let path = env.var("PATH").unwrap_or_default();
    let on_path = find_program("cargo".as_ref(), path, Path::new(""));
    let started_us = || env.var("CARGO").map(ToOwned::to_owned);
    on_path.map(Into::into).or_else(started_us).unwrap_or_else(|| "cargo".into())
}

/// The lines `version: 1.2.3` (perhaps with more behind it) and `repository: …`. What is above them is
/// the author's text.
fn parse_info(text: &str) -> Option<Published> {
    let value = |name: &str| text.lines().rev().find_map(|line| line.strip_prefix(name));
    let version = value("version:")?.split_whitespace().next()?;
    let repository = value("repository:").map(|url| url.trim().to_owned());
    Some(Published { version: Version::parse(version).ok()?, repository })
}

/// The line `symposium = "1.2.3"    # description`; other crates may stand before it.
fn parse_search(text: &str) -> Option<Version> {
    text.lines().find_map(|line| {
        let (name, rest) = line.split_once('=')?;
        let version = rest.trim().strip_prefix('"')?.split('"').next()?;
        (name.trim() == PACKAGE).then(|| Version::parse(version).ok()).flatten()
    })
}

/// `Adding symposium v1.2.3 to dependencies`, perhaps after `ignoring symposium@2.0.0 (which …)`.
fn parse_add(text: &str) -> Option<Version> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("Adding ")?.strip_prefix(PACKAGE)?;
        let version = rest.strip_prefix(" v")?.split(' ').next()?;
        Version::parse(version).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f211_what_cargo_info_says() {
        let page = |lines: &str| {
            parse_info(&format!("symposium #ai\nTeach agents\n{lines}\nlicense: MIT\n"))
        };
        let published = |version: &str, repository: Option<&str>| {
            let version = Version::parse(version).expect("a version");
            Some(Published { version, repository: repository.map(str::to_owned) })
        };
        for line in [
            "version: 0.3.0",
            "version: 0.3.0 (latest 0.4.0)",
            "version: 0.3.0 (latest 0.4.0 from registry `x`)",
            "version: 0.3.0 (from registry `x`)",
        ] {
            assert_eq!(page(line), published("0.3.0", None), "{line}");
        }
        let repository = "https://g.example/s";
        let lines = format!("version: 0.3.0\nrepository: {repository}");
        assert_eq!(page(&lines), published("0.3.0", Some(repository)));
        // A description in several lines.
        let lines = format!("version: 9.0.0\nrepository: https://x.example\n{lines}");
        assert_eq!(page(&lines), published("0.3.0", Some(repository)));
        assert_eq!(page("versions: many"), None);
    }

    #[test]
    fn f211_what_cargo_search_says() {
        let text = "symposium-hook = \"9.0.0\"    # not it\nsymposium = \"0.3.1\"    # Teach\n";
        assert_eq!(parse_search(text), Some(Version::new(0, 3, 1)));
        assert_eq!(parse_search("... and 3 crates more\n"), None);
    }

    #[test]
    fn f211_what_cargo_add_says() {
        let text = "    Updating crates.io index\nwarning: ignoring symposium@0.5.0 (which requires \
                    rustc 1.999) as it is incompatible\n      Adding symposium v0.4.0 to dependencies\n";
        assert_eq!(parse_add(text), Some(Version::new(0, 4, 0)));
        assert_eq!(parse_add("      Adding symposium-hook v0.4.0 to dependencies"), None);
    }
}
