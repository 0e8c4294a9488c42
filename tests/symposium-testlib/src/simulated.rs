//! Events as the agents tell of them, for tests without an agent.
//!
//! The shapes are those of the captured payloads in `tests/fixtures/agents/`.

use std::path::Path;

use serde_json::{Value, json};

use crate::Step;

/// The agents' names: what the tests go through. A test of the program's own table holds it against
/// this list.
pub const AGENTS: [&str; 9] =
    ["claude", "codex", "copilot", "gemini", "antigravity", "qwen", "goose", "kiro", "opencode"];

/// Those that tell of all four events.
pub const TELLING_ALL: [&str; 8] =
    ["claude", "codex", "copilot", "gemini", "qwen", "goose", "kiro", "opencode"];

/// The agent that a simulated event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookAgent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// GitHub Copilot CLI.
    Copilot,
    /// Gemini CLI.
    Gemini,
    /// Antigravity CLI.
    Antigravity,
    /// Qwen Code.
    Qwen,
    /// Goose.
    Goose,
    /// Kiro.
    Kiro,
    /// OpenCode, by our plugin in it.
    OpenCode,
}

/// An event that is expected of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStep {
    /// The session begins.
    SessionStart,
    /// The user's prompt.
    UserPromptSubmit,
    /// A shell command is about to run.
    PreToolUse {
        /// The command.
        command: String,
    },
    /// A shell command ran.
    PostToolUse {
        /// The command.
        command: String,
        /// What it printed.
        output: String,
    },
}

impl HookStep {
    /// The session begins.
    pub fn session_start() -> Self {
        Self::SessionStart
    }

    /// The user's prompt.
    pub fn user_prompt_submit() -> Self {
        Self::UserPromptSubmit
    }

    /// A shell command is about to run.
    pub fn pre_tool_use(command: &str) -> Self {
        Self::PreToolUse { command: command.to_owned() }
    }

    /// A shell command ran.
    pub fn post_tool_use(command: &str, output: &str) -> Self {
        Self::PostToolUse { command: command.to_owned(), output: output.to_owned() }
    }

    /// The event's name, as our program's argument has it.
    pub fn event(&self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::UserPromptSubmit => "user-prompt-submit",
            Self::PreToolUse { .. } => "pre-tool-use",
            Self::PostToolUse { .. } => "post-tool-use",
        }
    }

    /// The event's canonical name.
    pub fn canonical(&self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse { .. } => "PreToolUse",
            Self::PostToolUse { .. } => "PostToolUse",
        }
    }

    fn command(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { command } | Self::PostToolUse { command, .. } => Some(command),
            _ => None,
        }
    }
}

/// What a model does so that the steps' events come: each command once.
pub(crate) fn script(steps: &[HookStep]) -> Vec<Step> {
    let mut commands: Vec<&str> = steps.iter().filter_map(HookStep::command).collect();
    commands.dedup();
    commands.into_iter().map(Step::shell).collect()
}

/// The turn that simulated events belong to.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedTurn<'a> {
    /// The session's name. The same event of the same session is taken for the same delivery.
    pub session: &'a str,
    /// What the user said.
    pub prompt: &'a str,
    /// The folder.
    pub cwd: &'a Path,
}

/// The one use of a tool in a turn.
const USE: &str = "call_1";
const AT: &str = "2026-11-05T10:15:30.000Z";

