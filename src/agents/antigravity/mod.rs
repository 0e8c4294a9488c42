//! Antigravity CLI (`agy`), Gemini CLI's successor for consumers. It can't be run without an account:
//! everything here is from its documentation (antigravity.google/docs/hooks) and from reports of
//! people who measured versions 1.0.8 to 1.2.3. Where those disagree the newer is followed.
//!
//! Before a tool, an empty object, a failure and perhaps any answer without a decision counts as a
//! denial, so our command is guarded and says nothing where there is nothing to say.

pub(super) mod checkup;

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};

use super::codec::Codec;
use super::command::hook_command;
use super::envelope::{Envelope, Reply, decide};
use super::identity::{Identity, UsersFolder};
use super::json::parse_json;
use super::payload::{self, Fields, Payload};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, Transport, stdio_entry, string_map,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::Environment;

/// Antigravity CLI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Antigravity;

/// The named object that our table of events stands in; a bare table is not read.
const NAME: &str = "symposium";

/// Once the fields of `toolCall` are lifted. Nothing names an event but its step.
const FIELDS: Fields = Fields {
    session_id: &["conversationId"],
    cwd: &["cwd"],
    prompt: &[],
    prompt_id: &[],
    moment: &["stepIdx"],
    tool_name: &["name"],
    tool_input: &["args"],
    tool_response: &[],
    tool_use_id: &[],
    last_message: &[],
};

/// Names and `CommandLine` were seen in payloads; the other fields are those of `agy`'s transcripts.
const TOOLS: &[Tool] = &[
    Tool::new("Bash", &["run_command"]).fields(&[("command", "CommandLine")]),
    Tool::new("Read", &["view_file"]).fields(&[("file_path", "AbsolutePath")]),
    Tool::new("Write", &["write_to_file"])
        .fields(&[("file_path", "TargetFile"), ("content", "CodeContent")]),
    Tool::new("Edit", &["replace_file_content", "multi_replace_file_content"])
        .fields(&[("file_path", "TargetFile")]),
    Tool::new("Grep", &["grep_search"]).fields(&[("path", "SearchPath"), ("pattern", "Query")]),
];

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    programs: &["agy"],
    home_folder: ".gemini/antigravity-cli",
    skill_dirs: &[".agents/skills"],
    users_skills: &[
        UsersFolder::in_home(".gemini/skills"),
        UsersFolder::in_home(".gemini/antigravity-cli/skills"),
        UsersFolder::in_home(".agents/skills"),
    ],
    own_names: &[".agents", "AGENTS.md", "GEMINI.md"],
    wants_path: true,
    // None tells of a prompt.
    events: &[Event::SessionStart, Event::PreToolUse, Event::PostToolUse],
    hook_timeout: 30,
    fields: FIELDS,
    answer_keys: &["decision", "reason", "allow_tool", "deny_reason", "injectSteps"],
    tools: TOOLS,
    ..Identity::new("antigravity", "Antigravity CLI")
};

