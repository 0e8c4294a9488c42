//! Gemini CLI: a program for node, which speaks Google's content generation.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{
    Action, Client, McpAdd, Place, Program, Prompt, edit_json, nested_hooks, npm, with, write_json,
};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Gemini;

impl Client for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn package(&self) -> &'static str {
        "@google/gemini-cli"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        npm::for_node(agents, self.package(), "bundle/gemini.js")
    }

    fn settle(&self, place: Place<'_>) {
        let folder = place.home.join(".gemini");
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        });
        write_json(&folder.join("settings.json"), &settings);
        let trusted = Value::Object(
            place.projects().map(|path| (path, json!("TRUST_FOLDER"))).into_iter().collect(),
        );
        write_json(&folder.join("trustedFolders.json"), &trusted);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = npm::by_node(program);
        command.env("GEMINI_API_KEY", "not-a-key").env("GOOGLE_GEMINI_BASE_URL", place.model);
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["-p", prompt.text, "-m", "gemini-2.5-flash", "--yolo"]);
        if prompt.resume {
            command.args(["--resume", "latest"]);
        }
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => ToolCall::new(
                "run_shell_command",
                json!({ "command": command, "description": "as asked" }),
            ),
            Action::Read(path) => with("read_file", "file_path", path),
            Action::Skill(name) => with("activate_skill", "name", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("mcp_{server}_{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }

    fn mcp_add(&self) -> Option<McpAdd> {
        Some(McpAdd { before: &["--scope", "user"], between: &[] })
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        let names = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool"];
        edit_json(&place.home.join(".gemini/settings.json"), |settings| {
            settings["hooks"] = nested_hooks(names, log);
        });
        true
    }
}
