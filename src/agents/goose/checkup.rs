//! Goose has hooks since 1.38 (its documentation).

use semver::Version;

use crate::agents::checkup::{Context, Finding, Topic};
use crate::agents::places::FileFormat;

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let first = Version::new(1, 38, 0);
    let mut findings = context.switched_off(FileFormat::Yaml, "extensions", ("enabled", false));
    findings.extend(context.placement.version.filter(|version| **version < first).map(|version| {
        let message = format!("Goose {version} has no hooks; they came with {first}");
        Finding::warning("hooks-unsupported", Topic::Hooks, message).remedy("`goose update`")
    }));
    findings
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use crate::agents::Agent;
    use crate::agents::checkup::testing::World;

    #[test]
    fn an_old_goose_has_no_hooks() {
        for (version, codes) in [
            (None, &[][..]),
            (Some(Version::new(1, 37, 9)), &["hooks-unsupported"]),
            (Some(Version::new(1, 38, 0)), &[]),
        ] {
            assert_eq!(World { version, ..World::new(&[]) }.codes(Agent::Goose), codes);
        }
    }
}
