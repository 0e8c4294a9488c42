//! Symposium's own word in a session: what there is to discover, what came since the client looked.

use super::session::Session;
use crate::agents::Agent;
use crate::sync::snapshot::{Offer, SnapshotSkill};

/// Longest announcement, in characters.
const LONGEST: usize = 2000;
/// Longest description in an announcement, in characters.
const DESCRIPTION: usize = 200;

/// The hint that there are subcommands for the agent.
pub fn discovery_hint(offer: &Offer) -> Option<String> {
    let mut names: Vec<&str> = offer
        .subcommands
        .iter()
        .filter(|subcommand| subcommand.run.is_some())
        .map(|subcommand| subcommand.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "This Rust workspace has commands made for its crates ({}): run `cargo agents --help` to see \
         what they do.",
        names.join(", ")
    ))
}

/// What this session has not seen of what came after `since`; marks it as announced.
///
/// Clients read skill folders before the first hook runs (decision 28), so what a sync brought
/// later is told in words, with the path of each `SKILL.md`.
pub fn announce(
    offer: &Offer,
    session: &mut Session,
    since: u64,
    agent: Option<Agent>,
) -> Option<String> {
    let reads = agent.map(|agent| agent.spec().skill_dirs().project);
    let mut skills = Vec::new();
    for skill in offer.skills.iter().filter(|skill| skill.since >= since) {
        if session.announced.contains(&skill.name) {
            continue;
        }
        let dir = skill.dirs.iter().find(|dir| {
            reads.is_none_or(|reads| {
                reads.iter().any(|parent| dir.starts_with(&format!("{parent}/")))
            })
        });
        if let Some(dir) = dir {
            session.announced.push(skill.name.clone());
            skills.push((skill, dir.as_str()));
        }
    }
    let mut servers = Vec::new();
    for server in offer.servers.iter().filter(|server| server.since >= since) {
        let key = format!("server {}", server.name);
        if !session.announced.contains(&key) {
            session.announced.push(key);
            servers.push(server.name.as_str());
        }
    }
    let mut parts = Vec::new();
    parts.extend(skills_text(&skills));
    if !servers.is_empty() {
        parts.push(format!(
            "New MCP servers for this workspace are registered and there in the next session: {}.",
            servers.join(", ")
        ));
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn skills_text(skills: &[(&SnapshotSkill, &str)]) -> Option<String> {
    if skills.is_empty() {
        return None;
    }
    let mut text =
        "New skills for this workspace's crates came after this session started. Read one when the \
         task calls for it:"
            .to_owned();
    for (index, (skill, dir)) in skills.iter().enumerate() {
        let description = crate::report::fit(&skill.description, DESCRIPTION);
        let line = format!("\n- {}: {description} ({dir}/SKILL.md)", skill.name);
        let left = skills.len() - index;
        let more = format!("\nand {left} more: `cargo agents status`");
        let room = if left > 1 { more.chars().count() } else { 0 };
        if text.chars().count() + line.chars().count() + room > LONGEST {
            text.push_str(&more);
            break;
        }
        text.push_str(&line);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, since: u64, description: &str) -> SnapshotSkill {
        SnapshotSkill {
            name: name.to_owned(),
            description: description.to_owned(),
            dirs: vec![format!(".claude/skills/{name}")],
            since,
        }
    }

    #[test]
    fn decision_28_new_skills_are_announced_once_a_session() {
        let offer =
            Offer { skills: vec![skill("old", 1, "o"), skill("new", 10, "n")], ..Offer::default() };
        let mut session = Session::default();
        let text = announce(&offer, &mut session, 5, Some(Agent::Claude)).expect("an announcement");
        assert!(text.ends_with("\n- new: n (.claude/skills/new/SKILL.md)"), "{text}");
        assert_eq!(announce(&offer, &mut session, 5, Some(Agent::Claude)), None);
    }

    #[test]
    fn decision_28_a_skill_the_agent_does_not_read_is_not_announced_to_it() {
        let offer = Offer { skills: vec![skill("new", 10, "n")], ..Offer::default() };
        assert_eq!(announce(&offer, &mut Session::default(), 5, Some(Agent::Kiro)), None);
    }

    #[test]
    fn decision_28_an_announcement_is_bounded_and_says_how_many_more() {
        let skills =
            (0..40).map(|number| skill(&format!("s{number}"), 10, &"d".repeat(900))).collect();
        let offer = Offer { skills, ..Offer::default() };
        let text = announce(&offer, &mut Session::default(), 5, None).expect("an announcement");
        assert!(text.chars().count() <= LONGEST);
        let told = text.matches("SKILL.md").count();
        assert!(
            text.ends_with(&format!("and {} more: `cargo agents status`", 40 - told)),
            "{text}"
        );
    }
}
