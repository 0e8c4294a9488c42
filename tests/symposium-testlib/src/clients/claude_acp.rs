//! Claude Code as editors start it: by the adapter to the agent client protocol, a program for node
//! that brings a Claude Code of its own.

use std::path::Path;
use std::process::Command;

use super::{Action, Client, Place, Program, Prompt, acp, claude, npm};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct ClaudeAcp;

impl Client for ClaudeAcp {
    fn name(&self) -> &'static str {
        "claude-acp"
    }

    fn agent(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code, in an editor"
    }

    fn package(&self) -> &'static str {
        "@agentclientprotocol/claude-agent-acp"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::for_node(agents, self.package(), "dist/index.js")
    }

    fn settle(&self, place: Place<'_>) {
        claude::Claude.settle(place);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = npm::by_node(program);
        command.envs(claude::variables(place));
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
        let program = claude::Claude.program(&super::agents_folder()).ok()?;
        claude::Claude.add_server(&program, place, name, server)
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        claude::Claude.add_hooks(place, log)
    }

    fn skills_folder(&self) -> &'static str {
        claude::Claude.skills_folder()
    }

    fn call(&self, action: &Action) -> ToolCall {
        claude::Claude.call(action)
    }
}
