//! From groups of skills in plugins to the skills that apply.
//!
//! Nothing here decides about a gate or fetches anything by itself: both are asked of the caller,
//! so that hooks, `sync` and tests each bring their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::crate_source::{CrateRequest, CrateSources, NotOnDisk};
use super::discover::{Discovered, FoundSkill, SKILL_FILE, discover, discover_unless};
use super::document::{RawGate, SkillDocument};
use super::model::{Skill, SkillOrigin};
use crate::fetch::git::led_out;
use crate::files::Limit;
use crate::plugins::diagnostics::codes;
use crate::plugins::git::GitPlace;
use crate::plugins::model::Gate;
use crate::report::{Event, Kind, Verdict};
use crate::text::{Diagnostic, Source};
use crate::workspace::Observer;

mod alone;
mod crates;
mod groups;
mod unread;

pub(crate) use alone::UsersWord;
pub(crate) use unread::Unread;

#[cfg(test)]
mod tests;

/// Reads and decides gates.
pub(crate) trait Gates {
    /// What a skill asks for, read.
    ///
    /// # Errors
    /// What is wrong with it, with places in `source`.
    fn read(&self, raw: &RawGate, source: &Arc<Source>) -> Result<Gate, Vec<Diagnostic>>;

    /// Whether a gate holds in the workspace.
    ///
    /// # Errors
    /// Why it does not, for people.
    fn check(&self, gate: &Gate) -> Result<(), String>;
}

/// A checkout of a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitFolder {
    pub root: std::path::PathBuf,
    /// The folder in it that is meant, with `/`; empty for the root.
    pub start: String,
    pub repo: String,
    pub commit: String,
}

/// Gets the checkout of a repository that a plugin names.
pub(crate) type Checkouts<'a> = dyn Fn(&GitPlace) -> Result<GitFolder, Box<Diagnostic>> + 'a;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resolution {
    /// The skills that apply, one an origin, in the order they were asked for.
    pub skills: Vec<Skill>,
    /// Problems, none of which stops anything else: all are warnings.
    pub diagnostics: Vec<Diagnostic>,
    pub explanations: Vec<Event>,
    /// Crates that were asked for their skills, by their names with `-` for `_`.
    pub crates: BTreeSet<String>,
    /// Crates whose sources could not be had.
    pub missing: Vec<NotOnDisk>,
    /// What can't be read, so that copies of it may be needed still.
    pub unread: Vec<Unread>,
}

/// Whether a gate holds.
enum Decision {
    Holds,
    Fails,
    /// It can't be read, for these reasons.
    Unread(Vec<Diagnostic>),
}

impl Resolution {
    /// All problems, for callers that place no copies: then what can't be read is skipped.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Diagnostic> {
        let unread = self.unread.iter().flat_map(Unread::problems_without_copy);
        self.diagnostics.iter().cloned().chain(unread)
    }
}

/// Collects skills, group by group.
pub(crate) struct Resolver<'a> {
    gates: &'a dyn Gates,
    crates: &'a dyn CrateSources,
    checkouts: &'a Checkouts<'a>,
    observer: &'a Observer,
    done: Resolution,
    origins: BTreeSet<SkillOrigin>,
    /// Crates that were looked into, each with how many skills came of it.
    visited: BTreeMap<(String, String, Option<String>), usize>,
    /// How often a skill applied, one of two that ask for the same included.
    delivered: usize,
}

