//! OpenCode: one native program, which speaks OpenAI's chat completions to a provider of the user's
//! own.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{Action, Client, McpAdd, Place, Program, Prompt, npm, with, write, write_json};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct OpenCode;

impl Client for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn package(&self) -> &'static str {
        "opencode-"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        // The registries that carry it have no current version of its other packages.
        if npm::platform() != "linux-x64" {
            return Err("Linux on x86-64".to_owned());
        }
        npm::installed(agents, "opencode-linux-x64", "bin/opencode")
    }

    fn settle(&self, place: Place<'_>) {
        let model = json!({
            "name": "Scripted",
            "tool_call": true,
            "limit": { "context": 100_000, "output": 8000 },
        });
        let config = json!({
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": false,
            "share": "disabled",
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": { "baseURL": format!("{}/v1", place.model), "apiKey": "not-a-key" },
                "models": { "scripted": model },
            } },
        });
        write_json(&place.home.join(".config/opencode/opencode.json"), &config);
    }

    fn start(&self, program: &Program, _: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            // Where there is a plugin, it waits for its own package from npm otherwise.
            .env("npm_config_offline", "true");
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        // With a title it does not ask the model for one.
        command.args(["run", "--title", "a test"]);
        if prompt.resume {
            command.arg("--continue");
        }
        command.arg(prompt.text);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => {
                ToolCall::new("bash", json!({ "command": command, "description": "as asked" }))
            }
            Action::Read(path) => with("read", "filePath", path),
            Action::Skill(name) => with("skill", "name", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("{server}_{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }

    fn mcp_add(&self) -> Option<McpAdd> {
        Some(McpAdd { before: &[], between: &["--"] })
    }

    /// A plugin of the user's.
    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        let plugin = format!(
            r#"import {{ appendFileSync }} from "node:fs"

const note = (event) => appendFileSync({}, event + "\n")

export const Mine = async () => ({{
  event: async ({{ event }}) => {{
    if (event.type === "session.created") note("SessionStart")
  }},
  "chat.message": async () => note("UserPromptSubmit"),
  "tool.execute.before": async () => note("PreToolUse"),
  "tool.execute.after": async () => note("PostToolUse"),
}})
"#,
            json!(log),
        );
        write(&place.home.join(".config/opencode/plugins/mine.js"), plugin);
        true
    }
}
