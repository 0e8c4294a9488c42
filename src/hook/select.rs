//! Which of the plugins' hooks run for an event.

use std::time::{Duration, Instant};

use symposium_hook::Event;

use crate::agents::Codec;
use crate::agents::symposium::NAME as CANONICAL;
use crate::agents::wire::Decoded;
use crate::plugins::manifest::{LONGEST_NAME, MatcherError, compile_matcher, is_expression};
use crate::plugins::model::OnFailure;
use crate::sync::snapshot::{SnapshotHook, Stored};

/// What hooks are chosen by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Criteria<'a> {
    /// The agent's name, or `symposium`.
    pub agent: &'a str,
    /// The tool's canonical and native names; empty for events without a tool.
    pub tool_names: &'a [&'a str],
    /// How the session starts; empty for other events.
    pub start: &'a str,
}

/// The hooks of a snapshot that run for this event, in order.
pub(super) fn hooks_for(
    codec: &dyn Codec,
    event: Event,
    stored: &Stored,
    decoded: &Decoded,
) -> Vec<SnapshotHook> {
    if decoded.failed || stored.count(event) == 0 {
        return Vec::new();
    }
    let hooks = stored.hooks(event);
    let names = decoded.tool_names();
    let start = if event == Event::SessionStart { decoded.start() } else { "" };
    let criteria = Criteria { agent: codec.name(), tool_names: &names, start };
    let mut chosen: Vec<SnapshotHook> = select(&hooks, &criteria).into_iter().cloned().collect();
    if !stored.is_outdated {
        // What they could run was observed, and is as it was when it was held against what was allowed.
        chosen.iter_mut().for_each(|hook| hook.allowed_files.clear());
    }
    chosen
}

/// The hooks that run, in order.
///
/// A hook counts when its `agent` is this one (or none) and its matcher matches one of the tool's
/// names. Of one plugin, those in the agent's own format run; where there are none, those in the
/// canonical format. Hooks in other agents' formats never do, but those of packages, which have no
/// other.
pub(super) fn select<'a>(
    hooks: &'a [SnapshotHook],
    criteria: &Criteria<'_>,
) -> Vec<&'a SnapshotHook> {
    let mut budget = Budget::default();
    let applies: Vec<&SnapshotHook> =
        hooks.iter().filter(|hook| applies(hook, criteria, &mut budget)).collect();
    let native = |plugin: &str| {
        applies.iter().any(|hook| hook.plugin == plugin && hook.format == criteria.agent)
    };
    let wanted = |hook: &SnapshotHook| {
        if native(&hook.plugin) {
            hook.format == criteria.agent
        } else {
            hook.format == CANONICAL || hook.is_portable
        }
    };
    applies.iter().copied().filter(|hook| wanted(hook)).collect()
}

/// What all matchers of an event together may cost.
#[derive(Debug, Default)]
struct Budget {
    tried: usize,
    spent: Duration,
}

impl Budget {
    /// So many expressions are tried whatever they cost.
    const ALWAYS: usize = 16;
    /// Beyond these, no more once this is spent.
    const MOST: Duration = Duration::from_millis(200);

    /// The answer of `check`; `None` when nothing is left to find it out with.
    fn spend<T>(&mut self, check: impl FnOnce() -> T) -> Option<T> {
        if self.tried >= Self::ALWAYS && self.spent >= Self::MOST {
            return None;
        }
        self.tried += 1;
        let start = Instant::now();
        let answer = check();
        self.spent += start.elapsed();
        Some(answer)
    }
}

