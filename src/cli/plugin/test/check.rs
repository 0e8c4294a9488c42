//! Whether a case of the suite came out as it is expected.

use std::collections::BTreeSet;

use symposium_hook::Decision;

use super::model::{CaseRun, ServerTried, SkillListed};
use super::suite::{Case, DecisionName, Expected, json};
use super::trial::Trial;
use super::{event, servers, skills};
use crate::agents::wire::Outcome;
use crate::cli::plugin::view::View;
use crate::hook::Seen;
use crate::plugins::model::Plugin;
use crate::text::Location;

use super::subject::Subject;

/// Runs a case.
pub(super) fn run(
    trial: &Trial,
    view: &View<'_>,
    (subject, plugin): (&Subject, Option<&Plugin>),
    case: &Case,
) -> CaseRun {
    let mut failures = Vec::new();
    if let Some(stimulus) = &case.stimulus {
        for codec in &case.agents {
            let seen = event::seen(trial, stimulus, *codec);
            let named = |failure: String| match case.agents.len() {
                1 => failure,
                _ => format!("{}: {failure}", codec.name()),
            };
            failures.extend(of_event(&case.expect, &seen).into_iter().map(named));
        }
    }
    if let Some(wanted) = &case.expect.skills {
        let (listed, missing) = skills::list(view, subject, plugin);
        failures.extend(of_skills(wanted, &listed));
        failures.extend(missing);
    }
    if let (Some(wanted), Some(plugin)) = (&case.expect.tools, plugin) {
        let tried = servers::try_all(trial, view, (subject, plugin));
        for (server, tools) in wanted {
            failures.extend(of_server(server, tools, &tried));
        }
    }
    let location = case.at.location().unwrap_or_else(|| Location {
        path: subject.dir.clone(),
        line: None,
        column: None,
    });
    CaseRun { name: case.name.clone(), location, failures }
}

fn of_event(expect: &Expected, seen: &Seen) -> Vec<String> {
    if let Some(problem) = &seen.undecoded {
        return vec![problem.clone()];
    }
    let nothing = Outcome::default();
    let outcome = seen.outcome.as_ref().unwrap_or(&nothing);
    let mut failures = Vec::new();
    let decision = match outcome.decision {
        Some(Decision::Deny) => DecisionName::Deny,
        Some(Decision::Ask) => DecisionName::Ask,
        Some(Decision::Allow) => DecisionName::Allow,
        None => DecisionName::None,
    };
    if let Some(wanted) = expect.decision.filter(|wanted| *wanted != decision) {
        failures.push(format!("decision: {} expected, it is {}", word(wanted), word(decision)));
    }
    let context = outcome.context_text().unwrap_or_default();
    let message = outcome.user_message.clone().unwrap_or_default();
    for (what, wanted, text) in [
        ("reason", &expect.reason, &outcome.reasons.join("\n")),
        ("context", &expect.context, &context),
        ("message", &expect.message, &message),
    ] {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| !text.contains(wanted.as_str())) {
            failures.push(match text.is_empty() {
                true => format!("{what}: `{wanted}` expected, there is none"),
                false => format!("{what}: `{wanted}` expected, it is `{text}`"),
            });
        }
    }
    if let Some(wanted) = expect.input.as_ref().map(json) {
        let found = outcome.updated_input.clone().map(serde_json::Value::Object);
        if found.as_ref() != Some(&wanted) {
            let found = found.map_or_else(|| "as it was".to_owned(), |found| found.to_string());
            failures.push(format!("input: {wanted} expected, it is {found}"));
        }
    }
    let asked: Vec<&str> = seen.asked.iter().map(|asked| asked.hook.as_str()).collect();
    if let Some(wanted) = expect.hooks.as_ref().filter(|wanted| **wanted != asked) {
        failures.push(format!("hooks: {} expected, asked: {}", list(wanted), list(&asked)));
    }
    // What does not work is not what was expected, whatever came of it.
    let problems = seen.asked.iter().filter_map(|asked| {
        let problem = asked.problem.as_ref()?;
        Some(format!("hook `{}` failed: {problem}", asked.hook))
    });
    failures.extend(problems);
    failures
}

fn of_skills(wanted: &[String], listed: &[SkillListed]) -> Option<String> {
    let active = listed.iter().filter(|skill| skill.standing.is_active());
    let found: BTreeSet<&str> = active.map(|skill| skill.name.as_str()).collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    (found != wanted)
        .then(|| format!("skills: {} expected, there are {}", list(&wanted), list(&found)))
}

fn of_server(name: &str, wanted: &[String], tried: &[ServerTried]) -> Option<String> {
    let Some(server) = tried.iter().find(|server| server.name == name) else {
        return Some(format!("server `{name}` expected, none of that name applies"));
    };
    if let Some(problem) = server.problem.as_ref().or(server.passed_over.as_ref()) {
        return Some(format!("server `{name}`: {problem}"));
    }
    let found: BTreeSet<&str> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    (found != wanted).then(|| {
        format!("tools of `{name}`: {} expected, there are {}", list(&wanted), list(&found))
    })
}

fn word(decision: DecisionName) -> &'static str {
    match decision {
        DecisionName::Deny => "deny",
        DecisionName::Ask => "ask",
        DecisionName::Allow => "allow",
        DecisionName::None => "none",
    }
}

fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
