//! A sync's last line.

use super::facts::Facts;
use super::placing::desired_skills::DesiredSkills;
use super::placing::reasons::{by_hand, why_none};
use super::programs::problems;
use super::snapshot::remember::PreparedHook;
use crate::agents::Agent;

/// What applies, for whom: skills, servers without those that no agent can have (`nowhere`), and hooks,
/// of which those are ready that are among the `prepared`.
pub(super) fn summary(
    (chosen, facts): (&DesiredSkills, &Facts<'_>),
    agents: &[Agent],
    nowhere: &[String],
    prepared: Option<&[PreparedHook]>,
) -> String {
    let count =
        |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if !chosen.wanted.skills.is_empty() {
        parts.push(count(chosen.wanted.skills.len(), "skill"));
    }
    let servers = facts.servers.iter().filter(|(_, server, _)| !nowhere.contains(&server.name));
    match servers.count() {
        0 => {}
        number => parts.push(count(number, "server")),
    }
    let ready = prepared.map(|all| all.iter().filter(|hook| problems(hook).is_empty()).count());
    match (facts.hooks.len(), ready) {
        (0, _) => {}
        (all, Some(ready)) if ready < all => {
            parts.push(format!("{ready} of {}", count(all, "hook")))
        }
        (all, _) => parts.push(count(all, "hook")),
    }
    let by_hand = by_hand(&chosen.wanted).iter().map(|placed| placed.skills.len()).sum();
    if by_hand > 0 {
        parts.push(format!("{} placed by hand", count(by_hand, "skill")));
    }
    if parts.is_empty() {
        parts.push(why_none(chosen, facts, agents));
    }
    let names: Vec<_> = agents.iter().map(|agent| agent.name()).collect();
    let whom = match names.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" for {last}"),
        Some((last, rest)) => format!(" for {} and {last}", rest.join(", ")),
    };
    format!("{}{whom}", parts.join(", "))
}
