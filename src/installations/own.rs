//! How this program itself got where it is, by what cargo wrote down.

use crate::workspace::is_crates_io;
use std::path::{Path, PathBuf};

use semver::Version;

use crate::config::{Environment, is_cargo_build, own_program};
use crate::files::{Limit, read_text};
use crate::text::SecretUrl;

const PACKAGE: &str = "symposium";
const PROGRAM: &str = "cargo-agents";
/// Where cargo keeps what it installed (`cargo install`, the Cargo book: "installs are tracked").
const RECORD: &str = ".crates2.json";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Installed {
    FromRegistry {
        /// The registry's index; `None` for crates.io.
        index: Option<String>,
    },
    Otherwise(Otherwise),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Otherwise {
    /// What it was, for people.
    pub(crate) how: String,
    /// What updates it.
    pub(crate) remedies: Vec<String>,
}

impl Installed {
    /// Whether the running program came from a registry: only then has anybody published something
    /// that could be newer.
    pub(crate) fn is_from_registry(env: &Environment) -> bool {
        let exe = own_program().ok().map(|exe| crate::files::canonicalize(&exe).unwrap_or(exe));
        exe.is_some_and(|exe| matches!(Self::of(&exe, env), Self::FromRegistry { .. }))
    }

    /// How `exe`, whose links are resolved, was installed.
    pub(crate) fn of(exe: &Path, env: &Environment) -> Self {
        let shown = exe.display();
        let other = |how: String, remedies: &[String]| {
            Self::Otherwise(Otherwise { how, remedies: remedies.to_vec() })
        };
        let Some(entry) = entry(exe) else {
            if is_cargo_build(exe) {
                return other(
                    format!("{shown} was built in a checkout"),
                    &["update the checkout, and `cargo install --path .`".to_owned()],
                );
            }
            return other(
                format!("{shown} was not installed by cargo"),
                &["update it with what installed it".to_owned()],
            );
        };
        if !is_in_cargo_home(exe, env) {
            let root = entry.root.display();
            return other(
                format!("cargo installed it into {root}, which is not its own folder"),
                &["update it with the command that put it there".to_owned()],
            );
        }
        let source = entry.source.as_str();
        if let Some(path) = source.strip_prefix("path+") {
            let path = path.strip_prefix("file://").unwrap_or(path);
            return other(
                format!("cargo installed it from the folder {path}"),
                &[format!("`cargo install --path {path} --force`")],
            );
        }
        if let Some(url) = source.strip_prefix("git+") {
            let url = SecretUrl::from(url);
            return other(
                format!("cargo installed it from the repository {url}"),
                &[format!("`cargo install --git {url} {PACKAGE} --force`")],
            );
        }
        if source.starts_with("registry+") || source.starts_with("sparse+") {
            let index = (!is_crates_io(source))
                .then(|| source.strip_prefix("registry+").unwrap_or(source).to_owned());
            return Self::FromRegistry { index };
        }
        other(format!("cargo installed it from {source}"), &[])
    }
}

/// The version that cargo wrote down for the program at `exe`.
pub(crate) fn recorded(exe: &Path) -> Option<Version> {
    entry(exe).map(|entry| entry.version)
}

/// What cargo wrote down of one package.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    root: PathBuf,
    version: Version,
    source: String,
}

/// What cargo wrote down for the package whose program `exe` is.
fn entry(exe: &Path) -> Option<Entry> {
    let bin = exe.parent().filter(|bin| bin.file_name().is_some_and(|name| name == "bin"))?;
    let root = bin.parent()?;
    let text = read_text(&root.join(RECORD), Limit::SETTINGS).ok()?;
    let record: serde_json::Value = serde_json::from_str(&text).ok()?;
    let file = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let is_ours = |package: &serde_json::Value| {
        let bins = package.get("bins").and_then(serde_json::Value::as_array);
        bins.is_some_and(|bins| bins.iter().any(|bin| bin.as_str() == Some(&file)))
    };
    if exe.file_name().is_none_or(|name| name != file.as_str()) {
        return None;
    }
    let installs = record.get("installs")?.as_object()?;
    installs.iter().filter(|(_, package)| is_ours(package)).find_map(|(id, _)| {
        // `symposium 0.1.0 (registry+https://…)`
        let mut words = id.splitn(3, ' ');
        let name = words.next()?;
        let version = Version::parse(words.next()?).ok()?;
        let source = words.next()?.strip_prefix('(')?.strip_suffix(')')?;
        let source = source.to_owned();
        (name == PACKAGE).then(|| Entry { root: root.to_path_buf(), version, source })
    })
}

