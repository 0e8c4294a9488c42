//! Goose. It can't be had from a package registry, so it was not run: what stands here was read in
//! its sources (`hooks/mod.rs`, configuration) and documentation.
//!
//! Its hooks come in plugin folders, so ours is a folder of our own. They can refuse a tool and
//! nothing else: no context, no rewriting, no word on prompts or results.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};

use super::AgentSpec;
use super::places::{FileFormat, HookPlace, JsonRules, Placement, ServerPlace, SkillDirs};
use super::shared2::{self, Dialect, Facts, Payload};
use super::wire::{Answer, ChildAnswer, Decoded, Outcome, WireError};
use crate::config::{Environment, HookScope};
use crate::plugins::model::{McpServer, Transport};

#[cfg(test)]
mod tests;

const NAME: &str = "goose";

/// Seconds until Goose gives up on our hook: its default, said in so many words.
const TIMEOUT: u64 = 30;

/// Seconds that Goose waits for an extension's answer: what its own configuration command writes.
const EXTENSION_TIMEOUT: u64 = 300;

/// Our plugin's folder.
const PLUGIN: &str = "symposium";

/// The folder of a plugin that only carries a workspace's servers, where our hooks are at home: a
/// project's plugin hides the user's one of the same name, which would turn the hooks off.
const SERVERS_PLUGIN: &str = "symposium-servers";

const DIALECT: Dialect = Dialect {
    tools: &[
        ("developer__shell", "Bash"), // the payload from the sources
        ("shell", "Bash"),            // the same, as versions without the prefix name it
        // The developer extension's other tools (Goose's documentation), with and without prefix.
        ("developer__write", "Write"),
        ("write", "Write"),
        ("developer__edit", "Edit"),
        ("edit", "Edit"),
    ],
    fields: &[
        // Goose's documentation, developer extension. `command` and `content` have their common
        // names; `before` and `after` are `edit`'s, `old_str` and `new_str` `text_editor`'s.
        ("Read", &[("path", "file_path")]),
        ("Write", &[("path", "file_path"), ("file_text", "content")]),
        (
            "Edit",
            &[
                ("path", "file_path"),
                ("before", "old_string"),
                ("after", "new_string"),
                ("old_str", "old_string"),
                ("new_str", "new_string"),
            ],
        ),
    ],
};

/// Goose.
#[derive(Debug, Clone, Copy)]
pub struct Goose;

impl AgentSpec for Goose {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Goose"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["goose"]
    }

    fn home_folder(&self) -> &'static str {
        ".config/goose"
    }

    fn skill_dirs(&self) -> SkillDirs {
        SkillDirs { project: &[".agents/skills", ".goose/skills", ".claude/skills"] }
    }

    fn event_name(&self, event: Event) -> &'static str {
        event.name()
    }

    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let root = match placement.scope {
            HookScope::Global => Some(placement.home),
            HookScope::Project => placement.root,
        };
        let Some(root) = root else { return Vec::new() };
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
                    "command": shared2::hook_command(NAME, event, placement.program, false),
                    "timeout": TIMEOUT,
                }],
            }])
        };
        let hooks: Map<String, Value> = Event::ALL
            .into_iter()
            .map(|event| (self.event_name(event).to_owned(), group(event)))
            .collect();
        let folder = plugin_folder(root, PLUGIN);
        vec![
            shared2::own_json(folder.join("plugin.json"), &plugin),
            shared2::own_json(folder.join("hooks").join("hooks.json"), &json!({ "hooks": hooks })),
        ]
    }

    fn registered_timeout(&self, _event: Event) -> u64 {
        TIMEOUT
    }

    fn server(
        &self,
        server: &McpServer,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        if matches!(server.transport, Transport::Sse { .. }) {
            return ServerPlace::Unsupported {
                reason: "Goose has no server-sent events; it takes programs and streamable HTTP"
                    .to_owned(),
            };
        }
        if everywhere {
            return extension(server, placement);
        }
        let Some(root) = placement.root else {
            return ServerPlace::Unsupported {
                reason: "there is no workspace to enter the server for".to_owned(),
            };
        };
        let plugin = match placement.scope {
            HookScope::Global => SERVERS_PLUGIN,
            HookScope::Project => PLUGIN,
        };
        let value = match &server.transport {
            Transport::Stdio { command, args, env } => shared2::stdio_entry(command, args, env),
            Transport::Http { url, headers } | Transport::Sse { url, headers } => {
                json!({ "type": "http", "url": url, "headers": shared2::object(headers) })
            }
        };
        ServerPlace::Entry {
            path: plugin_folder(root, plugin).join(".mcp.json"),
            format: FileFormat::Json(JsonRules::STRICT),
            table: vec!["mcpServers".to_owned()],
            value,
            users_keys: &[],
            note: None,
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], _env: &Environment) -> Result<Decoded, WireError> {
        let payload = Payload::parse(NAME, event, stdin)?;
        payload.names_event("event", &[event.name()])?;
        payload.required(&["event"])?;
        let mut facts = Facts {
            session_id: payload.word(&["session_id"]),
            cwd: payload.word(&["working_dir"]),
            prompt: payload.text(&["message"]).unwrap_or_default(),
            tool_use_id: payload.word(&["tool_call_id"]),
            ..Facts::default()
        };
        if event.is_tool_event() {
            let native = payload.required(&["tool_name"])?;
            facts.native_input = payload.value(&["tool_input"]).cloned().unwrap_or_default();
            facts.tool = canonical_tool(&native, &facts.native_input);
            facts.native_tool = native;
            facts.input = DIALECT.canonical_input(&facts.tool, &facts.native_input);
            facts.response = payload.value(&["tool_output"]).cloned().unwrap_or_default();
        }
        Ok(facts.decoded(event))
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        match shared2::refusal_or_ask(outcome) {
            Some(reason) if event == Event::PreToolUse => Answer::block(reason),
            _ => Answer::carry_on(),
        }
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        if event == Event::SessionStart || answer.exit.is_none() {
            return Outcome::default();
        }
        let mut object = shared2::stdout_object(answer).unwrap_or_default();
        let decision = object.get("decision").and_then(Value::as_str).map(str::to_owned);
        let reason = shared2::take_text(&mut object, "reason");
        // `block` counts at any exit code.
        match (answer.exit, decision.as_deref()) {
            (_, Some("block")) => shared2::denial(reason.as_deref().unwrap_or(answer.stderr)),
            (Some(2), _) => shared2::denial(answer.stderr),
            (Some(0), Some("allow")) => {
                Outcome { decision: Some(Decision::Allow), ..Outcome::default() }
            }
            _ => Outcome::default(),
        }
    }

    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        DIALECT.native_input_of(decoded, updated)
    }

    fn delivers_context(&self, _event: Event) -> bool {
        false
    }
}

