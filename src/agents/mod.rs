//! The agents: one file each, with everything about it.
//!
//! An agent is data where data can say it (folders, names, file places) and code where not (wire
//! formats). Nothing outside an agent's file knows how that agent behaves; what several agents
//! share in words of their own is in [`wire`] and [`places`].
//!
//! To add one: a file here that implements [`AgentSpec`], a line in [`Agent`], a page under
//! `md/reference/agents/`, its captured payloads under `tests/fixtures/agents/<name>/`.
//!
//! May use: `plugins`, `documents`, `process` and the floors below. Used by: `sync`, `hook`, `cli`.

pub mod command;
pub mod envelope;
pub mod payload;
pub mod places;
pub mod tools;
pub mod wire;

use crate::config::Environment;
use command::Shell;
use places::{HookPlace, Placement, ServerPlace, SkillDirs};
use symposium_hook::Event;
use wire::{Answer, ChildAnswer, Decoded, Outcome, WireError};

use crate::plugins::model::McpServer;

/// The agents we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// GitHub Copilot CLI.
    Copilot,
    /// Gemini CLI.
    Gemini,
    /// Goose.
    Goose,
    /// Kiro.
    Kiro,
    /// OpenCode.
    OpenCode,
}

/// Everything we know about one agent.
pub trait AgentSpec: Sync {
    /// The name in configuration and on the command line.
    fn name(&self) -> &'static str;

    /// The name people know it by.
    fn title(&self) -> &'static str;

    /// Programs whose presence on `PATH` shows that it is installed.
    fn programs(&self) -> &'static [&'static str];

    /// The folder in the home folder whose presence shows that it was used, relative to home.
    fn home_folder(&self) -> &'static str;

    /// Where it reads skills.
    fn skill_dirs(&self) -> SkillDirs;

    /// The agent's own name of an event.
    fn event_name(&self, event: Event) -> &'static str;

    /// Where and how our hooks are registered at the placement's scope.
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace>;

    /// The shell that the agent runs a hook's command in.
    fn shell(&self, windows: bool) -> Shell {
        if windows { Shell::GitBash } else { Shell::Posix }
    }

    /// How long the agent lets our hook run, in seconds, as registered.
    fn registered_timeout(&self, event: Event) -> u64;

    /// Where a server goes and what its entry looks like; `everywhere` for servers of plugins that
    /// apply to every workspace, which go to the user's own file.
    fn server(
        &self,
        server: &McpServer,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace;

    /// Reads an event as the agent sends it.
    ///
    /// # Errors
    /// When the bytes are not this agent's payload for this event.
    fn decode(&self, event: Event, stdin: &[u8], env: &Environment) -> Result<Decoded, WireError>;

    /// The answer that makes the agent do what `outcome` says, as near as it can. Never fails:
    /// what can't be said is left out (a deny never is, where the agent can deny at all).
    fn encode(&self, event: Event, outcome: &Outcome) -> Answer;

    /// Whether the model gets to see context given at this event. Where it does not, the hook room
    /// keeps the context and gives it at the next event that delivers.
    fn delivers_context(&self, event: Event) -> bool {
        let _ = event;
        true
    }

    /// Reads the answer of a program that speaks this agent's own format.
    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome;

    /// The agent's own input for a canonical `updatedInput` of the tool in `decoded`.
    fn native_input(
        &self,
        decoded: &Decoded,
        updated: &serde_json::Map<String, serde_json::Value>,
    ) -> serde_json::Map<String, serde_json::Value>;
}
