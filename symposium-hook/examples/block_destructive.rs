//! Stops shell commands that remove folders with everything in them.

use std::process::ExitCode;

use symposium_hook::{HookHandler, PreToolUseInput, PreToolUseOutput, run};

struct BlockDestructive;

impl HookHandler for BlockDestructive {
    fn pre_tool_use(&self, event: &PreToolUseInput) -> anyhow::Result<PreToolUseOutput> {
        if event.tool_name == "Bash"
            && let Some(command) = event.tool_input.get("command").and_then(|value| value.as_str())
            && command.contains("rm -rf")
        {
            return Ok(PreToolUseOutput::deny("Destructive rm -rf commands are not allowed"));
        }
        Ok(PreToolUseOutput::default())
    }
}

fn main() -> ExitCode {
    run(BlockDestructive)
}
