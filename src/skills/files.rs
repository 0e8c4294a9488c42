//! The files of a skill as they are installed.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use super::content::{Content, FileContent};
use super::discover::SKILL_FILE;
use super::frontmatter::Frontmatter;
use super::model::Skill;
use super::rewrite::rewrite_for_install;
use super::scan::{scan_hidden, scan_invisible, scan_skill, scan_values};
use crate::agents::Agent;
use crate::fetch::archive::{Limits, MEGABYTE};
use crate::fetch::git::led_out;
use crate::files::{Limit, is_plain_name, read_bytes};
use crate::plugins::diagnostics::codes;
use crate::text::{Diagnostic, Source};
use crate::workspace::Observer;

#[cfg(test)]
mod tests;

/// Names at the top of an installed skill that are ours: never copied, never part of its hash.
pub(crate) const OWN_FILES: [&str; 3] = [".symposium", ".gitignore", ".ignore"];
/// What is no part of a skill, wherever it is.
const JUNK: [&str; 9] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "target",
    "node_modules",
    "__pycache__",
    ".ds_store",
    "thumbs.db",
];
/// Folders in folders; deeper is an accident or an attack.
const DEPTH: usize = 32;

/// The files of one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillFiles {
    pub content: Content,
    /// What was left out, and what else people should know.
    pub warnings: Vec<Diagnostic>,
}

/// The files to install for `skill` under `install_name`, within the usual limits.
///
/// # Errors
/// A file that hides text, a limit that is passed, a `SKILL.md` that can't be rewritten, or trouble
/// reading.
pub(crate) fn collect(
    skill: &Skill,
    install_name: &str,
    observer: &Observer,
) -> Result<SkillFiles, Box<Diagnostic>> {
    collect_within(skill, install_name, observer, &Limits::default())
}

/// As [`collect`], within limits of the caller's.
pub(crate) fn collect_within(
    skill: &Skill,
    install_name: &str,
    observer: &Observer,
    limits: &Limits,
) -> Result<SkillFiles, Box<Diagnostic>> {
    if let Some(text) = &skill.written {
        return written(skill, text, install_name);
    }
    let Walk { files, mut warnings, .. } = walked(skill, observer, limits)?;
    if !files.iter().any(|file| file.path == SKILL_FILE) {
        let error = Diagnostic::error(format!("there is no usable `{SKILL_FILE}`"));
        return Err(Box::new(error.in_file(&skill.dir)));
    }
    let mut content = Content::default();
    for Found { path, real, executable } in files {
        let shown = skill.dir.join(&path);
        let bytes =
            read_bytes(&real, Limit::COPY).map_err(|error| broken(&shown, &error.into()))?;
        let bytes = checked(&shown, bytes, &path, install_name, &mut warnings)?;
        content.files.insert(path, FileContent { bytes, executable });
    }
    Ok(SkillFiles { content, warnings })
}

/// The files of a skill that is nowhere on disk.
fn written(skill: &Skill, text: &str, install_name: &str) -> Result<SkillFiles, Box<Diagnostic>> {
    let source = Source::new(skill.dir.join(SKILL_FILE), text);
    let text = rewrite_for_install(&source, install_name)?;
    let files = [(SKILL_FILE.to_owned(), FileContent::text(text))].into();
    Ok(SkillFiles { content: Content { files }, warnings: Vec::new() })
}

/// What is wrong with the files beside the `SKILL.md`: everything, not the first alone, also where
/// the `SKILL.md` can't be used.
pub(crate) fn inspect(skill: &Skill, observer: &Observer) -> Vec<Diagnostic> {
    let Walk { files, mut warnings, .. } = match walked(skill, observer, &Limits::default()) {
        Ok(walk) => walk,
        Err(problem) => return vec![*problem],
    };
    for file in files.iter().filter(|file| file.path != SKILL_FILE) {
        let shown = skill.dir.join(&file.path);
        let read = read_bytes(&file.real, Limit::COPY);
        let read = read.map_err(|error| broken(&shown, &error.into()));
        let problem =
            read.and_then(|bytes| checked(&shown, bytes, &file.path, &skill.name, &mut warnings));
        warnings.extend(problem.err().map(|problem| *problem));
    }
    warnings
}

