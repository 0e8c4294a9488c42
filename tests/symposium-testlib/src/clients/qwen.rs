//! Qwen Code: a program for node, which speaks OpenAI's chat completions.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{
    Action, Client, EVENTS, McpAdd, Place, Program, Prompt, edit_json, nested_hooks, npm, with,
    write_json,
};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Qwen;

impl Client for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
    }

    fn title(&self) -> &'static str {
        "Qwen Code"
    }

    fn package(&self) -> &'static str {
        "@qwen-code/qwen-code"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::for_node(agents, self.package(), "cli-entry.js")
    }

    fn settle(&self, place: Place<'_>) {
        let settings = json!({
            "security": { "auth": { "selectedType": "openai" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false },
            // Else its model is asked what is to be remembered of a session.
            "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        });
        write_json(&place.home.join(".qwen/settings.json"), &settings);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = npm::by_node(program);
        command.env("OPENAI_API_KEY", "not-a-key").env("OPENAI_MODEL", "scripted");
        command.env("OPENAI_BASE_URL", format!("{}/v1", place.model));
        command.env("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1");
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["--yolo", "--auth-type", "openai"]);
        if prompt.resume {
            command.arg("--continue");
        }
        command.args(["--prompt", prompt.text]);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => {
                let arguments = json!({ "command": command, "is_background": false });
                ToolCall::new("run_shell_command", arguments)
            }
            Action::Read(path) => with("read_file", "file_path", path),
            Action::Skill(name) => with("skill", "skill", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("mcp__{server}__{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }

    fn mcp_add(&self) -> Option<McpAdd> {
        Some(McpAdd { before: &["--scope", "user"], between: &[] })
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        edit_json(&place.home.join(".qwen/settings.json"), |settings| {
            settings["hooks"] = nested_hooks(EVENTS, log);
        });
        true
    }
}
