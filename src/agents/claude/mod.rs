//! Claude Code.
//!
//! What is stated here was measured with version 2.1.332, or stands in Anthropic's hooks reference
//! (code.claude.com/docs/en/hooks) and MCP reference (code.claude.com/docs/en/mcp).

pub(super) mod checkup;
mod headless;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event, Input};

use super::codec::Codec;
use super::command::plain_command;
use super::envelope::{Envelope, Reply, blocked, decide, permission};
use super::identity::{EnvReference, Identity, UsersFolder};
use super::payload::{Fields, Payload};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, SettingsFile, Transport, typed_entry,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{
    Answer, Capability, ChildAnswer, Decoded, Delivery, Outcome, Support, WireError,
};
use crate::config::{Environment, HookScope};

/// Claude Code. Its tool names and fields are the canonical ones, but for a notebook's path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claude;

/// Its tools of files, from captured payloads and Anthropic's tools reference.
const TOOLS: &[Tool] = &[
    Tool::new("Read", &["Read"]),
    Tool::new("Write", &["Write"]),
    Tool::new("Edit", &["Edit"]),
    Tool::new("MultiEdit", &["MultiEdit"]),
    Tool::new("NotebookEdit", &["NotebookEdit"]).fields(&[("file_path", "notebook_path")]),
];

/// What comes instead of `PostToolUse` where a tool failed: a build, for one.
const FAILURE: &str = "PostToolUseFailure";

/// From captured payloads.
const FIELDS: Fields = Fields { prompt_id: &["prompt_id"], ..Fields::COMMON };

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    headless: Some(headless::HEADLESS),
    programs: &["claude"],
    home_folder: ".claude",
    skill_dirs: &[".claude/skills"],
    users_skills: &[UsersFolder::moved_by("CLAUDE_CONFIG_DIR", ".claude", "skills")],
    own_names: &[".claude", ".claude-plugin", ".mcp.json", "CLAUDE.md", "CLAUDE.local.md"],
    // One per cent of the model's context, which was about 8,000 characters for those who reported
    // it (github.com/anthropics/claude-code, issue 64606). Further descriptions are left out.
    description_budget: Some(8_000),
    longest_description: Some(1_536),
    verified_version: Some("2.1.332"),
    tells_skill_reads: true,
    skill_call: Some('/'),
    // The same command runs once an event.
    runs_both_scopes: false,
    failure_event: Some(FAILURE),
    fields: FIELDS,
    answer_keys: Identity::CLAUDES_ANSWER,
    env_reference: Some(EnvReference::WITH_DEFAULT),
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("claude", "Claude Code")
};

