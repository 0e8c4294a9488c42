//! What a handler reads and writes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A moment at which an agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Event {
    /// Before a tool is used.
    PreToolUse,
    /// After a tool was used.
    PostToolUse,
    /// When the user submits a prompt.
    UserPromptSubmit,
    /// When a session starts or is resumed.
    SessionStart,
    /// When the agent is about to end its turn, once a turn.
    Stop,
}

impl Event {
    /// Those that every agent has in some form, in the order of a session's life.
    pub const COMMON: [Self; 4] =
        [Self::SessionStart, Self::UserPromptSubmit, Self::PreToolUse, Self::PostToolUse];

    /// All of them, in the order of a session's life.
    pub const ALL: [Self; 5] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::Stop,
    ];

    /// The name in manifests and canonical JSON: `PreToolUse`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::Stop => "Stop",
        }
    }

    /// The name on the command line: `pre-tool-use`.
    pub fn cli_name(self) -> &'static str {
        match self {
            Self::PreToolUse => "pre-tool-use",
            Self::PostToolUse => "post-tool-use",
            Self::UserPromptSubmit => "user-prompt-submit",
            Self::SessionStart => "session-start",
            Self::Stop => "stop",
        }
    }

    /// The event with this command-line name.
    pub fn from_cli_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.cli_name() == name)
    }

    /// The event with this manifest name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether the event is about one use of a tool.
    pub fn is_tool_event(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PostToolUse)
    }
}

/// An event as a handler reads it: `{"PreToolUse": {…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// Before a tool is used.
    PreToolUse(PreToolUseInput),
    /// After a tool was used.
    PostToolUse(PostToolUseInput),
    /// When the user submits a prompt.
    UserPromptSubmit(UserPromptSubmitInput),
    /// When a session starts.
    SessionStart(SessionStartInput),
    /// When the agent is about to end its turn.
    Stop(StopInput),
}

impl Input {
    /// Which event it is.
    pub fn event(&self) -> Event {
        match self {
            Self::PreToolUse(_) => Event::PreToolUse,
            Self::PostToolUse(_) => Event::PostToolUse,
            Self::UserPromptSubmit(_) => Event::UserPromptSubmit,
            Self::SessionStart(_) => Event::SessionStart,
            Self::Stop(_) => Event::Stop,
        }
    }

    /// The agent's session, where it names one.
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Self::PreToolUse(input) => input.session_id.as_deref(),
            Self::PostToolUse(input) => input.session_id.as_deref(),
            Self::UserPromptSubmit(input) => input.session_id.as_deref(),
            Self::SessionStart(input) => input.session_id.as_deref(),
            Self::Stop(input) => input.session_id.as_deref(),
        }
    }

    /// The agent's working folder, where it names one.
    pub fn cwd(&self) -> Option<&str> {
        match self {
            Self::PreToolUse(input) => input.cwd.as_deref(),
            Self::PostToolUse(input) => input.cwd.as_deref(),
            Self::UserPromptSubmit(input) => input.cwd.as_deref(),
            Self::SessionStart(input) => input.cwd.as_deref(),
            Self::Stop(input) => input.cwd.as_deref(),
        }
    }
}

/// Before a tool is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreToolUseInput {
    /// Canonical name of the tool: `Bash`, `Read`, `Write`, `Edit`, `mcp__server__tool`; else the
    /// agent's own.
    pub tool_name: String,
    /// The tool's arguments under their common names (`command`, `file_path`, `content`, …). Where one
    /// use of a tool is about several files, `file_path` is the first and `file_paths` lists them all.
    #[serde(default)]
    pub tool_input: Value,
    /// The agent's session, where it names one.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The agent's own name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_tool_name: Option<String>,
    /// The arguments as the agent gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_tool_input: Option<Value>,
}

/// After a tool was used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PostToolUseInput {
    /// Canonical name of the tool.
    pub tool_name: String,
    /// The tool's arguments under their common names.
    #[serde(default)]
    pub tool_input: Value,
    /// What the tool answered, in the agent's own shape.
    #[serde(default)]
    pub tool_response: Value,
    /// The agent's session, where it names one.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The agent's own name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_tool_name: Option<String>,
    /// The arguments as the agent gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_tool_input: Option<Value>,
}

/// When the user submits a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UserPromptSubmitInput {
    /// What the user wrote.
    #[serde(default)]
    pub prompt: String,
    /// The agent's session, where it names one.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    #[serde(default)]
    pub cwd: Option<String>,
}

/// When a session starts or is resumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionStartInput {
    /// The agent's session, where it names one.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    #[serde(default)]
    pub cwd: Option<String>,
}

/// When the agent is about to end its turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StopInput {
    /// Whether the agent goes on already because a hook kept it from ending this turn. Symposium lets
    /// a turn end after a few times in a row, whatever hooks say.
    #[serde(default)]
    pub stop_hook_active: bool,
    /// What the agent said last, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
    /// The agent's session, where it names one.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    #[serde(default)]
    pub cwd: Option<String>,
}

/// What a handler thinks of a tool's use. No decision is no opinion, never `Allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may go on without asking.
    Allow,
    /// The user is to be asked.
    Ask,
    /// It must not happen.
    Deny,
}

/// A handler's answer: `{"PreToolUse": {…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Output {
    /// Before a tool is used.
    PreToolUse(PreToolUseOutput),
    /// After a tool was used.
    PostToolUse(PostToolUseOutput),
    /// When the user submits a prompt.
    UserPromptSubmit(UserPromptSubmitOutput),
    /// When a session starts.
    SessionStart(SessionStartOutput),
    /// When the agent is about to end its turn.
    Stop(StopOutput),
}

/// The answer to [`PreToolUseInput`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreToolUseOutput {
    /// Whether the tool may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// The whole input to use instead, under the common names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Map<String, Value>>,
}

/// The answer to [`PostToolUseInput`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PostToolUseOutput {
    /// `Deny` hides the tool's result from the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why; shown instead of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
}

/// The answer to [`UserPromptSubmitInput`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserPromptSubmitOutput {
    /// `Deny` keeps the prompt from the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
}

/// The answer to [`SessionStartInput`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStartOutput {
    /// Text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
}

/// The answer to [`StopInput`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopOutput {
    /// `Deny` keeps the agent from ending its turn: it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// What is left to be done: the model reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
