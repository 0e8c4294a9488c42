//! Skills: what they hide and run, where their links lead, how large they are, and whose they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::model::{Findings, SkillRow};
use super::{licence, links};
use crate::agents::Agent;
use crate::cli::audit_args::rules;
use crate::config::USER_PLUGINS;
use crate::documents::checkout::{self, Tracking};
use crate::files::Limit;
use crate::plugins::diagnostics::codes;
use crate::plugins::trust::files::is_script;
use crate::skills::content::{Content, FileContent};
use crate::skills::discover::SKILL_FILE;
use crate::skills::files::{OWN_FILES, collect, inspect};
use crate::skills::resolve::read_source;
use crate::skills::{Skill, SkillDocument, SkillOrigin};
use crate::sync::shown_origin;
use crate::text::Diagnostic;
use crate::workspace::UNOBSERVED;

/// A skill that was looked at, with its files where it can be installed.
pub(super) struct Seen {
    pub row: SkillRow,
    pub content: Option<Content>,
}

/// Looks at a skill that applies, in the checkout at `root`.
pub(super) fn look(skill: &Skill, root: &Path, found: &mut Findings) -> Seen {
    let is_committed = matches!(skill.origin, SkillOrigin::Workspace { .. });
    let is_elsewhere = !skill.dir.starts_with(root);
    let from = if is_committed { "this checkout".to_owned() } else { shown_origin(skill) };
    let mut own = Findings::default();
    let licence = licence::of_skill(skill, of_document(skill, is_committed, &mut own));
    inspect(skill, &UNOBSERVED).into_iter().for_each(|problem| of_file(problem, &mut own));
    let is_users =
        matches!(&skill.origin, SkillOrigin::Source { source, .. } if source == USER_PLUGINS);
    if licence.is_none() && is_elsewhere && !is_users {
        let problem = Diagnostic::warning("its licence is not known")
            .in_file(skill.dir.join(SKILL_FILE))
            .note("ask its author for `license` in its frontmatter or manifest");
        own.add(rules::UNKNOWN_LICENCE, problem);
    }
    let content = collect(skill, &skill.name, &UNOBSERVED).ok().map(|files| files.content);
    let links = content.iter().flat_map(|content| links::look(&skill.dir, content, &mut own));
    let hosts = links.collect();
    for problem in own.0 {
        // A file in a cache says little about what it is of.
        let problem = match is_elsewhere {
            true => problem.remark(format!("in the skill {} of {from}", skill.name)),
            false => problem,
        };
        found.0.push(problem);
    }
    let size = |content: &Content| content.files.values().map(|file| file.bytes.len()).sum();
    let row = SkillRow {
        name: skill.name.clone(),
        from,
        folder: skill.dir.clone(),
        licence,
        files: content.as_ref().map(|content| content.files.len()),
        bytes: content.as_ref().map(size),
        scripts: content.iter().flat_map(scripts).collect(),
        hosts,
    };
    notes(&row, is_committed, found);
    Seen { row, content }
}

/// What its `SKILL.md` hides, runs and allows; with the licence that it names.
fn of_document(skill: &Skill, is_committed: bool, found: &mut Findings) -> Option<String> {
    let source = match read_source(&skill.root, &skill.dir, &UNOBSERVED) {
        Ok(source) => source,
        Err(problem) => {
            of_file(*problem, found);
            return None;
        }
    };
    let checked = SkillDocument::check(&source);
    for problem in checked.problems {
        match problem.code {
            Some(codes::HIDDEN_TEXT) => found.hidden(problem),
            Some(codes::SKILL_RUNS) => {
                let remedy = "read it as you would read a script that you are to run";
                found.add(rules::SKILL_COMMAND, problem.note(remedy));
            }
            // An agent may take it all the same.
            Some(codes::FRONTMATTER | codes::SKILL_FIELD | codes::PATH_NAME) if is_committed => {
                found.warn(rules::MISTAKE, problem);
            }
            // The rest concerns its author alone.
            _ => {}
        }
    }
    checked.document?.license
}

/// A problem of one of its files. What an installation makes of it does not matter here.
fn of_file(problem: Diagnostic, found: &mut Findings) {
    let problem = problem.without_remarks();
    match problem.code {
        Some(codes::HIDDEN_TEXT) => found.hidden(problem),
        Some(codes::TOO_LARGE) => {
            found.add(rules::TOO_LARGE, problem.note("leave out what agents do not need"));
        }
        Some(codes::LEADS_OUT) => {
            let remedy = "put the file itself there, or take the link out";
            found.warn(rules::LINK_OUT, problem.note(remedy));
        }
        _ if problem.is_error() => found.warn(rules::COULD_NOT_LOOK, problem),
        _ => found.warn(rules::ODD_FILE, problem.note("take it out of the skill")),
    }
}