fn plugin_folder(root: &std::path::Path, name: &str) -> PathBuf {
    root.join(".agents").join("plugins").join(name)
}

/// The user's `config.yaml`. Goose follows the XDG variables everywhere but on Windows.
fn config_file(placement: &Placement<'_>) -> PathBuf {
    if cfg!(windows) {
        let roaming = shared2::folder(placement.env, "APPDATA", placement.home, "AppData/Roaming");
        return roaming.join("Block").join("goose").join("config").join("config.yaml");
    }
    let config = shared2::folder(placement.env, "XDG_CONFIG_HOME", placement.home, ".config");
    config.join("goose").join("config.yaml")
}

/// An extension: `enabled`, `type`, `name` and `args` are required, or Goose skips the entry.
fn extension(server: &McpServer, placement: &Placement<'_>) -> ServerPlace {
    let value = match &server.transport {
        Transport::Stdio { command, args, env } => json!({
            "enabled": true,
            "type": "stdio",
            "name": server.name,
            "cmd": command,
            "args": args,
            "envs": shared2::object(env),
            "timeout": EXTENSION_TIMEOUT,
        }),
        Transport::Http { url, headers } | Transport::Sse { url, headers } => json!({
            "enabled": true,
            "type": "streamable_http",
            "name": server.name,
            "uri": url,
            "headers": shared2::object(headers),
            "timeout": EXTENSION_TIMEOUT,
        }),
    };
    ServerPlace::Entry {
        path: config_file(placement),
        format: FileFormat::Yaml,
        table: vec!["extensions".to_owned()],
        value,
        users_keys: &["enabled"],
        note: None,
    }
}

/// The canonical name of a tool. Every tool is an extension's, `extension__tool`; those of Goose's
/// own `developer` and `platform` extensions that are not in the table keep their names.
fn canonical_tool(native: &str, input: &Value) -> String {
    if let Some(tool) = DIALECT.tool(native) {
        return tool.to_owned();
    }
    // The developer extension's former editor, whose `command` says what it does.
    if matches!(native, "developer__text_editor" | "text_editor") {
        match input.get("command").and_then(Value::as_str) {
            Some("view") => return "Read".to_owned(),
            Some("write") => return "Write".to_owned(),
            Some("str_replace" | "insert") => return "Edit".to_owned(),
            _ => return native.to_owned(),
        }
    }
    match native.split_once("__") {
        Some((extension, tool))
            if !matches!(extension, "" | "developer" | "platform") && !tool.is_empty() =>
        {
            shared2::mcp_name(extension, tool)
        }
        _ => native.to_owned(),
    }
}
