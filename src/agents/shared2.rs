//! What the files of several agents do in the same way: the registered command, reading a payload,
//! and the way from native tool names and fields to the canonical ones and back.

use std::path::Path;

use serde_json::{Map, Value, json};
use symposium_hook::{
    Decision, Event, Input, PostToolUseInput, PreToolUseInput, SessionStartInput,
    UserPromptSubmitInput,
};

use super::places::{HookPlace, HookShape};
use super::wire::{ChildAnswer, Decoded, Outcome, WireError};

#[cfg(test)]
pub(super) mod testkit;
#[cfg(test)]
mod tests;

/// The shell command that an agent is given for an event.
///
/// A guarded one ends with exit code 0 whatever happens to the program: it is not there, does not
/// start, or crashes. It is for agents that take any failure for "no" and read our own "no" from
/// standard output.
pub(super) fn hook_command(agent_name: &str, event: Event, program: &str, guarded: bool) -> String {
    let call = format!("{program} hook {agent_name} {}", event.cli_name());
    if guarded {
        format!("command -v {program} >/dev/null 2>&1 || exit 0; {call} || exit 0")
    } else {
        call
    }
}

/// The guarded command for PowerShell, which knows neither `command -v` nor `||` before version 7.
pub(super) fn powershell_command(agent_name: &str, event: Event, program: &str) -> String {
    let path = program_path(program);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    let program =
        if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "''")) };
    let event = event.cli_name();
    format!(
        "if (Get-Command {program} -ErrorAction SilentlyContinue) \
         {{ & {program} hook {agent_name} {event} }}; exit 0"
    )
}

/// The program as a path: `program` without the shell's quotes.
pub(super) fn program_path(program: &str) -> String {
    match shlex::split(program).as_deref() {
        Some([path]) => path.clone(),
        _ => program.to_owned(),
    }
}

/// A JSON file that is ours alone, as people like to read it.
pub(super) fn own_json(path: std::path::PathBuf, value: &Value) -> HookPlace {
    HookPlace { path, shape: HookShape::Own { text: format!("{value:#}\n") } }
}

/// A list of pairs as a JSON object, in their order.
pub(super) fn object(pairs: &[(String, String)]) -> Value {
    let pairs = pairs.iter().map(|(key, value)| (key.clone(), Value::String(value.clone())));
    Value::Object(pairs.collect())
}

/// The folder that a variable names, where it is an absolute path; else `fallback` in `home`.
pub(super) fn folder(
    env: &crate::config::Environment,
    variable: &str,
    home: &Path,
    fallback: &str,
) -> std::path::PathBuf {
    let named = env.var(variable).map(Path::new).filter(|path| path.is_absolute());
    named.map_or_else(|| home.join(fallback), Path::to_path_buf)
}

/// How one agent names tools and their arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// Native tool name → canonical name. What is not listed keeps its name.
    pub(super) tools: &'static [(&'static str, &'static str)],
    /// Canonical tool name → (native field, canonical field). What is not listed keeps its name.
    pub(super) fields: &'static [(&'static str, &'static [(&'static str, &'static str)])],
}

