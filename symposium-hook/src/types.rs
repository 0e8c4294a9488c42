//! What a handler reads and writes.

use serde_json::{Map, Value};

use crate::wire::{by_event, names, object};

/// A moment at which an agent asks.
///
/// ```
/// use symposium_hook::Event;
///
/// assert_eq!(Event::from_cli_name("pre-tool-use"), Some(Event::PreToolUse));
/// assert_eq!(Event::PreToolUse.name(), "PreToolUse");
/// assert!(Event::PreToolUse.is_tool_event());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

names! {
    Event {
        PreToolUse = "PreToolUse",
        PostToolUse = "PostToolUse",
        UserPromptSubmit = "UserPromptSubmit",
        SessionStart = "SessionStart",
        Stop = "Stop",
    }
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
        Self::NAMES[self as usize]
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
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

by_event! {
    Input {
        PreToolUse,
        PostToolUse,
        UserPromptSubmit,
        SessionStart,
        Stop,
    }
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
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PreToolUseInput {
    /// Canonical name of the tool: `Bash`, `Read`, `Write`, `Edit`, `mcp__server__tool`; else the
    /// agent's own.
    pub tool_name: String,
    /// The tool's arguments under their common names (`command`, `file_path`, `content`, …). Where one
    /// use of a tool is about several files, `file_path` is the first and `file_paths` lists them all.
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub tool_input: Value,
    /// The agent's session, where it names one.
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    pub cwd: Option<String>,
    /// The agent's own name of the tool.
    pub native_tool_name: Option<String>,
    /// The arguments as the agent gave them.
    pub native_tool_input: Option<Value>,
}

object! {
    PreToolUseInput {
        required tool_name = "tool_name",
        always tool_input = "tool_input",
        always session_id = "session_id",
        always cwd = "cwd",
        sparse native_tool_name = "native_tool_name",
        sparse native_tool_input = "native_tool_input",
    }
}

/// After a tool was used.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PostToolUseInput {
    /// Canonical name of the tool.
    pub tool_name: String,
    /// The tool's arguments under their common names.
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub tool_input: Value,
    /// What the tool answered, in the agent's own shape.
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub tool_response: Value,
    /// The agent's session, where it names one.
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    pub cwd: Option<String>,
    /// The agent's own name of the tool.
    pub native_tool_name: Option<String>,
    /// The arguments as the agent gave them.
    pub native_tool_input: Option<Value>,
}

object! {
    PostToolUseInput {
        required tool_name = "tool_name",
        always tool_input = "tool_input",
        always tool_response = "tool_response",
        always session_id = "session_id",
        always cwd = "cwd",
        sparse native_tool_name = "native_tool_name",
        sparse native_tool_input = "native_tool_input",
    }
}

/// When the user submits a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UserPromptSubmitInput {
    /// What the user wrote.
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub prompt: String,
    /// The agent's session, where it names one.
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    pub cwd: Option<String>,
}

object! {
    UserPromptSubmitInput {
        always prompt = "prompt",
        always session_id = "session_id",
        always cwd = "cwd",
    }
}

/// When a session starts or is resumed.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SessionStartInput {
    /// The agent's session, where it names one.
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    pub cwd: Option<String>,
}

object! {
    SessionStartInput {
        always session_id = "session_id",
        always cwd = "cwd",
    }
}

/// When the agent is about to end its turn.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct StopInput {
    /// Whether the agent goes on already because a hook kept it from ending this turn. Symposium lets
    /// a turn end after a few times in a row, whatever hooks say.
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub stop_hook_active: bool,
    /// What the agent said last, where it tells.
    pub last_assistant_message: Option<String>,
    /// The agent's session, where it names one.
    pub session_id: Option<String>,
    /// The agent's working folder, where it names one.
    pub cwd: Option<String>,
}

object! {
    StopInput {
        always stop_hook_active = "stop_hook_active",
        sparse last_assistant_message = "last_assistant_message",
        always session_id = "session_id",
        always cwd = "cwd",
    }
}

/// What a handler thinks of a tool's use. No decision is no opinion, never `Allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename_all = "lowercase"))]
pub enum Decision {
    /// It may go on without asking.
    Allow,
    /// The user is to be asked.
    Ask,
    /// It must not happen.
    Deny,
}

names! {
    Decision {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
    }
}

/// A handler's answer: `{"PreToolUse": {…}}`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

by_event! {
    Output {
        PreToolUse,
        PostToolUse,
        UserPromptSubmit,
        SessionStart,
        Stop,
    }
}

/// The answer to [`PreToolUseInput`].
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct PreToolUseOutput {
    /// Whether the tool may be used.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<String>,
    /// Text for the model.
    pub additional_context: Option<String>,
    /// The whole input to use instead, under the common names.
    pub updated_input: Option<Map<String, Value>>,
}

object! {
    PreToolUseOutput {
        sparse decision = "decision",
        sparse reason = "reason",
        sparse additional_context = "additionalContext",
        sparse updated_input = "updatedInput",
    }
}

/// The answer to [`PostToolUseInput`].
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct PostToolUseOutput {
    /// `Deny` hides the tool's result from the model.
    pub decision: Option<Decision>,
    /// Why; shown instead of the result.
    pub reason: Option<String>,
    /// Text for the model.
    pub additional_context: Option<String>,
}

object! {
    PostToolUseOutput {
        sparse decision = "decision",
        sparse reason = "reason",
        sparse additional_context = "additionalContext",
    }
}

/// The answer to [`UserPromptSubmitInput`].
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct UserPromptSubmitOutput {
    /// `Deny` keeps the prompt from the model.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<String>,
    /// Text for the model.
    pub additional_context: Option<String>,
}

object! {
    UserPromptSubmitOutput {
        sparse decision = "decision",
        sparse reason = "reason",
        sparse additional_context = "additionalContext",
    }
}

/// The answer to [`SessionStartInput`].
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct SessionStartOutput {
    /// Text for the model.
    pub additional_context: Option<String>,
}

object! {
    SessionStartOutput {
        sparse additional_context = "additionalContext",
    }
}

/// The answer to [`StopInput`].
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct StopOutput {
    /// `Deny` keeps the agent from ending its turn: it goes on.
    pub decision: Option<Decision>,
    /// What is left to be done: the model reads it.
    pub reason: Option<String>,
}

object! {
    StopOutput {
        sparse decision = "decision",
        sparse reason = "reason",
    }
}
