//! Which version of a crate.

use std::fmt;
use std::path::Path;

use semver::{Op, Version, VersionReq};

use super::super::Trouble;
use super::super::job::Job;
use crate::files::{Limit, read_text};
use crate::report::fit;

/// What the manifest wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Requested {
    /// This one and no other.
    Exact(Version),
    /// The newest of these.
    Requirement(VersionReq),
    /// The newest that is no pre-release.
    Newest,
}

impl Requested {
    /// As `cargo install --version` reads it: a whole version means just that one.
    pub(super) fn parse(text: Option<&str>) -> Result<Self, String> {
        let Some(text) = text.map(str::trim) else { return Ok(Self::Newest) };
        let bare = text.strip_prefix('=').map_or(text, str::trim);
        if let Ok(version) = Version::parse(bare) {
            return Ok(Self::Exact(version));
        }
        match text {
            "" | "*" | "latest" => Ok(Self::Newest),
            text => VersionReq::parse(text)
                .map(Self::Requirement)
                .map_err(|error| format!("`{text}` is no version: {error}")),
        }
    }

    /// Whether a version will do.
    pub(super) fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Exact(exact) => exact == version,
            Self::Requirement(requirement) => requirement.matches(version),
            Self::Newest => true,
        }
    }

    /// The most that `cargo info` can be told: `1`, `1.2`, or nothing for ranges.
    fn partial(&self) -> Option<String> {
        let Self::Requirement(requirement) = self else { return None };
        let [one] = requirement.comparators.as_slice() else { return None };
        let (major, minor) = (one.major, one.minor);
        match (one.op, minor) {
            (Op::Caret, Some(minor)) if major == 0 => Some(format!("0.{minor}")),
            (Op::Caret, _) | (Op::Tilde | Op::Wildcard | Op::Exact, None) => {
                Some(major.to_string())
            }
            (Op::Tilde | Op::Wildcard | Op::Exact, Some(minor)) => Some(format!("{major}.{minor}")),
            _ => None,
        }
    }
}

/// What the registry knows of a crate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Its newest version, as far as it was asked for.
    pub(super) version: Option<Version>,
    /// Whether something stands in for the registry (a mirror), of which cargo tells nothing but by
    /// installing.
    pub(super) is_hidden: bool,
    description: String,
    repository: String,
}

impl About {
    pub(super) fn is_empty(&self) -> bool {
        self.description.is_empty() && self.repository.is_empty()
    }

    /// Reads what `cargo info` prints: a line with name and keywords, the description, then
    /// `key: value` lines.
    fn parse(text: &str) -> Self {
        let mut about = Self::default();
        let mut description = Vec::new();
        let mut in_description = true;
        for line in text.lines().skip(1) {
            match line.split_once(": ") {
                Some(("version", version)) => {
                    in_description = false;
                    let version = version.split_whitespace().next().unwrap_or_default();
                    about.version = Version::parse(version).ok();
                }
                Some(("repository", repository)) if !in_description => {
                    about.repository = plain(repository);
                }
                _ if in_description => description.push(line.trim()),
                _ => {}
            }
        }
        about.description = plain(&description.join(" "));
        about
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.description.as_str(), self.repository.as_str()) {
            ("", repository) => f.write_str(repository),
            (description, "") => write!(f, "“{description}”"),
            (description, repository) => write!(f, "“{description}” ({repository})"),
        }
    }
}

/// Text of a stranger's, for one line of a terminal.
fn plain(text: &str) -> String {
    fit(text.trim(), 160)
}

/// The newest version that the request allows; `None` when only cargo can find out, by installing.
pub(super) fn newest(job: &Job<'_>, krate: &str, requested: &Requested) -> Result<About, Trouble> {
    job.need_network()?;
    let spec = match requested.partial() {
        Some(partial) => format!("{krate}@{partial}"),
        None => krate.to_owned(),
    };
    let mut about = match ask(job, &spec) {
        Err(Trouble::Failed(problem)) if problem.contains("is replaced with") => {
            return Ok(About { is_hidden: true, ..About::default() });
        }
        answer => answer?,
    };
    about.version = about.version.filter(|version| requested.allows(version));
    Ok(about)
}

