//! Goose. It can't be had from a package registry, so it was not run: what stands here was read in
//! its sources (`hooks/mod.rs`, configuration) and documentation.
//!
//! Its hooks come in plugin folders, so ours is a folder of our own. They can refuse a tool and
//! nothing else: no context, no rewriting, no word on prompts or results.

pub(super) mod checkup;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};

use super::codec::Codec;
use super::command::plain_command;
use super::envelope::Reply;
use super::headless::{Headless, plain, words};
use super::identity::{Identity, UsersFolder};
use super::payload::{Fields, Payload};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, Transport, stdio_entry, string_map,
    table_of_events,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{
    Answer, Capability, ChildAnswer, Decoded, Delivery, Outcome, Support, WireError,
};
use crate::config::Environment;

/// Goose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goose;

/// Seconds that Goose waits for an extension's answer: what its own configuration command writes.
const EXTENSION_TIMEOUT: u64 = 300;

/// Our plugin's folder.
const PLUGIN: &str = "symposium";

/// The folder of a plugin that only carries a workspace's servers, where our hooks are at home: a
/// project's plugin hides the user's one of the same name, which would turn the hooks off.
const SERVERS_PLUGIN: &str = "symposium-servers";

/// From the payload in the sources.
const FIELDS: Fields = Fields {
    cwd: &["working_dir"],
    prompt: &["message"],
    tool_response: &["tool_output"],
    tool_use_id: &["tool_call_id"],
    ..Fields::COMMON
};

/// The developer extension's tools (block/goose, `crates/goose/src/agents/platform_extensions/
/// developer/edit.rs`), with its prefix and as versions without name them. `command` and `content`
/// have their canonical names.
const TOOLS: &[Tool] = &[
    Tool::new("Bash", &["developer__shell", "shell"]),
    Tool::new("Read", &["developer__read", "read"]).fields(&[("file_path", "path")]),
    Tool::new("Write", &["developer__write", "write"]).fields(&[("file_path", "path")]),
    Tool::new("Edit", &["developer__edit", "edit"]).fields(&[
        ("file_path", "path"),
        ("old_string", "before"),
        ("new_string", "after"),
    ]),
];

/// What the former `text_editor` does, which its input says: under its canonical name each.
const TEXT_EDITOR: &[Tool] = &[
    Tool::new("Read", &[]).fields(&[("file_path", "path")]),
    Tool::new("Write", &[]).fields(&[("file_path", "path"), ("content", "file_text")]),
    Tool::new("Edit", &[])
        .fields(&[("file_path", "path"), ("old_string", "old_str"), ("new_string", "new_str")])
        .files(files_of_diff),
];

/// The files of a diff, of which `text_editor` takes one of several files instead of two texts
/// (block/goose, `crates/goose-mcp/src/developer/text_editor.rs`, `apply_diff`).
fn files_of_diff(input: &Map<String, Value>) -> Vec<String> {
    let diff = input.get("diff").and_then(Value::as_str).unwrap_or_default();
    let named = |line: &str| {
        let line = line.trim();
        let name = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ "))?;
        let name = name.split('\t').next()?.trim();
        let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
        (name != "/dev/null").then(|| name.to_owned())
    };
    diff.lines().filter_map(named).collect()
}

/// The table that has the tool.
fn table(name: &str) -> &'static [Tool] {
    if is_text_editor(name) { TEXT_EDITOR } else { TOOLS }
}

fn is_text_editor(name: &str) -> bool {
    matches!(name, "developer__text_editor" | "text_editor")
}

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    // It prints its answer, and does not tell what that took. Not shown with the program itself.
    headless: Some(Headless {
        args: |prompt| words(&["run", "--no-session", "--text", &prompt]),
        read: plain,
    }),
    programs: &["goose"],
    home_folder: if cfg!(windows) { "AppData/Roaming/Block/goose" } else { ".config/goose" },
    skill_dirs: &[".agents/skills", ".goose/skills", ".claude/skills"],
    users_skills: &[
        UsersFolder::moved_by("XDG_CONFIG_HOME", ".config", "goose/skills"),
        UsersFolder::moved_by("XDG_CONFIG_HOME", ".config", "agents/skills"),
        UsersFolder::in_home(".agents/skills"),
        UsersFolder::in_home(".claude/skills"),
    ],
    own_names: &[".goose", ".goosehints"],
    // A project's plugin hides the user's one of that name.
    runs_both_scopes: false,
    // Its default, written out.
    hook_timeout: 30,
    fields: FIELDS,
    answer_keys: &["decision", "reason"],
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("goose", "Goose")
};

