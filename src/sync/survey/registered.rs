//! What of ours is in each agent's files, and whether it is as it should be.

use std::path::{Path, PathBuf};

use super::Survey;
use crate::agents::Agent;
use crate::agents::command::OWN_SERVER;
use crate::report::{Action, Kind};
use crate::sync::registration::DesiredEntry;
use crate::text::{Diagnostic, Subject};

/// How a registration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// It is there as it should be.
    Fine,
    /// The next sync puts it there or brings it up to date.
    Pending,
    /// It is there as the user changed it, and what is said of that.
    Edited(String),
    /// It is the user's, or git tracks the file: why it stays as it is.
    LeftAlone(String),
    /// The file can't be edited, and why.
    Broken(String),
    /// The agent can't do this, and why.
    Unsupported(String),
}

/// One agent's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentHooks {
    pub files: Vec<PathBuf>,
    pub health: Health,
}

/// One agent's entry of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentServer {
    pub name: String,
    /// The file; `None` where the agent has no place for it.
    pub file: Option<PathBuf>,
    pub health: Health,
}

impl Survey<'_> {
    /// How `agent`'s hooks stand at the configured scope; `None` where there is nowhere to put them:
    /// project scope outside of a workspace.
    pub(crate) fn hooks_of(&self, agent: Agent) -> Option<AgentHooks> {
        let scope = self.inputs.sym.config.hook_scope;
        let (program, _) = self.setup.program(agent, scope);
        let placement = self.setup.placement(agent, scope, &program);
        let places = agent.registration().hooks(&placement);
        let files: Vec<PathBuf> = places.into_iter().map(|place| place.path).collect();
        if files.is_empty() {
            return None;
        }
        let about = |diagnostic: &&Diagnostic| {
            files.iter().any(|file| is_about(diagnostic, file))
                && matches!(diagnostic.subject.as_deref(), None | Some(Subject::Hooks))
        };
        let problem = self.registered.diagnostics.iter().find(about);
        let pending = self.registered.changes.iter().any(|change| {
            change.kind == Kind::Hooks
                && change.action == Action::Register
                && change.is_of(agent.name())
        });
        let health = match problem {
            Some(problem) if problem.is_error() => Health::Broken(problem.to_string()),
            Some(problem) => left_alone(problem),
            None if pending => Health::Pending,
            None => Health::Fine,
        };
        Some(AgentHooks { files, health })
    }

    /// How our own server and those that apply stand in `agent`'s files, in the order of the plugins.
    pub(crate) fn servers_of(&self, agent: Agent) -> Vec<AgentServer> {
        let own = self.inputs.sym.config.register_mcp.then_some(OWN_SERVER);
        let planned = self.planned.iter().flat_map(|planned| &planned.facts.servers);
        let mut servers: Vec<AgentServer> = Vec::new();
        for name in own.into_iter().chain(planned.map(|(_, server, _)| server.name.as_str())) {
            if servers.iter().all(|known| known.name != name) {
                servers.push(self.server_of(agent, name));
            }
        }
        servers
    }

    fn server_of(&self, agent: Agent, name: &str) -> AgentServer {
        let file = self.desired.files.values().find(|work| {
            work.entries.iter().any(|(_, entry)| {
                matches!(entry, DesiredEntry::Server { agent: whose, name: known, .. }
                    if *whose == agent && known == name)
            })
        });
        let about = |diagnostic: &&Diagnostic| {
            let concerned = match diagnostic.subject.as_deref() {
                None => true,
                Some(Subject::Server { name: known, .. }) => known == name,
                Some(_) => false,
            };
            concerned && file.is_some_and(|work| is_about(diagnostic, &work.path))
        };
        let problem = self.registered.diagnostics.iter().find(about);
        let pending = self.registered.changes.iter().any(|change| {
            change.kind == Kind::Server && change.name == name && change.is_of(agent.name())
        });
        let unsupported = self.desired.remarks.why_unsupported(agent, name);
        let health = match (problem, file, unsupported) {
            (Some(problem), ..) if problem.is_error() => Health::Broken(problem.to_string()),
            (Some(problem), ..) => left_alone(problem),
            (None, None, Some(reason)) => Health::Unsupported(reason.to_owned()),
            // Its program is not on this machine yet: a sync gets it.
            (None, None, None) => Health::Pending,
            (None, Some(_), _) if pending => Health::Pending,
            (None, Some(_), _) => Health::Fine,
        };
        AgentServer { name: name.to_owned(), file: file.map(|work| work.path.clone()), health }
    }
}

fn left_alone(problem: &Diagnostic) -> Health {
    let message = problem.message.clone();
    match problem.subject.as_deref() {
        Some(Subject::Hooks | Subject::Server { was_ours: true, .. }) => Health::Edited(message),
        _ => Health::LeftAlone(message),
    }
}

fn is_about(diagnostic: &Diagnostic, file: &Path) -> bool {
    diagnostic.location().is_some_and(|place| place.path == file)
}
