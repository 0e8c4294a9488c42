//! GitHub Copilot CLI, as of 1.0.102: what it does was measured by running it.
//!
//! It takes every exit code but 0 for a denial, so we always end with 0, say everything in flat
//! JSON, and are registered with a command that survives our absence. Its hooks are one JSON file
//! each, so ours is a file of our own; the same hook at both scopes would run twice.

pub(super) mod checkup;

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};

use super::codec::Codec;
use super::command::{hook_command, powershell_command, powershell_word};
use super::envelope::{Envelope, Reply, permission};
use super::headless::{Headless, plain, words};
use super::identity::{EnvReference, Identity, UsersFolder};
use super::json::{arguments, as_given, as_object};
use super::payload::{Fields, Payload};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, SettingsFile, Transport,
    table_of_events, typed_entry,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::{Environment, HookScope};

/// GitHub Copilot CLI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copilot;

/// `mcp-config.json` takes comments and trailing commas, `.mcp.json` neither (both run).
const USER_MCP_RULES: JsonRules = JsonRules { comments: true, trailing_commas: true, bom: true };

/// The server that Copilot brings along (GitHub's documentation), for splitting its tools' names.
const OWN_SERVER: &str = "github-mcp-server";

/// In the CLI's own words, then as hooks under Claude Code's event names get them. Nothing names an
/// event but its moment, which two hooks of the same event are told alike (run).
const FIELDS: Fields = Fields {
    session_id: &["sessionId", "session_id"],
    tool_name: &["toolName", "tool_name"],
    tool_input: &["toolArgs", "tool_input"],
    tool_response: &["toolResult", "tool_result"],
    moment: &["timestamp"],
    ..Fields::COMMON
};

/// As offered to the model in a run; `powershell`, `shell`, `str_replace` and `web_fetch` are in
/// GitHub's documentation (hooks, tools). `command`, `pattern`, `glob`, `url` and `skill` have their
/// canonical names.
const TOOLS: &[Tool] = &[
    // `powershell` is the same on Windows; permission rules call it `shell`.
    Tool::new("Bash", &["bash", "powershell", "shell"]),
    Tool::new("Read", &["view"]).fields(&[("file_path", "path")]),
    Tool::new("Write", &["create"]).fields(&[("file_path", "path"), ("content", "file_text")]),
    // The second is the older name.
    Tool::new("Edit", &["edit", "str_replace"]).fields(&[
        ("file_path", "path"),
        ("old_string", "old_str"),
        ("new_string", "new_str"),
    ]),
    // What some of OpenAI's models are offered instead.
    Tool::new("Edit", &[PATCH]).files(patched_files),
    Tool::new("Glob", &["glob"]),
    // The second is what some of OpenAI's models are offered instead.
    Tool::new("Grep", &["grep", "rg"]),
    Tool::new("WebFetch", &["web_fetch"]),
    Tool::new("Skill", &["skill"]),
];

/// The files of a patch, which is the text of whatever field there is: this tool's arguments are no
/// object, but may be written as one.
fn patched_files(input: &Map<String, Value>) -> Vec<String> {
    input.keys().flat_map(|field| tools::patched_files(input, field)).collect()
}

/// What some models get instead of `view`, `create` and `edit`, with the same fields (its program
/// names it beside those).
const EDITOR: &str = "str_replace_editor";

/// The tool whose input is the patch's text, and no object (run).
const PATCH: &str = "apply_patch";

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    // It prints its answer, and does not tell what that took (as version 1.0.102 does).
    headless: Some(Headless {
        args: |prompt| words(&["-p", &prompt, "--allow-tool", "write"]),
        read: plain,
    }),
    programs: &["copilot"],
    home_folder: ".copilot",
    skill_dirs: &[".agents/skills", ".claude/skills", ".github/skills"],
    users_skills: &[
        UsersFolder::moved_by("COPILOT_HOME", ".copilot", "skills"),
        UsersFolder::in_home(".agents/skills"),
    ],
    own_names: &[".copilot", ".github"],
    tells_skill_reads: true,
    verified_version: Some("1.0.102"),
    // Then it goes on (`timeoutSec`; also its default).
    hook_timeout: 30,
    fields: FIELDS,
    answer_keys: &[
        "permissionDecision",
        "permissionDecisionReason",
        "modifiedArgs",
        "additionalContext",
        "decision",
        "reason",
    ],
    env_reference: Some(EnvReference::BRACES),
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("copilot", "GitHub Copilot")
};

