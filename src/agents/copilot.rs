//! GitHub Copilot CLI, as of 1.0.102: what it does was measured by running it.
//!
//! It takes every exit code but 0 for a denial, so we always end with 0, say everything in flat
//! JSON, and are registered with a command that survives our absence. Its hooks are one JSON file
//! each, so ours is a file of our own; the same hook at both scopes would run twice.

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

const NAME: &str = "copilot";

/// Seconds until Copilot gives up on our hook and goes on (`timeoutSec`; also its default).
const TIMEOUT: u64 = 30;

/// `mcp-config.json` takes comments and trailing commas, `.mcp.json` neither (both run).
const USER_MCP_RULES: JsonRules = JsonRules { comments: true, trailing_commas: true, bom: true };

/// The server that Copilot brings along (GitHub's documentation), for splitting its tools' names.
const OWN_SERVER: &str = "github-mcp-server";

const DIALECT: Dialect = Dialect {
    tools: &[
        ("bash", "Bash"),        // captured payload of preToolUse
        ("powershell", "Bash"),  // the same tool on Windows (GitHub's documentation, hooks)
        ("shell", "Bash"),       // the name that permission rules use (`shell(git:*)`)
        ("view", "Read"),        // seen in a run
        ("create", "Write"),     // GitHub's documentation, tools
        ("edit", "Edit"),        // GitHub's documentation, tools
        ("str_replace", "Edit"), // the same in earlier versions
        ("apply_patch", "Edit"), // what OpenAI's models are given instead, as in Codex; not run
    ],
    fields: &[
        // `path` was seen in a run of `view`; the texts' names are in GitHub's documentation.
        // `command`, `pattern` and `url` have their common names.
        ("Read", &[("path", "file_path")]),
        ("Write", &[("path", "file_path"), ("file_text", "content")]),
        ("Edit", &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
    ],
};

/// GitHub Copilot CLI.
#[derive(Debug, Clone, Copy)]
pub struct Copilot;

impl AgentSpec for Copilot {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "GitHub Copilot"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["copilot"]
    }

    fn home_folder(&self) -> &'static str {
        ".copilot"
    }

    fn skill_dirs(&self) -> SkillDirs {
        SkillDirs { project: &[".agents/skills", ".claude/skills", ".github/skills"] }
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse => "preToolUse",
            Event::PostToolUse => "postToolUse",
            Event::UserPromptSubmit => "userPromptSubmitted",
            Event::SessionStart => "sessionStart",
        }
    }

    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let folder = match placement.scope {
            HookScope::Global => Some(user_folder(placement).join("hooks")),
            // From a sub-folder the hooks of the checkout's top are read (run).
            HookScope::Project => {
                placement.git_root.or(placement.root).map(|root| root.join(".github").join("hooks"))
            }
        };
        let entry = |event: Event| {
            json!([{
                "type": "command",
                "bash": shared2::hook_command(NAME, event, placement.program, true),
                "powershell": shared2::powershell_command(NAME, event, placement.program),
                "timeoutSec": self.registered_timeout(event),
            }])
        };
        // No matcher: Copilot's are whole-name regular expressions, and `*` or "" never fires.
        let hooks: Map<String, Value> = Event::ALL
            .into_iter()
            .map(|event| (self.event_name(event).to_owned(), entry(event)))
            .collect();
        let file = json!({ "version": 1, "hooks": hooks });
        folder.map(|dir| shared2::own_json(dir.join("symposium.json"), &file)).into_iter().collect()
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
        let place = |path: PathBuf, rules, value, users_keys, note| ServerPlace::Entry {
            path,
            format: FileFormat::Json(rules),
            table: vec!["mcpServers".to_owned()],
            value,
            users_keys,
            note,
        };
        if everywhere {
            let path = user_folder(placement).join("mcp-config.json");
            return place(path, USER_MCP_RULES, own_entry(&server.transport), &["tools"], None);
        }
        let Some(root) = placement.root else {
            return ServerPlace::Unsupported {
                reason: "there is no workspace to enter the server for".to_owned(),
            };
        };
        let shared = root.join(".mcp.json");
        // Of the two, Copilot reads only `.mcp.json` where there is one (run).
        if placement.scope == HookScope::Project || shared.exists() {
            return place(shared, JsonRules::STRICT, shared_entry(&server.transport), &[], trust());
        }
        let path = root.join(".github").join("mcp.json");
        place(path, JsonRules::STRICT, own_entry(&server.transport), &["tools"], trust())
    }

    fn decode(&self, event: Event, stdin: &[u8], _env: &Environment) -> Result<Decoded, WireError> {
        let payload = Payload::parse(NAME, event, stdin)?;
        check_event(self, &payload, event)?;
        let mut facts = Facts {
            session_id: payload.word(&["sessionId", "session_id"]),
            cwd: payload.word(&["cwd"]),
            prompt: payload.text(&["prompt"]).unwrap_or_default(),
            ..Facts::default()
        };
        if event.is_tool_event() {
            let native = payload.required(&["toolName", "tool_name"])?;
            facts.tool = canonical_tool(&native);
            facts.native_tool = native;
            // An object in the CLI; JSON in a string in its older versions and the cloud agent.
            let arguments = payload.value(&["toolArgs", "tool_input"]).cloned().unwrap_or_default();
            facts.input = DIALECT.canonical_input(&facts.tool, &shared2::parsed(&arguments));
            facts.native_input = arguments;
            facts.response =
                payload.value(&["toolResult", "tool_result"]).cloned().unwrap_or_default();
        }
        Ok(facts.decoded(event))
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut answer = Map::new();
        match event {
            Event::PreToolUse => permission(outcome, &mut answer),
            Event::PostToolUse | Event::UserPromptSubmit => {
                if let Some(reason) = shared2::refusal(outcome) {
                    answer.insert("decision".to_owned(), "block".into());
                    answer.insert("reason".to_owned(), reason.into());
                }
            }
            Event::SessionStart => {}
        }
        if let Some(context) = outcome.context_text() {
            answer.insert("additionalContext".to_owned(), context.into());
        }
        for (key, value) in &outcome.extra {
            answer.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Answer::json(answer)
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        let mut object = shared2::stdout_object(answer).unwrap_or_default();
        let mut outcome = match event {
            Event::PreToolUse => take_permission(&mut object),
            Event::PostToolUse | Event::UserPromptSubmit => take_block(&mut object),
            Event::SessionStart => Outcome::default(),
        };
        match answer.exit {
            Some(0) => {}
            Some(2) if event != Event::SessionStart => {
                let reasons = std::mem::take(&mut outcome.reasons);
                return if reasons.is_empty() {
                    shared2::denial(answer.stderr)
                } else {
                    Outcome { reasons, ..shared2::denial("") }
                };
            }
            // Copilot would take a failure for a denial; here it is one only in so many words.
            Some(_) if outcome.decision == Some(Decision::Deny) => return outcome,
            Some(_) | None => return Outcome::default(),
        }
        outcome.context.extend(shared2::take_text(&mut object, "additionalContext"));
        outcome.extra = shared2::rest(object);
        outcome
    }

    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        DIALECT.native_input_of(decoded, updated)
    }

    fn split_mcp_name<'a>(&self, native: &'a str, servers: &[&str]) -> Option<(&'a str, &'a str)> {
        let known = servers.iter().copied().chain([OWN_SERVER]).map(str::to_owned);
        shared2::split_after_server(native, '-', known)
    }
}

