//! Which of the plugins' hooks run for an event.

use crate::plugins::manifest::compile_matcher;
use crate::sync::snapshot::SnapshotHook;

/// What hooks are chosen by.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// The agent's name, or `symposium`.
    pub agent: &'a str,
    /// The tool's canonical and native names; empty for events without a tool.
    pub tool_names: &'a [&'a str],
}

/// The hooks that run, in order.
///
/// A hook counts when its `agent` is this one (or none) and its matcher matches one of the tool's
/// names. Of one plugin, those in the agent's own format run; where there are none, those in the
/// canonical format; hooks in other agents' formats never do.
pub fn select<'a>(hooks: &'a [SnapshotHook], occasion: &Occasion<'_>) -> Vec<&'a SnapshotHook> {
    let applies: Vec<&SnapshotHook> = hooks.iter().filter(|hook| applies(hook, occasion)).collect();
    let native = |plugin: &str| {
        applies.iter().any(|hook| hook.plugin == plugin && hook.format == occasion.agent)
    };
    let wanted = |hook: &SnapshotHook| {
        if native(&hook.plugin) {
            hook.format == occasion.agent
        } else {
            hook.format == "symposium"
        }
    };
    applies.iter().copied().filter(|hook| wanted(hook)).collect()
}

fn applies(hook: &SnapshotHook, occasion: &Occasion<'_>) -> bool {
    if hook.agent.as_deref().is_some_and(|agent| agent != occasion.agent) {
        return false;
    }
    let Some(matcher) = hook.matcher.as_deref().filter(|_| !occasion.tool_names.is_empty()) else {
        return true;
    };
    match compile_matcher(matcher) {
        Ok(matcher) => matcher.matches(occasion.tool_names),
        Err(error) => {
            tracing::warn!("hook `{}` of plugin `{}` never runs: {error}", hook.name, hook.plugin);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::model::OnFailure;
    use crate::sync::snapshot::Run;

    fn hook(plugin: &str, name: &str, format: &str, matcher: Option<&str>) -> SnapshotHook {
        SnapshotHook {
            plugin: plugin.to_owned(),
            name: name.to_owned(),
            matcher: matcher.map(str::to_owned),
            agent: None,
            format: format.to_owned(),
            timeout: 1000,
            on_failure: OnFailure::Continue,
            run: Run::default(),
        }
    }

    fn names(hooks: &[SnapshotHook], agent: &str, tools: &[&str]) -> Vec<String> {
        let chosen = select(hooks, &Occasion { agent, tool_names: tools });
        chosen.iter().map(|hook| hook.name.clone()).collect()
    }

    #[test]
    fn f231_native_beats_symposium_beats_nothing_and_all_of_a_format_run_in_order() {
        let hooks = [
            hook("p", "portable", "symposium", None),
            hook("p", "claude-1", "claude", None),
            hook("p", "claude-2", "claude", None),
            hook("q", "gemini-only", "gemini", None),
            hook("q2", "portable-2", "symposium", None),
        ];
        assert_eq!(names(&hooks, "claude", &["Bash"]), ["claude-1", "claude-2", "portable-2"]);
        assert_eq!(names(&hooks, "codex", &["Bash"]), ["portable", "portable-2"]);
        assert_eq!(names(&hooks, "gemini", &["Bash"]), ["portable", "gemini-only", "portable-2"]);
    }

    #[test]
    fn f230_two_hooks_with_different_matchers_each_run_for_their_tool() {
        let hooks = [
            hook("p", "bash", "symposium", Some("Bash")),
            hook("p", "edit", "symposium", Some("Edit|Write")),
        ];
        assert_eq!(names(&hooks, "codex", &["Bash", "Bash"]), ["bash"]);
        assert_eq!(names(&hooks, "codex", &["Edit", "apply_patch"]), ["edit"]);
    }

    #[test]
    fn f233_the_matcher_is_tried_on_both_names_and_ignored_without_a_tool() {
        let hooks = [hook("p", "shell", "symposium", Some("run_shell_command"))];
        assert_eq!(names(&hooks, "gemini", &["Bash", "run_shell_command"]), ["shell"]);
        assert_eq!(names(&hooks, "gemini", &["Read"]), Vec::<String>::new());
        assert_eq!(names(&hooks, "gemini", &[]), ["shell"]);
    }

    #[test]
    fn f236_an_invalid_matcher_matches_nothing() {
        let hooks = [hook("p", "bad", "symposium", Some("["))];
        assert_eq!(names(&hooks, "gemini", &["Bash"]), Vec::<String>::new());
    }

    #[test]
    fn f232_agent_restricts_a_hook() {
        let mut only = hook("p", "only", "symposium", None);
        only.agent = Some("kiro".to_owned());
        assert_eq!(names(std::slice::from_ref(&only), "kiro", &[]), ["only"]);
        assert_eq!(names(&[only], "claude", &[]), Vec::<String>::new());
    }
}
