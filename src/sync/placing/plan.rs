//! The plan: what should change on disk, computed from facts alone.
//!
//! A plan is a value. It can be printed (`sync --dry-run`), compared (`sync --check`) and tested
//! without a disk. No effect happens here, and nothing is decided in `apply`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::marker::{MARKER, Marker, overlap};
use crate::config::SkillIgnore;
use crate::report::{Action, Change, Kind, Place};
use crate::skills::content::{Content, FileContent};

/// A folder that holds skill folders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Parent {
    pub path: PathBuf,
    /// What people know it by, such as `.claude`.
    pub shown: String,
}

/// A skill that should be in some folders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WantedSkill {
    pub name: String,
    /// Its files, without our own.
    pub content: Arc<Content>,
    /// Where it comes from, for people.
    pub origin: String,
    /// Its folder below the root of where it comes from.
    pub path: String,
    /// The plugin source that brought it; empty for none.
    pub source: String,
    /// Indices of the parents it goes to.
    pub parents: Vec<usize>,
}

/// Hashes of files by their paths below a skill folder.
type Hashes = BTreeMap<String, String>;

/// What was found in a parent folder under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A folder with our marker, and the hash of each other file.
    Ours {
        marker: Marker,
        /// The files without the marker.
        files: Hashes,
    },
    /// Anything else: the user's.
    Theirs,
    /// A folder that was ours, and the hash of each file that stayed in it. It is no skill.
    Remainder(Hashes),
    /// What a killed run left behind.
    Leftover,
    /// A folder of ours that can't be read, and why.
    Unreadable(String),
}

/// What is on disk now, parent by parent in the order of the wanted parents.
pub(crate) type Disk = Vec<BTreeMap<String, Found>>;

/// What becomes of a copy of ours that is not wanted where it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    /// It goes, for this reason.
    Goes(String),
    /// So it does as far as is known: what its source can't be asked may say otherwise.
    Unneeded(String),
    /// It was placed by hand for these agents, and stays as long as the skill does: as the skill is
    /// now, or as it is on disk where that can't be had.
    ByHand(Vec<String>, Option<WantedSkill>),
}

/// By the index of the parent, and the name.
pub(crate) type Fates = BTreeMap<(usize, String), Fate>;

/// What should be there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Every folder to look into, those of other agents included.
    pub parents: Vec<Parent>,
    /// Indices of parents whose stale skills are left alone this time.
    pub protected: BTreeSet<usize>,
    /// Plugin sources that can't be had now, each with the reason to tell: what they brought stays.
    pub unavailable: BTreeMap<String, String>,
    /// Crates whose sources can't be had now: what came from them, in whatever version, stays.
    pub missing: BTreeSet<String>,
    /// Skills that can't be read now: what was placed of them stays.
    pub unread: Vec<UnreadSkills>,
    pub skills: Vec<WantedSkill>,
    /// How they are kept out of git.
    pub ignore: SkillIgnore,
    /// Replace what the user changed.
    pub force: bool,
    /// Whether everything goes because Symposium does.
    pub takes_back: bool,
    /// For whom copies are placed by hand, in the parents that no configured agent reads.
    pub by_hand_for: BTreeMap<usize, Vec<String>>,
    /// What becomes of copies that are not wanted.
    pub fates: Fates,
}

/// What copies of skills that can't be read now look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadSkills {
    /// Where they come from, as copies made now would say.
    pub origin: String,
    /// Whether the last word of `origin` is a version or commit, in which copies may differ.
    pub is_versioned: bool,
    /// The plugin source that brought them; empty for none.
    pub source: String,
    /// The skill's folder below the root of where it comes from, or a folder with any number of skills.
    pub path: String,
    /// Whether it is one skill.
    pub is_skill: bool,
}