impl Codec for Copilot {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse => "preToolUse",
            Event::PostToolUse => "postToolUse",
            Event::UserPromptSubmit => "userPromptSubmitted",
            Event::SessionStart => "sessionStart",
            Event::Stop => "agentStop",
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        for key in ["hook_event_name", "hookName"] {
            payload.expect_event(key, &[self.event_name(event), event.name()])?;
        }
        check_fields(&payload, event)?;
        // An object in the CLI; JSON in a string in its older versions and the cloud agent.
        payload.decode(&FIELDS, |name, input| canonical(name, &arguments(input)))
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::Stop, Capability::Context) => Support::LATER,
            (_, Capability::Context) => Support::Yes,
            // A denial would be the contrary.
            (Event::Stop, Capability::Stop) => Support::No,
            (_, Capability::Message) | (Event::SessionStart, _) => Support::No,
            (_, Capability::Stop) => Support::REFUSED,
            (Event::PreToolUse, _) | (_, Capability::Deny) => Support::Yes,
            (_, Capability::Ask | Capability::Allow | Capability::Rewrite) => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::with_extra(self.event_name(event), &outcome.extra);
        match (event, outcome.refusal()) {
            (Event::PreToolUse, refusal) => encode_tool_use(&mut envelope, outcome, refusal),
            (Event::PostToolUse | Event::UserPromptSubmit, Some(reason)) => {
                envelope.top("decision", "block");
                envelope.top("reason", reason);
            }
            // To end the turn is what the agent is about to do.
            (Event::Stop, Some(_)) if outcome.decision == Some(Decision::Deny) => {
                envelope.top("decision", "block");
                envelope.top("reason", outcome.reason());
            }
            _ => {}
        }
        if let Some(context) = outcome.context_text().filter(|_| self.delivers_context(event)) {
            envelope.top("additionalContext", context);
        }
        envelope.answer()
    }

    fn example(&self, event: Event, mut fields: Map<String, Value>) -> Map<String, Value> {
        // Nothing but its fields says which event it is.
        if event == Event::Stop {
            fields.insert("stopReason".to_owned(), "end_turn".into());
        }
        fields
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        let mut reply = Reply::parse(answer.stdout).unwrap_or_default();
        let mut outcome = match event {
            Event::PreToolUse => read_permission(&mut reply),
            Event::PostToolUse | Event::UserPromptSubmit | Event::Stop => read_block(&mut reply),
            Event::SessionStart => Outcome::default(),
        };
        match answer.exit {
            Some(0) => {}
            Some(2) if event != Event::SessionStart => {
                let said = outcome.reasons.join("\n");
                return Outcome::denied(if said.is_empty() { answer.stderr } else { &said });
            }
            // Copilot would take a failure for a denial; here it is one only in so many words.
            Some(_) if outcome.decision == Some(Decision::Deny) => return outcome,
            Some(_) | None => return Outcome::default(),
        }
        outcome.context.extend(reply.top_text("additionalContext"));
        outcome.extra = reply.rest();
        outcome
    }

    fn native_input(&self, decoded: &Decoded, updated: &Map<String, Value>) -> Map<String, Value> {
        match tools::native_of(decoded) {
            (PATCH, before @ Value::String(_)) => {
                let text = updated.get("command").filter(|text| text.is_string());
                as_object(text.unwrap_or(before))
            }
            _ => tools::native(TOOLS, decoded, updated),
        }
    }

    fn split_mcp_name<'a>(&self, native: &'a str, servers: &[&str]) -> Option<(&'a str, &'a str)> {
        tools::split_known(native, "-", servers.iter().copied().chain([OWN_SERVER]))
    }
}

impl Registration for Copilot {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let folder = placement.path(
            placement.is_global(),
            || user_folder(placement).join("hooks"),
            // From a sub-folder the hooks of the checkout's top are read (run).
            |root| placement.git_root.unwrap_or(root).join(".github").join("hooks"),
        );
        let powershell = powershell_word(placement.program);
        let entry = |event: Event| {
            json!([{
                "type": "command",
                "bash": hook_command(self.name(), event, placement.program, true),
                "powershell": powershell_command(self.name(), event, &powershell, true),
                "timeoutSec": self.registered_timeout(event),
            }])
        };
        // No matcher: Copilot's are whole-name regular expressions, and `*` or "" never fires.
        let file = json!({ "version": 1, "hooks": table_of_events(self, placement, entry) });
        let place = |dir: PathBuf| HookPlace::own_json(dir.join("symposium.json"), &file);
        folder.map(place).into_iter().collect()
    }

    fn server(
        &self,
        _: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        let place = |path: PathBuf, rules, value, users_keys| {
            ServerPlace::entry(Some(path), FileFormat::Json(rules), "mcpServers", value, users_keys)
        };
        if everywhere {
            let path = user_folder(placement).join("mcp-config.json");
            return place(path, USER_MCP_RULES, own_entry(transport), &["tools"]);
        }
        let Some(root) = placement.root else { return ServerPlace::no_workspace() };
        let shared = root.join(".mcp.json");
        // Of the two, Copilot reads only `.mcp.json` where there is one (run).
        let place = if placement.scope == HookScope::Project || shared.exists() {
            place(shared, JsonRules::STRICT, typed_entry(transport), &[])
        } else {
            let path = root.join(".github").join("mcp.json");
            place(path, JsonRules::STRICT, own_entry(transport), &["tools"])
        };
        let note = "Copilot reads a project's servers only in a folder that you trust";
        place.noted(Some(note))
    }

    fn settings(&self, placement: &Placement<'_>) -> Vec<SettingsFile> {
        let files = ["settings.json", "config.json"].map(|name| user_folder(placement).join(name));
        let format = FileFormat::Json(USER_MCP_RULES);
        files.map(|path| SettingsFile { path, format, has_hooks: false }).to_vec()
    }
}