impl Codec for Claude {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        event.name()
    }

    fn registered_timeout(&self, event: Event) -> u64 {
        match event {
            // Claude's own limit for this event.
            Event::UserPromptSubmit => 30,
            _ => IDENTITY.hook_timeout,
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], env: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        let foreign = env.has("COPILOT_CLI") && is_copilots(&payload);
        if foreign && payload.text("hook_event_name").is_none() {
            // Copilot's own words, of which nothing is wanted.
            let input = Input::SessionStart(symposium_hook::SessionStartInput::default());
            return Ok(Decoded {
                input,
                tool_use_id: None,
                delivery: Delivery::Single,
                started: None,
                foreign,
                failed: false,
            });
        }
        let failed = event == Event::PostToolUse
            && payload.text("hook_event_name").is_some_and(|name| name == FAILURE);
        let name = if failed { FAILURE } else { self.event_name(event) };
        payload.expect_event("hook_event_name", &[name])?;
        if failed {
            let error = payload.text("error").unwrap_or_default().to_owned();
            payload.default_text("tool_response", &error);
        }
        let decoded =
            payload.decode(&FIELDS, |name, input| tools::canonical(TOOLS, name, input))?;
        Ok(Decoded { foreign, failed, ..decoded })
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::Stop, Capability::Context) => Support::LATER,
            (_, Capability::Context | Capability::Message) | (Event::PreToolUse, _) => Support::Yes,
            (Event::SessionStart, _) => Support::No,
            (_, Capability::Stop) | (Event::UserPromptSubmit | Event::Stop, Capability::Deny) => {
                Support::Yes
            }
            (Event::PostToolUse, Capability::Deny) => {
                Support::Instead("the reason beside the result")
            }
            (_, Capability::Ask | Capability::Allow | Capability::Rewrite) => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        // What was carried through may be wrong in a way that we can't know, and Claude would drop
        // the whole: a deny of what is still to come takes no such risk.
        let denied = outcome.decision == Some(Decision::Deny) && event != Event::PostToolUse;
        let mut envelope = if denied {
            Envelope::new(self.event_name(event))
        } else {
            Envelope::with_extra(self.event_name(event), &outcome.extra)
        };
        match (event, outcome.decision) {
            (Event::PreToolUse, _) => encode_tool_use(&mut envelope, outcome),
            (Event::UserPromptSubmit | Event::PostToolUse | Event::Stop, Some(Decision::Deny)) => {
                envelope.top("decision", "block");
                envelope.top("reason", outcome.reason());
            }
            _ => {}
        }
        if event != Event::SessionStart {
            envelope.stop(outcome);
        }
        envelope.user_message(outcome);
        if self.delivers_context(event) {
            envelope.context(outcome);
        }
        envelope.answer()
    }

    fn encode_failure(&self, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::new(FAILURE);
        envelope.user_message(outcome);
        envelope.context(outcome);
        envelope.answer()
    }

    fn encode_event(&self, decoded: &Decoded) -> Option<Vec<u8>> {
        let input = &decoded.input;
        let mut event = json!({
            "session_id": input.session_id(),
            "cwd": input.cwd(),
            "hook_event_name": self.event_name(input.event()),
        });
        match input {
            Input::PreToolUse(tool) => {
                event["tool_name"] = tool.tool_name.clone().into();
                event["tool_input"] = tool.tool_input.clone();
            }
            Input::PostToolUse(tool) => {
                event["tool_name"] = tool.tool_name.clone().into();
                event["tool_input"] = tool.tool_input.clone();
                event["tool_response"] = tool.tool_response.clone();
            }
            Input::UserPromptSubmit(prompt) => event["prompt"] = prompt.prompt.clone().into(),
            Input::SessionStart(_) => event["source"] = decoded.start().into(),
            Input::Stop(stop) => {
                event["stop_hook_active"] = stop.stop_hook_active.into();
                event["last_assistant_message"] = stop.last_assistant_message.clone().into();
            }
        }
        if let Some(id) = &decoded.tool_use_id {
            event["tool_use_id"] = id.clone().into();
        }
        serde_json::to_vec(&event).ok()
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        let Some(exit) = answer.exit else { return Outcome::default() };
        // JSON counts at any exit code.
        let mut outcome = match Reply::parse(answer.stdout) {
            Some(reply) => read_reply(event, reply.for_event(self.event_name(event))),
            None if exit == 0 => plain_text(event, answer.stdout),
            None => Outcome::default(),
        };
        if exit == 2 {
            blocked(&mut outcome, answer.stderr);
        }
        outcome
    }
}

impl Registration for Claude {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        // The project's file is read only from the folder that Claude is started in.
        let path = placement.path(
            placement.is_global(),
            || config_dir(placement).join("settings.json"),
            |root| root.join(".claude").join("settings.json"),
        );
        let group = |event| {
            let command = plain_command(self.name(), event, placement);
            let timeout = self.registered_timeout(event);
            json!({
                "matcher": "*",
                "hooks": [{ "type": "command", "command": command, "timeout": timeout }],
            })
        };
        HookPlace::shared(self, placement, path, JsonRules::STRICT, "hooks", group)
    }

    fn server(
        &self,
        name: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            return ServerPlace::unsupported(format!(
                "Claude Code takes only letters, digits, `-` and `_` in a server's name, \
                 not `{name}`"
            ));
        }
        let servers = "mcpServers".to_owned();
        let (path, table, note) = match (everywhere, placement.root, placement.scope) {
            (true, ..) => (live_file(placement), vec![servers], None),
            (false, None, _) => return ServerPlace::no_workspace(),
            (false, Some(root), HookScope::Global) => {
                let Some(key) = project_key(placement, root) else {
                    return ServerPlace::unsupported("the workspace's path is not Unicode");
                };
                (live_file(placement), vec!["projects".to_owned(), key, servers], None)
            }
            (false, Some(root), HookScope::Project) => {
                let note = "Claude Code asks each user before it starts servers of `.mcp.json`";
                (root.join(".mcp.json"), vec![servers], Some(note.to_owned()))
            }
        };
        ServerPlace::Entry {
            path,
            format: FileFormat::Json(JsonRules::STRICT),
            table,
            // As `claude mcp add` writes it; an address without a `type` is not connected.
            value: typed_entry(transport),
            users_keys: &["disabled", "enabled", "timeout", "alwaysLoad"],
            note,
            merged_with: None,
        }
    }

    /// Anthropic's settings reference: a user's own settings for one project.
    fn settings(&self, placement: &Placement<'_>) -> Vec<SettingsFile> {
        let local = placement.root.map(|root| root.join(".claude").join("settings.local.json"));
        let format = FileFormat::Json(JsonRules::STRICT);
        local.map(|path| SettingsFile { path, format, has_hooks: true }).into_iter().collect()
    }
}

