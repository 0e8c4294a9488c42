//! Goose has hooks since 1.38 (its documentation).

use semver::Version;

use crate::agents::checkup::{Finding, Look, Topic};

pub(super) fn checkup(look: &Look<'_>) -> Vec<Finding> {
    let first = Version::new(1, 38, 0);
    let Some(version) = look.placement.version.filter(|version| **version < first) else {
        return Vec::new();
    };
    let message = format!("Goose {version} has no hooks; they came with {first}");
    vec![Finding::warning("hooks-unsupported", Topic::Hooks, message).remedy("`goose update`")]
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::super::Goose;
    use crate::agents::checkup::testing::World;

    #[test]
    fn an_old_goose_has_no_hooks() {
        for (version, codes) in [
            (None, &[][..]),
            (Some(Version::new(1, 37, 9)), &["hooks-unsupported"]),
            (Some(Version::new(1, 38, 0)), &[]),
        ] {
            assert_eq!(World { version, ..World::new(&[]) }.codes(&Goose), codes);
        }
    }
}
