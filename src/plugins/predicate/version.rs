//! Versions against requirements, and both in words.

use semver::{Comparator, Op, Version, VersionReq};

/// Whether `version` satisfies every comparison of `requirement`.
///
/// A pre-release in the lock file is what the user runs, so it counts as its release wherever the
/// comparison names no pre-release itself: `2.0.0-beta.1` satisfies `>=1`. (The semver crate alone
/// would never match it.) An exact version matches only itself.
pub(super) fn satisfies(requirement: &VersionReq, version: &Version) -> bool {
    requirement.comparators.iter().all(|comparator| comparison_holds(comparator, version))
}

fn comparison_holds(comparator: &Comparator, version: &Version) -> bool {
    let exact = comparator.op == Op::Exact && comparator.patch.is_some();
    let same_release = comparator.major == version.major
        && comparator.minor == Some(version.minor)
        && comparator.patch == Some(version.patch);
    if version.pre.is_empty() || (same_release && (exact || !comparator.pre.is_empty())) {
        return comparator.matches(version);
    }
    comparator.matches(&Version::new(version.major, version.minor, version.patch))
}

/// The requirement for people: `≥ 1.40`, `^1.0`, `≥ 1 and < 2`.
pub(super) fn words(requirement: &VersionReq) -> String {
    let comparisons: Vec<_> = requirement.comparators.iter().map(comparison_words).collect();
    comparisons.join(" and ")
}

fn comparison_words(comparator: &Comparator) -> String {
    let text = comparator.to_string();
    let version = text.trim_start_matches(['=', '>', '<', '^', '~']);
    match comparator.op {
        Op::GreaterEq => format!("≥ {version}"),
        Op::LessEq => format!("≤ {version}"),
        Op::Greater => format!("> {version}"),
        Op::Less => format!("< {version}"),
        Op::Exact => format!("= {version}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::model::CrateAtom;

    fn requirement(text: &str) -> VersionReq {
        match CrateAtom::parse(&format!("x{text}")) {
            Ok(CrateAtom::Crate { requirement: Some(requirement), .. }) => requirement,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn holds(text: &str, version: &str) -> bool {
        satisfies(&requirement(text), &Version::parse(version).expect("a version"))
    }

    #[test]
    fn f95_to_f97_operators() {
        for (text, version, expected) in [
            (">=1.40", "1.40.0", true),
            (">=1.40", "1.39.9", false),
            (">1.40", "1.40.5", false),
            (">1.40", "1.41.0", true),
            ("<2.0", "1.99.0", true),
            ("<2.0", "2.0.0", false),
            ("<=2.0", "2.0.0", true),
            ("^1.0", "1.9.0", true),
            ("=1.0", "1.9.0", true),
            ("=1.0", "2.0.0", false),
            ("~1.2", "1.2.9", true),
            ("~1.2", "1.3.0", false),
            ("==1.0.219", "1.0.219", true),
            ("==1.0.219", "1.0.220", false),
            (">=1, <2", "1.5.0", true),
            (">=1, <2", "2.0.0", false),
        ] {
            assert_eq!(holds(text, version), expected, "{version} {text}");
        }
    }

    #[test]
    fn f108_a_pre_release_counts_as_its_release_unless_the_requirement_names_one() {
        for (text, version, expected) in [
            (">=1", "2.0.0-beta.1", true),
            ("=2", "2.0.0-beta.1", true),
            ("<2", "2.0.0-beta.1", false),
            ("==2.0.0", "2.0.0-beta.1", false),
            ("==2.0.0-beta.1", "2.0.0-beta.1", true),
            ("==2.0.0-beta.1", "2.0.0-beta.2", false),
            (">=2.0.0-beta.2", "2.0.0-beta.1", false),
            (">=2.0.0-beta.2", "2.0.0-beta.3", true),
            (">=2.0.0-beta.2", "2.0.0", true),
            (">=2.0.0-beta.2, <3", "2.1.0-alpha", true),
            ("^2.0.0-beta.2", "3.0.0-alpha", false),
        ] {
            assert_eq!(holds(text, version), expected, "{version} {text}");
        }
    }

    #[test]
    fn requirements_in_words() {
        for (text, expected) in [
            (">=1.40", "≥ 1.40"),
            ("=1.0", "^1.0"),
            ("==1.0.219", "= 1.0.219"),
            (">=1, <2", "≥ 1 and < 2"),
            ("~1.2", "~1.2"),
            ("=1.*", "1.*"),
        ] {
            assert_eq!(words(&requirement(text)), expected);
        }
    }
}
