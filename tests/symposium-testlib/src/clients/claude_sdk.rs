//! Claude Code through Anthropic's Agent SDK for Python, which `uv` runs. The SDK starts a Claude
//! Code of its own and drives it over pipes, so settings must be asked for by source.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Action, Client, Place, Program, Prompt, claude, npm};
use crate::model::ToolCall;

#[derive(Debug)]
pub(super) struct ClaudeSdk;

const PACKAGE: &str = "claude-agent-sdk";

const SCRIPT: &str = r#"
import asyncio, sys
from claude_agent_sdk import ClaudeAgentOptions, query

async def main():
    options = ClaudeAgentOptions(
        permission_mode="bypassPermissions",
        setting_sources=["user", "project", "local"],
        continue_conversation=sys.argv[2] == "resume",
    )
    async for message in query(prompt=sys.argv[1], options=options):
        print(message)

asyncio.run(main())
"#;

fn python(uv: &Path) -> Command {
    let mut command = Command::new(uv);
    command.args(["run", "--offline", "--no-project", "--with", PACKAGE, "python", "-c"]);
    command
}

impl Client for ClaudeSdk {
    fn name(&self) -> &'static str {
        "claude-sdk"
    }

    fn agent(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code, by its Agent SDK"
    }

    fn program(&self, _: &Path) -> Result<Program, String> {
        let path = npm::on_path("uv").ok_or("uv on PATH")?;
        let mut probe = python(&path);
        probe.arg("import claude_agent_sdk as sdk; print(sdk.__version__)").stdin(Stdio::null());
        match probe.output() {
            Ok(output) if output.status.success() => {
                let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                Ok(Program { path, version })
            }
            _ => Err(format!("`uv run --with {PACKAGE} python -c ''` once, to fetch the SDK")),
        }
    }

    fn settle(&self, place: Place<'_>) {
        claude::Claude.settle(place);
    }

    fn start(&self, program: &Program, place: Place<'_>) -> Command {
        let mut command = python(&program.path);
        command.envs(claude::variables(place));
        // The test's home folder has no cache.
        let cache = Command::new(&program.path).args(["cache", "dir"]).output();
        if let Ok(cache) = cache {
            command.env("UV_CACHE_DIR", String::from_utf8_lossy(&cache.stdout).trim());
        }
        command
    }

    fn command(&self, program: &Program, place: Place<'_>, prompt: Prompt<'_>) -> Command {
        let mut command = self.start(program, place);
        command.args([SCRIPT, prompt.text, if prompt.resume { "resume" } else { "new" }]);
        command
    }

    fn add_hooks(&self, place: Place<'_>, log: &Path) -> bool {
        claude::Claude.add_hooks(place, log)
    }

    fn skills_folder(&self) -> &'static str {
        claude::Claude.skills_folder()
    }

    fn call(&self, action: &Action) -> ToolCall {
        claude::Claude.call(action)
    }
}
