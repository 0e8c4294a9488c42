//! Which skill folders to fill: the fewest that reach every agent.

use std::collections::BTreeSet;

use crate::agents::Agent;
use crate::sync::bounds::NEUTRAL;

/// The folders chosen for some agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Targets {
    /// Folders relative to the workspace's root, sorted.
    pub dirs: Vec<&'static str>,
    /// Agents that read more than one of them, and so see each skill twice.
    pub twice: Vec<Agent>,
}

/// Chooses among the folders each agent reads: fewest folders first, then fewest agents that would
/// see a skill twice, then the neutral folder, then the agents' own order of preference.
pub(crate) fn choose(agents: &[(Agent, &'static [&'static str])]) -> Targets {
    let candidates: BTreeSet<&'static str> =
        agents.iter().flat_map(|(_, dirs)| dirs.iter().copied()).collect();
    let candidates: Vec<_> = candidates.into_iter().collect();
    let mut best: Option<(Cost, Vec<&'static str>)> = None;
    for subset in 0_u32..(1 << candidates.len()) {
        let dirs: Vec<_> = candidates
            .iter()
            .enumerate()
            .filter(|(index, _)| subset & (1 << index) != 0)
            .map(|(_, dir)| *dir)
            .collect();
        if let Some(cost) = cost(agents, &dirs)
            && best.as_ref().is_none_or(|(least, _)| cost < *least)
        {
            best = Some((cost, dirs));
        }
    }
    let dirs = best.map(|(_, dirs)| dirs).unwrap_or_default();
    let seen = |read: &[&str]| dirs.iter().filter(|dir| read.contains(dir)).count();
    let twice = agents.iter().filter(|(_, read)| seen(read) > 1).map(|(agent, _)| *agent).collect();
    Targets { dirs, twice }
}

/// Folders, agents served twice, whether the neutral folder is missing, distance from the agents'
/// first choices.
type Cost = (usize, usize, bool, usize);

/// `None` when an agent is not reached.
fn cost(agents: &[(Agent, &'static [&'static str])], dirs: &[&str]) -> Option<Cost> {
    let mut twice = 0;
    let mut distance = 0;
    for (_, read) in agents {
        let positions: Vec<usize> =
            dirs.iter().filter_map(|dir| read.iter().position(|known| known == dir)).collect();
        distance += positions.iter().min()?;
        twice += usize::from(positions.len() > 1);
    }
    Some((dirs.len(), twice, !dirs.contains(&NEUTRAL), distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: &[&str] = &[".claude/skills"];
    const CODEX: &[&str] = &[".agents/skills"];
    const GEMINI: &[&str] = &[".agents/skills", ".gemini/skills"];
    const COPILOT: &[&str] = &[".agents/skills", ".claude/skills", ".github/skills"];
    const OPENCODE: &[&str] = &[".agents/skills", ".claude/skills", ".opencode/skills"];
    const KIRO: &[&str] = &[".kiro/skills"];

    fn dirs(agents: &[(Agent, &'static [&'static str])]) -> Vec<&'static str> {
        choose(agents).dirs
    }

    #[test]
    fn decision_24a_one_folder_serves_neighbours_of_claude() {
        assert_eq!(dirs(&[(Agent::Claude, CLAUDE)]), [".claude/skills"]);
        let pair = [(Agent::Claude, CLAUDE), (Agent::OpenCode, OPENCODE)];
        assert_eq!(dirs(&pair), [".claude/skills"]);
        let trio =
            [(Agent::Claude, CLAUDE), (Agent::OpenCode, OPENCODE), (Agent::Copilot, COPILOT)];
        assert_eq!(dirs(&trio), [".claude/skills"]);
    }

    #[test]
    fn decision_24a_the_neutral_folder_is_preferred() {
        assert_eq!(dirs(&[(Agent::Copilot, COPILOT)]), [".agents/skills"]);
        let pair = [(Agent::Gemini, GEMINI), (Agent::OpenCode, OPENCODE)];
        assert_eq!(dirs(&pair), [".agents/skills"]);
        assert_eq!(
            dirs(&[(Agent::Kiro, KIRO), (Agent::Codex, CODEX)]),
            [".agents/skills", ".kiro/skills"]
        );
    }

    #[test]
    fn case_72_who_sees_a_skill_twice_is_known() {
        let all = [(Agent::Claude, CLAUDE), (Agent::Codex, CODEX), (Agent::OpenCode, OPENCODE)];
        let targets = choose(&all);
        assert_eq!(targets.dirs, [".agents/skills", ".claude/skills"]);
        assert_eq!(targets.twice, [Agent::OpenCode]);
    }

    #[test]
    fn no_agents_need_no_folder() {
        assert_eq!(choose(&[]), Targets::default());
    }
}
