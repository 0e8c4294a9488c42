//! Codex CLI.
//!
//! What is stated here was measured with version 0.171.0, or stands in OpenAI's hooks reference
//! (developers.openai.com/codex/hooks) and configuration reference
//! (developers.openai.com/codex/config-reference).

pub(super) mod checkup;
mod headless;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use symposium_hook::{Decision, Event};

use super::codec::Codec;
use super::command::plain_command;
use super::envelope::{Envelope, Reply, blocked, decide, permission};
use super::identity::{Identity, UsersFolder};
use super::payload::{Fields, Payload};
pub(crate) use super::places::TrustedHook;
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, Transport, Trust, string_map,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::{Environment, HookScope};

/// Codex CLI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Codex;

/// From captured payloads.
const FIELDS: Fields = Fields { prompt_id: &["turn_id"], ..Fields::COMMON };

/// Its tools, from captured payloads. `Bash` and `mcp__server__tool` are its own names too.
const TOOLS: &[Tool] = &[
    Tool::new("Bash", &["Bash"]).files(patched_files),
    Tool::new("Edit", &[PATCH]).files(patched_files),
];

/// The files of the patch in `command`. Codex takes white space around a patch's markers, and runs a
/// patch that a shell would hand to `apply_patch` (`apply_patch <<'EOF'`) by itself (openai/codex,
/// `codex-rs/apply-patch/src/parser.rs`, `streaming_parser.rs`, `invocation.rs`).
fn patched_files(input: &Map<String, Value>) -> Vec<String> {
    tools::patched_files(input, "command")
}

/// The tool that edits files.
const PATCH: &str = "apply_patch";

/// Any comment, trailing comma or byte order mark makes Codex ignore the whole file.
const RULES: JsonRules = JsonRules { comments: false, trailing_commas: false, bom: false };

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    headless: Some(headless::HEADLESS),
    programs: &["codex"],
    home_folder: ".codex",
    skill_dirs: &[".agents/skills"],
    users_skills: &[
        UsersFolder::moved_by("CODEX_HOME", ".codex", "skills"),
        UsersFolder::in_home(".agents/skills"),
    ],
    own_names: &[".agents", ".codex", "AGENTS.md", "AGENTS.override.md"],
    // Measured: of 120 skills with descriptions of 660 characters each it lists lines of about 160,
    // 19,000 characters in all.
    description_budget: Some(19_000),
    longest_description: Some(1_024),
    verified_version: Some("0.171.0"),
    tells_skill_reads: true,
    fields: FIELDS,
    answer_keys: Identity::CLAUDES_ANSWER,
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("codex", "Codex CLI")
};

/// Keys of a server's entry that are the user's to set.
const USERS_KEYS: &[&str] = &[
    "enabled",
    "required",
    "cwd",
    "env_vars",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "enabled_tools",
    "disabled_tools",
    "bearer_token_env_var",
    "env_http_headers",
];

impl Codec for Codex {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        event.name()
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        payload.expect_event("hook_event_name", &[self.event_name(event)])?;
        payload.decode(&FIELDS, |name, input| tools::canonical(TOOLS, name, input))
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::Stop, Capability::Context) => Support::LATER,
            (_, Capability::Context | Capability::Message) => Support::Yes,
            (Event::PreToolUse, Capability::Ask) => Support::DENIED,
            (Event::PreToolUse, Capability::Rewrite) => Support::Yes,
            (Event::PreToolUse, Capability::Stop) | (Event::SessionStart, Capability::Deny) => {
                Support::No
            }
            (Event::PostToolUse, Capability::Stop) => Support::Instead("the reason for the result"),
            (_, Capability::Stop | Capability::Deny) => Support::Yes,
            (_, Capability::Ask | Capability::Allow | Capability::Rewrite) => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        // One key that it does not know, and Codex drops the answer: nothing is carried through.
        let mut envelope = Envelope::new(self.event_name(event));
        match (event, outcome.decision) {
            (Event::PreToolUse, _) => encode_tool_use(&mut envelope, outcome),
            (Event::UserPromptSubmit | Event::PostToolUse | Event::Stop, Some(Decision::Deny)) => {
                envelope.top("decision", "block");
                envelope.top("reason", outcome.reason());
            }
            _ => {}
        }
        // On PreToolUse, `continue: false` makes Codex drop the answer and run the tool.
        if event != Event::PreToolUse {
            envelope.stop(outcome);
        }
        envelope.user_message(outcome);
        if let Some(context) = outcome.context_in_bytes().filter(|_| self.delivers_context(event)) {
            envelope.inner("additionalContext", context);
        }
        envelope.answer()
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        match answer.exit {
            Some(0) => match Reply::parse(answer.stdout) {
                Some(reply) => read_reply(event, reply.for_event(self.event_name(event))),
                None => plain_text(event, answer.stdout),
            },
            Some(2) => {
                let mut outcome = Outcome::default();
                blocked(&mut outcome, answer.stderr);
                outcome
            }
            _ => Outcome::default(),
        }
    }

    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        let (name, before) = tools::native_of(decoded);
        let mut native = tools::native(TOOLS, decoded, updated);
        // Codex rejects an input of these tools that has no text in `command`.
        if matches!(name, "Bash" | PATCH)
            && !native.get("command").is_some_and(Value::is_string)
            && let Some(command) = before.get("command")
        {
            native.insert("command".to_owned(), command.clone());
        }
        native
    }
}

