//! The skills, as each agent would list them.

use super::model::{Listing, SkillListed};
use super::subject::{Kind, Subject};
use crate::agents::Agent;
use crate::cli::plugin::offer::SkillOffer;
use crate::cli::plugin::view::View;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::Plugin;
use crate::skills::SkillDocument;
use crate::skills::resolve::read_source;
use crate::text::Diagnostic;
use crate::workspace::UNOBSERVED;

/// The skills, and why there are fewer than there could be.
pub(super) fn list(
    view: &View<'_>,
    subject: &Subject,
    plugin: Option<&Plugin>,
) -> (Vec<SkillListed>, Vec<String>) {
    let (mut skills, mut missing) = (Vec::new(), Vec::new());
    match plugin {
        Some(plugin) => {
            for mut group in view.groups(plugin) {
                for mut skill in group.skills {
                    if !group.standing.is_active() {
                        skill.standing = group.standing.clone();
                    }
                    skills.push(listed(skill));
                }
                missing.append(&mut group.missing);
            }
        }
        None if subject.kind == Kind::Skill => match view.skill(&subject.source, &subject.dir) {
            Ok(skill) => skills.push(listed(skill)),
            Err(problem) => missing.push(problem),
        },
        None => {}
    }
    (skills, missing)
}

fn listed(skill: SkillOffer) -> SkillListed {
    let is_cut = is_cut_by_us(&skill);
    let agents = Agent::ALL.map(|agent| {
        let listing = listing(agent, &skill.description);
        Listing { is_cut: is_cut || listing.is_cut, ..listing }
    });
    let SkillOffer { name, description, standing, .. } = skill;
    SkillListed { name, description, standing, agents: agents.into() }
}

/// Whether no agent gets to see the whole description: what is too long for the published rules is cut
/// when the skill is installed.
fn is_cut_by_us(skill: &SkillOffer) -> bool {
    let Some(dir) = skill.path.parent() else { return false };
    let read = read_source(dir, dir, &UNOBSERVED).and_then(SkillDocument::parse);
    let is_about_it = |problem: &Diagnostic| {
        problem.code == Some(codes::SKILL_LENGTH) && problem.message.contains("description")
    };
    read.is_ok_and(|(_, problems)| problems.iter().any(is_about_it))
}

/// What the agent shows of a description. Each also has a limit for all of them together, which is
/// `status`'s to tell.
fn listing(agent: Agent, description: &str) -> Listing {
    let most = agent.identity().longest_description.unwrap_or(usize::MAX);
    let shown: String = description.chars().take(most).collect();
    let is_cut = shown.len() < description.len();
    Listing { agent: agent.name(), shown, is_cut }
}
