//! What each agent makes of a plugin's parts, by what is stated of it in its folder.

use std::path::Path;

use super::{Answers, Honoured, WithoutEffect};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::places::{Placement, ServerPlace};
use crate::agents::symposium::NAME as CANONICAL;
use crate::agents::wire::{Capability, Support};
use crate::plugins::model::{Hook, McpServer};

/// What hooks can want of an agent, in the words of their answers.
const WANTED: [(Capability, &str); 5] = [
    (Capability::Deny, "deny"),
    (Capability::Ask, "ask"),
    (Capability::Allow, "allow"),
    (Capability::Rewrite, "updatedInput"),
    (Capability::Context, "additionalContext"),
];

/// What `agent` makes of skills, hooks and servers.
pub(super) fn of(
    sym: &Symposium,
    agent: Agent,
    skills: usize,
    (hooks, servers): (&[Hook], &[McpServer]),
) -> Honoured {
    let identity = agent.identity();
    let mut without_effect = Vec::new();
    let mut asked: Vec<&Hook> = Vec::new();
    for hook in hooks {
        match why_not(agent, hook, hooks) {
            None => asked.push(hook),
            Some(why) => {
                without_effect.push(WithoutEffect { what: format!("hook {}", hook.name), why });
            }
        }
    }
    let mut started = Vec::new();
    for server in servers {
        match unsupported(sym, agent, server) {
            None => started.push(server.name.clone()),
            Some(why) => {
                let what = format!("server {}", server.name);
                without_effect.push(WithoutEffect { what, why });
            }
        }
    }
    let mut answers: Vec<Answers> = Vec::new();
    for hook in &asked {
        if answers.iter().all(|known| known.event != hook.event.name()) {
            answers.push(answers_at(agent, hook));
        }
    }
    let reads_skills = !identity.skill_dirs.is_empty();
    Honoured {
        agent: identity.name,
        skills: if reads_skills { skills } else { 0 },
        hooks: asked.iter().map(|hook| hook.name.clone()).collect(),
        answers,
        servers: started,
        without_effect,
    }
}

/// Why an agent never asks a hook.
fn why_not(agent: Agent, hook: &Hook, hooks: &[Hook]) -> Option<String> {
    let identity = agent.identity();
    let tells_of_ends = identity.has_stop && hook.event == symposium_hook::Event::Stop;
    if !(identity.events.contains(&hook.event) || tells_of_ends) {
        return Some(format!("it does not tell of {}", hook.event.name()));
    }
    if let Some(other) = hook.agent.as_deref().filter(|other| *other != identity.name) {
        return Some(format!("it is for {other} only"));
    }
    let in_its_own =
        hooks.iter().any(|other| other.event == hook.event && other.format == identity.name);
    if hook.format == identity.name {
        None
    } else if in_its_own {
        Some("another hook is in this agent's own format".to_owned())
    } else if hook.format == CANONICAL || hook.is_portable {
        None
    } else {
        Some(format!("it is in the format of {}", hook.format))
    }
}

fn answers_at(agent: Agent, hook: &Hook) -> Answers {
    let (mut honoured, mut otherwise) = (Vec::new(), Vec::new());
    for (capability, word) in WANTED {
        let belongs = match capability {
            Capability::Ask | Capability::Allow | Capability::Rewrite => {
                hook.event == symposium_hook::Event::PreToolUse
            }
            Capability::Deny => hook.event != symposium_hook::Event::SessionStart,
            _ => hook.event != symposium_hook::Event::Stop,
        };
        match agent.codec().support(hook.event, capability) {
            _ if !belongs => {}
            Support::Yes => honoured.push(word.to_owned()),
            Support::Instead(what) => otherwise.push(format!("{word}: {what}")),
            Support::No => otherwise.push(format!("{word}: nothing")),
        }
    }
    Answers { event: hook.event.name(), honoured, otherwise }
}

/// Why an agent can't have a server.
fn unsupported(sym: &Symposium, agent: Agent, server: &McpServer) -> Option<String> {
    let home = sym.env.home().unwrap_or_default();
    let root = Path::new("/workspace");
    let placement = Placement {
        home: &home,
        env: &sym.env,
        root: Some(root),
        git_root: None,
        main_checkout: None,
        scope: sym.config.hook_scope,
        program: "cargo-agents",
        windows: cfg!(windows),
        version: None,
        stop: false,
    };
    match agent.registration().place_server(&server.name, &server.transport, false, &placement) {
        ServerPlace::Unsupported { reason } => Some(reason),
        ServerPlace::Entry { .. } => None,
    }
}
