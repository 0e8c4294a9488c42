//! Agents as editors start them: by an adapter to the agent client protocol, a program for node that
//! brings an agent of its own.

use std::path::Path;
use std::process::Command;

use super::{Action, Client, Place, Program, Prompt, acp, claude, codex, npm};
use crate::model::ToolCall;

pub(super) const CLAUDE: Adapter = Adapter {
    name: "claude-acp",
    title: "Claude Code, in an editor",
    package: "@agentclientprotocol/claude-agent-acp",
    behind: &claude::Claude,
    variables: |command, place| {
        command.envs(claude::variables(place));
    },
};

pub(super) const CODEX: Adapter = Adapter {
    name: "codex-acp",
    title: "Codex, in an editor",
    package: "@agentclientprotocol/codex-acp",
    behind: &codex::Codex,
    variables: |command, _| {
        command.envs(codex::VARIABLES).env("OPENAI_API_KEY", "not-a-key");
        // Its sandbox can't be made inside the tests'.
        command.env("INITIAL_AGENT_MODE", "agent-full-access");
    },
};

/// An adapter, and the agent behind it, whose files and tools are its own.
#[derive(Debug)]
pub(super) struct Adapter {
    name: &'static str,
    title: &'static str,
    package: &'static str,
    behind: &'static dyn Client,
    /// Gives a run the variables that it needs.
    variables: fn(&mut Command, Place<'_>),
}

impl Client for Adapter {
    fn name(&self) -> &'static str {
        self.name
    }

    fn agent(&self) -> &'static str {
        self.behind.agent()
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn package(&self) -> &'static str {
        self.package
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::for_node(agents, self.package, "dist/index.js")
    }

    fn settle(&self, place: Place<'_>) {
        self.behind.settle(place);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = npm::by_node(program);
        (self.variables)(&mut command, place);
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        acp::command(&self.start(program, place), place, prompt)
    }

    /// By the command line, which the user of an editor has for such things.
    fn add_server(
        &self,
        _: &Program,
        place: Place<'_>,
        name: &str,
        server: &[String],
    ) -> Option<Command> {
        let program = self.behind.program(&super::agents_folder()).ok()?;
        self.behind.add_server(&program, place, name, server)
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        self.behind.add_hooks(place, log)
    }

    fn skills_folder(&self) -> &'static str {
        self.behind.skills_folder()
    }

    fn call(&self, action: &Action) -> ToolCall {
        self.behind.call(action)
    }
}
