//! Codex runs a hook only when the feature is on, the hook's hash is trusted and, for what lies in a
//! project, the project is. It says nothing when one of them fails. Measured with 0.171.0.

use std::path::Path;

use serde_json::Value;
use symposium_hook::Event;

use super::{Codex, TrustedHook, trust_entries, user_folder};
use crate::agents::checkup::{Context, Finding, Topic, says};
use crate::agents::codec::Codec;
use crate::agents::command::is_ours;
use crate::agents::places::{FileFormat, Placement};
use crate::agents::registration::Registration;
use crate::config::HookScope;

pub(in crate::agents) fn checkup(context: &Context<'_>) -> Vec<Finding> {
    let file = user_folder(context.placement).join("config.toml");
    let config = context.toml(&file);
    let mut findings = Vec::new();
    // The second is the older name of the feature.
    for feature in ["hooks", "codex_hooks"] {
        if says(config.as_ref(), &format!("/features/{feature}"), false) {
            let message = format!("`features.{feature} = false` turns every hook off");
            findings.push(
                Finding::warning("hooks-disabled", Topic::Hooks, message)
                    .in_file(&file)
                    .remedy(format!("take `{feature} = false` out of `[features]`")),
            );
        }
    }
    let first = semver::Version::new(0, 124, 0);
    if let Some(version) = context.placement.version.filter(|version| **version < first) {
        let message =
            format!("Codex {version} runs no hooks by itself; {first} is the first that does");
        findings.push(
            Finding::warning("hooks-unsupported", Topic::Hooks, message).remedy("update Codex"),
        );
    }
    findings.extend(untrusted_hooks(context, config.as_ref()));
    findings.extend(hooks_of_a_worktree(context));
    findings.extend(untrusted_project(context, config.as_ref(), &file));
    findings.extend(context.switched_off(FileFormat::Toml, "mcp_servers", ("enabled", false)));
    findings
}

fn untrusted_hooks(context: &Context<'_>, config: Option<&Value>) -> Option<Finding> {
    let path = Codex.hooks(context.placement).into_iter().next()?.path;
    let hooks_json = context.json(&path)?;
    let hooks = own_hooks(&hooks_json);
    let state = config.and_then(|config| config.pointer("/hooks/state"));
    let trusted = |(key, hash): &(String, String)| {
        let entry = state.and_then(|state| state.get(key));
        entry.and_then(|entry| entry.get("trusted_hash")).and_then(Value::as_str) == Some(hash)
    };
    let entries = trust_entries(&path, &hooks);
    let count = entries.iter().filter(|entry| !trusted(entry)).count();
    if count == 0 {
        return None;
    }
    let which = if count == entries.len() { String::new() } else { format!("{count} of ") };
    let message =
        format!("{which}{} hooks are not trusted, and Codex silently skips them", entries.len());
    Some(
        Finding::warning("hooks-untrusted", Topic::Hooks, message)
            .in_file(path)
            .remedy("open Codex, type `/hooks`, and trust those of `cargo-agents`"),
    )
}

/// The hooks of the file that are Symposium's.
fn own_hooks(hooks_json: &Value) -> Vec<TrustedHook<'_>> {
    let mut hooks = Vec::new();
    for event in Event::ALL {
        let groups = hooks_json.pointer(&format!("/hooks/{}", Codex.event_name(event)));
        for (group_index, group) in
            groups.and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let handlers = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            for (handler_index, handler) in handlers.enumerate() {
                let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
                if is_ours(command, Codex.name()).is_some() {
                    hooks.push(TrustedHook { event, group, group_index, handler_index });
                }
            }
        }
    }
    hooks
}

/// Of a linked git worktree Codex reads the hooks of the main checkout alone; measured with 0.171.
fn hooks_of_a_worktree(context: &Context<'_>) -> Option<Finding> {
    let Placement { scope, git_root, main_checkout, .. } = *context.placement;
    let main = main_checkout.filter(|main| Some(*main) != git_root)?;
    let file = main.join(".codex").join("hooks.json");
    let is_there = context.json(&file).is_some_and(|hooks_json| !own_hooks(&hooks_json).is_empty());
    if scope != HookScope::Project || is_there {
        return None;
    }
    let message = "in a linked git worktree Codex reads only the main checkout's hooks";
    Some(
        Finding::warning("hooks-elsewhere", Topic::Hooks, message)
            .in_file(&file)
            .remedy("run `cargo agents sync` in the main checkout, too"),
    )
}