impl Dialect {
    /// The canonical name of a built-in tool.
    pub(super) fn tool(&self, native: &str) -> Option<&'static str> {
        self.tools.iter().find(|(name, _)| *name == native).map(|(_, canonical)| *canonical)
    }

    fn pairs(&self, tool: &str) -> &'static [(&'static str, &'static str)] {
        self.fields.iter().find(|(name, _)| *name == tool).map_or(&[], |(_, pairs)| *pairs)
    }

    /// Pairs in use for this input: the native field is there, and no field has the canonical name
    /// already.
    fn renames(
        &self,
        tool: &str,
        native: &Map<String, Value>,
    ) -> Vec<(&'static str, &'static str)> {
        let mut renames: Vec<(&str, &str)> = Vec::new();
        for (from, to) in self.pairs(tool) {
            let taken = native.contains_key(*to) || renames.iter().any(|(_, other)| other == to);
            if native.contains_key(*from) && !taken {
                renames.push((from, to));
            }
        }
        renames
    }

    /// The arguments under their common names.
    pub(super) fn canonical_input(&self, tool: &str, native: &Value) -> Value {
        let Value::Object(native) = native else { return native.clone() };
        let renames = self.renames(tool, native);
        let renamed = native.iter().map(|(key, value)| {
            let new = renames.iter().find(|(from, _)| from == key).map_or(key.as_str(), |r| r.1);
            (new.to_owned(), value.clone())
        });
        Value::Object(renamed.collect())
    }

    /// The agent's own names for the arguments in `updated`: the way that the event's own arguments
    /// came is gone back, and a field that it did not have is named as the agent names it.
    pub(super) fn native_input(
        &self,
        tool: &str,
        native: &Value,
        updated: &Map<String, Value>,
    ) -> Map<String, Value> {
        let empty = Map::new();
        let native = native.as_object().unwrap_or(&empty);
        let renames = self.renames(tool, native);
        let own_name = |key: &str| -> Option<&'static str> {
            if let Some((from, _)) = renames.iter().find(|(_, to)| *to == key) {
                return Some(from);
            }
            let first = self.pairs(tool).iter().find(|(_, to)| *to == key).map(|(from, _)| *from);
            first.filter(|from| !native.contains_key(key) && !updated.contains_key(*from))
        };
        let renamed = updated.iter().map(|(key, value)| {
            (own_name(key).map_or_else(|| key.clone(), str::to_owned), value.clone())
        });
        renamed.collect()
    }

    /// [`Self::native_input`] for a decoded event.
    pub(super) fn native_input_of(
        &self,
        decoded: &Decoded,
        updated: &Map<String, Value>,
    ) -> Map<String, Value> {
        let (tool, native) = match &decoded.input {
            Input::PreToolUse(input) => (&input.tool_name, &input.native_tool_input),
            Input::PostToolUse(input) => (&input.tool_name, &input.native_tool_input),
            Input::UserPromptSubmit(_) | Input::SessionStart(_) => return updated.clone(),
        };
        let native = native.as_ref().map(parsed).unwrap_or_default();
        self.native_input(tool, &native, updated)
    }
}

/// Arguments that came as JSON inside a string, parsed; others as they are.
pub(super) fn parsed(arguments: &Value) -> Value {
    let inner = arguments.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    inner.filter(Value::is_object).unwrap_or_else(|| arguments.clone())
}

/// The canonical name of an MCP server's tool.
pub(super) fn mcp_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Splits `<server><separator><tool>` after the longest of `servers` that fits.
pub(super) fn split_after_server(
    name: &str,
    separator: char,
    servers: impl Iterator<Item = String>,
) -> Option<(&str, &str)> {
    let fits = servers.filter(|server| {
        let rest = name.strip_prefix(server.as_str()).and_then(|r| r.strip_prefix(separator));
        !server.is_empty() && rest.is_some_and(|tool| !tool.is_empty())
    });
    let length = fits.map(|server| server.len()).max()?;
    let (server, rest) = name.split_at_checked(length)?;
    Some((server, rest.strip_prefix(separator)?))
}

/// An agent's payload: a JSON object.
#[derive(Debug)]
pub(super) struct Payload {
    agent: &'static str,
    event: Event,
    fields: Map<String, Value>,
}

impl Payload {
    /// Reads the bytes; a byte order mark, which PowerShell's pipes may add, is skipped.
    pub(super) fn parse(
        agent: &'static str,
        event: Event,
        stdin: &[u8],
    ) -> Result<Self, WireError> {
        let payload = Self { agent, event, fields: Map::new() };
        let bytes = stdin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdin);
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(Self { fields, ..payload }),
            Ok(_) => Err(payload.error("it is JSON, but not an object")),
            Err(error) => Err(payload.error(&format!("it is not JSON: {error}"))),
        }
    }

    pub(super) fn error(&self, problem: &str) -> WireError {
        WireError { agent: self.agent, event: self.event.cli_name(), problem: problem.to_owned() }
    }

    /// The first of these fields that is there and not null.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Value> {
        names.iter().filter_map(|name| self.fields.get(*name)).find(|value| !value.is_null())
    }

    /// The first of these fields that is a text, were it empty.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.fields.get(*name)?.as_str()).map(str::to_owned)
    }

    /// The first of these fields that is a text with something in it.
    pub(super) fn word(&self, names: &[&str]) -> Option<String> {
        self.text(names).filter(|text| !text.is_empty())
    }

    /// As [`Self::word`], for what the event can't be without.
    pub(super) fn required(&self, names: &[&str]) -> Result<String, WireError> {
        let missing = || self.error(&format!("it has no `{}`", names.join("` or `")));
        self.word(names).ok_or_else(missing)
    }

    /// Checks that the payload, where it names its event, names the one it should.
    pub(super) fn names_event(&self, field: &str, accepted: &[&str]) -> Result<(), WireError> {
        match self.fields.get(field).and_then(Value::as_str) {
            Some(name) if !accepted.contains(&name) => {
                Err(self.error(&format!("its `{field}` is `{name}`")))
            }
            _ => Ok(()),
        }
    }
}

