//! Up to version 2, Kiro's hooks belong to an agent that the user must choose; read in its
//! documentation and in reports of others.

use super::{Kiro, is_standalone};
use crate::agents::checkup::{Context, Finding, Topic};
use crate::agents::places::{FileFormat, JsonRules};
use crate::agents::registration::Registration;

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let format = FileFormat::Json(JsonRules::STRICT);
    let mut findings = context.switched_off(format, "mcpServers", ("disabled", true));
    findings.extend(needs_choosing(context));
    findings
}

fn needs_choosing(context: &Context<'_>) -> Option<Finding> {
    if is_standalone(context.placement) {
        return None;
    }
    let message = match context.placement.version {
        Some(version) => {
            format!("Kiro {version} runs hooks only while its agent `symposium` is the chosen one")
        }
        None => {
            "the version of Kiro is not known, so hooks are registered as version 2 reads them: \
                 they run only while its agent `symposium` is the chosen one"
                .to_owned()
        }
    };
    let finding = Finding::note("agent-needs-choosing", Topic::Hooks, message).remedy(
        "start it as `kiro-cli chat --agent symposium`; from version 3 on no choice is needed",
    );
    let file = Kiro.hooks(context.placement).into_iter().next().map(|place| place.path);
    Some(match file {
        Some(file) => finding.in_file(file),
        None => finding,
    })
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use crate::agents::Agent;
    use crate::agents::checkup::testing::World;

    #[test]
    fn case_65_which_file_counts_depends_on_the_version() {
        for (version, codes) in [
            (None, &["agent-needs-choosing"][..]),
            (Some(Version::new(2, 14, 2)), &["agent-needs-choosing"]),
            (Some(Version::new(3, 0, 0)), &[]),
        ] {
            let world = World { version, ..World::new(&[]) };
            assert_eq!(world.codes(Agent::Kiro), codes);
            assert!(world.check(Agent::Kiro).iter().all(|finding| finding.severity.is_none()));
        }
    }
}
