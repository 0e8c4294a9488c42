//! OpenCode, as of 1.18.33: what it does was measured by running it.
//!
//! It runs no commands at its events, only plugins in JavaScript. Ours (`opencode/plugin.js`) hands
//! each event to `cargo-agents hook opencode <event>`. What the two say to each other is ours to
//! define, and defined in the plugin's head: the payload's fields are named as most agents name
//! them, the answer is an object of `deny`, `args`, `replace` and `context`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use symposium_hook::Event;

use super::AgentSpec;
use super::places::{
    FileFormat, HookPlace, HookShape, JsonRules, Placement, ServerPlace, SkillDirs,
};
use super::shared2::{self, Dialect, Facts, Payload};
use super::wire::{Answer, ChildAnswer, Decoded, Outcome, WireError};
use crate::config::{Environment, HookScope};
use crate::plugins::model::{McpServer, Transport};

#[cfg(test)]
mod plugin_tests;
#[cfg(test)]
mod tests;

const NAME: &str = "opencode";

/// Seconds until the plugin gives up on us; OpenCode itself would wait for ever.
const TIMEOUT: u64 = 30;

/// The plugin, with a placeholder for the program.
const PLUGIN: &str = include_str!("opencode/plugin.js");

/// The placeholder, quotes and all.
const PROGRAM_MARK: &str = "\"__PROGRAM__\"";

/// `opencode.json` and `opencode.jsonc` alike take all of these (run).
const CONFIG_RULES: JsonRules = JsonRules { comments: true, trailing_commas: true, bom: true };

const DIALECT: Dialect = Dialect {
    tools: &[
        ("bash", "Bash"),        // captured payload of tool.execute.before
        ("read", "Read"),        // seen in runs
        ("write", "Write"),      // OpenCode's documentation, tools
        ("edit", "Edit"),        // OpenCode's documentation, tools
        ("patch", "Edit"),       // OpenCode's documentation, tools
        ("apply_patch", "Edit"), // what OpenAI's models are given instead, as in Codex; not run
    ],
    fields: &[
        // From the tools' schemas as OpenCode shows them to the model. `command`, `content`,
        // `pattern` and `url` have their common names.
        ("Read", &[("filePath", "file_path")]),
        ("Write", &[("filePath", "file_path")]),
        (
            "Edit",
            &[("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string")],
        ),
    ],
};

/// OpenCode.
#[derive(Debug, Clone, Copy)]
pub struct OpenCode;