impl Codec for Goose {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        event.name()
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        payload.require_event("event", &[self.event_name(event)])?;
        // A prompt may be of pictures alone.
        payload.default_text("message", "");
        let mut decoded = payload.decode(&FIELDS, canonical)?;
        if event == Event::UserPromptSubmit {
            // A project's plugin hides the user's one of that name, so only one of them is run.
            decoded.delivery = Delivery::Single;
        }
        Ok(decoded)
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::PreToolUse, Capability::Deny) => Support::Yes,
            (Event::PreToolUse, Capability::Ask) => Support::DENIED,
            (Event::PreToolUse, Capability::Stop) => Support::REFUSED,
            _ => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        match outcome.refusal_or_ask() {
            Some(reason) if event == Event::PreToolUse => Answer::block(reason),
            _ => Answer::carry_on(),
        }
    }

    fn example(&self, event: Event, mut fields: Map<String, Value>) -> Map<String, Value> {
        fields.insert("event".to_owned(), self.event_name(event).into());
        fields
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        if event == Event::SessionStart || answer.exit.is_none() {
            return Outcome::default();
        }
        let mut reply = Reply::parse(answer.stdout).unwrap_or_default();
        // `block` counts at any exit code.
        match (answer.exit, reply.top_text("decision").as_deref()) {
            (_, Some("block")) => {
                Outcome::denied(reply.top_text("reason").as_deref().unwrap_or(answer.stderr))
            }
            (Some(2), _) => Outcome::denied(answer.stderr),
            (Some(0), Some("allow")) => {
                Outcome { decision: Some(Decision::Allow), ..Outcome::default() }
            }
            _ => Outcome::default(),
        }
    }

    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        tools::native(table(tools::native_of(decoded).0), decoded, updated)
    }

    fn delivers_context(&self, _: Event) -> bool {
        false
    }
}

impl Registration for Goose {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let Some(root) =
            (if placement.is_global() { Some(placement.home) } else { placement.root })
        else {
            return Vec::new();
        };
        let plugin = json!({
            "name": PLUGIN,
            "version": "1.0.0",
            "description": "Hooks of `cargo agents` for the crates that your workspace depends on",
        });
        // No matcher: it is a regular expression, and `*` is none.
        let group = |event: Event| {
            json!([{
                "hooks": [{
                    "type": "command",
                    "command": plain_command(self.name(), event, placement),
                    "timeout": IDENTITY.hook_timeout,
                }],
            }])
        };
        let hooks = json!({ "hooks": table_of_events(self, placement, group) });
        let folder = plugin_folder(root, PLUGIN);
        vec![
            HookPlace::own_json(folder.join("plugin.json"), &plugin),
            HookPlace::own_json(folder.join("hooks").join("hooks.json"), &hooks),
        ]
    }

    fn server(
        &self,
        name: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        if matches!(transport, Transport::Sse { .. }) {
            return ServerPlace::unsupported(
                "Goose has no server-sent events; it takes programs and streamable HTTP",
            );
        }
        if everywhere {
            return extension(name, transport, placement);
        }
        let plugin = if placement.is_global() { SERVERS_PLUGIN } else { PLUGIN };
        let path = placement.root.map(|root| plugin_folder(root, plugin).join(".mcp.json"));
        let value = match transport {
            Transport::Stdio { command, args, env } => stdio_entry(command, args, env),
            Transport::Http { url, headers } | Transport::Sse { url, headers } => {
                json!({ "type": "http", "url": url, "headers": string_map(headers) })
            }
        };
        ServerPlace::entry(path, FileFormat::Json(JsonRules::STRICT), "mcpServers", value, &[])
    }
}

fn plugin_folder(root: &Path, name: &str) -> PathBuf {
    root.join(".agents").join("plugins").join(name)
}

/// The user's `config.yaml`. Goose follows the XDG variables everywhere but on Windows.
fn config_file(placement: &Placement<'_>) -> PathBuf {
    if cfg!(windows) {
        let roaming = placement.base_dir("APPDATA", "AppData/Roaming");
        return roaming.join("Block").join("goose").join("config").join("config.yaml");
    }
    placement.base_dir("XDG_CONFIG_HOME", ".config").join("goose").join("config.yaml")
}

/// An extension: `enabled`, `type`, `name` and `args` are required, or Goose skips the entry.
fn extension(name: &str, transport: &Transport, placement: &Placement<'_>) -> ServerPlace {
    let value = match transport {
        Transport::Stdio { command, args, env } => json!({
            "enabled": true,
            "type": "stdio",
            "name": name,
            "cmd": command,
            "args": args,
            "envs": string_map(env),
            "timeout": EXTENSION_TIMEOUT,
        }),
        Transport::Http { url, headers } | Transport::Sse { url, headers } => json!({
            "enabled": true,
            "type": "streamable_http",
            "name": name,
            "uri": url,
            "headers": string_map(headers),
            "timeout": EXTENSION_TIMEOUT,
        }),
    };
    let path = Some(config_file(placement));
    ServerPlace::entry(path, FileFormat::Yaml, "extensions", value, &["enabled"])
}

/// Every tool is an extension's, `extension__tool`; those of Goose's own `developer` and `platform`
/// extensions that are not in the table keep their names.
fn canonical(name: &str, input: &Value) -> (String, Value) {
    if is_text_editor(name) {
        return tools::canonical(TEXT_EDITOR, tools::editors_tool(name, input), input);
    }
    match tools::split_first(name, "__") {
        Some((extension, tool)) if !matches!(extension, "developer" | "platform") => {
            (tools::mcp_name(extension, tool), input.clone())
        }
        _ => tools::canonical(TOOLS, name, input),
    }
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
