//! Qwen Code's switch for hooks, and its trusted folders, which are off until the user turns them on.
//! Measured with 0.24.4; the kinds of trust are in its documentation (configuration/trusted-folders).

use std::path::Path;

use serde_json::Value;

use super::{project_settings, trusted_folders, user_settings};
use crate::agents::checkup::{Context, Finding, Topic, says};
use crate::config::HookScope;

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let user = user_settings(context.placement);
    let project = context.placement.root.map(project_settings);
    let mut findings = Vec::new();
    for file in std::iter::once(&user).chain(&project) {
        if says(context.json(file).as_ref(), "/disableAllHooks", true) {
            let message = "`disableAllHooks` turns every hook off";
            findings.push(
                Finding::warning("hooks-disabled", Topic::Hooks, message)
                    .in_file(file)
                    .remedy("take `disableAllHooks` out of the file"),
            );
        }
    }
    findings.extend(untrusted(context, &user));
    findings
}

/// In a folder that is not trusted the project's own file does not count.
fn untrusted(context: &Context<'_>, user: &Path) -> Option<Finding> {
    let root = context.placement.root?;
    let needed = context.placement.scope == HookScope::Project || context.has_servers;
    if !needed || !says(context.json(user).as_ref(), "/security/folderTrust/enabled", true) {
        return None;
    }
    let file = trusted_folders(context.placement);
    let rules = context.json(&file);
    let rules = rules.as_ref().and_then(Value::as_object);
    let trusts = |(path, kind): (&String, &Value)| {
        let path = Path::new(path);
        match kind.as_str() {
            Some("TRUST_FOLDER") => root.starts_with(path),
            Some("TRUST_PARENT") => path.parent().is_some_and(|parent| root.starts_with(parent)),
            _ => false,
        }
    };
    if rules.into_iter().flatten().any(trusts) {
        return None;
    }
    let message = "this folder is not trusted, so Qwen Code does not read the project's settings";
    Some(
        Finding::warning("folder-untrusted", Topic::Hooks, message)
            .in_file(file)
            .remedy(format!("start `qwen` in {} and choose to trust it", root.display())),
    )
}

#[cfg(test)]
mod tests {
    use crate::agents::Agent;
    use crate::agents::checkup::testing::World;
    use crate::config::HookScope;

    const USER: &str = "/home/me/.qwen/settings.json";
    const ON: (&str, &str) = (USER, "{\"security\": {\"folderTrust\": {\"enabled\": true}}}");

    #[test]
    fn hooks_may_be_off_in_either_file() {
        for file in [USER, "/src/shop/.qwen/settings.json"] {
            let world = World::new(&[(file, "{\"disableAllHooks\": true}")]);
            assert_eq!(world.codes(Agent::Qwen), ["hooks-disabled"], "{file}");
        }
        assert!(World::new(&[]).codes(Agent::Qwen).is_empty());
    }

    #[test]
    fn the_projects_file_needs_a_trusted_folder_where_the_user_wants_that() {
        let trust = "/home/me/.qwen/trustedFolders.json";
        let codes = |files: &[(&str, &str)], scope, has_servers| {
            World { scope, has_servers, ..World::new(files) }.codes(Agent::Qwen)
        };
        assert!(codes(&[ON], HookScope::Global, false).is_empty(), "the user's own hooks run");
        assert_eq!(codes(&[ON], HookScope::Global, true), ["folder-untrusted"]);
        assert_eq!(codes(&[ON], HookScope::Project, false), ["folder-untrusted"]);
        assert!(codes(&[], HookScope::Project, true).is_empty());
        let trusting = [ON, (trust, "{\"/src/other\": \"TRUST_PARENT\"}")];
        assert!(codes(&trusting, HookScope::Project, true).is_empty());
        let other = [ON, (trust, "{\"/srcs\": \"TRUST_FOLDER\"}")];
        assert_eq!(codes(&other, HookScope::Project, true), ["folder-untrusted"]);
    }
}
