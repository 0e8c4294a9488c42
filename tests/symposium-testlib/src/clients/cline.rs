//! Cline's command line: one native program, which speaks OpenAI's chat completions.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{Action, Client, Place, Program, Prompt, npm, with, write_json};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Cline;

impl Client for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn agent(&self) -> &'static str {
        super::NEIGHBOUR
    }

    fn title(&self) -> &'static str {
        "Cline"
    }

    fn package(&self) -> &'static str {
        "@cline/cli-"
    }

    fn skills_only(&self) -> bool {
        true
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        let package = format!("{}{}", self.package(), npm::platform());
        npm::installed(agents, &package, "bin/cline")
    }

    /// What `cline auth` writes.
    fn settle(&self, place: Place<'_>) {
        let provider = "openai-compatible";
        let settings = json!({
            "provider": provider,
            "apiKey": "not-a-key",
            "model": "scripted",
            "baseUrl": format!("{}/v1", place.model),
        });
        let updated = "2026-01-01T00:00:00.000Z";
        let entry = json!({ "settings": settings, "updatedAt": updated, "tokenSource": "manual" });
        let all = json!({
            "version": 1,
            "lastUsedProvider": provider,
            "modes": {},
            "providers": { provider: entry },
        });
        write_json(&place.home.join(".cline/data/settings/providers.json"), &all);
    }

    fn start(&self, program: &Program, _: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        // Else it leaves a program running that later sessions share.
        command.env("CLINE_SESSION_BACKEND_MODE", "local").env("CLINE_NO_AUTO_UPDATE", "1");
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["--provider", "openai-compatible", prompt.text]);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => {
                ToolCall::new("run_commands", json!({ "commands": [command] }))
            }
            Action::Read(path) => {
                ToolCall::new("read_files", json!({ "files": [{ "path": path }] }))
            }
            Action::Skill(name) => with("skills", "skill", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("{server}__{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }
}