/// What the registry knows of a crate, at no great length: it is for an error's text only.
pub(super) fn about(job: &Job<'_>, krate: &str) -> Option<About> {
    job.need_network().ok()?;
    ask(job, krate).ok()
}

fn ask(job: &Job<'_>, spec: &str) -> Result<About, Trouble> {
    let mut child = super::cargo(job).args(["info", "--color", "never", spec]);
    child.limit = child.limit.min(std::time::Duration::from_secs(60));
    let shown = format!("cargo info {spec}");
    match job.run(&child, &shown) {
        Ok(output) => Ok(About::parse(&output.stdout_text())),
        // A registry that does not answer in a minute is no reason to give up what is there.
        Err(Trouble::OutOfTime(problem)) if !job.left().is_zero() => Err(Trouble::Failed(problem)),
        Err(other) => Err(other),
    }
}

/// The version that cargo says it put into `root`.
pub(super) fn installed(root: &Path, krate: &str) -> Option<Version> {
    Version::parse(package_id(root, krate)?.split(' ').next()?).ok()
}

/// As [`installed`], with the commit that it was built from.
pub(super) fn built(root: &Path, krate: &str) -> Option<String> {
    let id = package_id(root, krate)?;
    let version = id.split(' ').next()?;
    Some(match id.trim_end_matches(')').rsplit_once('#') {
        Some((_, commit)) => format!("{version}#{commit}"),
        None => version.to_owned(),
    })
}

/// What follows the crate's name in the record that cargo keeps in `root`; its keys are such as
/// `ripgrep 13.0.0 (registry+https://…)`.
fn package_id(root: &Path, krate: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Record {
        v1: std::collections::BTreeMap<String, toml::Value>,
    }
    let text = read_text(&root.join(".crates.toml"), Limit::SETTINGS).ok()?;
    let record: Record = toml::from_str(&text).ok()?;
    let mut ids = record.v1.into_keys();
    ids.find_map(|id| id.strip_prefix(krate)?.strip_prefix(' ').map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(text: &str) -> Requested {
        Requested::parse(Some(text)).expect("is one")
    }

    #[test]
    fn f157_a_whole_version_is_exact_and_none_is_the_newest() {
        assert_eq!(Requested::parse(None), Ok(Requested::Newest));
        for text in ["13.0.0", "=13.0.0", "= 13.0.0", " 13.0.0 "] {
            assert_eq!(requested(text), Requested::Exact(Version::new(13, 0, 0)), "{text}");
        }
        assert!(matches!(requested("1.0.0-rc.1"), Requested::Exact(_)));
        assert_eq!(requested("*"), Requested::Newest);
        assert!(
            Requested::parse(Some("new")).is_err_and(|error| error.contains("`new` is no version"))
        );
    }

    #[test]
    fn what_cargo_info_is_asked_never_hides_a_version_that_is_wanted() {
        let cases = [
            ("1", Some("1")),
            ("^1.2.3", Some("1")),
            ("0.3", Some("0.3")),
            ("~1.2", Some("1.2")),
            ("~1", Some("1")),
            ("1.2.*", Some("1.2")),
            ("=1.2", Some("1.2")),
            (">=1, <3", None),
            (">1.2", None),
        ];
        for (text, partial) in cases {
            assert_eq!(requested(text).partial().as_deref(), partial, "{text}");
        }
        assert_eq!(Requested::Newest.partial(), None);
    }

    #[test]
    fn case_89_the_registrys_words_are_read() {
        let text = "rtk #types\nRust Type Kit:\nquery types\u{1b}[31m\nversion: 0.1.0 (latest 2.0.0)\n\
                    license: MIT\nrepository: https://example.com/rtk\nfeatures:\n  a = []\n";
        let about = About::parse(text);
        assert_eq!(about.version, Some(Version::new(0, 1, 0)));
        let shown = "“Rust Type Kit: query types [31m” (https://example.com/rtk)";
        assert_eq!(about.to_string(), shown);
        assert!(About::parse("").is_empty());
    }
}
