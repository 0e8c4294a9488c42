//! Claude Code: one native program, which speaks Anthropic's messages.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{
    Action, Client, EVENTS, McpAdd, Place, Program, Prompt, edit_json, nested_hooks, npm, with,
};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Claude;

impl Client for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn package(&self) -> &'static str {
        "@anthropic-ai/claude-code-"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        let package = format!("{}{}", self.package(), npm::platform());
        npm::installed(agents, &package, "claude")
    }

    /// Nothing: without a screen it asks for no trust and needs no settings.
    fn settle(&self, _: Place<'_>) {}

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command.envs(variables(place));
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args(["-p", prompt.text, "--output-format", "text"]);
        command.args(["--permission-mode", "bypassPermissions"]);
        if prompt.resume {
            command.arg("--continue");
        }
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        match action {
            Action::Shell(command) => {
                ToolCall::new("Bash", json!({ "command": command, "description": "as asked" }))
            }
            Action::Read(path) => with("Read", "file_path", path),
            Action::Skill(name) => with("Skill", "skill", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("mcp__{server}__{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }

    fn mcp_add(&self) -> Option<McpAdd> {
        Some(McpAdd { before: &["--scope", "user"], between: &["--"] })
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        edit_json(&place.home.join(".claude/settings.json"), |settings| {
            settings["hooks"] = nested_hooks(EVENTS, log);
        });
        true
    }

    fn skills_folder(&self) -> &'static str {
        ".claude/skills"
    }
}

/// The variables that lead it to the model and keep it from everything else.
pub(super) fn variables(place: Place<'_>) -> [(&'static str, String); 7] {
    let on = || "1".to_owned();
    [
        ("ANTHROPIC_BASE_URL", place.model.to_owned()),
        ("ANTHROPIC_API_KEY", "not-a-key".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
        ("DISABLE_AUTOUPDATER", on()),
        ("DISABLE_ERROR_REPORTING", on()),
        ("DISABLE_TELEMETRY", on()),
        // It refuses to skip permissions as root, unless told that this is no real machine.
        ("IS_SANDBOX", on()),
    ]
}