impl HookAgent {
    /// All of them, in the order of [`AGENTS`].
    pub const ALL: [Self; AGENTS.len()] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Gemini,
        Self::Antigravity,
        Self::Qwen,
        Self::Goose,
        Self::Kiro,
        Self::OpenCode,
    ];

    /// Symposium's name for the agent.
    pub fn name(self) -> &'static str {
        AGENTS[self as usize]
    }

    /// What the agent tells of `step`.
    pub fn payload(self, step: &HookStep, turn: SimulatedTurn<'_>) -> Value {
        match self {
            Self::Copilot => copilot(step, turn),
            Self::Goose => goose(step, turn),
            Self::Antigravity => antigravity(step, turn),
            _ => self.snake(step, turn),
        }
    }

    /// The agents whose fields are alike.
    fn snake(self, step: &HookStep, turn: SimulatedTurn<'_>) -> Value {
        let SimulatedTurn { session, prompt, cwd } = turn;
        let event = match (self, step) {
            (Self::OpenCode, step) => step.event(),
            (Self::Gemini, HookStep::UserPromptSubmit) => "BeforeAgent",
            (Self::Gemini, HookStep::PreToolUse { .. }) => "BeforeTool",
            (Self::Gemini, HookStep::PostToolUse { .. }) => "AfterTool",
            (_, step) => step.canonical(),
        };
        let tool = match self {
            Self::Gemini | Self::Qwen => "run_shell_command",
            Self::Kiro => "execute_bash",
            Self::OpenCode => "bash",
            _ => "Bash",
        };
        let mut told = json!({ "session_id": session, "cwd": cwd, "hook_event_name": event });
        if matches!(self, Self::Gemini | Self::Qwen) {
            told["timestamp"] = json!(AT);
        }
        match step {
            HookStep::SessionStart => told["source"] = json!("startup"),
            HookStep::UserPromptSubmit => told["prompt"] = json!(prompt),
            HookStep::PreToolUse { command } | HookStep::PostToolUse { command, .. } => {
                told["tool_name"] = json!(tool);
                told["tool_input"] = json!({ "command": command });
                if matches!(self, Self::Claude | Self::Codex | Self::Qwen | Self::OpenCode) {
                    told["tool_use_id"] = json!(USE);
                }
            }
        }
        if let HookStep::PostToolUse { output, .. } = step {
            told["tool_response"] = match self {
                Self::Codex => json!(output),
                Self::Gemini | Self::Qwen => {
                    json!({ "llmContent": output, "returnDisplay": output })
                }
                Self::OpenCode => json!({ "output": output, "title": "", "metadata": {} }),
                _ => json!({ "stdout": output, "stderr": "", "interrupted": false }),
            };
        }
        told
    }
}

fn copilot(step: &HookStep, turn: SimulatedTurn<'_>) -> Value {
    let SimulatedTurn { session, prompt, cwd } = turn;
    let mut told = json!({ "sessionId": session, "timestamp": 1_795_167_000_000_u64, "cwd": cwd });
    match step {
        HookStep::SessionStart => {
            told["source"] = json!("new");
            told["initialPrompt"] = json!(prompt);
        }
        HookStep::UserPromptSubmit => told["prompt"] = json!(prompt),
        HookStep::PreToolUse { command } | HookStep::PostToolUse { command, .. } => {
            told["toolName"] = json!("bash");
            told["toolArgs"] = json!({ "command": command });
        }
    }
    if let HookStep::PostToolUse { output, .. } = step {
        told["toolResult"] = json!({ "resultType": "success", "textResultForLlm": output });
    }
    told
}

fn antigravity(step: &HookStep, turn: SimulatedTurn<'_>) -> Value {
    let mut told =
        json!({ "conversationId": turn.session, "workspacePaths": [turn.cwd], "stepIdx": 1 });
    if let Some(command) = step.command() {
        told["toolCall"] = json!({ "name": "run_command", "args": { "CommandLine": command } });
    }
    told
}

fn goose(step: &HookStep, turn: SimulatedTurn<'_>) -> Value {
    let SimulatedTurn { session, prompt, cwd } = turn;
    let event = step.canonical();
    let mut told = json!({ "event": event, "session_id": session, "working_dir": cwd });
    if *step == HookStep::UserPromptSubmit {
        told["message"] = json!(prompt);
    }
    if let Some(command) = step.command() {
        told["tool_name"] = json!("developer__shell");
        told["tool_call_id"] = json!(USE);
        told["tool_input"] = json!({ "command": command });
    }
    if let HookStep::PostToolUse { output, .. } = step {
        told["tool_output"] = json!(output);
    }
    told
}
