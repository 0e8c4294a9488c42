//! Kiro (`kiro-cli` and the IDE). It can't be run without an account: everything here was read, in
//! Kiro's documentation and in reports of others.
//!
//! Up to version 2 of the CLI, hooks belong to an agent definition, so ours bring an agent named
//! `symposium` along, and act only where the user chose it. From version 3 on, and in the IDE, a
//! file of hooks stands for itself. Answers are exit codes and plain text.

pub(super) mod checkup;

use std::path::PathBuf;

use semver::Version;
use serde_json::{Map, Value, json};
use symposium_hook::Event;

use super::codec::Codec;
use super::command::plain_command;
use super::headless::{Headless, plain, words};
use super::identity::{EnvReference, Identity, NewLayout, UsersFolder};
use super::payload::{Fields, Payload};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, Transport, stdio_entry, string_map,
    table_of_events,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::Environment;
use crate::fetch::http::is_loopback;

/// Kiro.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kiro;

/// The first version whose files of hooks stand for themselves.
static LATER: Version = Version::new(3, 0, 0);

/// Where Kiro looks for skills, in a custom agent's words.
const SKILLS: &str = "skill://.kiro/skills/**/SKILL.md";

/// Kiro's documentation (hooks, built-in tools), and the tools' published schemas; the names of
/// version 3 that differ (`execute_pwsh`, `read_file`) from the crate agnix-core, whose authors read
/// its engine. `command` and
/// `content` have their canonical names.
const TOOLS: &[Tool] = &[
    // The first was seen in a payload of the IDE; then the same on Windows, and its alias.
    Tool::new("Bash", &["execute_bash", "execute_cmd", "execute_pwsh", "shell"]),
    Tool::new("Read", &["fs_read", "read_file", "read"])
        .fields(&[("file_path", "path")])
        .files(read_files),
    // It edits, too.
    Tool::new("Write", &["fs_write", "write"]).fields(&[
        ("file_path", "path"),
        ("content", "file_text"),
        ("old_string", "old_str"),
        ("new_string", "new_str"),
    ]),
    Tool::new("Glob", &["glob"]),
    Tool::new("Grep", &["grep"]),
    Tool::new("WebFetch", &["web_fetch"]),
    Tool::new("WebSearch", &["web_search"]),
];

/// The paths in a reader's list of operations, each of one file or of several images
/// (aws/amazon-q-developer-cli, which became Kiro's CLI,
/// `crates/chat-cli/src/cli/chat/tools/fs_read.rs`).
fn read_files(input: &Map<String, Value>) -> Vec<String> {
    let operations = input.get("operations").and_then(Value::as_array).into_iter().flatten();
    let paths = |operation: &Map<String, Value>| {
        let path = operation.get("path").and_then(Value::as_str).map(str::to_owned);
        path.into_iter().chain(tools::texts(operation, "image_paths")).collect::<Vec<_>>()
    };
    operations.filter_map(Value::as_object).flat_map(paths).collect()
}

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    // It prints its answer, and does not tell what that took. Not shown with the program itself.
    headless: Some(Headless {
        args: |prompt| words(&["chat", "--no-interactive", &prompt]),
        read: plain,
    }),
    programs: &["kiro-cli", "kiro"],
    // The IDE's `kiro` has version numbers of its own.
    new_layout: Some(NewLayout { program: "kiro-cli", since: &LATER }),
    home_folder: ".kiro",
    skill_dirs: &[".kiro/skills"],
    users_skills: &[UsersFolder::in_home(".kiro/skills")],
    own_names: &[".kiro"],
    // Its default, written out.
    hook_timeout: 30,
    // Its documentation (kiro.dev/docs/cli/mcp/configuration).
    env_reference: Some(EnvReference::BRACES),
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("kiro", "Kiro")
};

/// Whether a file of hooks stands for itself.
fn is_standalone(placement: &Placement<'_>) -> bool {
    placement.version.is_some_and(|version| version.major >= LATER.major)
}

impl Codec for Kiro {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse => "preToolUse",
            Event::PostToolUse => "postToolUse",
            Event::UserPromptSubmit => "userPromptSubmit",
            Event::SessionStart => "agentSpawn",
            Event::Stop => "stop",
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], env: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        // Agent files name events in camel case, hook files as the canonical names are.
        payload.expect_event("hook_event_name", &[self.event_name(event), event.name()])?;
        // The IDE's hooks have the prompt in a variable (Kiro's documentation, IDE hooks).
        if let Some(prompt) = env.text("USER_PROMPT") {
            payload.default_text("prompt", prompt);
        }
        payload.decode(&Fields::COMMON, canonical)
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            // It tells of a turn's end, and asks nobody.
            (Event::Stop, Capability::Context) => Support::LATER,
            (Event::Stop, _) => Support::No,
            (_, Capability::Context) | (Event::PreToolUse, Capability::Deny) => Support::Yes,
            (Event::SessionStart, _) => Support::No,
            (Event::PreToolUse, Capability::Ask) => Support::DENIED,
            (Event::PreToolUse, Capability::Stop) => Support::REFUSED,
            (Event::UserPromptSubmit, Capability::Deny | Capability::Stop) => {
                Support::Instead("a denial from version 3 on, a warning before")
            }
            (Event::PostToolUse, Capability::Deny | Capability::Stop) => {
                Support::Instead("the reason beside the result")
            }
            (
                _,
                Capability::Ask | Capability::Allow | Capability::Rewrite | Capability::Message,
            ) => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut text = outcome.context_text();
        match event {
            Event::PreToolUse => {
                if let Some(reason) = outcome.refusal_or_ask() {
                    // Beside exit code 2 only standard error reaches the model.
                    return Answer::block(joined(Some(reason), text));
                }
            }
            Event::UserPromptSubmit => {
                // Blocks where hooks stand for themselves; a warning for the user elsewhere.
                if let Some(reason) = outcome.refusal() {
                    return Answer::block(reason);
                }
            }
            Event::PostToolUse => {
                // A result can't be hidden. What is wrong with it can be said.
                text = Some(joined(outcome.refusal(), text));
            }
            Event::SessionStart => {}
            Event::Stop => text = None,
        }
        Answer { stdout: text.unwrap_or_default(), ..Answer::default() }
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        match answer.exit {
            Some(0) => {
                let text = answer.stdout.trim();
                let context = if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
                Outcome { context, ..Outcome::default() }
            }
            Some(2) if event != Event::SessionStart => Outcome::denied(answer.stderr),
            Some(_) | None => Outcome::default(),
        }
    }
}