/// What of a payload the canonical event is made of.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<String>,
    /// Canonical name of the tool.
    pub(super) tool: String,
    /// The agent's own name of it.
    pub(super) native_tool: String,
    /// The arguments under their common names.
    pub(super) input: Value,
    /// The arguments as the agent gave them.
    pub(super) native_input: Value,
    pub(super) response: Value,
    pub(super) prompt: String,
    pub(super) tool_use_id: Option<String>,
}

impl Facts {
    pub(super) fn decoded(self, event: Event) -> Decoded {
        let Self { session_id, cwd, prompt, .. } = self;
        let input = match event {
            Event::PreToolUse => Input::PreToolUse(PreToolUseInput {
                tool_name: self.tool,
                tool_input: self.input,
                session_id,
                cwd,
                native_tool_name: Some(self.native_tool),
                native_tool_input: Some(self.native_input),
            }),
            Event::PostToolUse => Input::PostToolUse(PostToolUseInput {
                tool_name: self.tool,
                tool_input: self.input,
                tool_response: self.response,
                session_id,
                cwd,
                native_tool_name: Some(self.native_tool),
                native_tool_input: Some(self.native_input),
            }),
            Event::UserPromptSubmit => {
                Input::UserPromptSubmit(UserPromptSubmitInput { prompt, session_id, cwd })
            }
            Event::SessionStart => Input::SessionStart(SessionStartInput { session_id, cwd }),
        };
        Decoded { input, tool_use_id: self.tool_use_id, foreign: false }
    }
}

/// What an event is refused with: a denial, or the end of the turn, which these agents have no
/// other words for.
pub(super) fn refusal(outcome: &Outcome) -> Option<String> {
    let denied = (outcome.decision == Some(Decision::Deny)).then(|| outcome.reason());
    let stopped = outcome.stop.as_ref().map(|reason| match reason.trim() {
        "" => "stopped by a Symposium plugin".to_owned(),
        reason => reason.to_owned(),
    });
    match (denied, stopped) {
        (Some(denied), Some(stopped)) if denied != stopped => Some(format!("{denied}\n{stopped}")),
        (denied, stopped) => denied.or(stopped),
    }
}

/// As [`refusal`], for a tool's use and an agent that can't ask: it is refused until the user was
/// asked.
pub(super) fn refusal_or_ask(outcome: &Outcome) -> Option<String> {
    refusal(outcome).or_else(|| {
        let ask = outcome.decision == Some(Decision::Ask);
        ask.then(|| format!("ask the user before doing this: {}", ask_reason(outcome)))
    })
}

/// Why the user is asked; never empty.
pub(super) fn ask_reason(outcome: &Outcome) -> String {
    let text = outcome.reasons.join("\n");
    if text.trim().is_empty() { "a Symposium plugin wants their consent".to_owned() } else { text }
}

/// A denial for `reason`; an empty one is left to the encoder's words.
pub(super) fn denial(reason: &str) -> Outcome {
    let reason = reason.trim();
    Outcome {
        decision: Some(Decision::Deny),
        reasons: if reason.is_empty() { Vec::new() } else { vec![reason.to_owned()] },
        ..Outcome::default()
    }
}

/// Standard output, where it is one JSON object.
pub(super) fn stdout_object(answer: &ChildAnswer<'_>) -> Option<Map<String, Value>> {
    match serde_json::from_str(answer.stdout.trim()) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// Takes a text with something in it out of an object.
pub(super) fn take_text(object: &mut Map<String, Value>, key: &str) -> Option<String> {
    let text = object.get(key)?.as_str()?.to_owned();
    object.shift_remove(key);
    (!text.trim().is_empty()).then_some(text)
}

/// Takes an object out of an object.
pub(super) fn take_object(
    object: &mut Map<String, Value>,
    key: &str,
) -> Option<Map<String, Value>> {
    let inner = object.get(key)?.as_object()?.clone();
    object.shift_remove(key);
    Some(inner)
}

/// What is left of a native answer, without nulls: nobody means anything by them.
pub(super) fn rest(object: Map<String, Value>) -> Map<String, Value> {
    object.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// The entry of a program that speaks on its standard streams, as most agents have it.
pub(super) fn stdio_entry(command: &str, args: &[String], env: &[(String, String)]) -> Value {
    json!({ "command": command, "args": args, "env": object(env) })
}
