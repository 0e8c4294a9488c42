//! Descriptions that an agent would cut: it lists all skills in a limited space.

use crate::agents::Agent;
use crate::plugins::diagnostics::codes;
use crate::skills::SkillDocument;
use crate::text::Diagnostic;

/// The letters that a skill takes in an agent's list.
pub(super) fn letters(skill: &SkillDocument) -> usize {
    skill.install_name.chars().count() + skill.description.value.chars().count()
}

/// Tells that skills that come together are more than an agent lists, whatever else is installed.
pub(super) fn cut(listed: &[usize]) -> Option<Diagnostic> {
    let total: usize = listed.iter().sum();
    let agents: Vec<String> = Agent::ALL
        .into_iter()
        .filter_map(|agent| {
            let most = agent.identity().description_budget.filter(|most| *most < total)?;
            Some(format!("{} (about {most})", agent.name()))
        })
        .collect();
    (!agents.is_empty()).then(|| {
        let message = format!(
            "the {} descriptions take {total} characters together, more than some agents list: {}",
            listed.len(),
            agents.join(", ")
        );
        Diagnostic::warning(message)
            .code(codes::CUT)
            .note("shorten them, or offer fewer skills at once; say first when each is of use")
    })
}