impl UnreadSkills {
    /// Whether the copy with this marker is one of them. One whose marker does not say which skill it
    /// is of may be.
    fn is_copy(&self, marker: &Marker) -> bool {
        let place = |origin: &str| match origin.rsplit_once(' ') {
            Some((place, _)) if self.is_versioned => place.to_owned(),
            _ => origin.to_owned(),
        };
        let is_there = |path: &String| match self.is_skill {
            true => *path == self.path,
            false => Path::new(path).starts_with(&self.path),
        };
        place(&marker.origin) == place(&self.origin)
            && marker.source == self.source
            && marker.path.as_ref().is_none_or(is_there)
    }
}

impl Wanted {
    /// Why it is not known whether a skill is still needed, if so.
    fn unknown(&self, marker: &Marker) -> Option<String> {
        if let Some(why) = self.unavailable.get(&marker.source) {
            return Some(why.clone());
        }
        let (name, _) = marker.origin.split_once(' ')?;
        self.missing.contains(name).then(|| format!("the sources of {name} can't be had now"))
    }
}

/// One thing to do to one skill folder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub action: Action,
    pub name: String,
    pub parent: Parent,
    /// Every file it should hold, marker and ignore files included; empty when it goes or stays.
    pub files: Arc<Content>,
    /// Where the skill comes from, for people.
    pub origin: Option<String>,
    /// Why, where that is not plain.
    pub reason: Option<String>,
    /// Whether people are told.
    pub silent: bool,
}

/// Everything to do, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    /// Which of [`Wanted::unread`] have copies, and whether one is of the very version that can't be
    /// read.
    pub unread: BTreeMap<usize, bool>,
}

impl Plan {
    /// How many things would change, each skill counted once.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        // There may be thousands.
        let mut known = BTreeMap::new();
        for step in self.steps.iter().filter(|step| !step.silent) {
            let at = *known.entry((step.action, &step.name, &step.reason)).or_insert(changes.len());
            match changes.get_mut(at) {
                Some(change) => change.places.push(Place::Folder(step.parent.shown.clone())),
                None => changes.push(Change {
                    origin: step.origin.clone(),
                    places: vec![Place::Folder(step.parent.shown.clone())],
                    reason: step.reason.clone(),
                    planned: true,
                    ..Change::new(step.action, Kind::Skill, step.name.as_str())
                }),
            }
        }
        changes
    }
}

pub(crate) fn plan(wanted: &Wanted, disk: &Disk) -> Plan {
    let mut steps = Vec::new();
    let mut kept_unread = BTreeMap::new();
    for (index, parent) in wanted.parents.iter().enumerate() {
        let empty = BTreeMap::new();
        let found = disk.get(index).unwrap_or(&empty);
        let mut kept = BTreeSet::new();
        for skill in wanted.skills.iter().filter(|skill| skill.parents.contains(&index)) {
            kept.insert(skill.name.as_str());
            let by_hand_for = wanted.by_hand_for.get(&index).cloned().unwrap_or_default();
            let found = found.get(&skill.name);
            steps.extend(step_for(wanted, parent, (skill, by_hand_for), found));
        }
        for (name, found) in found {
            if kept.contains(name.as_str()) {
                continue;
            }
            let fate = wanted.fates.get(&(index, name.clone()));
            if let Found::Ours { marker, .. } = found
                && (matches!(fate, Some(Fate::Goes(_))) || wanted.unknown(marker).is_none())
                && let Some(at) = wanted.unread.iter().position(|unread| unread.is_copy(marker))
            {
                let is_same = wanted.unread[at].origin == marker.origin;
                *kept_unread.entry(at).or_default() |= is_same;
                steps.push(keep(parent, name, marker, "it can't be read now where it comes from"));
                continue;
            }
            if *found == Found::Leftover || !wanted.protected.contains(&index) {
                steps.extend(step_for_stale(wanted, (parent, fate), name, found));
            }
        }
    }
    // What goes first frees names for what comes.
    steps.sort_by_key(|step| {
        let order = match step.action {
            Action::Remove => 0,
            Action::Install | Action::Update | Action::Restore => 1,
            _ => 2,
        };
        (order, step.name.clone(), step.parent.shown.clone())
    });
    Plan { steps, unread: kept_unread }
}