/// `~/.copilot`, or what `COPILOT_HOME` puts in its place (its changelog; not run).
fn user_folder(placement: &Placement<'_>) -> PathBuf {
    shared2::folder(placement.env, "COPILOT_HOME", placement.home, ".copilot")
}

fn trust() -> Option<String> {
    Some("Copilot reads a project's servers only in a folder that you trust".to_owned())
}

/// An entry in a file that only Copilot reads.
fn own_entry(transport: &Transport) -> Value {
    let remote = |kind: &str, url: &str, headers: &[(String, String)]| json!({ "type": kind, "url": url, "headers": shared2::object(headers), "tools": ["*"] });
    match transport {
        Transport::Stdio { command, args, env } => json!({
            "type": "local",
            "command": command,
            "args": args,
            "env": shared2::object(env),
            "tools": ["*"],
        }),
        Transport::Http { url, headers } => remote("http", url, headers),
        Transport::Sse { url, headers } => remote("sse", url, headers),
    }
}

/// An entry in `.mcp.json`, which Claude Code reads too and does not know `local` in: the words
/// that both take, so that both agents want the same entry.
fn shared_entry(transport: &Transport) -> Value {
    let remote = |kind: &str, url: &str, headers: &[(String, String)]| json!({ "type": kind, "url": url, "headers": shared2::object(headers) });
    match transport {
        Transport::Stdio { command, args, env } => json!({
            "type": "stdio",
            "command": command,
            "args": args,
            "env": shared2::object(env),
        }),
        Transport::Http { url, headers } => remote("http", url, headers),
        Transport::Sse { url, headers } => remote("sse", url, headers),
    }
}

