//! Goose, where it is on `PATH`. Not run so far; from its documentation (`goose run`, the provider's
//! and the session's variables).

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{
    Action, Client, EVENTS, Place, Program, Prompt, nested_hooks, npm, with, write, write_json,
};
use crate::model::ToolCall;
use crate::readers::GOOSE_CONFIG;

#[derive(Debug)]
pub(super) struct Goose;

impl Client for Goose {
    fn name(&self) -> &'static str {
        "goose"
    }

    fn title(&self) -> &'static str {
        "Goose"
    }

    fn program(&self, _: &Path) -> Result<Program, String> {
        let path = npm::on_path("goose").ok_or("goose on PATH")?;
        Ok(Program { version: npm::version_of(&path), path })
    }

    fn settle(&self, place: Place<'_>) {
        let extension = "extensions:\n  developer:\n    enabled: true\n    type: builtin\n    \
                         name: developer\n    timeout: 300\n";
        write(&place.home.with_file_name(GOOSE_CONFIG), extension);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = Command::new(&program.path);
        command
            .env("GOOSE_PROVIDER", "openai")
            .env("GOOSE_MODEL", "scripted")
            .env("GOOSE_MODE", "auto")
            .env("GOOSE_DISABLE_KEYRING", "1")
            .env("GOOSE_TELEMETRY_ENABLED", "false")
            .env("OPENAI_HOST", place.model)
            .env("OPENAI_API_KEY", "not-a-key");
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.arg("run");
        if prompt.resume {
            command.arg("--resume");
        }
        command.args(["--text", prompt.text]);
        command
    }

    fn call(&self, action: &Action) -> ToolCall {
        let shell = |command: String| with("developer__shell", "command", command);
        match action {
            Action::Shell(command) => shell(command.clone()),
            Action::Read(path) => shell(format!("cat '{}'", path.display())),
            Action::Skill(name) => with("load_skill", "name", name),
            Action::Server { server, tool, arguments } => {
                ToolCall::new(format!("{server}__{tool}"), arguments.clone())
            }
            Action::Tool(call) => call.clone(),
        }
    }

    /// A plugin of the user's.
    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        let folder = place.home.join(".agents/plugins/mine");
        let about = json!({ "name": "mine", "version": "1.0.0", "description": "The user's own" });
        write_json(&folder.join("plugin.json"), &about);
        let hooks = json!({ "hooks": nested_hooks(EVENTS, log) });
        write_json(&folder.join("hooks/hooks.json"), &hooks);
        true
    }
}
