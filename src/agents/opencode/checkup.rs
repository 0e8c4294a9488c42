//! OpenCode runs every plugin file it finds, so ours must be there once. Measured with 1.18.33.

use super::user_folder;
use crate::agents::checkup::{Finding, Look, Topic};

pub(super) fn checkup(look: &Look<'_>) -> Vec<Finding> {
    let plugin = |folder: std::path::PathBuf| folder.join("plugins").join("symposium.js");
    let user = plugin(user_folder(look.placement));
    let project = look.placement.root.map(|root| plugin(root.join(".opencode")));
    let is_there = |path: &std::path::PathBuf| (look.read)(path).is_some();
    let mut findings = Vec::new();
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
    use super::super::OpenCode;
    use crate::agents::checkup::testing::World;

    #[test]
    fn two_plugins_are_one_too_many() {
        let user = ("/home/me/.config/opencode/plugins/symposium.js", "");
        let project = ("/src/shop/.opencode/plugins/symposium.js", "");
        assert!(World::new(&[user]).codes(&OpenCode).is_empty());
        assert!(World::new(&[project]).codes(&OpenCode).is_empty());
        assert_eq!(World::new(&[user, project]).codes(&OpenCode), ["registered-twice"]);
    }
}