impl Codec for Antigravity {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse | Event::PostToolUse => event.name(),
            Event::SessionStart => "PreInvocation",
            // There is none for a prompt; what it takes for an answer at a turn's end is not known.
            Event::UserPromptSubmit | Event::Stop => event.name(),
        }
    }

    /// It comes before each call of the model.
    fn repeats_start(&self) -> bool {
        true
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        let has_call = payload.get("toolCall").is_some();
        match event {
            Event::UserPromptSubmit => return Err(payload.error("it has no event for a prompt")),
            Event::Stop => return Err(payload.error("nothing is registered for a turn's end")),
            Event::SessionStart if has_call => return Err(payload.error("a tool is used in it")),
            // Which invocation is the first can't be told without.
            Event::SessionStart if payload.text("conversationId").is_none() => {
                return Err(payload.error("no text in `conversationId`"));
            }
            _ => payload.lift("toolCall"),
        }
        let folder = payload.get("workspacePaths").and_then(|paths| paths.get(0)?.as_str());
        if let Some(folder) = folder.map(str::to_owned) {
            payload.default_text("cwd", &folder);
        }
        payload.decode(&FIELDS, |name, input| tools::canonical(TOOLS, name, input))
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::PreToolUse, Capability::Deny) | (Event::SessionStart, Capability::Context) => {
                Support::Yes
            }
            (Event::PreToolUse, Capability::Ask) => Support::DENIED,
            (Event::PreToolUse, Capability::Stop) => Support::REFUSED,
            _ => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::new(self.event_name(event));
        match event {
            Event::PreToolUse => {
                if let Some(reason) = outcome.refusal_or_ask() {
                    // As 1.1.21 reads it, and as 1.1.7 does.
                    envelope.top("decision", "deny");
                    envelope.top("reason", reason.clone());
                    envelope.top("allow_tool", false);
                    envelope.top("deny_reason", reason);
                }
            }
            Event::SessionStart => {
                if let Some(text) = outcome.context_text() {
                    envelope.top("injectSteps", json!([{ "ephemeralMessage": text }]));
                }
            }
            Event::PostToolUse | Event::UserPromptSubmit | Event::Stop => {}
        }
        envelope.answer()
    }

    fn delivers_context(&self, event: Event) -> bool {
        event == Event::SessionStart
    }

    fn example(&self, _: Event, mut fields: Map<String, Value>) -> Map<String, Value> {
        if let Some(folder) = fields.shift_remove("cwd") {
            fields.insert("workspacePaths".to_owned(), json!([folder]));
        }
        let parts = [fields.shift_remove("name"), fields.shift_remove("args")];
        if let [Some(name), Some(arguments)] = parts {
            fields.insert("toolCall".to_owned(), json!({ "name": name, "args": arguments }));
        }
        fields
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        match answer.exit {
            Some(0) => {}
            Some(2) if event == Event::PreToolUse => return Outcome::denied(answer.stderr),
            Some(_) | None => return Outcome::default(),
        }
        let mut reply = Reply::parse(answer.stdout).unwrap_or_default();
        let mut outcome = Outcome::default();
        match event {
            Event::PreToolUse => read_decision(&mut reply, &mut outcome),
            Event::SessionStart => outcome.context = injected(&mut reply),
            Event::PostToolUse | Event::UserPromptSubmit | Event::Stop => {}
        }
        outcome
    }

    fn replace_input(&self, stdin: &[u8], input: &Map<String, Value>) -> Option<Vec<u8>> {
        let whole = parse_json(&String::from_utf8_lossy(stdin)).ok()?;
        let Value::Object(mut whole) = whole else { return None };
        let call = serde_json::to_vec(whole.get("toolCall")?).ok()?;
        let call = payload::replace_input(&call, FIELDS.tool_input, input)?;
        whole.insert("toolCall".to_owned(), serde_json::from_slice(&call).ok()?);
        serde_json::to_vec(&whole).ok()
    }
}

impl Registration for Antigravity {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let path = file(placement, placement.is_global(), "hooks.json");
        let group = |event| group(event, placement.program);
        HookPlace::shared(self, placement, path, JsonRules::STRICT, NAME, group)
    }

    fn server(
        &self,
        _: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        let value = match transport {
            Transport::Stdio { command, args, env } => stdio_entry(command, args, env),
            Transport::Http { url, headers } | Transport::Sse { url, headers } => {
                json!({ "serverUrl": url, "headers": string_map(headers) })
            }
        };
        let path = file(placement, everywhere, "mcp_config.json");
        let format = FileFormat::Json(JsonRules::STRICT);
        ServerPlace::entry(path, format, "mcpServers", value, &["disabled"])
    }
}

/// A file of the user's own, shared with the desktop program, or of the workspace.
fn file(placement: &Placement<'_>, is_users: bool, name: &str) -> Option<PathBuf> {
    let users = || placement.home.join(".gemini").join("config").join(name);
    placement.path(is_users, users, |root| root.join(".agents").join(name))
}

/// Events of tools have groups with a matcher, the others a flat list.
fn group(event: Event, program: &str) -> Value {
    let handler = json!({
        "type": "command",
        "command": hook_command(IDENTITY.name, event, program, true),
        "timeout": IDENTITY.hook_timeout,
    });
    if event.is_tool_event() { json!({ "matcher": "*", "hooks": [handler] }) } else { handler }
}

/// The decision of a program in either spelling.
fn read_decision(reply: &mut Reply, outcome: &mut Outcome) {
    let decision = match reply.top_text("decision").as_deref() {
        Some("deny") => Some(Decision::Deny),
        Some("ask" | "force_ask") => Some(Decision::Ask),
        Some("allow" | "auto_approve") => Some(Decision::Allow),
        _ => None,
    };
    decide(outcome, decision, reply.top_text("reason"));
    let older = match reply.top("allow_tool").and_then(|allow| allow.as_bool()) {
        Some(true) => Some(Decision::Allow),
        Some(false) => Some(Decision::Deny),
        None => None,
    };
    let reason = reply.top_text("deny_reason").filter(|reason| !outcome.reasons.contains(reason));
    decide(outcome, older, reason);
}

/// What a program tells the model.
fn injected(reply: &mut Reply) -> Vec<String> {
    let steps = reply.top("injectSteps");
    let steps = steps.as_ref().and_then(Value::as_array).into_iter().flatten();
    steps.filter_map(|step| step.get("ephemeralMessage")?.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