impl Registration for Codex {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let group = |event| {
            let command = plain_command(self.name(), event, placement);
            let timeout = self.registered_timeout(event);
            json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
        };
        let path = file(placement, placement.is_global(), "hooks.json");
        HookPlace::shared(self, placement, path, RULES, "hooks", group)
    }

    fn trust(
        &self,
        placement: &Placement<'_>,
        file: &Path,
        hooks: &[TrustedHook<'_>],
    ) -> Option<Trust> {
        // Codex resolves the links of a folder that the variable names, and of no other.
        let file = match (placement.scope, placement.env.var("CODEX_HOME"), file.parent()) {
            (HookScope::Global, Some(_), Some(folder)) => crate::files::canonicalize(folder)
                .map_or_else(|_| file.to_path_buf(), |folder| folder.join("hooks.json")),
            _ => file.to_path_buf(),
        };
        let entries = trust_entries(&file, hooks)
            .into_iter()
            .map(|(key, hash)| (key, json!({ "trusted_hash": hash })))
            .collect();
        Some(Trust {
            path: user_folder(placement).join("config.toml"),
            format: FileFormat::Toml,
            table: vec!["hooks".to_owned(), "state".to_owned()],
            entries,
            users_keys: &["enabled"],
            why: "Codex runs a hook only after you trust it.",
            by_hand: "open Codex and trust Symposium's hooks in /hooks",
        })
    }

    fn server(
        &self,
        _: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        let Some(value) = server_entry(transport) else {
            return ServerPlace::unsupported(
                "Codex has no server-sent events; it takes programs and streamable HTTP",
            );
        };
        let path = file(placement, everywhere, "config.toml");
        ServerPlace::entry(path, FileFormat::Toml, "mcp_servers", value, USERS_KEYS).noted(
            (!everywhere)
                .then_some("Codex reads `.codex/config.toml` only in a project that it trusts"),
        )
    }
}

/// The user's own folder. Codex resolves its links only where the variable names it.
fn user_folder(placement: &Placement<'_>) -> PathBuf {
    placement.agent_dir("CODEX_HOME", ".codex")
}

fn file(placement: &Placement<'_>, is_users: bool, name: &str) -> Option<PathBuf> {
    let users = || user_folder(placement).join(name);
    placement.path(is_users, users, |root| root.join(".codex").join(name))
}

/// `None` for what Codex can't do. An empty table is left out, as `codex mcp add` does.
fn server_entry(transport: &Transport) -> Option<Value> {
    let (mut entry, key, pairs) = match transport {
        Transport::Stdio { command, args, env } => {
            (json!({ "command": command, "args": args }), "env", env)
        }
        Transport::Http { url, headers } => (json!({ "url": url }), "http_headers", headers),
        Transport::Sse { .. } => return None,
    };
    if !pairs.is_empty() {
        entry[key] = string_map(pairs);
    }
    Some(entry)
}

