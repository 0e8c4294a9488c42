//! What a call of `hook` says: the agent and the event that its arguments name, and what every step
//! reads of the decoded event.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use symposium_hook::Event;

use super::witness::Witness;
use crate::agents::wire::Decoded;
use crate::agents::{self, Agent, Codec};
use crate::config::{Dirs, Environment};
use crate::text::{closest, did_you_mean};

/// A call of our program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The arguments after `hook`.
    pub(super) args: &'a [OsString],
    /// Standard input, whole.
    pub(super) stdin: &'a [u8],
    /// Whether a person at a terminal calls us.
    pub(super) by_hand: bool,
    /// Our process's environment.
    pub(super) env: &'a Environment,
    /// Our folders.
    pub(super) dirs: &'a Dirs,
    /// Who watches a plugin that is tried out.
    pub(super) witness: Option<&'a Witness>,
}

/// The agent and the event that the arguments name. The event may have our name, the manifests' or
/// the agent's own; arguments after it are left to later versions.
pub(super) fn parse_args(args: &[OsString]) -> Result<(&'static dyn Codec, Event), String> {
    let mut words = args.iter().map(|arg| arg.to_string_lossy());
    let (Some(name), Some(event)) = (words.next(), words.next()) else {
        return Err("an agent and an event are needed".to_owned());
    };
    let codec = agents::codec(&name).ok_or_else(|| {
        let problem = Agent::unknown(&name);
        [vec![problem.message], problem.notes].concat().join("\n")
    })?;
    Event::ALL
        .into_iter()
        .find(|known| [known.cli_name(), known.name(), codec.event_name(*known)].contains(&&*event))
        .map(|event| (codec, event))
        .ok_or_else(|| {
            let known = |of: fn(Event) -> &'static str| {
                closest(&event, Event::ALL.map(of)).first().copied()
            };
            let near = known(Event::cli_name).or_else(|| {
                let name = known(Event::name)?;
                Event::ALL.into_iter().find(|known| known.name() == name).map(Event::cli_name)
            });
            let problem = format!("there is no event `{event}`");
            let meant = did_you_mean(near.as_slice());
            std::iter::once(problem).chain(meant).collect::<Vec<_>>().join("\n")
        })
}

/// Where the agent works: what the event says, else our own folder.
pub(super) fn cwd_of(env: &Environment, decoded: &Decoded) -> Option<PathBuf> {
    let own = env.cwd();
    match decoded.input.cwd().filter(|cwd| !cwd.is_empty()) {
        Some(cwd) if Path::new(cwd).is_absolute() => Some(PathBuf::from(cwd)),
        Some(cwd) => own.map(|own| own.join(cwd)),
        None => own.map(Path::to_path_buf),
    }
}

/// Gives an MCP server's tool its canonical name. Some agents' names for such a tool can only be
/// split where the names of the servers are known.
pub(super) fn name_tool(codec: &dyn Codec, decoded: &mut Decoded, servers: &[String]) {
    if !servers.is_empty() {
        let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
        codec.name_mcp_tool(decoded, &servers);
    }
}
