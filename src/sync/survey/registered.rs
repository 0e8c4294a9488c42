//! What of ours is in each agent's files, and whether it is as it should be.

use std::path::{Path, PathBuf};

use super::Survey;
use crate::agents::Agent;
use crate::report::{Action, Kind};
use crate::sync::registration::Wish;
use crate::text::Diagnostic;

/// How a registration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
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
pub struct AgentHooks {
    /// The files that carry them.
    pub files: Vec<PathBuf>,
    /// How they stand.
    pub health: Health,
}

/// One agent's entry of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentServer {
    /// The server.
    pub name: String,
    /// The file; `None` where the agent has no place for it.
    pub file: Option<PathBuf>,
    /// How the entry stands.
    pub health: Health,
}

impl Survey<'_> {
    /// How `agent`'s hooks stand at the configured scope; `None` where there is nowhere to put them:
    /// project scope outside of a workspace.
    pub fn hooks_of(&self, agent: Agent) -> Option<AgentHooks> {
        let scope = self.ground.sym.config.hook_scope;
        let (program, _) = self.setup.program(agent, scope);
        let placement = self.setup.placement(agent, scope, &program);
        let places = agent.spec().hooks(&placement);
        let files: Vec<PathBuf> = places.into_iter().map(|place| place.path).collect();
        if files.is_empty() {
            return None;
        }
        let about = |diagnostic: &&Diagnostic| {
            let mut notes = files.iter().filter(|file| is_about(diagnostic, file));
            notes.next().is_some() && !diagnostic.message.contains("server `")
        };
        let problem = self.registered.diagnostics.iter().find(about);
        let pending = self.registered.changes.iter().any(|change| {
            change.kind == Kind::Hooks
                && change.action == Action::Register
                && change.places == [agent.name()]
        });
        let health = match problem {
            Some(problem) if problem.is_error() => Health::Broken(problem.to_string()),
            Some(problem) => self.left_alone(problem),
            None if pending => Health::Pending,
            None => Health::Fine,
        };
        Some(AgentHooks { files, health })
    }

    fn left_alone(&self, problem: &Diagnostic) -> Health {
        if self.registered.edited.contains(problem) {
            return Health::Edited(problem.message.clone());
        }
        Health::LeftAlone(problem.message.clone())
    }

    /// How the servers that apply stand in `agent`'s files, in the order of the plugins.
    pub fn servers_of(&self, agent: Agent) -> Vec<AgentServer> {
        let Some(known) = &self.known else { return Vec::new() };
        let mut servers: Vec<AgentServer> = Vec::new();
        for (_, server, _) in &known.facts.servers {
            if servers.iter().all(|known| known.name != server.name) {
                servers.push(self.server_of(agent, &server.name));
            }
        }
        servers
    }

    fn server_of(&self, agent: Agent, name: &str) -> AgentServer {
        let file = self.desired.files.values().find(|work| {
            work.wishes.iter().any(|(_, wish)| {
                matches!(wish, Wish::Server { agent: whose, name: known, .. }
                    if *whose == agent && known == name)
            })
        });
        let quoted = format!("`{name}`");
        let remarks = self.desired.remarks.diagnostics(&self.registered.changes);
        let about = |diagnostic: &&Diagnostic| {
            let here = file.is_some_and(|work| is_about(diagnostic, &work.path));
            let named = diagnostic.message.contains(&quoted) && !remarks.contains(diagnostic);
            here && (named || diagnostic.is_error() || !diagnostic.message.contains('`'))
        };
        let problem = self.registered.diagnostics.iter().find(about);
        let pending = self.registered.changes.iter().any(|change| {
            change.kind == Kind::Server && change.name == name && change.places == [agent.name()]
        });
        let unsupported = self.desired.remarks.why_unsupported(agent, name);
        let health = match (problem, file, unsupported) {
            (Some(problem), ..) if problem.is_error() => Health::Broken(problem.to_string()),
            (Some(problem), ..) => self.left_alone(problem),
            (None, None, Some(reason)) => Health::Unsupported(reason.to_owned()),
            // Its program is not on this machine yet: a sync gets it.
            (None, None, None) => Health::Pending,
            (None, Some(_), _) if pending => Health::Pending,
            (None, Some(_), _) => Health::Fine,
        };
        AgentServer { name: name.to_owned(), file: file.map(|work| work.path.clone()), health }
    }
}

fn is_about(diagnostic: &Diagnostic, file: &Path) -> bool {
    diagnostic.location().is_some_and(|place| place.path == file)
}