/// Those of the files that can be run.
fn scripts(content: &Content) -> impl Iterator<Item = String> {
    let runs = |(path, file): &(&String, &FileContent)| {
        file.executable || is_script(Path::new(path)) || file.bytes.starts_with(b"#!")
    };
    content.files.iter().filter(runs).map(|(path, _)| path.clone())
}

/// What is worth knowing of a skill with which nothing is wrong.
fn notes(row: &SkillRow, is_committed: bool, found: &mut Findings) {
    let document = row.folder.join(SKILL_FILE);
    if is_committed {
        let fact = format!("the checkout brings the skill {} itself", row.name);
        let fact = Diagnostic::fact(fact).in_file(&document);
        found.add(
            rules::COMMITTED_SKILL,
            fact.note("review a change of it as a change of code: agents follow it"),
        );
    }
    if !row.hosts.is_empty() {
        let fact = format!("the skill {} sends its readers to {}", row.name, row.hosts.join(", "));
        let fact = Diagnostic::fact(fact).in_file(&document);
        found.add(rules::SKILL_HOSTS, fact.note("what is there may be another text tomorrow"));
    }
    if !row.scripts.is_empty() {
        let fact =
            format!("the skill {} brings what can be run: {}", row.name, row.scripts.join(", "));
        let fact = Diagnostic::fact(fact).in_file(&document);
        found.add(rules::SKILL_SCRIPT, fact.note("read it before an agent runs it"));
    }
}

/// Skills in folders of the checkout that agents read, other than `known`, which plugins gave or which
/// were looked at: the folders below `bases`.
pub(super) fn committed(
    root: &Path,
    bases: &[PathBuf],
    known: &[Seen],
    found: &mut Findings,
) -> Vec<Seen> {
    let mut reals: BTreeSet<PathBuf> = known.iter().map(|it| real(&it.row.folder)).collect();
    let mut seen = Vec::new();
    for dir in bases.iter().flat_map(|base| folders(base)) {
        if !reals.insert(real(&dir)) {
            continue;
        }
        let skill = in_checkout(root, &dir);
        let copy = collect(&skill, &skill.name, &UNOBSERVED).ok().map(|files| files.content);
        let is_known = copy.is_some() && known.iter().any(|it| it.content == copy);
        if !is_known && !is_placed(&dir) {
            seen.push(look(&skill, root, found));
        }
    }
    seen
}

fn real(dir: &Path) -> PathBuf {
    crate::files::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
}

/// Every folder with a `SKILL.md` in the folders below `base` that some agent reads, in order.
fn folders(base: &Path) -> Vec<PathBuf> {
    let dirs: BTreeSet<_> =
        Agent::ALL.into_iter().flat_map(|agent| agent.identity().skill_dirs).collect();
    let entries = dirs.into_iter().flat_map(|dir| std::fs::read_dir(base.join(dir)));
    let mut found: Vec<_> = entries.flatten().flatten().map(|entry| entry.path()).collect();
    found.retain(|dir| dir.join(SKILL_FILE).symlink_metadata().is_ok());
    found.sort();
    found
}

/// Whether a sync put the folder there, and it is no part of the checkout. A mark alone says nothing:
/// anybody can commit one.
fn is_placed(dir: &Path) -> bool {
    let is_marked = dir.join(OWN_FILES[0]).is_file();
    let document = dir.join(SKILL_FILE);
    is_marked
        && checkout::find(dir).is_some()
        && checkout::tracking(&document, Limit::INDEX) == Tracking::Untracked
}

fn in_checkout(root: &Path, dir: &Path) -> Skill {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = read_source(root, dir, &UNOBSERVED).ok();
    let document = read.and_then(|source| SkillDocument::check(&source).document);
    // A member may lie outside of the workspace's folder.
    let root = if dir.starts_with(root) { root } else { dir };
    let below = dir.strip_prefix(root).unwrap_or(dir).to_string_lossy().replace('\\', "/");
    Skill {
        name: document.map_or(name, |document| document.install_name),
        description: String::new(),
        dir: dir.to_path_buf(),
        root: root.to_path_buf(),
        origin: SkillOrigin::Workspace { path: below },
        plugin: None,
        same_as: Vec::new(),
        written: None,
    }
}
