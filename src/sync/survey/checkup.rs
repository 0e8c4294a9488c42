//! What each agent's own settings make of what is registered.

use std::path::Path;

use semver::Version;

use super::{Health, SkillView, Survey};
use crate::agents::Agent;
use crate::agents::checkup::{Context, Finding, SeenServer, SeenSkill};
use crate::config::SkillIgnore;
use crate::documents::{Document, FileFormat, read_text, read_whole};
use crate::skills::SkillOrigin;
use crate::sync::bounds::NEUTRAL;

impl Survey<'_> {
    /// What `agent`'s settings make of our registrations; `version` is its program's, where it was
    /// asked for.
    pub(crate) fn checkup(
        &self,
        agent: Agent,
        views: &[SkillView<'_>],
        version: Option<&Version>,
    ) -> Vec<Finding> {
        let scope = self.inputs.sym.config.hook_scope;
        let mut placement = self.setup.placement(agent, scope, "");
        placement.version = version.or(placement.version);
        let root = self.inputs.root();
        let inside = |file: &Path| root.is_some_and(|root| file.starts_with(root));
        let there = |health: &Health| matches!(health, Health::Fine | Health::Edited(_));
        let registered = self.servers_of(agent);
        let servers: Vec<SeenServer> = registered
            .iter()
            .filter(|server| there(&server.health))
            .filter_map(|server| {
                Some(SeenServer { name: server.name.clone(), file: server.file.clone()? })
            })
            .collect();
        agent.checkup(&Context {
            placement: &placement,
            read: &|path| settled(path),
            skills: &self.seen_by(agent, views),
            has_servers: registered.iter().any(|server| server.file.as_deref().is_some_and(inside)),
            servers: &servers,
        })
    }

    fn seen_by(&self, agent: Agent, views: &[SkillView<'_>]) -> Vec<SeenSkill> {
        let ignoring = self.inputs.sym.config.skill_ignore == SkillIgnore::Gitignore;
        let dirs = agent.identity().skill_dirs;
        let read = |folder: &&String| dirs.iter().any(|dir| Path::new(folder).starts_with(dir));
        let mut seen = Vec::new();
        for view in views.iter().filter(|view| view.agents.contains(&agent)) {
            let own = matches!(view.skill.origin, SkillOrigin::Workspace { .. });
            for folder in view.folders.iter().filter(read) {
                let is_users = own && Path::new(folder).starts_with(NEUTRAL);
                seen.push(SeenSkill {
                    name: view.name.clone(),
                    folder: folder.clone(),
                    more_files: view.more_files,
                    is_ignored: ignoring && !is_users,
                });
            }
        }
        seen
    }
}

/// The text of a settings file, which its agent may be writing just now: then it is waited for, as a
/// sync does. What is still not understood is for the agent's own reader to judge.
fn settled(path: &Path) -> Option<String> {
    let whole = read_whole(path, |text| {
        if let (Some(text), Some(format)) = (text, FileFormat::of_path(path)) {
            Document::open(path, Some(text), format)?;
        }
        Ok(text.map(str::to_owned))
    });
    whole.or_else(|_| read_text(path)).ok().flatten()
}
