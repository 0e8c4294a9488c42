//! Copilot's switch for hooks, and its list of trusted folders. Measured with 1.0.102.

use std::path::Path;

use serde_json::Value;

use super::user_folder;
use crate::agents::checkup::{Context, Finding, Topic, says};
use crate::config::HookScope;

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let folder = user_folder(context.placement);
    let settings = folder.join("settings.json");
    let mut findings = Vec::new();
    if says(context.json(&settings).as_ref(), "/disableAllHooks", true) {
        // GitHub documents it; runs without a screen did not honour it.
        let message = "`disableAllHooks` turns hooks off, at least on the screen";
        findings.push(
            Finding::warning("hooks-disabled", Topic::Hooks, message)
                .in_file(settings)
                .remedy("take `disableAllHooks` out of the file"),
        );
    }
    findings.extend(untrusted(context, &folder.join("config.json")));
    if context.skills.iter().any(|skill| skill.is_ignored) {
        // Reported for VS Code (github.com/microsoft/vscode, issue 291356); the CLI sees them.
        let message = "Copilot in VS Code does not use skills that git ignores; Copilot CLI does";
        findings.push(Finding::note("skills-hidden", Topic::Skills, message).remedy(
            "with VS Code, set `skill-ignore = \"none\"` in the configuration and ignore the \
             folders as you like",
        ));
    }
    findings
}

/// What a project brings counts only in a trusted folder; the user's own hooks always do.
fn untrusted(context: &Context<'_>, file: &Path) -> Option<Finding> {
    let hooks = context.placement.scope == HookScope::Project;
    let project = context.project()?;
    if !hooks && !context.has_servers {
        return None;
    }
    let config = context.json(file);
    let folders = config.as_ref().and_then(|config| config.get("trustedFolders")?.as_array());
    let mut paths = folders.into_iter().flatten().filter_map(Value::as_str);
    if paths.any(|path| project.starts_with(path)) {
        return None;
    }
    let (topic, what) = if hooks { (Topic::Hooks, "hooks") } else { (Topic::Servers, "servers") };
    let message =
        format!("this folder is not trusted, so Copilot does not use the project's {what}");
    Some(
        Finding::warning("folder-untrusted", topic, message)
            .in_file(file)
            .remedy(format!("start `copilot` in {} and choose to trust it", project.display())),
    )
}

#[cfg(test)]
mod tests {
    use crate::agents::Agent;
    use crate::agents::checkup::testing::{World, skill};
    use crate::config::HookScope;

    const CONFIG: &str = "/home/me/.copilot/config.json";

    #[test]
    fn hooks_may_be_off() {
        let file = "/home/me/.copilot/settings.json";
        let world = World::new(&[(file, "{\"disableAllHooks\": true, } // mine")]);
        assert_eq!(world.codes(Agent::Copilot), ["hooks-disabled"]);
    }

    #[test]
    fn what_a_project_brings_needs_a_trusted_folder() {
        let trusted = "{\"trustedFolders\": [\"/src/shop\"]}";
        for (scope, has_servers) in [(HookScope::Project, false), (HookScope::Global, true)] {
            let world = World { scope, has_servers, ..World::new(&[]) };
            assert_eq!(world.codes(Agent::Copilot), ["folder-untrusted"]);
            let world = World { scope, has_servers, ..World::new(&[(CONFIG, trusted)]) };
            assert!(world.codes(Agent::Copilot).is_empty());
        }
        assert!(World::new(&[]).codes(Agent::Copilot).is_empty());
    }

    #[test]
    fn case_70_vs_code_does_not_see_ignored_skills_and_that_is_no_fault() {
        let skills = vec![skill(".agents/skills/w", 0)];
        let found = World { skills, ..World::new(&[]) }.check(Agent::Copilot);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].code, found[0].severity), ("skills-hidden", None));
    }
}
