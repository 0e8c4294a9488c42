//! What is to be written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::author_args::{NewArgs, Part};
use crate::cli::plugin::add;
use crate::plugins::manifest::RESERVED_SUBCOMMANDS;
use crate::report::safe;
use crate::skills::crate_source::package_id;
use crate::skills::metadata::{Place, read_crate_skills};
use crate::skills::name::{NAME_LIMIT, conforms, slug};
use crate::text::{Diagnostic, is_name_char};
use crate::workspace::UNOBSERVED;

/// The kind that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Plugin(BTreeSet<Part>),
    Skill,
    CrateSkill,
}

impl Default for Choice {
    fn default() -> Self {
        Self::Plugin(BTreeSet::from([Part::Skills]))
    }
}

impl Choice {
    /// What the command line says, if it does.
    pub(super) fn said(args: &NewArgs) -> Option<Self> {
        let parts = || args.with.iter().copied().collect();
        match (args.skill, args.of_crate, args.with.is_empty()) {
            (true, ..) => Some(Self::Skill),
            (_, true, _) => Some(Self::CrateSkill),
            (.., false) => Some(Self::Plugin(parts())),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) enum Kind {
    Plugin(BTreeSet<Part>),
    Skill,
    /// In the folder of skills of the package at `root`.
    CrateSkill {
        root: PathBuf,
        package: String,
    },
}

#[derive(Debug)]
pub(super) struct Wish {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// What it is for; never empty.
    pub(super) crates: Vec<String>,
    /// The folder that is made for it.
    pub(super) dir: PathBuf,
}

impl Wish {
    /// # Errors
    /// When it can't be written as it is wanted.
    pub(super) fn new(cwd: &Path, args: &NewArgs, choice: Choice) -> Result<Self, Diagnostic> {
        let around = package_around(cwd);
        let package = around.as_ref().map(|(_, package)| package.as_str());
        let name = match (&args.name, &choice, package) {
            (Some(name), ..) => name.clone(),
            (None, Choice::CrateSkill, Some(package)) => slug(&format!("{package}-basics")),
            (None, Choice::CrateSkill, None) => return Err(no_crate()),
            (None, ..) => return Err(unnamed()),
        };
        check_name(&name, &choice)?;
        let crates = crates(&args.crates, package, &choice)?;
        let beside = || cwd.join(args.dir.as_deref().unwrap_or_else(|| Path::new(&name)));
        let (kind, dir) = match (choice, around) {
            (Choice::Plugin(parts), _) => (Kind::Plugin(parts), beside()),
            (Choice::Skill, _) => (Kind::Skill, skill_dir(beside(), &name)?),
            (Choice::CrateSkill, Some((root, package))) => {
                let dir = folder_of_skills(&root)?.join(&name);
                (Kind::CrateSkill { root, package }, dir)
            }
            (Choice::CrateSkill, None) => return Err(no_crate()),
        };
        Ok(Self { kind, name, crates, dir })
    }
}

impl Wish {
    pub(super) fn is_everywhere(&self) -> bool {
        self.crates.iter().any(|text| text == "*")
    }

    /// The crate that a skill is about, where there is just one.
    pub(super) fn about(&self) -> Option<&str> {
        if let Kind::CrateSkill { package, .. } = &self.kind {
            return Some(package);
        }
        let [only] = self.crates.as_slice() else { return None };
        let end = only.find(|c: char| !is_name_char(c)).unwrap_or(only.len());
        only.get(..end).filter(|name| !name.is_empty())
    }
}

/// The package whose folder, or a folder below it, is `cwd`.
pub(super) fn package_around(cwd: &Path) -> Option<(PathBuf, String)> {
    cwd.ancestors().find_map(|dir| Some((dir.to_path_buf(), package_id(dir)?.name)))
}

fn unnamed() -> Diagnostic {
    Diagnostic::error("it has no name yet").note("for example `cargo agents plugin new my-plugin`")
}

fn no_crate() -> Diagnostic {
    Diagnostic::error("there is no package here, or above, whose skill it could be")
        .note("run it in the crate's folder, where its `Cargo.toml` has a `[package]`")
        .note("`--skill` writes a skill that belongs to no crate")
}

/// A plugin's name becomes that of its skill, server and subcommand, so the strictest of their rules
/// holds.
fn check_name(name: &str, choice: &Choice) -> Result<(), Diagnostic> {
    if !conforms(name) {
        let shown = safe(name);
        let mut problem = Diagnostic::error(format!("`{shown}` can't be its name")).note(format!(
            "a name has 1 to {NAME_LIMIT} lower-case letters, digits and single hyphens inside"
        ));
        if !name.trim().is_empty() {
            problem = problem.note(format!("for example `{}`", slug(name)));
        }
        return Err(problem);
    }
    let is_command = matches!(choice, Choice::Plugin(parts) if parts.contains(&Part::Subcommand));
    if is_command && RESERVED_SUBCOMMANDS.contains(&name) {
        return Err(Diagnostic::error(format!("`cargo agents {name}` is ours already"))
            .note("give the plugin, and so its subcommand, another name"));
    }
    Ok(())
}

/// Agents want a skill's folder to have its name.
fn skill_dir(dir: PathBuf, name: &str) -> Result<PathBuf, Diagnostic> {
    if dir.file_name().is_some_and(|folder| folder == name) {
        return Ok(dir);
    }
    Err(Diagnostic::error("a skill's folder has the skill's name")
        .in_file(&dir)
        .note(format!("end `--dir` with `/{name}`, or leave it out to have `{name}` made here")))
}

/// What it is for: as said, else the crate that we are in, else every workspace.
fn crates(
    said: &[String],
    package: Option<&str>,
    choice: &Choice,
) -> Result<Vec<String>, Diagnostic> {
    let said = add::crates(said)?.unwrap_or_default();
    let crates = match (said.as_slice(), package) {
        ([], None) => vec!["*".to_owned()],
        ([], Some(package)) => vec![package.to_owned()],
        _ => said.iter().map(|text| text.trim().to_owned()).collect(),
    };
    let ships = matches!(choice, Choice::Plugin(parts) if parts.contains(&Part::CrateSkills));
    if ships && crates.iter().all(|text| text == "*") {
        return Err(Diagnostic::error("no crate is named whose skills it could bring")
            .note("name it: `--crates my-crate`"));
    }
    Ok(crates)
}

/// Where the crate at `root` says that its skills are.
fn folder_of_skills(root: &Path) -> Result<PathBuf, Diagnostic> {
    let said = read_crate_skills(root, &UNOBSERVED);
    if let Some(problem) = said.warnings.into_iter().next() {
        return Err(problem.note("mend it first: it says where the crate's skills are"));
    }
    let folder = said.entries.iter().find_map(|entry| match &entry.place {
        Place::Path(path) => Some(root.join(path)),
        Place::Crate { .. } => None,
    });
    folder.ok_or_else(|| {
        let problem = Diagnostic::error("the crate says that it has no folder of skills");
        let problem = match said.source {
            Some(source) => problem.in_file(&source.path),
            None => problem.in_file(root),
        };
        problem.note("take `skills` out of its metadata, or name a folder: `path = \"skills\"`")
    })
}