impl AgentSpec for OpenCode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["opencode"]
    }

    fn home_folder(&self) -> &'static str {
        ".config/opencode"
    }

    fn skill_dirs(&self) -> SkillDirs {
        SkillDirs { project: &[".agents/skills", ".claude/skills", ".opencode/skills"] }
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse => "tool.execute.before",
            Event::PostToolUse => "tool.execute.after",
            Event::UserPromptSubmit => "chat.message",
            // What our plugin takes for it is the first `chat.message`.
            Event::SessionStart => "session.created",
        }
    }

    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let folder = match placement.scope {
            HookScope::Global => Some(user_folder(placement)),
            HookScope::Project => placement.root.map(|root| root.join(".opencode")),
        };
        let place = |folder: PathBuf| HookPlace {
            path: folder.join("plugins").join("symposium.js"),
            shape: HookShape::Own { text: plugin(placement.program) },
        };
        folder.map(place).into_iter().collect()
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
        let folder = if everywhere {
            Some(user_folder(placement))
        } else {
            placement.root.map(Path::to_path_buf)
        };
        let Some(folder) = folder else {
            return ServerPlace::Unsupported {
                reason: "there is no workspace to enter the server for".to_owned(),
            };
        };
        // OpenCode does not start with an entry that lacks `type`, has another type than these two,
        // or a command that is no list.
        let value = match &server.transport {
            Transport::Stdio { command, args, env } => {
                let line: Vec<&String> = std::iter::once(command).chain(args).collect();
                json!({
                    "type": "local",
                    "command": line,
                    "environment": shared2::object(env),
                    "enabled": true,
                })
            }
            // It tries streamable HTTP first and then server-sent events.
            Transport::Http { url, headers } | Transport::Sse { url, headers } => json!({
                "type": "remote",
                "url": url,
                "headers": shared2::object(headers),
                "enabled": true,
            }),
        };
        ServerPlace::Entry {
            path: config_file(&folder),
            format: FileFormat::Json(CONFIG_RULES),
            table: vec!["mcp".to_owned()],
            value,
            users_keys: &["enabled"],
            note: None,
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], _env: &Environment) -> Result<Decoded, WireError> {
        let payload = Payload::parse(NAME, event, stdin)?;
        payload.required(&["hook_event_name"])?;
        payload.names_event("hook_event_name", &[event.cli_name()])?;
        let mut facts = Facts {
            session_id: payload.word(&["session_id"]),
            cwd: payload.word(&["cwd"]),
            prompt: payload.text(&["prompt"]).unwrap_or_default(),
            tool_use_id: payload.word(&["tool_use_id"]),
            ..Facts::default()
        };
        if event.is_tool_event() {
            let native = payload.required(&["tool_name"])?;
            let part = |key: &str| payload.value(&["mcp"])?.get(key)?.as_str();
            facts.tool = match (part("server"), part("tool"), DIALECT.tool(&native)) {
                (Some(server), Some(tool), _) => shared2::mcp_name(server, tool),
                (_, _, Some(tool)) => tool.to_owned(),
                _ => native.clone(),
            };
            facts.native_tool = native;
            facts.native_input = payload.value(&["tool_input"]).cloned().unwrap_or_default();
            facts.input = DIALECT.canonical_input(&facts.tool, &facts.native_input);
            facts.response = payload.value(&["tool_response"]).cloned().unwrap_or_default();
        }
        Ok(facts.decoded(event))
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut answer = Map::new();
        let mut say = |key: &str, value: Value| answer.insert(key.to_owned(), value);
        match event {
            Event::PreToolUse => {
                if let Some(reason) = shared2::refusal_or_ask(outcome) {
                    say("deny", reason.into());
                } else if let Some(input) = &outcome.updated_input {
                    say("args", Value::Object(input.clone()));
                }
            }
            Event::PostToolUse => {
                if let Some(reason) = shared2::refusal(outcome) {
                    say("replace", reason.into());
                }
            }
            Event::UserPromptSubmit => {
                if let Some(reason) = shared2::refusal(outcome) {
                    say("replace", blocked_prompt(&reason).into());
                }
            }
            Event::SessionStart => {}
        }
        if let Some(context) = outcome.context_text() {
            say("context", context.into());
        }
        for (key, value) in &outcome.extra {
            answer.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Answer::json(answer)
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        match answer.exit {
            Some(0) => {}
            Some(2) if event != Event::SessionStart => return shared2::denial(answer.stderr),
            Some(_) | None => return Outcome::default(),
        }
        let mut object = shared2::stdout_object(answer).unwrap_or_default();
        let refused = match event {
            Event::PreToolUse => shared2::take_text(&mut object, "deny"),
            Event::PostToolUse | Event::UserPromptSubmit => {
                shared2::take_text(&mut object, "replace")
            }
            Event::SessionStart => None,
        };
        let mut outcome = refused.map(|reason| shared2::denial(&reason)).unwrap_or_default();
        if event == Event::PreToolUse {
            outcome.updated_input = shared2::take_object(&mut object, "args");
        }
        outcome.context.extend(shared2::take_text(&mut object, "context"));
        outcome.extra = shared2::rest(object);
        outcome
    }

    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        DIALECT.native_input_of(decoded, updated)
    }

    fn delivers_context(&self, event: Event) -> bool {
        event != Event::PreToolUse
    }

    fn split_mcp_name<'a>(&self, native: &'a str, servers: &[&str]) -> Option<(&'a str, &'a str)> {
        let written = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let known = servers.iter().map(|server| server.chars().map(written).collect());
        shared2::split_after_server(native, '_', known)
    }
}

/// The plugin for this program.
fn plugin(program: &str) -> String {
    // A JSON string is a JavaScript string.
    let path = Value::String(shared2::program_path(program)).to_string();
    PLUGIN.replace(PROGRAM_MARK, &path)
}

/// `~/.config/opencode`, or where `XDG_CONFIG_HOME` puts it.
fn user_folder(placement: &Placement<'_>) -> PathBuf {
    shared2::folder(placement.env, "XDG_CONFIG_HOME", placement.home, ".config").join("opencode")
}

/// The configuration in a folder. Where there are both spellings OpenCode merges them.
fn config_file(folder: &Path) -> PathBuf {
    let plain = folder.join("opencode.json");
    let commented = folder.join("opencode.jsonc");
    if !plain.exists() && commented.exists() { commented } else { plain }
}

/// What the model reads instead of a blocked prompt.
fn blocked_prompt(reason: &str) -> String {
    format!(
        "The user's prompt was blocked before it reached you: {reason}\n\
         Tell the user this reason, and do nothing else."
    )
}