fn applies(hook: &SnapshotHook, criteria: &Criteria<'_>, budget: &mut Budget) -> bool {
    if hook.agent.as_deref().is_some_and(|agent| agent != criteria.agent) {
        return false;
    }
    // Only packages' hooks may choose among starts.
    let start = [criteria.start];
    let starts = hook.is_portable && !criteria.start.is_empty();
    let names = if starts { &start } else { criteria.tool_names };
    let Some(matcher) = hook.matcher.as_deref().filter(|_| !names.is_empty()) else {
        return true;
    };
    let check = || compile_matcher(matcher).map(|matcher| matcher.matches(names));
    let checked = if !is_expression(matcher) {
        Some(check())
    } else if criteria.tool_names.iter().any(|name| name.len() > LONGEST_NAME) {
        None
    } else {
        budget.spend(check)
    };
    let (name, plugin) = (&hook.name, &hook.plugin);
    let problem = match checked {
        Some(Ok(matches)) => return matches,
        // It matches nothing, as its author was told.
        Some(Err(MatcherError::Syntax(problem))) => {
            tracing::warn!("hook `{name}` of plugin `{plugin}` never runs: {problem}");
            return false;
        }
        Some(Err(MatcherError::TooLarge(problem))) => problem,
        None => "it would take too long".to_owned(),
    };
    // A guard is rather asked too often.
    let asked = hook.on_failure == OnFailure::Block;
    let runs = if asked { "runs" } else { "does not run" };
    tracing::warn!(
        "hook `{name}` of plugin `{plugin}` {runs}: its matcher could not be checked: {problem}"
    );
    asked
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
            is_portable: false,
            timeout: 1000,
            on_failure: OnFailure::Continue,
            detach: false,
            run: Run::default(),
            allowed_files: Vec::new(),
        }
    }

    fn names(hooks: &[SnapshotHook], agent: &str, tools: &[&str]) -> Vec<String> {
        let chosen = select(hooks, &Criteria { agent, tool_names: tools, start: "" });
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
    fn a_package_s_hooks_run_with_every_agent_and_may_choose_among_starts() {
        let mut hooks = [hook("p", "compacts", "claude", Some("compact|resume"))];
        hooks[0].is_portable = true;
        let chosen = |agent, start| {
            let criteria = Criteria { agent, tool_names: &[], start };
            select(&hooks, &criteria).len()
        };
        for agent in ["claude", "codex", "goose"] {
            assert_eq!(chosen(agent, "compact"), 1, "{agent}");
            assert_eq!(chosen(agent, "startup"), 0, "{agent}");
        }
        assert_eq!(names(&hooks, "gemini", &["resume"]), ["compacts"]);
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
    fn a_matcher_that_can_t_be_checked_makes_a_guard_run_and_no_other_hook() {
        let mut guard = hook("p", "guard", "symposium", Some(r"mcp__\w+"));
        guard.on_failure = OnFailure::Block;
        let hooks = [guard, hook("p", "other", "symposium", Some(r"mcp__\w+"))];
        let long = format!("mcp__{}", "x".repeat(LONGEST_NAME));
        assert_eq!(names(&hooks, "gemini", &[&long]), ["guard"]);
        assert_eq!(names(&hooks, "gemini", &["mcp__x"]), ["guard", "other"]);
        assert_eq!(names(&hooks, "gemini", &["Bash"]), Vec::<String>::new());
    }

    #[test]
    fn all_matchers_of_an_event_together_have_a_budget() {
        let mut budget = Budget { spent: Budget::MOST, ..Budget::default() };
        let asked: Vec<_> = (0..20).map(|_| budget.spend(|| ()).is_some()).collect();
        assert_eq!(asked.iter().filter(|asked| **asked).count(), Budget::ALWAYS);
        // Each near the largest that there may be, they would take half a minute.
        let mut hooks: Vec<_> = (0..3000)
            .map(|number| {
                hook("p", "large", "symposium", Some(&format!("x{number}(?:[a-z]{{20}}){{40}}")))
            })
            .collect();
        hooks.push(hook("p", "guard", "symposium", Some("x.*")));
        hooks.last_mut().expect("a guard").on_failure = OnFailure::Block;
        assert_eq!(names(&hooks, "gemini", &["Bash"]), ["guard"]);
        hooks.push(hook("p", "named", "symposium", Some("Bash")));
        assert_eq!(names(&hooks, "gemini", &["Bash"]), ["guard", "named"]);
    }

    #[test]
    fn f232_agent_restricts_a_hook() {
        let mut only = hook("p", "only", "symposium", None);
        only.agent = Some("kiro".to_owned());
        assert_eq!(names(std::slice::from_ref(&only), "kiro", &[]), ["only"]);
        assert_eq!(names(&[only], "claude", &[]), Vec::<String>::new());
    }
}