/// Where skills come from: what those of one place have in common.
#[derive(Clone, Copy)]
struct Provenance<'a> {
    /// What no file may lead out of.
    root: &'a Path,
    plugin: Option<&'a str>,
    /// The origin of a skill at a path below the root.
    origin: &'a dyn Fn(String) -> SkillOrigin,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        gates: &'a dyn Gates,
        crates: &'a dyn CrateSources,
        checkouts: &'a Checkouts<'a>,
        observer: &'a Observer,
    ) -> Self {
        Self {
            gates,
            crates,
            checkouts,
            observer,
            done: Resolution::default(),
            origins: BTreeSet::new(),
            visited: BTreeMap::new(),
            delivered: 0,
        }
    }

    /// Adds the skills that a crate offers by itself, no plugin asked.
    pub(crate) fn of_crate(&mut self, request: &CrateRequest) {
        self.crate_skills(request, None, None);
    }

    /// Adds the workspace's own skills: what is in `folder`, where its `.agents/skills` really is, and
    /// was not put there by us. They are the user's: their gates are not asked.
    pub(crate) fn workspace(&mut self, root: &Path, folder: &Path) {
        let root = if folder.starts_with(root) { root } else { folder };
        let origin = |path| SkillOrigin::Workspace { path };
        let provenance = Provenance { root, plugin: None, origin: &origin };
        let is_ours = |dir: &Path| dir.join(super::files::OWN_FILES[0]).exists();
        let found = discover_unless(root, folder, self.observer, &is_ours);
        self.keep_unknown(found.told, found.unread, provenance);
        for skill in found.skills {
            if let Some((mut document, warnings)) = self.read(&skill, provenance) {
                document.gate = RawGate::default();
                self.admit(document, warnings, skill, provenance);
            }
        }
    }

    pub(crate) fn finish(mut self) -> Resolution {
        self.done.crates = self.visited.into_keys().map(|(name, ..)| name).collect();
        self.done
    }

    /// Adds every skill below `start`; says how many there are.
    fn folder(&mut self, start: &Path, provenance: Provenance<'_>) -> usize {
        self.found(discover(provenance.root, start, self.observer), provenance)
    }

    fn found(&mut self, found: Discovered, provenance: Provenance<'_>) -> usize {
        self.keep_unknown(found.told, found.unread, provenance);
        let count = found.skills.len();
        for skill in found.skills {
            if let Some((document, warnings)) = self.read(&skill, provenance) {
                self.admit(document, warnings, skill, provenance);
            }
        }
        count
    }

    /// Tells what a search found besides skills; folders that can't be looked into may hold some.
    fn keep_unknown(
        &mut self,
        told: Vec<Diagnostic>,
        unread: Vec<(FoundSkill, Diagnostic)>,
        provenance: Provenance<'_>,
    ) {
        self.done.diagnostics.extend(told);
        for (folder, problem) in unread {
            let is_skill = false;
            self.unread(&folder, provenance, (is_skill, vec![problem]));
        }
    }

    /// Reads a skill; one that can't be used is told and skipped.
    fn read(
        &mut self,
        found: &FoundSkill,
        provenance: Provenance<'_>,
    ) -> Option<(SkillDocument, Vec<Diagnostic>)> {
        let read =
            read_source(provenance.root, &found.dir, self.observer).and_then(SkillDocument::parse);
        match read {
            Ok(read) => Some(read),
            Err(problem) => {
                let name = if found.path.is_empty() { SKILL_FILE } else { &found.path };
                self.explain(Kind::Skill, name, Verdict::Skipped, problem.message.clone());
                self.unread(found, provenance, (true, vec![*problem]));
                None
            }
        }
    }

    /// Takes a skill if its gate holds; only then its flaws are anybody's business here.
    fn admit(
        &mut self,
        document: SkillDocument,
        warnings: Vec<Diagnostic>,
        found: FoundSkill,
        provenance: Provenance<'_>,
    ) {
        let name = document.install_name.clone();
        match self.decide(&document.gate, &document.source, Kind::Skill, &name) {
            Decision::Holds => {}
            Decision::Fails => return,
            Decision::Unread(problems) => {
                return self.unread(&found, provenance, (true, problems));
            }
        }
        let origin = (provenance.origin)(found.path);
        let mut reason = format!("from {origin}");
        if let Some(plugin) = provenance.plugin {
            reason = format!("{reason}, plugin {plugin}");
        }
        self.explain(Kind::Skill, &name, Verdict::Matched, reason);
        self.delivered += 1;
        if self.origins.insert(origin.clone()) {
            // How it is written is its author's affair: it is read all the same.
            let is_slip = |warning: &Diagnostic| warning.code == Some(codes::YAML_SLIP);
            self.done.diagnostics.extend(warnings.into_iter().filter(|warning| !is_slip(warning)));
            self.done.skills.push(Skill {
                name,
                description: document.description.value,
                dir: found.dir,
                root: provenance.root.to_path_buf(),
                origin,
                plugin: provenance.plugin.map(ToOwned::to_owned),
                written: None,
                same_as: Vec::new(),
            });
        }
    }

    fn decide(&mut self, raw: &RawGate, source: &Arc<Source>, kind: Kind, name: &str) -> Decision {
        if raw.is_empty() {
            return Decision::Holds;
        }
        let (reason, decision) = match self.gates.read(raw, source) {
            Ok(gate) => match self.gates.check(&gate) {
                Ok(()) => return Decision::Holds,
                Err(reason) => (reason, Decision::Fails),
            },
            Err(problems) => {
                let reason = "its `crates` or `predicates` can't be read".to_owned();
                (reason, Decision::Unread(problems))
            }
        };
        self.explain(kind, name, Verdict::Skipped, reason);
        decision
    }

    fn unread(
        &mut self,
        found: &FoundSkill,
        provenance: Provenance<'_>,
        (is_skill, problems): (bool, Vec<Diagnostic>),
    ) {
        self.done.unread.push(Unread {
            origin: (provenance.origin)(found.path.clone()),
            plugin: provenance.plugin.map(ToOwned::to_owned),
            is_skill,
            problems,
        });
    }

    fn explain(&mut self, kind: Kind, name: &str, verdict: Verdict, reason: impl Into<String>) {
        self.done.explanations.push(Event::explain(kind, name, verdict, reason));
    }

    fn warn_in(&mut self, file: &Path, message: impl Into<String>) {
        self.done.diagnostics.push(Diagnostic::warning(message).in_file(file));
    }
}

/// Reads a folder's `SKILL.md`, which may be a link inside the root.
///
/// # Errors
/// It can't be read, leads out of the root, is no text or too large.
pub(crate) fn read_source(
    root: &Path,
    dir: &Path,
    observer: &Observer,
) -> Result<Arc<Source>, Box<Diagnostic>> {
    let path = dir.join(SKILL_FILE);
    observer.observe(&path);
    let refused = |message: String| Box::new(Diagnostic::error(message).in_file(&path));
    let leads_out =
        || Err(Box::new(refused("the link leads out".to_owned()).code(codes::LEADS_OUT)));
    let real = match crate::files::canonicalize(&path) {
        Ok(real) => real,
        Err(_) if led_out(&path) => return leads_out(),
        Err(error) => return Err(refused(format!("can't read: {error}"))),
    };
    let real_root = crate::files::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    if !real.starts_with(&real_root) {
        return leads_out();
    }
    match observer.text(&real, Limit::MANIFEST) {
        Ok(text) => Ok(Source::new(path, text)),
        Err(error) => Err(Box::new(error.diagnose("this file", &path).code(codes::FRONTMATTER))),
    }
}
