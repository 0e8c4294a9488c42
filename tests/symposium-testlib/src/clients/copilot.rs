//! GitHub Copilot CLI: one native program, which speaks OpenAI's chat completions to a provider of
//! the user's own. It needs no login then.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{
    Action, Client, EVENTS, McpAdd, Place, Program, Prompt, Sight, noting, npm, sight, with,
    write_json,
};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Copilot;

impl Client for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn title(&self) -> &'static str {
        "GitHub Copilot CLI"
    }

    fn package(&self) -> &'static str {
        "@github/copilot-"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::installed(agents, &format!("{}{}", self.package(), npm::platform()), "copilot")
    }

    /// Trust in the projects; `trustedFolders` counts in `config.json`, not in `settings.json`.
    fn settle(&self, place: Place<'_>) {
        let trusted = json!({ "trustedFolders": place.projects() });
        write_json(&place.home.join(".copilot/config.json"), &trusted);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false")
            .env("COPILOT_MODEL", "gpt-4.1")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", place.model))
            .env("COPILOT_PROVIDER_API_KEY", "not-a-key");
        // It unpacks 235 MB there when it starts for the first time; the installation does that.
        let cache = super::agents_folder().join(".cache");
        if cache.join("copilot").is_dir() {
            command.env("XDG_CACHE_HOME", cache);
        }
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["-p", prompt.text, "--allow-all-tools", "--allow-all-paths"]);
        command.args([
            "--no-auto-update",
            "--disable-client-telemetry",
            "--log-level",
            "all",
            "--log-dir",
        ]);
        command.arg(place.dir.join("client-logs"));
        if prompt.resume {
            command.arg("--continue");
        }
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => {
                ToolCall::new("bash", json!({ "command": command, "description": "as asked" }))
            }
            Action::Read(path) => with("view", "path", path),
            Action::Skill(name) => with("skill", "skill", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("{server}-{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }

    fn mcp_add(&self) -> Option<McpAdd> {
        Some(McpAdd { before: &[], between: &["--"] })
    }

    /// It tells the kind of a server that is not disabled.
    fn listed(&self, said: &str, name: &str) -> Sight {
        sight(said, name, &["connected"], &["(local)", "(http)", "(sse)"])
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        let names = ["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse"];
        let hooks = names.into_iter().zip(EVENTS).map(|(name, event)| {
            let hook = json!([{ "type": "command", "bash": noting(event, log) }]);
            (name.to_owned(), hook)
        });
        let hooks = serde_json::Map::from_iter(hooks);
        let file = json!({ "version": 1, "hooks": hooks });
        write_json(&place.home.join(".copilot/hooks/mine.json"), &file);
        true
    }
}