/// The files of a skill, sorted by path, and what was left out.
fn walked<'a>(
    skill: &'a Skill,
    observer: &'a Observer,
    limits: &'a Limits,
) -> Result<Walk<'a>, Box<Diagnostic>> {
    let real_root =
        crate::files::canonicalize(&skill.root).map_err(|error| broken(&skill.root, &error))?;
    let mut walk = Walk {
        skill,
        observer,
        real_root,
        limits,
        ancestors: Vec::new(),
        folders: 0,
        files: Vec::new(),
        bytes: 0,
        warnings: Vec::new(),
    };
    walk.folder(&skill.dir, "")?;
    walk.files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(walk)
}

fn broken(path: &Path, error: &io::Error) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(format!("can't read: {error}")).in_file(path))
}

/// The bytes to install: every text is searched for invisible characters, Markdown for what its
/// readers don't see, and `SKILL.md` is rewritten.
fn checked(
    shown: &Path,
    bytes: Vec<u8>,
    path: &str,
    install_name: &str,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    let Some(text) = text_of(&bytes, path) else { return Ok(bytes) };
    let Ok(text) = text else {
        return Err(Box::new(Diagnostic::not_utf8("it is not UTF-8 text", shown, &bytes)));
    };
    let markdown =
        Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    let source = Source::new(shown, text);
    let mut found = match markdown {
        _ if path == SKILL_FILE => scan_skill(&source.text),
        true => scan_hidden(&source.text),
        false => scan_invisible(&source.text),
    };
    if path == SKILL_FILE
        && let Ok(front) = Frontmatter::parse(&source)
    {
        found.extend(scan_values(&source.text, &front));
    }
    if let Some(finding) = found.iter().find(|finding| finding.refuses()) {
        return Err(Box::new(finding.diagnostic(&source)));
    }
    warnings.extend(
        found
            .iter()
            .filter(|finding| finding.kind.concerns_users())
            .map(|finding| finding.diagnostic(&source)),
    );
    if path == SKILL_FILE {
        return Ok(rewrite_for_install(&source, install_name)?.into_bytes());
    }
    Ok(bytes)
}

/// The text in `bytes`; `None` for what is none. One stray byte makes a text no picture: an agent
/// reads the rest of it all the same. A `SKILL.md` has to be right.
fn text_of<'a>(bytes: &'a [u8], path: &str) -> Option<Result<Cow<'a, str>, Utf8Error>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Ok(text.into())),
        Err(error) if path == SKILL_FILE => Some(Err(error)),
        Err(_) if bytes.contains(&0) => None,
        Err(_) => Some(Ok(String::from_utf8_lossy(bytes))),
    }
}

/// A file to install.
struct Found {
    /// Its place below the skill's folder, with `/`.
    path: String,
    /// The regular file itself, links resolved.
    real: PathBuf,
    /// Whether its owner may execute it; never on Windows.
    executable: bool,
}

