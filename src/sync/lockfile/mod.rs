//! `symposium.lock`: what a workspace's agents get, each thing by its hash, so that another machine can
//! take exactly that or be told what differs.
//!
//! [`inventory`] makes it of what applies.
//!
//! May use: `facts`. Used by: a sync, `cli`.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod inventory;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Symposium;
use crate::files::{Limit, read_text};
use crate::plugins::trust::part::PartKind;
use crate::symposium::Pin;
use crate::text::{Diagnostic, Source};

pub(crate) use inventory::{Inventory, programs, take_inventory};

/// Its name, beside the workspace's `Cargo.lock`.
pub(crate) const NAME: &str = "symposium.lock";
/// The version of its form.
const VERSION: u32 = 1;
const HEADER: &str = "# What the agents of this workspace get. Written by `cargo agents lock`;\n\
                      # `cargo agents sync --locked` takes exactly this, or says what differs.\n";

/// The whole file. Neither the user's own plugins nor the workspace's own skills are in it, nor what is
/// inside the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockFile {
    version: u32,
    /// The repositories of sources, packages and skills, at commits.
    #[serde(default, rename = "repository", skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<Pin>,
    #[serde(default, rename = "skill", skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<LockedSkill>,
    /// Hooks, servers and subcommands.
    #[serde(default, rename = "program", skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<LockedProgram>,
}

/// A skill that applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct LockedSkill {
    pub name: String,
    /// Where it comes from: `widget 1.2.3 skills/basics`.
    pub from: String,
    /// Of its files, in hex.
    pub sha256: String,
}

/// A hook, server or subcommand that applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct LockedProgram {
    pub plugin: String,
    pub source: String,
    pub kind: PartKind,
    pub name: String,
    /// Of its entry and the files that it could run, in hex.
    pub sha256: String,
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// `skill basics of widget 1.2.3 skills/basics`.
    pub what: String,
    pub how: How,
    /// Its commit or hash in the lock file; `None` where it is not in it.
    pub locked: Option<String>,
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It was not there.
    New,
    /// It is there no more.
    Gone,
    Changed,
}

impl LockFile {
    fn new(
        mut repositories: Vec<Pin>,
        mut skills: Vec<LockedSkill>,
        mut programs: Vec<LockedProgram>,
    ) -> Self {
        repositories.sort();
        repositories.dedup();
        skills.sort();
        programs.sort();
        Self { version: VERSION, repositories, skills, programs }
    }

    /// Where it is in the workspace at `root`.
    pub(crate) fn path(root: &Path) -> PathBuf {
        root.join(NAME)
    }

    /// The workspace's, where it has one.
    ///
    /// # Errors
    /// It can't be read, or is of another form.
    pub(crate) fn load(root: &Path) -> Result<Option<Self>, Diagnostic> {
        let path = Self::path(root);
        let text = match read_text(&path, Limit::SETTINGS) {
            Ok(text) => text,
            Err(problem) if problem.is_absent() => return Ok(None),
            Err(problem) => return Err(problem.diagnose("the lock file", &path)),
        };
        Self::parse(&Source::new(&path, &text)).map(Some)
    }

    fn parse(source: &Arc<Source>) -> Result<Self, Diagnostic> {
        let broken = |message: String, span| {
            Diagnostic::error(message).at(source, span).note("`cargo agents lock` writes it anew")
        };
        let lock: Self = toml::from_str(&source.text).map_err(|problem| {
            let message = format!("it is no lock file: {}", problem.message());
            broken(message, problem.span().unwrap_or_default())
        })?;
        match lock.version {
            VERSION => Ok(lock),
            other => {
                let message = format!("its version {other} is not the one that we know");
                Err(broken(message, 0..0))
            }
        }
    }

    /// As it is written.
    ///
    /// # Errors
    /// Never: each part of it has a place in TOML.
    pub(crate) fn render(&self) -> anyhow::Result<String> {
        Ok(format!("{HEADER}{}", toml::to_string_pretty(self)?))
    }

    /// Refuses what is not exactly what this has, and tells each difference by its name.
    ///
    /// # Errors
    /// There is one.
    pub(crate) fn hold(&self, sym: &Symposium, now: &Self) -> Result<(), Diagnostic> {
        let differences = self.differences(now);
        if differences.is_empty() {
            return Ok(());
        }
        differences.iter().for_each(|found| sym.report.diagnostic(&found.diagnostic()));
        Err(Diagnostic::error(format!("this is not what {NAME} has; nothing was changed")).note(
            "`cargo agents plugin update --dry-run` shows what is newer, `cargo agents lock` takes \
             what there is now",
        ))
    }