/// A copy that stays, whether it is needed or not.
fn keep(parent: &Parent, name: &str, marker: &Marker, reason: &str) -> Step {
    Step {
        action: Action::Keep,
        name: name.to_owned(),
        parent: parent.clone(),
        files: Arc::default(),
        origin: Some(marker.origin.clone()).filter(|origin| !origin.is_empty()),
        reason: Some(reason.to_owned()),
        silent: false,
    }
}

/// The files a skill folder should hold: the skill's, the ignore files and the marker.
fn complete(
    skill: &WantedSkill,
    ignore: SkillIgnore,
    by_hand_for: Vec<String>,
) -> (Content, Marker) {
    let mut content = (*skill.content).clone();
    if ignore == SkillIgnore::Gitignore {
        content.files.insert(".gitignore".to_owned(), FileContent::text("*\n"));
        // Tools that search with ripgrep honour `.gitignore`; this lets them see the files again.
        content.files.insert(".ignore".to_owned(), FileContent::text("!*\n"));
    }
    let marker = Marker {
        origin: skill.origin.clone(),
        path: Some(skill.path.clone()),
        source: skill.source.clone(),
        by_hand_for,
        files: content.hashes(),
        damaged: false,
    };
    content.files.insert(MARKER.to_owned(), FileContent::text(marker.render()));
    (content, marker)
}

fn step_for(
    wanted: &Wanted,
    parent: &Parent,
    (skill, by_hand_for): (&WantedSkill, Vec<String>),
    found: Option<&Found>,
) -> Option<Step> {
    let (content, wanted_marker) = complete(skill, wanted.ignore, by_hand_for);
    let step = |action, reason: Option<String>| Step {
        action,
        name: skill.name.clone(),
        parent: parent.clone(),
        files: if Action::is_change(action) { Arc::new(content) } else { Arc::default() },
        origin: Some(skill.origin.clone()),
        reason,
        silent: false,
    };
    match found {
        None | Some(Found::Leftover) => Some(step(Action::Install, None)),
        Some(Found::Theirs) => Some(step(
            Action::Skip,
            Some(format!("{}/{} is your own", parent.path_shown(), skill.name)),
        )),
        Some(Found::Unreadable(problem)) => {
            Some(step(Action::Skip, Some(format!("it can't be read: {problem}"))))
        }
        Some(Found::Remainder(files)) => {
            match in_the_way(files, &wanted_marker.files).filter(|_| !wanted.force) {
                Some(reason) => Some(step(Action::Skip, Some(reason))),
                None => Some(step(Action::Install, None)),
            }
        }
        Some(Found::Ours { marker, files }) => {
            let ours = &wanted_marker.files;
            let is_whole = ours.iter().all(|(path, hash)| files.get(path) == Some(hash));
            if is_whole && *marker == wanted_marker {
                return None;
            }
            if !wanted.force
                && let Some(reason) = why_kept(marker, files, ours)
            {
                return Some(step(Action::Keep, Some(reason)));
            }
            let is_changed = |(path, hash)| files.get(path).is_some_and(|found| found != hash);
            let same = marker.files == *ours && !marker.files.iter().any(is_changed);
            let action = if same && !is_whole { Action::Restore } else { Action::Update };
            // What else the marker says is no news of the skill.
            let silent = is_whole
                && marker.files == *ours
                && (&marker.origin, &marker.source)
                    == (&wanted_marker.origin, &wanted_marker.source);
            Some(Step { silent, ..step(action, None) })
        }
    }
}