fn is_in_cargo_home(exe: &Path, env: &Environment) -> bool {
    let bin = env.cargo_home().map(|home| home.join("bin"));
    let bin = bin.and_then(|bin| crate::files::canonicalize(bin).ok());
    bin.is_some() && exe.parent() == bin.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home {
        dir: tempfile::TempDir,
    }

    impl Home {
        fn new(id: &str) -> Self {
            let dir = tempfile::tempdir().expect("a temporary folder");
            std::fs::create_dir_all(dir.path().join("bin")).expect("creates");
            let record = serde_json::json!({
                "installs": {
                    "ripgrep 14.0.0 (registry+https://github.com/rust-lang/crates.io-index)":
                        { "bins": ["rg"] },
                    id: { "bins": [format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX)] },
                }
            });
            std::fs::write(dir.path().join(RECORD), record.to_string()).expect("writes");
            Self { dir }
        }

        fn exe(&self) -> PathBuf {
            let bin = crate::files::canonicalize(self.dir.path().join("bin")).expect("is there");
            bin.join(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX))
        }

        fn installed(&self) -> Installed {
            let env = Environment::with("/", [("CARGO_HOME", self.dir.path().as_os_str())]);
            Installed::of(&self.exe(), &env)
        }
    }

    fn how(installed: &Installed) -> &str {
        match installed {
            Installed::Otherwise(otherwise) => &otherwise.how,
            Installed::FromRegistry { .. } => panic!("{installed:?}"),
        }
    }

    #[test]
    fn decision_1_only_a_registry_s_program_in_cargo_s_own_folder_counts() {
        for id in [
            "symposium 0.1.0 (registry+https://github.com/rust-lang/crates.io-index)",
            "symposium 0.1.0 (sparse+https://index.crates.io/)",
        ] {
            let home = Home::new(id);
            assert_eq!(home.installed(), Installed::FromRegistry { index: None });
            assert_eq!(recorded(&home.exe()), Some(Version::new(0, 1, 0)));
        }
        let home = Home::new("symposium 0.1.0 (sparse+https://r.example/i/)");
        let index = Some("sparse+https://r.example/i/".to_owned());
        assert_eq!(home.installed(), Installed::FromRegistry { index });
        let home = Home::new("symposium 0.1.0 (registry+https://r.example/i)");
        let index = Some("https://r.example/i".to_owned());
        assert_eq!(home.installed(), Installed::FromRegistry { index });
    }

    #[test]
    fn decision_1_other_ways_are_told() {
        let git = Home::new("symposium 0.1.0 (git+https://g.example/s?branch=x#0123)").installed();
        assert!(how(&git).ends_with("from the repository https://g.example/s"), "{git:?}");
        let path = Home::new("symposium 0.1.0 (path+file:///src/s)").installed();
        assert!(how(&path).ends_with("from the folder /src/s"), "{path:?}");
        let other = Home::new("another 0.1.0 (registry+https://r.example/i)").installed();
        assert!(how(&other).ends_with("was not installed by cargo"), "{other:?}");
        // Another root than cargo's own.
        let home = Home::new("symposium 0.1.0 (sparse+https://index.crates.io/)");
        let env = Environment::with("/", [("CARGO_HOME", "/elsewhere")]);
        let found = Installed::of(&home.exe(), &env);
        assert!(how(&found).contains("which is not its own folder"), "{found:?}");
    }

    #[test]
    fn a_broken_record_is_none() {
        let home = Home::new("symposium 0.1 (sparse+https://index.crates.io/)");
        assert!(how(&home.installed()).ends_with("was not installed by cargo"));
        for text in ["", "{", "[]", "{\"installs\": []}", "{\"installs\": {\"symposium\": 1}}"] {
            std::fs::write(home.dir.path().join(RECORD), text).expect("writes");
            assert!(how(&home.installed()).ends_with("was not installed by cargo"), "{text}");
        }
    }

    #[test]
    fn a_build_is_known_by_cargo_s_mark() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("CACHEDIR.TAG"), "").expect("writes");
        let env = Environment::with("/", [("CARGO_HOME", "/elsewhere")]);
        let found = Installed::of(&dir.path().join("debug/cargo-agents"), &env);
        assert!(how(&found).ends_with("was built in a checkout"), "{found:?}");
    }
}