    /// What of `now` differs from this.
    pub(crate) fn differences(&self, now: &Self) -> Vec<Difference> {
        let repository = |pin: &Pin| {
            let rev = pin.rev.as_ref().map(|rev| format!(" {rev}")).unwrap_or_default();
            let subdir = if pin.subdir.is_empty() { "" } else { " " };
            (format!("repository {}{rev}{subdir}{}", pin.git, pin.subdir), pin.commit.clone())
        };
        let skill = |skill: &LockedSkill| {
            (format!("skill {} of {}", skill.name, skill.from), skill.sha256.clone())
        };
        let program = |part: &LockedProgram| {
            let what = format!("{} {} of plugin {}", part.kind, part.name, part.plugin);
            (format!("{what} ({})", part.source), part.sha256.clone())
        };
        let named = |lock: &Self| -> Vec<(String, String)> {
            let repositories = lock.repositories.iter().map(repository);
            let skills = lock.skills.iter().map(skill);
            repositories.chain(skills).chain(lock.programs.iter().map(program)).collect()
        };
        let (before, after) = (named(self), named(now));
        let mut found = Vec::new();
        for (what, hash) in &before {
            let how = match after.iter().find(|(known, _)| known == what) {
                Some((_, same)) if same == hash => continue,
                Some(_) => How::Changed,
                None => How::Gone,
            };
            found.push(Difference { what: what.clone(), how, locked: Some(hash.clone()) });
        }
        let new = after.iter().filter(|(what, _)| !before.iter().any(|(known, _)| known == what));
        found.extend(new.map(|(what, _)| Difference {
            what: what.clone(),
            how: How::New,
            locked: None,
        }));
        found
    }

    /// What this has in the place of `pin`: the same repository, asked for in the same way.
    pub(crate) fn locked(&self, pin: &Pin) -> Option<&Pin> {
        let key = |pin: &Pin| (pin.git.clone(), pin.rev.clone(), pin.subdir.clone());
        self.repositories.iter().find(|locked| key(locked) == key(pin))
    }
}

impl Difference {
    /// As an error of a sync that must take exactly what is locked.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let what = &self.what;
        Diagnostic::error(match self.how {
            How::New => format!("{what} is not in {NAME}"),
            How::Gone => format!("{what} is in {NAME}, and not to be had here"),
            How::Changed => format!("{what} is not what {NAME} has"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(commit: &str, skills: &[(&str, &str)]) -> LockFile {
        let pin = Pin {
            git: "https://example.com/r".to_owned(),
            rev: Some("main".to_owned()),
            subdir: String::new(),
            commit: commit.to_owned(),
        };
        let skill = |(name, sha256): &(&str, &str)| LockedSkill {
            name: (*name).to_owned(),
            from: "widget 1.2.3 skills/x".to_owned(),
            sha256: (*sha256).to_owned(),
        };
        LockFile::new(vec![pin.clone(), pin], skills.iter().map(skill).collect(), Vec::new())
    }

    #[test]
    fn what_is_written_is_read_as_the_same_and_in_one_order() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let lock = lock("c", &[("b", "1"), ("a", "2")]);
        let text = lock.render().expect("TOML");
        std::fs::write(LockFile::path(dir.path()), &text).expect("writes");
        assert_eq!(LockFile::load(dir.path()).expect("reads"), Some(lock));
        assert!(text.find("\"a\"") < text.find("\"b\""), "{text}");
        assert_eq!(text.matches("[[repository]]").count(), 1, "{text}");
    }

    #[test]
    fn every_difference_has_a_name() {
        let before = lock("c1", &[("a", "1"), ("b", "1")]);
        let now = lock("c2", &[("a", "2"), ("c", "1")]);
        let told: Vec<_> =
            before.differences(&now).iter().map(|it| it.diagnostic().message).collect();
        assert_eq!(
            told,
            [
                "repository https://example.com/r main is not what symposium.lock has",
                "skill a of widget 1.2.3 skills/x is not what symposium.lock has",
                "skill b of widget 1.2.3 skills/x is in symposium.lock, and not to be had here",
                "skill c of widget 1.2.3 skills/x is not in symposium.lock",
            ]
        );
        assert!(before.differences(&before).is_empty());
    }

    #[test]
    fn a_file_of_another_form_is_refused_with_its_place() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (text, message) in [
            ("version = 2\n", "its version 2 is not the one that we know"),
            ("version = \"x\"\n", "it is no lock file"),
            ("<<<<<<< HEAD\n", "it is no lock file"),
        ] {
            std::fs::write(LockFile::path(dir.path()), text).expect("writes");
            let problem = LockFile::load(dir.path()).expect_err("refused");
            assert!(problem.message.starts_with(message), "{problem}");
            assert!(problem.location().is_some(), "{problem}");
        }
    }
}