impl Registration for Kiro {
    fn reference_note(&self) -> Option<&'static str> {
        Some("Kiro puts in only variables that you approved (`kiroAgent.mcpApprovedEnvVars`)")
    }

    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let (kind, file) = if is_standalone(placement) {
            ("hooks", hooks_file(placement))
        } else {
            ("agents", agent_file(placement))
        };
        let place =
            |folder: PathBuf| HookPlace::own_json(folder.join(kind).join("symposium.json"), &file);
        scope_folder(placement, placement.is_global()).map(place).into_iter().collect()
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
            // One shape for all remote servers: Kiro finds out how they speak.
            Transport::Http { url, headers } | Transport::Sse { url, headers } => {
                json!({ "url": url, "headers": string_map(headers) })
            }
        };
        let path = scope_folder(placement, everywhere)
            .map(|folder| folder.join("settings").join("mcp.json"));
        let users_keys = &["disabled", "autoApprove", "disabledTools"];
        ServerPlace::entry(
            path,
            FileFormat::Json(JsonRules::STRICT),
            "mcpServers",
            value,
            users_keys,
        )
        .noted(plain_http(transport).then_some(PLAIN_HTTP))
    }
}

/// What is said of a server that version 3 would not connect to (Kiro's documentation, MCP
/// configuration; the crate agnix-core, KR-MCP-008).
const PLAIN_HTTP: &str = "from version 3 on Kiro refuses http:// but for this machine";

fn plain_http(transport: &Transport) -> bool {
    let (Transport::Http { url, .. } | Transport::Sse { url, .. }) = transport else {
        return false;
    };
    let url = url.expose();
    let is_plain = url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    // An address that can't be taken apart, as one with letters beyond ASCII, is no loopback.
    is_plain && !url::Url::parse(url).is_ok_and(|url| is_loopback(&url))
}

/// One text for the model: why something is refused, then the context.
fn joined(reason: Option<String>, context: Option<String>) -> String {
    let parts = reason.into_iter().chain(context).collect();
    Outcome { context: parts, ..Outcome::default() }.context_text().unwrap_or_default()
}

/// `.kiro` at home or in the workspace.
fn scope_folder(placement: &Placement<'_>, is_users: bool) -> Option<PathBuf> {
    placement.path(is_users, || placement.home.join(".kiro"), |root| root.join(".kiro"))
}

fn command(placement: &Placement<'_>, event: Event) -> String {
    plain_command(Kiro.name(), event, placement)
}

/// The agent that carries our hooks up to version 2. Entries are flat: Kiro rejects the whole file
/// for a nested one. Without `tools` the agent would have none, without `resources` no skills,
/// without `includeMcpJson` none of the servers in `settings/mcp.json`.
fn agent_file(placement: &Placement<'_>) -> Value {
    let entry = |event: Event| {
        let mut entry = Map::new();
        if event.is_tool_event() {
            entry.insert("matcher".to_owned(), "*".into());
        }
        let command = command(placement, event);
        entry.insert("command".to_owned(), command.into());
        entry.insert("timeout_ms".to_owned(), (IDENTITY.hook_timeout * 1000).into());
        json!([entry])
    };
    json!({
        "name": "symposium",
        "description": "All of Kiro's tools, with Symposium's hooks for your dependencies",
        "tools": ["*"],
        "resources": [SKILLS],
        "includeMcpJson": true,
        "hooks": table_of_events(&Kiro, placement, entry),
    })
}

/// The file of hooks from version 3 on, which every agent runs. No matcher means every tool.
fn hooks_file(placement: &Placement<'_>) -> Value {
    let entry = |event: Event| {
        json!({
            "name": format!("symposium-{}", event.cli_name()),
            "trigger": event.name(),
            "action": {
                "type": "command",
                "command": command(placement, event),
            },
            "timeout": IDENTITY.hook_timeout,
        })
    };
    let hooks: Vec<Value> = placement.events(&Kiro).into_iter().map(entry).collect();
    json!({ "version": "v1", "hooks": hooks })
}

/// A server's tool is `@server/tool` (Kiro's documentation, hooks).
fn canonical(name: &str, input: &Value) -> (String, Value) {
    match name.strip_prefix('@').and_then(|name| tools::split_first(name, "/")) {
        Some((server, tool)) => (tools::mcp_name(server, tool), input.clone()),
        None => tools::canonical(TOOLS, name, input),
    }
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
