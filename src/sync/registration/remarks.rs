//! What people should know about servers: once, however many servers and files it is about.

use std::path::{Path, PathBuf};

use crate::agents::Agent;
use crate::report::{Change, Kind};
use crate::text::{Diagnostic, Subject};

/// Remarks, collected.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Remarks {
    unsupported: Vec<(Agent, String, Vec<String>)>,
    entries: Vec<(Agent, String, PathBuf, Vec<String>)>,
    taken: Vec<String>,
}

impl Remarks {
    /// The agent can't have this server.
    pub(crate) fn unsupported(&mut self, agent: Agent, server: &str, reason: String) {
        let known =
            self.unsupported.iter_mut().find(|(who, why, _)| *who == agent && *why == reason);
        match known {
            Some((_, _, servers)) => add(servers, server),
            None => self.unsupported.push((agent, reason, vec![server.to_owned()])),
        }
    }

    /// Servers that some agent can't have.
    pub(crate) fn unsupported_servers(&self) -> impl Iterator<Item = &String> {
        self.unsupported.iter().flat_map(|(.., servers)| servers)
    }

    /// Why the agent can't have this server, if so.
    pub(crate) fn why_unsupported(&self, agent: Agent, server: &str) -> Option<&str> {
        let about = self
            .unsupported
            .iter()
            .find(|(who, _, servers)| *who == agent && servers.iter().any(|name| name == server));
        about.map(|(_, reason, _)| reason.as_str())
    }

    /// Something about the server's entry, worth saying when the entry is written.
    pub(crate) fn about_entry(&mut self, agent: Agent, server: &str, file: &Path, note: String) {
        let known = self.entries.iter_mut().find(|(who, what, path, _)| {
            (*who, *what == note, path.as_path()) == (agent, true, file)
        });
        match known {
            Some((.., servers)) => add(servers, server),
            None => self.entries.push((agent, note, file.to_path_buf(), vec![server.to_owned()])),
        }
    }

    /// Two plugins offer a server of this name.
    pub(crate) fn taken(&mut self, server: &str) {
        add(&mut self.taken, server);
    }

    /// Those that are worth saying after `changes`.
    pub(crate) fn diagnostics(&self, changes: &[Change]) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        for (agent, reason, servers) in &self.unsupported {
            told.push(about(*agent, servers, reason));
        }
        for (agent, note, file, servers) in &self.entries {
            let written: Vec<String> =
                servers.iter().filter(|name| is_written(changes, *agent, name)).cloned().collect();
            if !written.is_empty() {
                told.push(about(*agent, &written, note).in_file(file));
            }
        }
        if !self.taken.is_empty() {
            let message = format!(
                "more than one plugin offers {}; the first one's is registered",
                named(&self.taken)
            );
            let note = "`[plugins] disable` in the configuration switches a plugin off";
            told.push(Diagnostic::warning(message).about(Subject::Advice).note(note));
        }
        told
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

fn is_written(changes: &[Change], agent: Agent, server: &str) -> bool {
    changes.iter().any(|change| {
        change.kind == Kind::Server && change.name == server && change.is_of(agent.name())
    })
}

fn about(agent: Agent, servers: &[String], text: &str) -> Diagnostic {
    let message = format!("{} and {}: {text}", agent.title(), named(servers));
    Diagnostic::warning(message).about(Subject::Advice)
}

/// ``the server `a` ``, ``the servers `a`, `b` ``.
fn named(servers: &[String]) -> String {
    let names: Vec<_> = servers.iter().map(|name| format!("`{name}`")).collect();
    let word = if names.len() == 1 { "server" } else { "servers" };
    format!("the {word} {}", names.join(", "))
}
