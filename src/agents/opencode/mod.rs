//! OpenCode, as of 1.18.33: what it does was measured by running it.
//!
//! It runs no commands at its events, only plugins in JavaScript. Ours (`opencode/plugin.js`) hands
//! each event to `cargo-agents hook opencode <event>`. What the two say to each other is ours to
//! define, and defined in the plugin's head: the payload's fields are named as most agents name
//! them, the answer is an object of `deny`, `args`, `replace` and `context`.

pub(super) mod checkup;
mod headless;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use symposium_hook::Event;

use super::codec::Codec;
use super::command::program_path;
use super::envelope::{Envelope, Reply};
use super::identity::{EnvReference, Identity, UsersFolder};
use super::payload::{Fields, Payload};
use super::places::{
    FileFormat, HookPlace, HookShape, JsonRules, Placement, ServerPlace, Transport, string_map,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{
    Answer, Capability, ChildAnswer, Decoded, Delivery, Outcome, Support, WireError,
};
use crate::config::Environment;

/// OpenCode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenCode;

/// The plugin, with a placeholder for the program.
const PLUGIN: &str = include_str!("plugin.js");

/// The placeholder, quotes and all.
const PROGRAM_MARK: &str = "\"__PROGRAM__\"";

/// `opencode.json` and `opencode.jsonc` alike take all of these (run).
const CONFIG_RULES: JsonRules = JsonRules { comments: true, trailing_commas: true, bom: true };

/// As offered to the model in a run; `patch` is in OpenCode's documentation (tools). `command`,
/// `content`, `pattern`, `path` and `url` have their canonical names.
const TOOLS: &[Tool] = &[
    Tool::new("Bash", &["bash"]),
    Tool::new("Read", &["read"]).fields(&[("file_path", "filePath")]),
    Tool::new("Write", &["write"]).fields(&[("file_path", "filePath")]),
    Tool::new("Edit", &["edit"]).fields(&[
        ("file_path", "filePath"),
        ("old_string", "oldString"),
        ("new_string", "newString"),
    ]),
    // The second is what some of OpenAI's models are offered instead (run). Its parser takes a marker
    // without a blank behind it (anomalyco/opencode, `packages/opencode/src/patch/index.ts`).
    Tool::new("Edit", &["patch", "apply_patch"])
        .files(|input| tools::patched_files(input, "patchText")),
    Tool::new("Glob", &["glob"]),
    Tool::new("Grep", &["grep"]).fields(&[("glob", "include")]),
    Tool::new("WebFetch", &["webfetch"]),
    Tool::new("Skill", &["skill"]).fields(&[("skill", "name")]),
];

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    headless: Some(headless::HEADLESS),
    programs: &["opencode"],
    home_folder: ".config/opencode",
    skill_dirs: &[".agents/skills", ".claude/skills", ".opencode/skills"],
    users_skills: &[
        UsersFolder::moved_by("XDG_CONFIG_HOME", ".config", "opencode/skills"),
        UsersFolder::moved_by("XDG_CONFIG_HOME", ".config", "opencode/skill"),
        UsersFolder::in_home(".agents/skills"),
        UsersFolder::in_home(".claude/skills"),
    ],
    own_names: &[".opencode", "opencode.json", "opencode.jsonc"],
    tells_skill_reads: true,
    verified_version: Some("1.18.33"),
    // Then the plugin gives up on us; OpenCode itself would wait for ever.
    hook_timeout: 30,
    answer_keys: &["deny", "args", "replace", "context"],
    // The only form that it knows (run).
    env_reference: Some(EnvReference { before: "{env:", after: "}", has_default: false }),
    tools: TOOLS,
    ..Identity::new("opencode", "OpenCode")
};