fn encode_tool_use(envelope: &mut Envelope, outcome: &Outcome) {
    let deny = |envelope: &mut Envelope, reason: String| {
        envelope.inner("permissionDecision", "deny");
        envelope.inner("permissionDecisionReason", reason);
    };
    match (outcome.decision, &outcome.updated_input) {
        (Some(Decision::Deny), _) => deny(envelope, outcome.reason()),
        // Codex can't ask: it drops the answer and runs the tool.
        (Some(Decision::Ask), _) => deny(envelope, outcome.cannot_ask_reason()),
        // It takes a new input only beside `allow`, and `allow` only beside a new input.
        (Some(Decision::Allow) | None, Some(input)) => {
            envelope.inner("permissionDecision", "allow");
            envelope.inner("updatedInput", input.clone());
        }
        (Some(Decision::Allow) | None, None) => {}
    }
}

/// Plain text is context at the two events at which Codex takes it so; broken JSON is nothing.
fn plain_text(event: Event, stdout: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let text = stdout.trim();
    let takes = matches!(event, Event::SessionStart | Event::UserPromptSubmit);
    if takes && !text.is_empty() && !text.starts_with(['{', '[']) {
        outcome.context.push(text.to_owned());
    }
    outcome
}

fn read_reply(event: Event, mut reply: Reply) -> Outcome {
    let mut outcome = Outcome::default();
    reply.common(&mut outcome);
    let reason = reply.top_text("reason");
    if reply.top_text("decision").as_deref() == Some("block") {
        decide(&mut outcome, Some(Decision::Deny), reason);
    }
    if event == Event::PreToolUse {
        outcome.stop = None;
        let reason = reply.inner_text("permissionDecisionReason");
        let word = reply.inner_text("permissionDecision");
        decide(&mut outcome, permission(word.as_deref()), reason);
        outcome.updated_input = reply.inner_object("updatedInput");
    }
    outcome
}

/// What `[hooks.state."<key>"] trusted_hash` must say for Codex to run these hooks: key and hash.
/// A hook that Codex would reject is left out.
pub(crate) fn trust_entries(hooks_json: &Path, hooks: &[TrustedHook<'_>]) -> Vec<(String, String)> {
    hooks
        .iter()
        .filter_map(|hook| {
            let key = format!(
                "{}:{}:{}:{}",
                hooks_json.display(),
                trust_name(hook.event),
                hook.group_index,
                hook.handler_index
            );
            Some((key, trust_hash(hook)?))
        })
        .collect()
}

fn trust_name(event: Event) -> &'static str {
    match event {
        Event::PreToolUse => "pre_tool_use",
        Event::PostToolUse => "post_tool_use",
        Event::UserPromptSubmit => "user_prompt_submit",
        Event::SessionStart => "session_start",
        Event::Stop => "stop",
    }
}

/// SHA-256 of compact JSON with sorted keys: the event, the one handler with its defaults filled
/// in, and the matcher, which does not count on UserPromptSubmit and Stop.
fn trust_hash(hook: &TrustedHook<'_>) -> Option<String> {
    let handler = hook.group.get("hooks")?.get(hook.handler_index)?;
    let mut hashed = Map::new();
    let defaults =
        [("async", json!(false)), ("command", Value::Null), ("statusMessage", Value::Null)];
    for (key, default) in defaults {
        let value = handler.get(key).cloned().unwrap_or(default);
        if !value.is_null() && value != "" {
            hashed.insert(key.to_owned(), value);
        }
    }
    hashed.get("command")?.as_str()?;
    hashed.insert("timeout".to_owned(), handler.get("timeout").cloned().unwrap_or(json!(600)));
    hashed.insert("type".to_owned(), json!("command"));
    let mut identity = Map::new();
    identity.insert("event_name".to_owned(), trust_name(hook.event).into());
    identity.insert("hooks".to_owned(), json!([hashed]));
    if !matches!(hook.event, Event::UserPromptSubmit | Event::Stop)
        && let Some(matcher) = hook.group.get("matcher").filter(|matcher| !matcher.is_null())
    {
        identity.insert("matcher".to_owned(), matcher.clone());
    }
    let digest = Sha256::digest(Value::Object(identity).to_string());
    Some(format!("sha256:{}", crate::text::hex(&digest)))
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
