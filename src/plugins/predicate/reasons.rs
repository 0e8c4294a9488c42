//! Why a gate holds or does not, in words for people.

use semver::VersionReq;

use super::{Finding, Truth, version};
use crate::workspace::Dependency;

/// The reason of what has no condition.
pub(super) const EVERYWHERE: &str = "applies everywhere";

/// How many names a sentence lists.
const NAMES: usize = 5;

/// `serde 1.0.228 ≥ 1.0`, `serde 1.0.228`, or just the name where no version is known.
pub(super) fn satisfied(dependencies: &[&Dependency], requirement: Option<&VersionReq>) -> String {
    let found = named(dependencies);
    requirement.map_or_else(
        || found.clone(),
        |requirement| format!("{found} {}", version::words(requirement)),
    )
}

/// `tokio 0.2.1 is not ≥ 1.40`.
pub(super) fn wrong_version(
    dependencies: &[&Dependency],
    requirement: Option<&VersionReq>,
) -> String {
    let wanted = requirement.map_or_else(String::new, version::words);
    let name = dependencies.first().map_or("", |dependency| dependency.name.as_str());
    let versions = dependencies.iter().filter(|dependency| dependency.version.is_some()).count();
    match versions {
        0 => format!("the version of {name} is not known; {wanted} is needed"),
        1 => format!("{} is not {wanted}", named(dependencies)),
        _ => format!("{} are not {wanted}", named(dependencies)),
    }
}

/// The name with all known versions: `syn 1.0.109 and 2.0.90`.
fn named(dependencies: &[&Dependency]) -> String {
    let name = dependencies.first().map_or("", |dependency| dependency.name.as_str());
    let versions: Vec<_> = dependencies
        .iter()
        .filter_map(|dependency| dependency.version.as_ref().map(ToString::to_string))
        .collect();
    if versions.is_empty() { name.to_owned() } else { format!("{name} {}", versions.join(" and ")) }
}

/// The atoms that hold.
pub(super) fn holding(mut reasons: Vec<String>) -> String {
    if reasons.len() > 1 {
        reasons.retain(|reason| reason != EVERYWHERE);
    }
    reasons.dedup();
    if reasons.is_empty() {
        return EVERYWHERE.to_owned();
    }
    list(&reasons, "and")
}

/// Why none of a list's crates will do.
pub(super) fn no_crate(wrong: Vec<String>, mut missing: Vec<String>, outside: bool) -> String {
    missing.dedup();
    let mut reasons = wrong;
    if !missing.is_empty() {
        reasons.push(if outside {
            format!("{} is needed, and this is no Rust workspace", list(&missing, "or"))
        } else {
            match missing.as_slice() {
                [name] => format!("{name} is not a dependency of this workspace"),
                [one, other] => {
                    format!("neither {one} nor {other} is a dependency of this workspace")
                }
                names => {
                    format!("none of {} is a dependency of this workspace", list(names, "and"))
                }
            }
        });
    }
    reasons.join("; ")
}

/// The whole gate: what made it hold, or what kept it from holding.
pub(super) fn summary(holds: bool, findings: Vec<Finding>) -> String {
    let mut reasons = Vec::new();
    for finding in findings {
        let matters = holds || finding.truth != Truth::Yes;
        if matters && finding.reason != EVERYWHERE && !reasons.contains(&finding.reason) {
            reasons.push(finding.reason);
        }
    }
    if reasons.is_empty() { EVERYWHERE.to_owned() } else { reasons.join("; ") }
}

/// `a, b and c`; after five names `and n more`.
fn list(names: &[String], word: &str) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        _ if names.len() > NAMES => {
            let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
            format!("{shown} {word} {} more", names.len() - NAMES)
        }
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}
