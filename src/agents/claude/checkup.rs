//! Claude Code's switches for hooks, and the mistakes that cost a whole settings file.
//!
//! Measured with 2.1.332: `disableAllHooks` in any settings file stops all hooks; one malformed hook
//! entry, of whomever, makes Claude ignore everything in its file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{config_dir, live_file, project_key};
use crate::agents::checkup::{Context, Finding, Topic, says};
use crate::config::HookScope;

/// Settings that an administrator sets (Anthropic's settings reference), on Linux.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let user = config_dir(context.placement).join("settings.json");
    let mut files: Vec<PathBuf> = vec![MANAGED.into(), user.clone()];
    let project = context.placement.root.map(|root| root.join(".claude"));
    files.extend(
        project
            .iter()
            .flat_map(|dir| ["settings.json", "settings.local.json"].map(|name| dir.join(name))),
    );
    let mut findings = Vec::new();
    for file in &files {
        let settings = context.json(file);
        if says(settings.as_ref(), "/disableAllHooks", true) {
            findings.push(
                Finding::warning(
                    "hooks-disabled",
                    Topic::Hooks,
                    "`disableAllHooks` turns every hook off",
                )
                .in_file(file)
                .remedy("take `disableAllHooks` out of the file"),
            );
        }
        if file == Path::new(MANAGED) && says(settings.as_ref(), "/allowManagedHooksOnly", true) {
            let message = "your administrator allows only hooks of the managed settings";
            findings.push(
                Finding::warning("hooks-disabled", Topic::Hooks, message).in_file(file).remedy(
                    "ask for `allowManagedHooksOnly` to be lifted; skills work without hooks",
                ),
            );
        }
    }
    let ours = match (context.placement.scope, project) {
        (HookScope::Global, _) => Some(user),
        (HookScope::Project, dir) => dir.map(|dir| dir.join("settings.json")),
    };
    if let Some(file) = ours
        && let Some(place) = context.json(&file).as_ref().and_then(malformed)
    {
        let message = format!("Claude Code ignores all of this file: {place}");
        findings.push(
            Finding::warning("settings-ignored", Topic::Hooks, message)
                .in_file(file)
                .remedy("mend or remove that entry"),
        );
    }
    findings.extend(unapproved(context, &files));
    findings
}

/// Servers of a project's `.mcp.json` are started only after the user approved them, there on the
/// screen or in settings; a refusal counts more. Measured with 2.1.332.
fn unapproved(context: &Context<'_>, settings: &[PathBuf]) -> Vec<Finding> {
    let Some(root) = context.placement.root else { return Vec::new() };
    let file = root.join(".mcp.json");
    let mut sources: Vec<(PathBuf, Value)> =
        settings.iter().filter_map(|path| Some((path.clone(), context.json(path)?))).collect();
    let live = live_file(context.placement);
    let key = project_key(context.placement, root);
    let project = key.and_then(|key| context.json(&live)?.get("projects")?.get(&key).cloned());
    sources.extend(project.map(|project| (live, project)));
    let names = |value: &Value, list: &str, name: &str| {
        let names = value.get(list).and_then(Value::as_array);
        names.into_iter().flatten().any(|known| known.as_str() == Some(name))
    };
    let of_file = context.servers.iter().filter(|server| server.file == file);
    of_file
        .filter_map(|server| {
            let name = &server.name;
            let refusal =
                sources.iter().find(|(_, value)| names(value, "disabledMcpjsonServers", name));
            if let Some((path, _)) = refusal {
                let message = format!("you told Claude Code not to start the server `{name}`");
                return Some(
                    Finding::warning("server-disabled", Topic::Servers, message)
                        .of_server(name)
                        .in_file(path)
                        .remedy(format!("take `{name}` out of `disabledMcpjsonServers`")),
                );
            }
            let approved = sources.iter().any(|(_, value)| {
                says(Some(value), "/enableAllProjectMcpServers", true)
                    || names(value, "enabledMcpjsonServers", name)
            });
            let message = format!("Claude Code waits for you to approve the server `{name}`");
            (!approved).then(|| {
                Finding::warning("server-unapproved", Topic::Servers, message)
                    .of_server(name)
                    .in_file(&file)
                    .remedy(format!("start `claude` in {} and approve it", root.display()))
            })
        })
        .collect()
}