/// A project's hooks and servers count only in a trusted project, whose key is the checkout's top.
fn untrusted_project(
    context: &Context<'_>,
    config: Option<&Value>,
    file: &Path,
) -> Option<Finding> {
    let hooks = context.placement.scope == HookScope::Project;
    let project = context.project()?;
    if !hooks && !context.has_servers {
        return None;
    }
    let level = config
        .and_then(|config| config.get("projects")?.get(project.to_str()?)?.get("trust_level"))
        .and_then(Value::as_str);
    if level == Some("trusted") {
        return None;
    }
    let (topic, what) = match (hooks, context.has_servers) {
        (true, true) => (Topic::Hooks, "hooks and servers"),
        (true, false) => (Topic::Hooks, "hooks"),
        (false, _) => (Topic::Servers, "servers"),
    };
    let message = format!("this project is not trusted, so Codex does not read its {what}");
    Some(
        Finding::warning("project-untrusted", topic, message)
            .in_file(file)
            .remedy(format!("start `codex` in {} and choose to trust it", project.display())),
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::super::{Codex, TrustedHook, trust_entries};
    use crate::agents::Agent;
    use crate::agents::checkup::testing::World;
    use crate::agents::places::HookShape;
    use crate::agents::registration::Registration;
    use crate::config::HookScope;

    const CONFIG: &str = "/home/me/.codex/config.toml";
    const HOOKS: &str = "/home/me/.codex/hooks.json";

    /// The registered hooks, and the trust for them as TOML.
    fn registered() -> (String, String) {
        let place = World::new(&[]).with_placement(|placement| Codex.hooks(placement).remove(0));
        let HookShape::Shared { entries, .. } = place.shape else { panic!("a shared file") };
        let mut hooks = serde_json::Map::new();
        let mut trust = String::new();
        for entry in &entries {
            hooks.insert(entry.array[1].clone(), json!([entry.group]));
            let hook = TrustedHook {
                event: entry.event,
                group: &entry.group,
                group_index: 0,
                handler_index: 0,
            };
            for (key, hash) in trust_entries(&place.path, &[hook]) {
                let key = json!(key);
                trust.push_str(&format!("[hooks.state.{key}]\ntrusted_hash = \"{hash}\"\n"));
            }
        }
        (json!({ "hooks": hooks }).to_string(), trust)
    }

    #[test]
    fn case_62_untrusted_hooks_are_found_and_trusted_ones_are_fine() {
        let (hooks, trust) = registered();
        assert_eq!(World::new(&[(HOOKS, &hooks)]).codes(Agent::Codex), ["hooks-untrusted"]);
        assert!(World::new(&[(HOOKS, &hooks), (CONFIG, &trust)]).codes(Agent::Codex).is_empty());
        // Another time-out is another hook.
        let changed = hooks.replace("\"timeout\":60", "\"timeout\":61");
        assert_ne!(changed, hooks);
        let world = World::new(&[(HOOKS, &changed), (CONFIG, &trust)]);
        assert_eq!(world.codes(Agent::Codex), ["hooks-untrusted"]);
    }

    #[test]
    fn case_63_the_feature_may_be_off_by_either_name() {
        for feature in ["hooks", "codex_hooks"] {
            let config = format!("[features]\n{feature} = false\n");
            assert_eq!(World::new(&[(CONFIG, &config)]).codes(Agent::Codex), ["hooks-disabled"]);
        }
    }

    #[test]
    fn an_old_codex_has_no_hooks() {
        for (minor, codes) in [(120, &["hooks-unsupported"][..]), (124, &[])] {
            let version = Some(semver::Version::new(0, minor, 0));
            assert_eq!(World { version, ..World::new(&[]) }.codes(Agent::Codex), codes);
        }
    }

    #[test]
    fn the_hooks_of_a_linked_worktree_are_those_of_the_main_checkout() {
        let (hooks, _) = registered();
        let trusted = "[projects.\"/src/shop\"]\ntrust_level = \"trusted\"\n";
        let main_file = "/src/main/.codex/hooks.json";
        let files = [(CONFIG, trusted), (main_file, hooks.as_str())];
        for (scope, count, codes) in [
            (HookScope::Project, 1, &["hooks-elsewhere"][..]),
            (HookScope::Project, 2, &[]),
            (HookScope::Global, 1, &[]),
        ] {
            let main_checkout = Some(PathBuf::from("/src/main"));
            let world = World { scope, main_checkout, ..World::new(&files[..count]) };
            assert_eq!(world.codes(Agent::Codex), codes);
        }
    }

    #[test]
    fn a_project_s_hooks_and_servers_need_a_trusted_project() {
        let trusted = "[projects.\"/src/shop\"]\ntrust_level = \"trusted\"\n";
        for (scope, has_servers) in [(HookScope::Project, false), (HookScope::Global, true)] {
            let world = World { scope, has_servers, ..World::new(&[]) };
            assert_eq!(world.codes(Agent::Codex), ["project-untrusted"]);
            let world = World { scope, has_servers, ..World::new(&[(CONFIG, trusted)]) };
            assert!(world.codes(Agent::Codex).is_empty());
        }
        assert!(World::new(&[]).codes(Agent::Codex).is_empty());
    }
}