/// Payloads of hooks registered in camel case do not name their event: the fields tell.
fn check_event(spec: &Copilot, payload: &Payload, event: Event) -> Result<(), WireError> {
    let names = [event.name(), spec.event_name(event)];
    payload.names_event("hook_event_name", &names)?;
    payload.names_event("hookName", &names)?;
    let has = |names: &[&str]| payload.value(names).is_some();
    let tool = has(&["toolName", "tool_name"]);
    let fits = match event {
        Event::PreToolUse => tool && !has(&["toolResult", "tool_result"]),
        Event::PostToolUse => tool,
        Event::UserPromptSubmit => has(&["prompt"]),
        Event::SessionStart => {
            has(&["sessionId", "session_id", "cwd"])
                && !tool
                && !has(&["prompt", "reason", "stopReason", "stop_reason"])
        }
    };
    if fits { Ok(()) } else { Err(payload.error("its fields are not those of the event")) }
}

/// The canonical name of a tool. No built-in tool has a hyphen in its name, so `server-tool` is a
/// server's. Which hyphen parts them is a guess where we don't know the server: the last, for
/// servers like their hyphens and tools their underscores.
fn canonical_tool(native: &str) -> String {
    if let Some(tool) = DIALECT.tool(native) {
        return tool.to_owned();
    }
    let known = Copilot.split_mcp_name(native, &[]);
    let guess =
        || native.rsplit_once('-').filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
    match known.or_else(guess) {
        Some((server, tool)) => shared2::mcp_name(server, tool),
        None => native.to_owned(),
    }
}

/// What stands in an answer to `preToolUse` about the tool's use.
fn permission(outcome: &Outcome, answer: &mut Map<String, Value>) {
    let (decision, reason) = if let Some(reason) = shared2::refusal(outcome) {
        ("deny", Some(reason))
    } else {
        match outcome.decision {
            Some(Decision::Ask) => ("ask", Some(shared2::ask_reason(outcome))),
            Some(Decision::Allow) => {
                let reason = outcome.reasons.join("\n");
                ("allow", (!reason.trim().is_empty()).then_some(reason))
            }
            _ => ("", None),
        }
    };
    if !decision.is_empty() {
        answer.insert("permissionDecision".to_owned(), decision.into());
    }
    if let Some(reason) = reason {
        answer.insert("permissionDecisionReason".to_owned(), reason.into());
    }
    if let Some(input) = outcome.updated_input.as_ref().filter(|_| decision != "deny") {
        answer.insert("modifiedArgs".to_owned(), Value::Object(input.clone()));
    }
}

fn take_permission(object: &mut Map<String, Value>) -> Outcome {
    let decision = match object.get("permissionDecision").and_then(Value::as_str) {
        Some("allow") => Some(Decision::Allow),
        Some("ask") => Some(Decision::Ask),
        Some("deny") => Some(Decision::Deny),
        _ => None,
    };
    object.shift_remove("permissionDecision");
    Outcome {
        decision,
        reasons: shared2::take_text(object, "permissionDecisionReason").into_iter().collect(),
        updated_input: shared2::take_object(object, "modifiedArgs"),
        ..Outcome::default()
    }
}

fn take_block(object: &mut Map<String, Value>) -> Outcome {
    if object.get("decision").and_then(Value::as_str) != Some("block") {
        return Outcome::default();
    }
    object.shift_remove("decision");
    shared2::denial(&shared2::take_text(object, "reason").unwrap_or_default())
}