struct Walk<'a> {
    skill: &'a Skill,
    observer: &'a Observer,
    real_root: PathBuf,
    limits: &'a Limits,
    ancestors: Vec<PathBuf>,
    folders: usize,
    files: Vec<Found>,
    bytes: u64,
    warnings: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn folder(&mut self, dir: &Path, prefix: &str) -> Result<(), Box<Diagnostic>> {
        let Some(real) = self.inside(dir) else { return Ok(()) };
        if self.ancestors.contains(&real) || self.ancestors.len() >= DEPTH {
            self.warn(dir, "the folder goes round in circles or too deep");
            return Ok(());
        }
        // Links can make few folders look like very many.
        self.folders += 1;
        if self.folders > self.limits.files {
            return Err(self.too_much(&format!("{} folders", self.limits.files)));
        }
        self.ancestors.push(real);
        let entries = self.observer.entries(dir).map_err(|error| broken(dir, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| broken(dir, &error))?;
            self.entry(&entry.path(), prefix)?;
        }
        self.ancestors.pop();
        Ok(())
    }

    fn entry(&mut self, path: &Path, prefix: &str) -> Result<(), Box<Diagnostic>> {
        let name =
            path.file_name().and_then(|name| name.to_str()).filter(|name| is_plain_name(name));
        let Some(name) = name else {
            self.warn(path, "not every system can have a file of this name");
            return Ok(());
        };
        // Some file systems ignore case, and so does what reads these there.
        let lower = name.to_lowercase();
        if JUNK.contains(&lower.as_str())
            || (prefix.is_empty() && OWN_FILES.contains(&lower.as_str()))
        {
            return Ok(());
        }
        if prefix.is_empty() && lower == "skill.md" && name != SKILL_FILE {
            self.warn(path, &format!("some file systems take it for the `{SKILL_FILE}`"));
            return Ok(());
        }
        if let Some(agent) = owner(&lower) {
            let title = agent.title();
            self.warn(path, &format!("{title} reads or runs it by itself"));
            return Ok(());
        }
        let Some(real) = self.inside(path) else { return Ok(()) };
        // Its bytes are read later.
        let metadata = self.observer.metadata(path).map_err(|error| broken(path, &error))?;
        let relative = format!("{prefix}{name}");
        if metadata.is_dir() {
            return self.folder(path, &format!("{relative}/"));
        }
        if !metadata.is_file() {
            self.warn(path, "it is no regular file");
            return Ok(());
        }
        self.count(path, metadata.len())?;
        self.files.push(Found { path: relative, real, executable: executable(&metadata) });
        Ok(())
    }

    /// The real path, if no link led it out of the root or to what is no part of any skill.
    fn inside(&mut self, path: &Path) -> Option<PathBuf> {
        let Ok(real) = crate::files::canonicalize(path) else {
            match led_out(path) {
                true => self.leads_out(path, "the link leads out"),
                false => self.warn(path, "the link leads nowhere"),
            }
            return None;
        };
        let Ok(relative) = real.strip_prefix(&self.real_root) else {
            self.leads_out(path, "the link leads out");
            return None;
        };
        if path.is_symlink() && relative.iter().any(|part| part == ".git") {
            self.leads_out(path, "the link leads into `.git`");
            return None;
        }
        Some(real)
    }

    fn count(&mut self, path: &Path, size: u64) -> Result<(), Box<Diagnostic>> {
        self.bytes = self.bytes.saturating_add(size);
        let limits = self.limits;
        let limit = if self.files.len() >= limits.files {
            format!("{} files", limits.files)
        } else if size > limits.file {
            let limit = format!("{} MB in one file", limits.file / MEGABYTE);
            return Err(Box::new(self.too_much(&limit).in_file(path)));
        } else if self.bytes > limits.total {
            format!("{} MB in all", limits.total / MEGABYTE)
        } else {
            return Ok(());
        };
        Err(self.too_much(&limit))
    }

    fn too_much(&self, limit: &str) -> Box<Diagnostic> {
        let message = format!("the skill holds more than {limit}");
        Box::new(Diagnostic::error(message).code(codes::TOO_LARGE).in_file(&self.skill.dir))
    }

    fn leads_out(&mut self, path: &Path, message: &str) {
        self.warn(path, message);
        if let Some(problem) = self.warnings.last_mut() {
            problem.code = Some(codes::LEADS_OUT);
        }
    }

    fn warn(&mut self, path: &Path, message: &str) {
        let problem = Diagnostic::warning(message).in_file(path).remark("it is left out");
        self.warnings.push(problem);
    }
}

/// The agent that reads files of this name, in lower case, unasked.
fn owner(name: &str) -> Option<Agent> {
    Agent::ALL
        .into_iter()
        .find(|agent| agent.identity().own_names.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

#[cfg(unix)]
fn executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn executable(_metadata: &fs::Metadata) -> bool {
    false
}