/// `~/.copilot`, or what `COPILOT_HOME` puts in its place (its changelog; not run).
fn user_folder(placement: &Placement<'_>) -> PathBuf {
    placement.agent_dir("COPILOT_HOME", ".copilot")
}

/// An entry in a file that only Copilot reads. Claude Code, which reads `.mcp.json` too, does not
/// know `local`; what stands there is what both take, so that both agents want the same entry.
fn own_entry(transport: &Transport) -> Value {
    let mut entry = typed_entry(transport);
    if matches!(transport, Transport::Stdio { .. }) {
        entry["type"] = "local".into();
    }
    entry["tools"] = json!(["*"]);
    entry
}

/// Payloads of hooks registered in camel case do not name their event: the fields tell.
fn check_fields(payload: &Payload, event: Event) -> Result<(), WireError> {
    let tool = payload.has(FIELDS.tool_name);
    let fits = match event {
        Event::PreToolUse => tool && !payload.has(FIELDS.tool_response),
        Event::PostToolUse => tool,
        Event::UserPromptSubmit => payload.has(FIELDS.prompt),
        Event::Stop => !tool && payload.has(&["stopReason", "stop_reason"]),
        Event::SessionStart => {
            !tool && !payload.has(&["prompt", "reason", "stopReason", "stop_reason"])
        }
    };
    if fits { Ok(()) } else { Err(payload.error("its fields are not those of the event")) }
}

/// No built-in tool has a hyphen in its name, so `server-tool` is a server's. Which hyphen parts them
/// is a guess where we don't know the server: the last, for servers like their hyphens and tools
/// their underscores.
fn canonical(name: &str, input: &Value) -> (String, Value) {
    if name == PATCH && input.is_string() {
        // As Codex, where this tool is from, tells of it.
        return tools::canonical(TOOLS, name, &json!({ "command": input }));
    }
    let name = if name == EDITOR { tools::editors_tool(name, input) } else { name };
    if tools::find(TOOLS, name).is_some() {
        return tools::canonical(TOOLS, name, input);
    }
    let known = Copilot.split_mcp_name(name, &[]);
    let name = match known.or_else(|| tools::split_last(name, "-")) {
        Some((server, tool)) => tools::mcp_name(server, tool),
        None => name.to_owned(),
    };
    (name, input.clone())
}

/// What stands in an answer to `preToolUse` about the tool's use.
fn encode_tool_use(envelope: &mut Envelope, outcome: &Outcome, refusal: Option<String>) {
    let mut say = |decision: &str, reason: Option<String>| {
        envelope.top("permissionDecision", decision);
        if let Some(reason) = reason {
            envelope.top("permissionDecisionReason", reason);
        }
    };
    match (refusal, outcome.decision) {
        // Nothing is run, so there is nothing to rewrite.
        (Some(reason), _) => return say("deny", Some(reason)),
        (None, Some(Decision::Ask)) => say("ask", Some(outcome.ask_reason())),
        (None, Some(Decision::Allow)) => say("allow", outcome.given_reason()),
        (None, _) => {}
    }
    if let Some(input) = &outcome.updated_input {
        envelope.top("modifiedArgs", as_given(input));
    }
}

fn read_permission(reply: &mut Reply) -> Outcome {
    Outcome {
        decision: permission(reply.top_text("permissionDecision").as_deref()),
        reasons: reply.top_text("permissionDecisionReason").into_iter().collect(),
        updated_input: match reply.top("modifiedArgs") {
            Some(input @ (Value::Object(_) | Value::String(_))) => Some(as_object(&input)),
            _ => None,
        },
        ..Outcome::default()
    }
}

fn read_block(reply: &mut Reply) -> Outcome {
    if reply.top_text("decision").as_deref() != Some("block") {
        return Outcome::default();
    }
    Outcome::denied(&reply.top_text("reason").unwrap_or_default())
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
