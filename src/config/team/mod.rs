//! `symposium.toml` beside the workspace's `Cargo.toml`: what a team offers ([`file`]), and what its
//! member said of it ([`record`]).
//!
//! A checkout puts nothing in force. What the member accepted is kept as text, and stays in force as it
//! was then until another version is accepted, or all of it is taken back: neither a checkout nor an
//! agent that edits the file can add anything, or take a guard away.

mod file;
mod record;
#[cfg(test)]
pub(crate) mod schema;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use semver::Version;

use self::file::ReadFile;
use self::record::Record;
use super::{Config, Dirs, SourceConfig, SourceLocation};
use crate::files::{Limit, has_exactly, read_text};
use crate::text::{Diagnostic, sha256_hex};

pub(crate) use self::file::{Offered, TeamFile};

/// The file's name.
pub(crate) const NAME: &str = "symposium.toml";

/// So many digits of a hash tell one version from all others, and are what is shown.
pub(crate) const DIGITS: usize = 32;

/// How the file stands, by what its reader said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Standing {
    /// There is nothing to say of it.
    Nothing,
    /// What it offers is in force.
    InForce,
    /// It waits for an answer.
    Waits,
    /// It is no longer what was accepted, and waits for an answer.
    Changed,
    /// It was accepted, and is gone.
    Gone,
    /// It was declined as it is.
    Declined,
    /// It can't be read.
    Broken,
    /// It asks for a newer version of this program.
    TooNew,
}

/// The file of the workspace at a root, and what is in force of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Team {
    root: PathBuf,
    /// The file, there or not.
    pub path: PathBuf,
    /// What the user said.
    pub record: PathBuf,
    pub standing: Standing,
    /// What counts: what was accepted.
    pub in_force: Option<TeamFile>,
    /// The file as it is; `None` where it can't be read.
    pub now: Option<TeamFile>,
    /// The version of this program that it asks for, where this is an older one.
    pub wants: Option<Version>,
    /// What is wrong with the file, or with what is remembered of it.
    pub problems: Vec<Diagnostic>,
    text: String,
    hash: String,
}

/// The file, opened.
struct Opened {
    text: String,
    read: ReadFile,
    /// Whether there is none.
    is_gone: bool,
}

impl Opened {
    /// That of the workspace at `root`, which is at `path`.
    fn of(root: &Path, path: &Path) -> Self {
        let nothing = || {
            let read = ReadFile { file: Some(TeamFile::default()), ..ReadFile::default() };
            Self { text: String::new(), read, is_gone: true }
        };
        let wrong = |problem| {
            let read = ReadFile { problems: vec![problem], ..ReadFile::default() };
            Self { text: String::new(), read, is_gone: false }
        };
        match read_text(path, Limit::SETTINGS) {
            // What it leads to is no business of a checkout, nor of who reads what is wrong with it.
            _ if path.is_symlink() => {
                let problem = Diagnostic::error("a link is not followed").in_file(path);
                wrong(problem.note("the team's file is a file of the workspace"))
            }
            // A crate's `SYMPOSIUM.toml` may be the same to the file system.
            Ok(_) if !has_exactly(root, NAME) => nothing(),
            // Git may check it out with the line ends of the system.
            Ok(text) => {
                let text = text.replace("\r\n", "\n");
                let read = ReadFile::parse(path, &text, root);
                Self { text, read, is_gone: false }
            }
            Err(problem) if problem.is_absent() => nothing(),
            Err(problem) => wrong(problem.diagnose("the team's file", path)),
        }
    }
}

impl Team {
    /// Looks at the file of the workspace at `root`. `accepted` is the hash that the command line
    /// accepts: it counts as accepted, and nothing is written.
    pub(crate) fn look(dirs: &Dirs, root: &Path, accepted: Option<&str>) -> Self {
        let path = root.join(NAME);
        let Opened { text, read, is_gone } = Opened::of(root, &path);
        let hash = sha256_hex(text.as_bytes());
        let ReadFile { file: now, minimum, mut problems } = read;
        let own = Version::parse(env!("CARGO_PKG_VERSION")).ok();
        let wants = minimum.filter(|wanted| own.is_some_and(|own| *wanted > own));
        let mut record = Record::load(dirs, root).unwrap_or_else(|problem| {
            problems.push(unread(&problem, &Record::path(dirs, root)));
            Record::default()
        });
        if accepted.is_some_and(|accepted| is_hash_of(accepted, &hash)) && now.is_some() {
            record.accept(&hash, &text);
        }
        let in_force = record.in_force(&hash).and_then(|accepted| {
            let read = ReadFile::parse(&path, &accepted.text, root);
            // An earlier version of this program may not know all of its keys.
            problems.extend(read.problems.into_iter().next().filter(|_| now.is_some()));
            read.file
        });
        let is_taken = in_force.is_some();
        let standing = match &now {
            _ if wants.is_some() && !record.accepted().iter().any(|it| it.sha256 == hash) => {
                Standing::TooNew
            }
            _ if !problems.is_empty() => Standing::Broken,
            Some(now) if *now == in_force.clone().unwrap_or_default() => {
                if now.is_empty() {
                    Standing::Nothing
                } else {
                    Standing::InForce
                }
            }
            _ if record.is_declined(&hash) => Standing::Declined,
            _ if is_gone => Standing::Gone,
            _ if is_taken => Standing::Changed,
            _ => Standing::Waits,
        };
        let record = Record::path(dirs, root);
        let root = root.to_path_buf();
        Self { root, path, record, standing, in_force, now, wants, problems, text, hash }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// What is shown of the file's hash, and accepts it.
    pub(crate) fn hash(&self) -> &str {
        &self.hash[..DIGITS]
    }

    /// Whether `given`, as somebody wrote it, is the hash of the file.
    pub(crate) fn is(&self, given: &str) -> bool {
        is_hash_of(given, &self.hash)
    }

    /// Whether somebody has to answer.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.standing, Standing::Waits | Standing::Changed | Standing::Gone)
    }

