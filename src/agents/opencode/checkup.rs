//! OpenCode runs every plugin file it finds, so ours must be there once. Measured with 1.18.33.

use super::{CONFIG_RULES, user_folder};
use crate::agents::checkup::{Context, Finding, Topic};
use crate::agents::places::FileFormat;

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let plugin = |folder: std::path::PathBuf| folder.join("plugins").join("symposium.js");
    let user = plugin(user_folder(context.placement));
    let project = context.placement.root.map(|root| plugin(root.join(".opencode")));
    let is_there = |path: &std::path::PathBuf| (context.read)(path).is_some();
    let format = FileFormat::Json(CONFIG_RULES);
    let mut findings = context.switched_off(format, "mcp", ("enabled", false));
    if let Some(project) = project.filter(is_there)
        && is_there(&user)
    {
        let message = "our plugin is in your folder and in the project's, and OpenCode runs both";
        findings.push(
            Finding::warning("registered-twice", Topic::Hooks, message)
                .in_file(project)
                .remedy("`cargo agents doctor --fix` removes the one that is not configured"),
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use crate::agents::Agent;
    use crate::agents::checkup::testing::World;

    #[test]
    fn two_plugins_are_one_too_many() {
        let user = ("/home/me/.config/opencode/plugins/symposium.js", "");
        let project = ("/src/shop/.opencode/plugins/symposium.js", "");
        assert!(World::new(&[user]).codes(Agent::OpenCode).is_empty());
        assert!(World::new(&[project]).codes(Agent::OpenCode).is_empty());
        assert_eq!(World::new(&[user, project]).codes(Agent::OpenCode), ["registered-twice"]);
    }
}