impl Codec for OpenCode {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse => "tool.execute.before",
            Event::PostToolUse => "tool.execute.after",
            Event::UserPromptSubmit => "chat.message",
            // What our plugin takes for it is the first `chat.message`.
            Event::SessionStart => "session.created",
            // Our plugin does not ask then: a session that is idle can't be kept going.
            Event::Stop => "session.idle",
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        payload.require_event("hook_event_name", &[event.cli_name()])?;
        // OpenCode joins the names of a server and its tool; the plugin knows the servers.
        let part = |key: &str| payload.get("mcp")?.get(key)?.as_str();
        let canonical = |name: &str, input: &Value| {
            if let Some((server, tool)) = part("server").zip(part("tool")) {
                return (tools::mcp_name(server, tool), input.clone());
            }
            tools::canonical(TOOLS, name, input)
        };
        let mut decoded = payload.decode(&Fields::COMMON, canonical)?;
        if event == Event::UserPromptSubmit {
            // Loaded twice, the plugin acts once.
            decoded.delivery = Delivery::Single;
        }
        Ok(decoded)
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::PreToolUse, Capability::Context) => Support::Instead("words beside the result"),
            (Event::SessionStart, Capability::Context) => {
                Support::Instead("words with the first prompt")
            }
            (Event::Stop, Capability::Context) => Support::No,
            (_, Capability::Context) => Support::Yes,
            (Event::SessionStart | Event::Stop, _) => Support::No,
            (Event::PreToolUse, Capability::Ask) => Support::DENIED,
            (Event::UserPromptSubmit, Capability::Deny | Capability::Stop) => {
                Support::Instead("the reason for the prompt")
            }
            (_, Capability::Stop) => Support::REFUSED,
            (Event::PreToolUse, Capability::Rewrite) | (_, Capability::Deny) => Support::Yes,
            (
                _,
                Capability::Ask | Capability::Allow | Capability::Rewrite | Capability::Message,
            ) => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::with_extra(self.event_name(event), &outcome.extra);
        match event {
            Event::PreToolUse => {
                if let Some(reason) = outcome.refusal_or_ask() {
                    envelope.top("deny", reason);
                } else if let Some(input) = &outcome.updated_input {
                    envelope.top("args", input.clone());
                }
            }
            Event::PostToolUse => {
                if let Some(reason) = outcome.refusal() {
                    envelope.top("replace", reason);
                }
            }
            Event::UserPromptSubmit => {
                if let Some(reason) = outcome.refusal() {
                    envelope.top("replace", blocked_prompt(&reason));
                }
            }
            Event::SessionStart | Event::Stop => {}
        }
        if let Some(context) = outcome.context_text().filter(|_| event != Event::Stop) {
            envelope.top("context", context);
        }
        envelope.answer()
    }

    fn example(&self, event: Event, mut fields: Map<String, Value>) -> Map<String, Value> {
        // Our plugin there sends it.
        fields.insert("hook_event_name".to_owned(), event.cli_name().into());
        fields
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        match answer.exit {
            Some(0) => {}
            Some(2) if event != Event::SessionStart => return Outcome::denied(answer.stderr),
            Some(_) | None => return Outcome::default(),
        }
        let mut reply = Reply::parse(answer.stdout).unwrap_or_default();
        let refused = match event {
            Event::PreToolUse => reply.top_text("deny"),
            Event::PostToolUse | Event::UserPromptSubmit => reply.top_text("replace"),
            Event::SessionStart | Event::Stop => None,
        };
        let mut outcome = refused.as_deref().map(Outcome::denied).unwrap_or_default();
        if event == Event::PreToolUse {
            outcome.updated_input = reply.top_object("args");
        }
        outcome.context.extend(reply.top_text("context"));
        outcome.extra = reply.rest();
        outcome
    }

    fn delivers_context(&self, event: Event) -> bool {
        !matches!(event, Event::PreToolUse | Event::Stop)
    }

    fn split_mcp_name<'a>(&self, native: &'a str, servers: &[&str]) -> Option<(&'a str, &'a str)> {
        let written = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let known = servers.iter().map(|server| server.chars().map(written).collect::<String>());
        tools::split_known(native, "_", known)
    }
}

impl Registration for OpenCode {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let users = || user_folder(placement);
        let folder = placement.path(placement.is_global(), users, |root| root.join(".opencode"));
        let place = |folder: PathBuf| HookPlace {
            path: folder.join("plugins").join("symposium.js"),
            shape: HookShape::Own { text: plugin(placement.program) },
        };
        folder.map(place).into_iter().collect()
    }

    fn server(
        &self,
        _: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        // OpenCode does not start with an entry that lacks `type`, has another type than these two,
        // or a command that is no list.
        let value = match transport {
            Transport::Stdio { command, args, env } => {
                let line: Vec<&String> = std::iter::once(command).chain(args).collect();
                json!({
                    "type": "local",
                    "command": line,
                    "environment": string_map(env),
                    "enabled": true,
                })
            }
            // It tries streamable HTTP first and then server-sent events.
            Transport::Http { url, headers } | Transport::Sse { url, headers } => json!({
                "type": "remote",
                "url": url,
                "headers": string_map(headers),
                "enabled": true,
            }),
        };
        let folder = placement.path(everywhere, || user_folder(placement), Path::to_path_buf);
        let (path, merged) = folder.map(|folder| config_files(&folder)).unzip();
        ServerPlace::entry(path, FileFormat::Json(CONFIG_RULES), "mcp", value, &["enabled"])
            .merged(merged.flatten())
    }
}

/// The plugin for this program.
fn plugin(program: &str) -> String {
    // A JSON string is a JavaScript string.
    let path = Value::String(program_path(program)).to_string();
    PLUGIN.replace(PROGRAM_MARK, &path)
}

/// `~/.config/opencode`, or where `XDG_CONFIG_HOME` puts it.
fn user_folder(placement: &Placement<'_>) -> PathBuf {
    placement.base_dir("XDG_CONFIG_HOME", ".config").join("opencode")
}

/// The configuration in a folder: the file that counts, and another one that OpenCode merges with it.
/// Of two entries of one name that of the `.jsonc` is used (run).
fn config_files(folder: &Path) -> (PathBuf, Option<PathBuf>) {
    let plain = folder.join("opencode.json");
    let commented = folder.join("opencode.jsonc");
    match (plain.exists(), commented.exists()) {
        (true, true) => (commented, Some(plain)),
        (false, true) => (commented, None),
        (_, false) => (plain, None),
    }
}

/// What the model reads instead of a blocked prompt.
fn blocked_prompt(reason: &str) -> String {
    format!(
        "The user's prompt was blocked before it reached you: {reason}\n\
         Tell the user this reason, and do nothing else."
    )
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod plugin_tests;
#[cfg(test)]
mod tests;
