//! What the model is told of the workspace's dependencies: their versions when a session begins,
//! and what changed of them since.

use std::time::{SystemTime, UNIX_EPOCH};

use semver::Version;

use crate::sync::dependencies::changes::{KnownDependency, Move, moves};
use crate::sync::snapshot::Offer;

/// Longest line, in characters.
const LONGEST: usize = 800;
/// What came out within so many days is newer than what models remember.
const YEAR: u32 = 365;
const DAY: u64 = 24 * 60 * 60;

/// The line with the direct dependencies' versions. First come those that a model can't know or is
/// likely to mix up: they came out within a year, or there are several versions of them.
pub(super) fn versions_line(offer: &Offer) -> Option<String> {
    let today = today()?;
    let (surprising, others): (Vec<&KnownDependency>, Vec<_>) =
        offer.dependencies.iter().flatten().partition(|known| is_surprising(known, today));
    let names = surprising.into_iter().chain(others).map(|known| match known.versions.as_slice() {
        [] => known.name.clone(),
        versions => format!("{} {}", known.name, joined(versions)),
    });
    let head = "This workspace's direct dependencies, at the versions of its Cargo.lock: ";
    let tail = ". `cargo agents crate-info NAME` has the details of each.";
    within(head, names.collect(), tail)
}

/// In days since 1970.
fn today() -> Option<u32> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    u32::try_from(now.as_secs() / DAY).ok()
}

fn is_surprising(known: &KnownDependency, today: u32) -> bool {
    let is_new = |day: u32| today.saturating_sub(day) < YEAR;
    known.versions.len() > 1 || known.published.is_some_and(is_new)
}

/// The line about what came, went and moved to an incompatible version after `since`.
pub(super) fn changes_line(offer: &Offer, since: u64) -> Option<String> {
    let known = |name: &str| offer.dependencies.iter().flatten().find(|known| known.name == name);
    let moves = moves(&offer.dependency_changes, since);
    let mut items = Vec::new();
    for (name, moved) in &moves {
        if let Move::Incompatible(left, new) = moved {
            let changelog = known(name).is_some_and(|known| known.has_changelog);
            items.push(incompatible(name, (left, new), changelog));
        }
    }
    for (name, moved) in &moves {
        if let Move::Came(versions) = moved {
            items.push(format!("{name} {} came", joined(versions)));
        }
    }
    for (name, moved) in &moves {
        if *moved == Move::Went {
            items.push(format!("{name} went"));
        }
    }
    within("The workspace's dependencies changed: ", items, ".")
}

fn incompatible(name: &str, (left, new): (&[Version], &[Version]), has_changelog: bool) -> String {
    let Some(newest) = new.last() else {
        return format!("{name} {} went, another version stays", joined(left));
    };
    let Some(oldest) = left.first() else {
        return format!("{name} {} came beside another version", joined(new));
    };
    let moved =
        format!("{name} moved from {} to {}, which is incompatible", joined(left), joined(new));
    match has_changelog && oldest < newest {
        true => format!("{moved} (`cargo agents crate-info {name} --since {oldest}`)"),
        false => moved,
    }
}

fn joined(versions: &[Version]) -> String {
    let versions: Vec<_> = versions.iter().map(ToString::to_string).collect();
    versions.join(" and ")
}

/// As many of `items` as there is room for, and how many more there are; `None` without any.
fn within(head: &str, items: Vec<String>, tail: &str) -> Option<String> {
    let count = items.len();
    let mut line = head.to_owned();
    for (index, item) in items.into_iter().enumerate() {
        let more = format!(", and {} more", count - index);
        let reserve = if index + 1 < count { more.chars().count() } else { 0 };
        let length = line.chars().count() + 2 + item.chars().count();
        if length + reserve + tail.chars().count() > LONGEST {
            line.push_str(&more);
            break;
        }
        if index > 0 {
            line.push_str(", ");
        }
        line.push_str(&item);
    }
    (count > 0).then(|| line + tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, versions: &[&str], published: Option<u32>) -> KnownDependency {
        let versions = versions.iter().map(|version| Version::parse(version).expect("a version"));
        let (name, versions) = (name.to_owned(), versions.collect());
        KnownDependency { name, versions, published, has_changelog: false }
    }

    #[test]
    fn what_a_model_can_t_know_comes_first() {
        let today = today().expect("a day");
        let dependencies = Some(vec![
            known("a", &["1.0.0"], Some(today - YEAR)),
            known("b", &["1.0.0"], None),
            known("c", &["1.0.0"], Some(today - YEAR + 1)),
            known("d", &["1.0.0", "2.0.0"], Some(1)),
            known("e", &[], None),
        ]);
        let line = versions_line(&Offer { dependencies, ..Offer::default() }).expect("a line");
        let names = line.split_once(": ").and_then(|(_, rest)| rest.split_once(". `"));
        assert_eq!(names.expect("names").0, "c 1.0.0, d 1.0.0 and 2.0.0, a 1.0.0, b 1.0.0, e");
        assert_eq!(versions_line(&Offer::default()), None);
    }
}
