//! Codex CLI: one native program, which speaks OpenAI's responses.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::{Action, Client, Place, Program, Prompt, npm, write};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Codex;

impl Client for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex CLI"
    }

    fn package(&self) -> &'static str {
        "@openai/codex-"
    }

    fn program(&self, agents: &Path) -> Result<Program, String> {
        let package = format!("{}{}", self.package(), npm::platform());
        let vendor = agents.join("node_modules").join(&package).join("vendor");
        let triples = std::fs::read_dir(vendor).into_iter().flatten().flatten();
        let program = |triple: PathBuf| triple.join("bin").join("codex");
        let found = triples.map(|entry| program(entry.path())).find(|path| path.is_file());
        let path = found.ok_or_else(|| npm::INSTALL.to_owned())?;
        let path = path.to_string_lossy().into_owned();
        // An absolute path stays as it is when it is joined.
        npm::installed(agents, &package, &path)
    }

    fn settle(&self, place: Place<'_>) {
        let trusted = |path| format!("[projects.{}]\ntrust_level = \"trusted\"\n", json!(path));
        let projects = place.projects().map(trusted).join("\n");
        let text = format!(
            r#"# What a user of Codex has.
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

{}"#,
            place.model, projects,
        );
        write(&place.home.join(".codex/config.toml"), text);
    }

    fn command(&self, program: &Program, _: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command.arg("exec");
        if prompt.resume {
            command.args(["resume", "--last"]);
        }
        command.args(["--dangerously-bypass-hook-trust"]);
        command.args(["--skip-git-repo-check", prompt.text]);
        command.env("SCRIPTED_KEY", "not-a-key").env("SHELL", "/bin/sh");
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        let shell = |command: String| ToolCall::new("exec_command", json!({ "cmd": command }));
        match action {
            Action::Shell(command) => shell(command.clone()),
            // It has no tool that reads, and none for skills.
            Action::Read(path) => shell(format!("cat '{}'", path.display())),
            Action::Skill(name) => shell(format!("cat .agents/skills/{name}/SKILL.md")),
            Action::Server { server, tool } => ToolCall {
                namespace: Some(format!("mcp__{server}")),
                ..ToolCall::new(tool, json!({}))
            },
            Action::Tool(call) => call.clone(),
        }
    }
}
