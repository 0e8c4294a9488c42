//! pi: a program for node, which speaks OpenAI's chat completions to a model of its user's own.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{Action, Client, Place, Program, Prompt, npm, with, write_json};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Pi;

impl Client for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn agent(&self) -> &'static str {
        super::NEIGHBOUR
    }

    fn title(&self) -> &'static str {
        "pi"
    }

    fn package(&self) -> &'static str {
        "@earendil-works/pi-coding-agent"
    }

    fn skills_only(&self) -> bool {
        true
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::for_node(agents, self.package(), "dist/cli.js")
    }

    fn settle(&self, place: Place<'_>) {
        let provider = json!({
            "baseUrl": format!("{}/v1", place.model),
            "api": "openai-completions",
            "apiKey": "not-a-key",
            "models": [{ "id": "scripted" }],
        });
        let models = json!({ "providers": { "scripted": provider } });
        write_json(&place.home.join(".pi/agent/models.json"), &models);
    }

    fn start(&self, program: &Program, _: Place<'_>) -> Command {
        let mut command = npm::by_node(program);
        command.env("PI_OFFLINE", "1").env("PI_TELEMETRY", "0");
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["--print", "--provider", "scripted", "--model", "scripted"]);
        if prompt.resume {
            command.arg("--continue");
        }
        command.arg(prompt.text);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => with("bash", "command", command),
            Action::Read(path) => with("read", "path", path),
            // It has no tool for skills.
            Action::Skill(name) => with("read", "path", format!(".agents/skills/{name}/SKILL.md")),
            Action::Server { tool, arguments, .. } => ToolCall::new(tool, arguments.clone()),
            Action::Tool(call) => call.clone(),
        }
    }
}