/// `CLAUDE_CONFIG_DIR` replaces `~/.claude`.
fn config_dir(placement: &Placement<'_>) -> PathBuf {
    placement.agent_dir("CLAUDE_CONFIG_DIR", ".claude")
}

/// What Claude keeps for itself, servers and each project's approvals among it.
fn live_file(placement: &Placement<'_>) -> PathBuf {
    match placement.env.var("CLAUDE_CONFIG_DIR") {
        Some(_) => config_dir(placement).join(".claude.json"),
        None => placement.home.join(".claude.json"),
    }
}

/// The key of a project in `~/.claude.json`: the path, with `/` on Windows too, of the main checkout
/// also for linked ones, or of the bare repository; measured with 2.1.332. `root` is the project's
/// where there is no git.
fn project_key(placement: &Placement<'_>, root: &Path) -> Option<String> {
    let path = placement.main_checkout.unwrap_or(root).to_str()?;
    Some(if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() })
}

/// Copilot CLI runs a project's Claude hooks too, under Claude's event names. Its payloads have a
/// `timestamp` and no `transcript_path`, or a `stop_reason`; those of its own names have a
/// `sessionId`. A Claude that was started from a Copilot session inherits the variable, but sends
/// Claude's payloads.
fn is_copilots(payload: &Payload) -> bool {
    let no_claudes = payload.get("transcript_path").is_none() || payload.has(&["stop_reason"]);
    let pascal = payload.get("timestamp").is_some() && no_claudes;
    pascal || payload.get("sessionId").is_some()
}

fn encode_tool_use(envelope: &mut Envelope, outcome: &Outcome) {
    match outcome.decision {
        Some(Decision::Deny) => {
            envelope.inner("permissionDecision", "deny");
            envelope.inner("permissionDecisionReason", outcome.reason());
            // Nothing is run, so there is nothing to rewrite.
            return;
        }
        Some(Decision::Ask) => {
            envelope.inner("permissionDecision", "ask");
            envelope.inner("permissionDecisionReason", outcome.ask_reason());
        }
        Some(Decision::Allow) => {
            envelope.inner("permissionDecision", "allow");
            if let Some(reason) = outcome.given_reason() {
                envelope.inner("permissionDecisionReason", reason);
            }
        }
        None => {}
    }
    if let Some(input) = &outcome.updated_input {
        envelope.inner("updatedInput", input.clone());
    }
}

/// Plain text is context at the two events at which Claude takes it so.
fn plain_text(event: Event, stdout: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let text = stdout.trim();
    if matches!(event, Event::SessionStart | Event::UserPromptSubmit) && !text.is_empty() {
        outcome.context.push(text.to_owned());
    }
    outcome
}

fn read_reply(event: Event, mut reply: Reply) -> Outcome {
    let mut outcome = Outcome::default();
    reply.common(&mut outcome);
    let reason = reply.top_text("reason");
    match reply.top_text("decision").as_deref() {
        Some("block") => decide(&mut outcome, Some(Decision::Deny), reason),
        // The older spelling of "allow".
        Some("approve") if event == Event::PreToolUse => {
            decide(&mut outcome, Some(Decision::Allow), reason);
        }
        _ => {}
    }
    if event == Event::PreToolUse {
        let reason = reply.inner_text("permissionDecisionReason");
        let word = reply.inner_text("permissionDecision");
        decide(&mut outcome, permission(word.as_deref()), reason);
        outcome.updated_input = reply.inner_object("updatedInput");
        outcome.extra = carried(reply);
        // Ours has no word for "defer": it goes through as it is, unless another decides.
        if word.as_deref() == Some("defer") && outcome.decision.is_none() {
            let inner = outcome.extra.entry("hookSpecificOutput").or_insert_with(|| json!({}));
            inner["permissionDecision"] = "defer".into();
        }
    } else {
        outcome.extra = carried(reply);
    }
    outcome
}

/// What Claude may know and we do not. `async` would send all of our answer to the background; a
/// `suppressOutput` that is no boolean would spoil it.
fn carried(mut reply: Reply) -> Map<String, Value> {
    let suppress = reply.top("suppressOutput");
    reply.top("async");
    reply.top("asyncTimeout");
    let mut rest = reply.rest();
    if let Some(suppress @ Value::Bool(_)) = suppress {
        rest.insert("suppressOutput".to_owned(), suppress);
    }
    rest
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