/// Why a folder must not be replaced by one with the files `ours`, if so: something of the user's in it
/// would be lost.
fn why_kept(marker: &Marker, files: &Hashes, ours: &Hashes) -> Option<String> {
    // What an older installation wrote has no ignore files and no hashes in its marker.
    if marker.files.is_empty() {
        let is_what_we_write = files.iter().all(|(path, hash)| ours.get(path) == Some(hash));
        return (!is_what_we_write).then(|| {
            "its marker does not say what was installed, and it may be edited; `--force` replaces it"
                .to_owned()
        });
    }
    if is_edited(marker, files, ours) {
        return Some("edited by you; `--force` replaces it".to_owned());
    }
    in_the_way(files.iter().filter(|(path, _)| marker.is_foreign(path)), ours)
}

/// The first of some `foreign` files that one of ours would take the place of.
fn in_the_way<'a>(
    foreign: impl IntoIterator<Item = (&'a String, &'a String)>,
    ours: &Hashes,
) -> Option<String> {
    let mut foreign = foreign.into_iter();
    let found = foreign.find(|(path, hash)| {
        ours.get(*path) != Some(*hash) && ours.keys().any(|our_path| overlap(our_path, path))
    });
    found.map(|(path, _)| format!("`{path}` in it is your own; `--force` replaces it"))
}

fn step_for_stale(
    wanted: &Wanted,
    (parent, fate): (&Parent, Option<&Fate>),
    name: &str,
    found: &Found,
) -> Option<Step> {
    let step = |action, origin: Option<&str>, reason: Option<&str>, silent| Step {
        action,
        name: name.to_owned(),
        parent: parent.clone(),
        files: Arc::default(),
        origin: origin.map(str::to_owned).filter(|origin| !origin.is_empty()),
        reason: reason.map(str::to_owned),
        silent,
    };
    match found {
        Found::Theirs | Found::Remainder(_) | Found::Unreadable(_) => None,
        Found::Leftover => Some(step(Action::Remove, None, None, true)),
        Found::Ours { marker, files } => {
            let origin = Some(marker.origin.as_str());
            if !matches!(fate, Some(Fate::Goes(_)))
                && let Some(reason) = wanted.unknown(marker)
            {
                return Some(step(Action::Keep, origin, Some(&reason), false));
            }
            let why = match fate {
                Some(Fate::ByHand(agents, skill)) => {
                    let wanted_copy = (skill.as_ref()?, agents.clone());
                    return step_for(wanted, parent, wanted_copy, Some(found));
                }
                Some(Fate::Goes(reason) | Fate::Unneeded(reason)) => reason,
                None => "no longer needed",
            };
            let edited = marker.damaged || is_edited(marker, files, &Hashes::new());
            if !wanted.force && edited {
                let reason = match wanted.takes_back {
                    true => "you edited it, so it is yours now".to_owned(),
                    false => format!("{why}; but you edited it, and `--force` removes it"),
                };
                return Some(step(Action::Keep, origin, Some(&reason), false));
            }
            let leaves = files.keys().any(|path| marker.is_foreign(path));
            let left = "files in it that are not ours stay";
            let reason = match (wanted.takes_back, leaves) {
                (true, false) => None,
                (true, true) => Some(left.to_owned()),
                (false, false) => Some(why.to_owned()),
                (false, true) => Some(format!("{why}; {left}")),
            };
            Some(step(Action::Remove, origin, reason.as_deref(), false))
        }
    }
}

/// Whether the user changed a file of ours into something else than it would become, or deleted one
/// that would come back. `ours` are the files that the folder gets.
fn is_edited(marker: &Marker, files: &Hashes, ours: &Hashes) -> bool {
    marker.files.iter().any(|(path, written)| match files.get(path) {
        Some(hash) => hash != written && ours.get(path) != Some(hash),
        None => ours.contains_key(path),
    })
}

impl Parent {
    /// The parent's folder relative to the workspace, for people.
    fn path_shown(&self) -> String {
        format!("{}/skills", self.shown)
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
