//! Codex as editors start it: by the adapter to the agent client protocol, a program for node that
//! brings a Codex of its own.

use std::path::Path;
use std::process::Command;

use super::{Action, Client, Place, Program, Prompt, acp, codex, npm};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct CodexAcp;

impl Client for CodexAcp {
    fn name(&self) -> &'static str {
        "codex-acp"
    }

    fn agent(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex, in an editor"
    }

    fn package(&self) -> &'static str {
        "@agentclientprotocol/codex-acp"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::for_node(agents, self.package(), "dist/index.js")
    }

    fn settle(&self, place: Place<'_>) {
        codex::Codex.settle(place);
    }

    fn start(&self, program: &Program, _: Place<'_>) -> Command {
        let mut command = npm::by_node(program);
        command.envs(codex::VARIABLES).env("OPENAI_API_KEY", "not-a-key");
        // Its sandbox can't be made inside the tests'.
        command.env("INITIAL_AGENT_MODE", "agent-full-access");
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
        let program = codex::Codex.program(&super::agents_folder()).ok()?;
        codex::Codex.add_server(&program, place, name, server)
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        codex::Codex.add_hooks(place, log)
    }

    fn call(&self, action: &Action) -> ToolCall {
        codex::Codex.call(action)
    }
}
