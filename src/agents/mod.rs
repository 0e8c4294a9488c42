//! The agents: one folder each, with everything about it.
//!
//! An agent is data where data can say it (folders, names, file places) and code where not (wire
//! formats). Nothing outside an agent's folder knows how that agent behaves. What the folders share:
//! [`places`] and [`wire`] are what they say to the other rooms, [`command`] is how agents call us,
//! [`tools`] reads their tables of tools, [`payload`] and [`envelope`] read and write JSON.
//!
//! To add one: a file here that implements [`AgentSpec`], a line in the table, an emulated client for
//! the tests, a page under `md/reference/agents/`, its captured payloads under
//! `tests/fixtures/agents/<name>/`.
//!
//! May use: `plugins`, `documents`, `process` and the floors below. Used by: `sync`, `hook`, `cli`.

pub mod canonical;
pub mod checkup;
pub mod claude;
pub mod codex;
pub mod command;
pub mod copilot;
pub mod envelope;
pub mod gemini;
pub mod goose;
pub mod kiro;
pub(crate) mod merge;
pub mod opencode;
pub mod payload;
pub mod places;
pub mod symposium;
pub mod tools;
pub mod wire;

#[cfg(test)]
mod testing;

use crate::config::Environment;
use command::Shell;
use places::{HookPlace, Placement, ServerPlace, SettingsFile, SkillDirs, Trust, TrustedHook};
use symposium_hook::{Event, Input};
use wire::{Answer, ChildAnswer, Decoded, Outcome, WireError};

use crate::plugins::model::McpServer;

/// Makes [`Agent`] of the table below.
macro_rules! table {
    ($($(#[$doc:meta])* $agent:ident: $module:ident,)*) => {
        /// The agents we know.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Agent {
            $($(#[$doc])* $agent,)*
        }

        impl Agent {
            /// All of them, in the order in which people see them.
            pub const ALL: [Self; [$(stringify!($agent)),*].len()] = [$(Self::$agent),*];

            /// Everything we know about it.
            pub fn spec(self) -> &'static dyn AgentSpec {
                match self {
                    $(Self::$agent => &$module::$agent,)*
                }
            }
        }
    };
}

// One line an agent: its name here, which is its type's name there, and its module.
table! {
    /// Claude Code.
    Claude: claude,
    /// Codex CLI.
    Codex: codex,
    /// GitHub Copilot CLI.
    Copilot: copilot,
    /// Gemini CLI.
    Gemini: gemini,
    /// Goose.
    Goose: goose,
    /// Kiro.
    Kiro: kiro,
    /// OpenCode.
    OpenCode: opencode,
}

impl Agent {
    /// The name in configuration and on the command line.
    pub fn name(self) -> &'static str {
        self.spec().name()
    }

    /// The agent with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }
}

/// The codec that `hook <name> <event>` speaks: an agent's, or the canonical one for testing.
pub fn codec(name: &str) -> Option<&'static dyn AgentSpec> {
    if name == symposium::NAME {
        return Some(&symposium::Symposium);
    }
    Agent::from_name(name).map(Agent::spec)
}

/// Everything we know about one agent.
pub trait AgentSpec: Sync {
    /// The name in configuration and on the command line.
    fn name(&self) -> &'static str;

    /// The name people know it by.
    fn title(&self) -> &'static str;

    /// Programs whose presence on `PATH` shows that it is installed.
    fn programs(&self) -> &'static [&'static str];

    /// The program that is asked for its version, where that decides which files the agent reads.
    fn version_program(&self) -> Option<&'static str> {
        None
    }

    /// The folder in the home folder whose presence shows that it was used, relative to home.
    fn home_folder(&self) -> &'static str;

    /// Where it reads skills.
    fn skill_dirs(&self) -> SkillDirs;

    /// Files and folders that it reads or runs by itself wherever in a project it meets them, so that
    /// no skill may bring them.
    fn own_names(&self) -> &'static [&'static str];

    /// How many characters of skill descriptions the agent shows to the model before it begins to
    /// cut them; `None` where no limit is known.
    fn description_budget(&self) -> Option<usize> {
        None
    }

    /// The version of its program with which what is stated here was verified; `None` where it could
    /// only be read about.
    fn verified_version(&self) -> Option<&'static str> {
        None
    }

    /// What the agent's own settings make of our registrations: hooks that are switched off, folders
    /// that are not trusted, files that it will not read.
    fn checkup(&self, look: &checkup::Look<'_>) -> Vec<checkup::Finding> {
        let _ = look;
        Vec::new()
    }

    /// Files that it reads besides those of [`AgentSpec::hooks`] and [`AgentSpec::server`].
    fn settings(&self, placement: &Placement<'_>) -> Vec<SettingsFile> {
        let _ = placement;
        Vec::new()
    }

    /// Whether our hook runs twice when it is registered in both scopes.
    fn runs_both_scopes(&self) -> bool {
        true
    }

    /// The agent's own name of an event.
    fn event_name(&self, event: Event) -> &'static str;

    /// Where and how our hooks are registered at the placement's scope.
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace>;

    /// What must stand where for the agent to run `hooks`, ours in `file`; `None` where it runs every
    /// hook that it finds.
    fn trust(
        &self,
        placement: &Placement<'_>,
        file: &std::path::Path,
        hooks: &[TrustedHook<'_>],
    ) -> Option<Trust> {
        let _ = (placement, file, hooks);
        None
    }

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

    /// What it makes of a wish at an event. [`Self::encode`] keeps to this; what is not `Yes` is
    /// logged, and stands in the book's table.
    fn honours(&self, event: Event, wish: wire::Wish) -> wire::Honour;

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

    /// The payload with another input of the tool in it, the agent's own: what the next handler reads
    /// after one rewrote the input. `None` when the payload has no input.
    fn replace_input(
        &self,
        stdin: &[u8],
        input: &serde_json::Map<String, serde_json::Value>,
    ) -> Option<Vec<u8>> {
        payload::replace_input(stdin, &["tool_input"], input)
    }

    /// Server and tool of a native tool name that joins them with a sign that either may hold
    /// (`server-tool`), given the servers that are known; `None` where the payload alone tells, or
    /// no known server fits.
    fn split_mcp_name<'a>(
        &self,
        _native: &'a str,
        _servers: &[&str],
    ) -> Option<(&'a str, &'a str)> {
        None
    }

    /// Gives the tool its canonical name where that takes knowing the servers (see
    /// [`Self::split_mcp_name`]); [`Self::decode`] guesses without.
    fn name_mcp_tool(&self, decoded: &mut Decoded, servers: &[&str]) {
        let (canonical, native) = match &mut decoded.input {
            Input::PreToolUse(input) => (&mut input.tool_name, &input.native_tool_name),
            Input::PostToolUse(input) => (&mut input.tool_name, &input.native_tool_name),
            Input::UserPromptSubmit(_) | Input::SessionStart(_) => return,
        };
        let Some(native) = native.as_deref() else { return };
        let built_in = canonical.as_str() != native && !canonical.starts_with("mcp__");
        if let (false, Some((server, tool))) = (built_in, self.split_mcp_name(native, servers)) {
            *canonical = format!("mcp__{server}__{tool}");
        }
    }
}

#[cfg(test)]
mod tests;