/// The first hook entry that Claude rejects, and with it the file.
fn malformed(settings: &Value) -> Option<String> {
    let hooks = settings.get("hooks")?;
    let Some(events) = hooks.as_object() else { return Some("`hooks` is no object".to_owned()) };
    for (event, groups) in events {
        let Some(groups) = groups.as_array() else {
            return Some(format!("`hooks.{event}` is no list"));
        };
        for (index, group) in groups.iter().enumerate() {
            let place = format!("`hooks.{event}[{index}]`");
            let Some(handlers) = group.get("hooks").and_then(Value::as_array) else {
                return Some(format!("{place} has no list `hooks`"));
            };
            for handler in handlers {
                if !handler.get("type").is_some_and(Value::is_string) {
                    return Some(format!("a hook in {place} has no `type`"));
                }
                let timeout = handler.get("timeout");
                let good = |timeout: &Value| timeout.as_f64().is_some_and(|seconds| seconds > 0.0);
                if timeout.is_some_and(|timeout| !good(timeout)) {
                    return Some(format!(
                        "the `timeout` of a hook in {place} is no positive number"
                    ));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::agents::Agent;
    use crate::agents::checkup::SeenServer;
    use crate::agents::checkup::testing::World;

    const USER: &str = "/home/me/.claude/settings.json";

    #[test]
    fn a_switch_in_any_settings_file_is_found() {
        assert!(World::new(&[(USER, "{\"hooks\": {}}")]).codes(Agent::Claude).is_empty());
        for file in [USER, "/src/shop/.claude/settings.local.json", super::MANAGED] {
            let world = World::new(&[(file, "{\"disableAllHooks\": true}")]);
            assert_eq!(world.codes(Agent::Claude), ["hooks-disabled"], "{file}");
        }
        let managed = World::new(&[(super::MANAGED, "{\"allowManagedHooksOnly\": true}")]);
        assert_eq!(managed.codes(Agent::Claude), ["hooks-disabled"]);
        let elsewhere = World {
            vars: vec![("CLAUDE_CONFIG_DIR", "/conf")],
            ..World::new(&[("/conf/settings.json", "{\"disableAllHooks\": true}")])
        };
        assert_eq!(elsewhere.codes(Agent::Claude), ["hooks-disabled"]);
    }

    #[test]
    fn servers_of_the_project_s_file_need_approval() {
        let file = "/src/shop/.mcp.json";
        let servers = vec![SeenServer { name: "tools".to_owned(), file: file.into() }];
        let local = "/src/shop/.claude/settings.local.json";
        let live = "/home/me/.claude.json";
        let in_project =
            |list: &str| format!("{{\"projects\":{{\"/src/shop\":{{\"{list}\":[\"tools\"]}}}}}}");
        let check = |files: &[(&str, &str)]| {
            World { servers: servers.clone(), ..World::new(files) }.codes(Agent::Claude)
        };
        assert_eq!(check(&[]), ["server-unapproved"]);
        assert_eq!(check(&[(local, r#"{"enabledMcpjsonServers":["x"]}"#)]), ["server-unapproved"]);
        for file in [local, USER, "/src/shop/.claude/settings.json"] {
            assert!(check(&[(file, r#"{"enableAllProjectMcpServers":true}"#)]).is_empty());
            assert!(check(&[(file, r#"{"enabledMcpjsonServers":["tools"]}"#)]).is_empty());
        }
        assert!(check(&[(live, &in_project("enabledMcpjsonServers"))]).is_empty());
        let refused = in_project("disabledMcpjsonServers");
        let all = r#"{"enableAllProjectMcpServers":true}"#;
        assert_eq!(check(&[(live, &refused), (local, all)]), ["server-disabled"]);
        let elsewhere = vec![SeenServer { name: "tools".to_owned(), file: live.into() }];
        assert!(World { servers: elsewhere, ..World::new(&[]) }.codes(Agent::Claude).is_empty());
    }

    #[test]
    fn one_bad_entry_costs_the_file() {
        let good =
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":5}]}]}}"#;
        assert!(World::new(&[(USER, good)]).codes(Agent::Claude).is_empty());
        for bad in [
            r#"{"hooks":{"Stop":[{"type":"command","command":"x"}]}}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":"10"}]}]}}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":0}]}]}}"#,
            r#"{"hooks":[]}"#,
        ] {
            assert_eq!(
                World::new(&[(USER, bad)]).codes(Agent::Claude),
                ["settings-ignored"],
                "{bad}"
            );
        }
    }
}
