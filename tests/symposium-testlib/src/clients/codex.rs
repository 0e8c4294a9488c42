//! Codex CLI: one native program, which speaks OpenAI's responses.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{
    Action, Client, EVENTS, McpAdd, Place, Program, Prompt, edit_json, nested_hooks, noting, npm,
    write,
};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct Codex;

/// What every run of it needs.
pub(super) const VARIABLES: [(&str, &str); 2] =
    [("SCRIPTED_KEY", "not-a-key"), ("SHELL", "/bin/sh")];

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

    fn start(&self, program: &Program, _: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command.envs(VARIABLES);
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.arg("exec");
        if prompt.resume {
            command.args(["resume", "--last"]);
        }
        if prompt.unreviewed {
            command.arg("--dangerously-bypass-hook-trust");
        }
        command.args(["--skip-git-repo-check", prompt.text]);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        let shell = |command: String| ToolCall::new("exec_command", json!({ "cmd": command }));
        match action {
            Action::Shell(command) => shell(command.clone()),
            // It has no tool that reads, and none for skills.
            Action::Read(path) => shell(format!("cat '{}'", path.display())),
            Action::Skill(name) => shell(format!("cat .agents/skills/{name}/SKILL.md")),
            Action::Server { server, tool, arguments } => ToolCall {
                // It puts another letter in the place of those that its model's tools can't have.
                namespace: Some(format!("mcp__{}", server.replace('-', "_"))),
                ..ToolCall::new(tool, arguments.clone())
            },
            Action::Tool(call) => call.clone(),
        }
    }

    fn mcp_add(&self) -> Option<McpAdd> {
        Some(McpAdd { before: &[], between: &["--"] })
    }

    /// The hooks, and what the user's review of each leaves behind.
    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        let file = place.home.join(".codex/hooks.json");
        edit_json(&file, |settings| settings["hooks"] = nested_hooks(EVENTS, log));
        let config = place.home.join(".codex/config.toml");
        let mut text = std::fs::read_to_string(&config).expect("it was settled");
        let names = ["session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use"];
        for (name, event) in names.into_iter().zip(EVENTS) {
            let key = json!(format!("{}:{name}:0:0", file.display()));
            let hash = reviewed(name, &noting(event, log));
            text.push_str(&format!("\n[hooks.state.{key}]\ntrusted_hash = \"{hash}\"\n"));
        }
        write(&config, text);
        true
    }
}

/// The hash by which Codex knows a hook that its user reviewed, for one with neither a matcher nor
/// a limit: measured against `codex app-server`, method `hooks/list`.
fn reviewed(event: &str, command: &str) -> String {
    let command = json!(command);
    let hook = format!(r#"{{"async":false,"command":{command},"timeout":600,"type":"command"}}"#);
    let text = format!(r#"{{"event_name":"{event}","hooks":[{hook}]}}"#);
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold("sha256:".to_owned(), |hash, byte| hash + &format!("{byte:02x}"))
}