    /// What is offered now, one thing each.
    pub(crate) fn offers(&self) -> Vec<Offered> {
        self.now.iter().flat_map(|file| file.offers(&self.root)).collect()
    }

    /// What is in force, one thing each.
    pub(crate) fn taken(&self) -> Vec<Offered> {
        self.in_force.iter().flat_map(|file| file.offers(&self.root)).collect()
    }

    /// Remembers that the file is accepted as it was looked at.
    ///
    /// # Errors
    /// Trouble writing.
    pub(crate) fn accept(&self, dirs: &Dirs) -> io::Result<()> {
        self.remember(dirs, |record| record.accept(&self.hash, &self.text))
    }

    /// Remembers that it is declined as it was looked at; what was accepted before stays.
    ///
    /// # Errors
    /// Trouble writing.
    pub(crate) fn decline(&self, dirs: &Dirs) -> io::Result<()> {
        self.remember(dirs, |record| record.decline(&self.hash))
    }

    /// As [`Team::decline`], and takes back what was accepted before.
    ///
    /// # Errors
    /// Trouble writing.
    pub(crate) fn take_back(&self, dirs: &Dirs) -> io::Result<()> {
        self.remember(dirs, |record| {
            record.take_back();
            record.decline(&self.hash);
        })
    }

    fn remember(&self, dirs: &Dirs, change: impl FnOnce(&mut Record)) -> io::Result<()> {
        // What can't be read is made anew.
        let mut record = Record::load(dirs, &self.root).unwrap_or_default();
        change(&mut record);
        record.save(dirs, &self.root)
    }
}

/// The names of the sources of every team's file that was accepted in some workspace.
pub(crate) fn accepted_sources(dirs: &Dirs) -> Vec<String> {
    let all = Record::all(dirs);
    let texts = all.iter().flat_map(Record::accepted);
    let files =
        texts.filter_map(|it| ReadFile::parse(Path::new(NAME), &it.text, Path::new("")).file);
    files.flat_map(|file| file.sources).map(|source| source.name).collect()
}

fn is_hash_of(given: &str, hash: &str) -> bool {
    given.len() >= DIGITS && hash.starts_with(&given.to_ascii_lowercase())
}

fn unread(problem: &str, file: &Path) -> Diagnostic {
    Diagnostic::error(format!("what you said of {NAME} can't be read: {problem}"))
        .in_file(file)
        .note("nothing of the team's file is in force; remove this file, and you are asked again")
}

impl Config {
    /// Adds what the user took of a team's file, in the place of what was added before. A source whose
    /// name the user's own file has is left out.
    pub(crate) fn add_teams(&mut self, offer: Option<&TeamFile>) {
        self.sources.retain(|source| !source.is_teams);
        let offer = offer.cloned().unwrap_or_default();
        let is_new = |source: &SourceConfig| self.sources.iter().all(|own| own.name != source.name);
        let new: Vec<SourceConfig> = offer.sources.into_iter().filter(is_new).collect();
        self.sources.extend(new);
        self.plugins.team = offer.choices;
    }

    /// Whether a source comes from the team's file, be it as the repository of a package that an index
    /// in one names.
    pub(crate) fn is_teams(&self, source: &str) -> bool {
        self.team_sources().any(|(own, _)| own.covers(source))
    }

    /// Whether what a source holds comes with a checkout of the workspace, which may bring anything.
    pub(crate) fn is_in_checkout(&self, source: &str) -> bool {
        self.team_sources().any(|(own, is_folder)| is_folder && own.covers(source))
    }

    /// Whether there is any such source.
    pub(crate) fn has_sources_in_checkout(&self) -> bool {
        self.team_sources().any(|(_, is_folder)| is_folder)
    }

    /// The sources of the team's file, and whether each is a folder.
    fn team_sources(&self) -> impl Iterator<Item = (&SourceConfig, bool)> {
        let teams = self.sources.iter().filter(|source| source.is_teams);
        teams.map(|source| (source, matches!(source.location, SourceLocation::Path(_))))
    }
}
