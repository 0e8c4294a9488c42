//! What became different of the dependencies from one sync to the next, kept for sessions that have
//! not heard of it yet.

use std::collections::BTreeMap;

use semver::{Comparator, Op, Version, VersionReq};
use serde::{Deserialize, Serialize};

use super::DirectDependency;

/// Changes that are kept at most; sessions hear of each with their next event.
const KEPT: usize = 200;

/// A dependency as the last sync had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownDependency {
    #[serde(rename = "n")]
    pub name: String,
    /// In their order; nothing while no lock file tells.
    #[serde(rename = "v")]
    pub versions: Vec<Version>,
    /// The day on which the newest of the versions came out, in days since 1970.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub published: Option<u32>,
    /// Whether it ships a changelog.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    pub has_changelog: bool,
}

/// What one sync found different of one dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DependencyChange {
    /// When, in milliseconds since 1970.
    pub at: u64,
    pub name: String,
    /// The versions until then; empty: it was no dependency.
    pub before: Vec<Version>,
    /// The versions since; empty: it is none any more.
    pub after: Vec<Version>,
}

/// What several syncs made of one dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Move {
    Came(Vec<Version>),
    Went,
    /// Versions that no other one is compatible with: those that left, and those that are new.
    Incompatible(Vec<Version>, Vec<Version>),
}

/// The dependencies that are not the workspace's own code, by their names.
pub(crate) fn known(dependencies: &[DirectDependency]) -> Vec<KnownDependency> {
    let mut known: Vec<KnownDependency> = Vec::new();
    for found in dependencies.iter().filter(|found| found.member.is_none()) {
        let (name, version) = (&found.dependency.name, found.dependency.version.clone());
        let changelog = found.source.as_ref().is_some_and(|source| source.changelog.is_some());
        match known.last_mut().filter(|last| last.name == *name) {
            Some(last) => {
                last.versions.extend(version);
                last.has_changelog |= changelog;
            }
            None => known.push(KnownDependency {
                name: name.clone(),
                versions: version.into_iter().collect(),
                published: None,
                has_changelog: changelog,
            }),
        }
    }
    known
}

/// `log` with what is different in `new`. A version that is unknown for the moment, for there is no
/// lock file, is as it was; what was not in the lock file yet comes when it is.
pub(crate) fn record(
    mut log: Vec<DependencyChange>,
    old: &[KnownDependency],
    new: &mut [KnownDependency],
    at: u64,
) -> Vec<DependencyChange> {
    let mut before: BTreeMap<&str, &[Version]> =
        old.iter().map(|known| (known.name.as_str(), known.versions.as_slice())).collect();
    let had_lock_file = old.iter().any(|known| !known.versions.is_empty());
    for known in &mut *new {
        let before = before.remove(known.name.as_str());
        // Without a lock file nothing was known to be there, so nothing comes with it.
        let is_comparable = had_lock_file || before.is_none();
        let before = before.unwrap_or_default();
        if known.versions.is_empty() {
            known.versions = before.to_vec();
        }
        if is_comparable && *before != known.versions {
            let (name, before) = (known.name.clone(), before.to_vec());
            log.push(DependencyChange { at, name, before, after: known.versions.clone() });
        }
    }
    let gone = before.into_iter().map(|(name, versions)| {
        let (name, before) = (name.to_owned(), versions.to_vec());
        DependencyChange { at, name, before, after: Vec::new() }
    });
    log.extend(gone);
    log.drain(..log.len().saturating_sub(KEPT));
    log
}

/// What the changes after `since` come to, by name.
pub(crate) fn moves(log: &[DependencyChange], since: u64) -> BTreeMap<&str, Move> {
    let mut ends: BTreeMap<&str, (&[Version], &[Version])> = BTreeMap::new();
    for change in log.iter().filter(|change| change.at > since) {
        let ends = ends.entry(&change.name).or_insert((&change.before, &change.after));
        ends.1 = &change.after;
    }
    ends.into_iter().filter_map(|(name, (old, new))| Some((name, moved(old, new)?))).collect()
}

fn moved(old: &[Version], new: &[Version]) -> Option<Move> {
    match (old, new) {
        ([], []) => None,
        ([], new) => Some(Move::Came(new.to_vec())),
        (_, []) => Some(Move::Went),
        (old, new) => {
            let alone = |versions: &[Version], others: &[Version]| -> Vec<Version> {
                let is_alone =
                    |version: &&Version| !others.iter().any(|other| is_compatible(version, other));
                versions.iter().filter(is_alone).cloned().collect()
            };
            let (left, new) = (alone(old, new), alone(new, old));
            let is_change = !left.is_empty() || !new.is_empty();
            is_change.then_some(Move::Incompatible(left, new))
        }
    }
}

/// Whether cargo takes one of the versions where the other is asked for.
fn is_compatible(one: &Version, other: &Version) -> bool {
    let admits = |asked: &Version, version: &Version| {
        let comparator = Comparator {
            op: Op::Caret,
            major: asked.major,
            minor: Some(asked.minor),
            patch: Some(asked.patch),
            pre: asked.pre.clone(),
        };
        VersionReq { comparators: vec![comparator] }.matches(version)
    };
    admits(one, other) || admits(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(list: &[&str]) -> Vec<Version> {
        list.iter().map(|version| Version::parse(version).expect("a version")).collect()
    }

    fn dependency(name: &str, list: &[&str]) -> KnownDependency {
        let (name, versions) = (name.to_owned(), versions(list));
        KnownDependency { name, versions, published: None, has_changelog: false }
    }

    fn change(at: u64, before: &[&str], after: &[&str]) -> DependencyChange {
        let (before, after) = (versions(before), versions(after));
        DependencyChange { at, name: "a".to_owned(), before, after }
    }

    fn moved(log: &[DependencyChange], since: u64) -> Option<Move> {
        moves(log, since).remove("a")
    }

    #[test]
    fn only_moves_to_versions_that_cargo_would_not_take_instead_are_told() {
        let one = |before: &[&str], after: &[&str]| moved(&[change(5, before, after)], 0);
        let incompatible =
            |left: &[&str], new: &[&str]| Some(Move::Incompatible(versions(left), versions(new)));
        assert_eq!(one(&["1.2.3"], &["1.9.0"]), None);
        assert_eq!(one(&["1.9.0"], &["1.2.3"]), None);
        assert_eq!(one(&["1.2.3"], &["2.0.0"]), incompatible(&["1.2.3"], &["2.0.0"]));
        assert_eq!(one(&["0.4.1"], &["0.5.0"]), incompatible(&["0.4.1"], &["0.5.0"]));
        assert_eq!(one(&["1.0.0-rc.1"], &["1.0.0"]), None);
        assert_eq!(one(&["0.0.1"], &["0.0.2"]), incompatible(&["0.0.1"], &["0.0.2"]));
        assert_eq!(one(&["1.0.0"], &["1.0.0", "2.0.0"]), incompatible(&[], &["2.0.0"]));
        assert_eq!(one(&[], &["1.0.0"]), Some(Move::Came(versions(&["1.0.0"]))));
        assert_eq!(one(&["1.0.0"], &[]), Some(Move::Went));
    }

    #[test]
    fn several_changes_are_told_as_one_and_only_those_that_are_news() {
        let log = [change(1, &["1.0.0"], &["2.0.0"]), change(2, &["2.0.0"], &["1.0.1"])];
        assert_eq!(moved(&log, 0), None, "it is back where it was");
        let back = Move::Incompatible(versions(&["2.0.0"]), versions(&["1.0.1"]));
        assert_eq!(moved(&log, 1), Some(back));
        assert_eq!(moved(&log, 2), None);
        let log = [change(1, &[], &["1.0.0"]), change(2, &["1.0.0"], &[])];
        assert_eq!(moved(&log, 0), None, "it came and went");
    }

    #[test]
    fn without_a_lock_file_the_versions_are_as_they_were() {
        let old = [dependency("a", &["1.0.0"]), dependency("b", &["1.0.0"])];
        let mut new = [dependency("a", &[]), dependency("c", &[])];
        let log = record(Vec::new(), &old, &mut new, 7);
        assert_eq!(new[0].versions, versions(&["1.0.0"]));
        let told: Vec<_> = moves(&log, 0).into_iter().collect();
        assert_eq!(told, [("b", Move::Went)], "what has no version yet has not come yet");
        let mut locked = [dependency("a", &["1.0.0"]), dependency("c", &["0.1.0"])];
        let log = record(Vec::new(), &new, &mut locked, 8);
        let told: Vec<_> = moves(&log, 0).into_iter().collect();
        assert_eq!(told, [("c", Move::Came(versions(&["0.1.0"])))]);
        // The first lock file of a workspace brings nothing that was not there before.
        let mut locked = [dependency("a", &["1.0.0"])];
        assert_eq!(record(Vec::new(), &[dependency("a", &[])], &mut locked, 9), []);
    }

    #[test]
    fn the_log_is_bounded() {
        let mut log = Vec::new();
        for at in 0..300 {
            let version = format!("{at}.0.0");
            let old = [dependency("a", &[&version])];
            log = record(log, &old, &mut [dependency("a", &[&format!("{}.0.0", at + 1)])], at);
        }
        assert_eq!(log.len(), KEPT);
        assert_eq!(log.last().map(|change| change.at), Some(299));
    }
}
