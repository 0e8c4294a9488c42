//! Gemini CLI.
//!
//! What is stated here was measured with version 0.61.0, or stands in Google's reference
//! (geminicli.com/docs/hooks/reference, …/tools/file-system, …/tools/shell,
//! …/reference/configuration).

pub(super) mod checkup;
mod headless;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use symposium_hook::{Decision, Event};

use super::codec::Codec;
use super::command::{Shell, hook_command, powershell_command};
use super::envelope::{Envelope, Reply, blocked, decide};
use super::identity::{EnvReference, Identity, UsersFolder};
use super::payload::{Fields, Payload, merge_input};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, SettingsFile, Transport, string_map,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::Environment;

/// Gemini CLI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gemini;

/// From captured payloads. Nothing names an event but its moment, which two hooks of the same event
/// are told alike (run).
const FIELDS: Fields =
    Fields { moment: &["timestamp"], last_message: &["prompt_response"], ..Fields::COMMON };

/// Its tools. `run_shell_command` was captured, the others are in the tools reference.
const TOOLS: &[Tool] = &[
    Tool::new("Bash", &["run_shell_command"]),
    Tool::new("Read", &["read_file"]).fields(FILE).files(opened_files),
    Tool::new("Read", &["read_many_files"]).files(read_files),
    Tool::new("Write", &["write_file"]).fields(FILE).files(opened_files),
    Tool::new("Edit", &["replace"]).fields(FILE).files(opened_files),
    Tool::new("Glob", &["glob"]).fields(&[("path", "dir_path")]),
    // The second is the older name.
    Tool::new("Grep", &["grep_search", "search_file_content"])
        .fields(&[("path", "dir_path"), ("glob", "include_pattern")]),
    // The address is somewhere in its `prompt`.
    Tool::new("WebFetch", &["web_fetch"]),
    Tool::new("WebSearch", &["google_web_search"]),
    Tool::new("Skill", &["activate_skill"]).fields(&[("skill", "name")]),
];

/// The second is the older name.
const FILE: &[(&str, &str)] = &[("file_path", "file_path"), ("file_path", "absolute_path")];

/// What is opened for a path that is written otherwise: Gemini drops zero bytes, and an `@` in front
/// unless there is a file of that name (its program's `resolveDefensiveToolPath`).
fn opened_files(input: &Map<String, Value>) -> Vec<String> {
    let written = FILE.iter().filter_map(|(_, native)| input.get(*native)?.as_str());
    let opened = written.map(|path| {
        let clean = path.replace('\0', "");
        let bare = clean.strip_prefix('@').map(|path| path.trim_start_matches(['/', '\\']));
        bare.map(str::to_owned).unwrap_or(clean)
    });
    opened.collect()
}

/// Paths and patterns of the tool that reads many files (google-gemini/gemini-cli,
/// `packages/core/src/tools/read-many-files.ts`); the second is the older name.
fn read_files(input: &Map<String, Value>) -> Vec<String> {
    ["include", "paths"].into_iter().flat_map(|field| tools::texts(input, field)).collect()
}

/// A trailing comma or a byte order mark keeps Gemini from starting at all.
const RULES: JsonRules = JsonRules { comments: true, trailing_commas: false, bom: false };

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    headless: Some(headless::HEADLESS),
    programs: &["gemini"],
    home_folder: ".gemini",
    skill_dirs: &[".agents/skills", ".gemini/skills"],
    users_skills: &[
        UsersFolder::moved_by("GEMINI_CLI_HOME", "", ".gemini/skills"),
        UsersFolder::moved_by("GEMINI_CLI_HOME", "", ".agents/skills"),
    ],
    own_names: &[".gemini", "GEMINI.md"],
    tells_skill_reads: true,
    verified_version: Some("0.61.0"),
    // The same name and command run once.
    runs_both_scopes: false,
    fields: FIELDS,
    answer_keys: Identity::CLAUDES_ANSWER,
    env_reference: Some(EnvReference::WITH_DEFAULT),
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("gemini", "Gemini CLI")
};

/// Keys of a server's entry that are the user's to set.
const USERS_KEYS: &[&str] = &[
    "disabled",
    "enabled",
    "cwd",
    "timeout",
    "trust",
    "description",
    "includeTools",
    "excludeTools",
];

impl Codec for Gemini {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        match event {
            Event::PreToolUse => "BeforeTool",
            Event::PostToolUse => "AfterTool",
            Event::UserPromptSubmit => "BeforeAgent",
            Event::SessionStart => "SessionStart",
            Event::Stop => "AfterAgent",
        }
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        payload.expect_event("hook_event_name", &[self.event_name(event)])?;
        payload.decode(&FIELDS, |name, input| canonical(&payload, name, input))
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::PreToolUse, Capability::Context) => Support::Instead("words beside the result"),
            (Event::Stop, Capability::Context) => Support::LATER,
            (_, Capability::Context | Capability::Message) => Support::Yes,
            (Event::SessionStart, _) => Support::No,
            (Event::PreToolUse, Capability::Ask) => Support::DENIED,
            (Event::PreToolUse, Capability::Rewrite) | (_, Capability::Deny | Capability::Stop) => {
                Support::Yes
            }
            (_, Capability::Ask | Capability::Allow | Capability::Rewrite) => Support::No,
        }
    }

    /// A new input is laid over the model's own by Gemini. So a rewrite changes fields and adds some,
    /// but can't take one away: a field that the new input lacks keeps its value, and no answer says
    /// otherwise.
    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::with_extra(self.event_name(event), &outcome.extra);
        match (event, outcome.decision) {
            // A session's start is never blocked.
            (Event::SessionStart, _) => {}
            (_, Some(Decision::Deny)) => deny(&mut envelope, outcome.reason()),
            // Gemini can't ask: without a screen it would hang.
            (Event::PreToolUse, Some(Decision::Ask)) => {
                deny(&mut envelope, outcome.cannot_ask_reason());
            }
            (Event::PreToolUse, _) => {
                if let Some(input) = &outcome.updated_input {
                    envelope.inner("tool_input", input.clone());
                }
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

    fn delivers_context(&self, event: Event) -> bool {
        // Before a tool it is read and dropped.
        !matches!(event, Event::PreToolUse | Event::Stop)
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        let Some(exit) = answer.exit else { return Outcome::default() };
        let (out, err) = (answer.stdout.trim(), answer.stderr.trim());
        // JSON counts at any exit code, and on standard error when nothing else is said.
        let json = if out.is_empty() { Reply::parse(err) } else { Reply::parse(out) };
        let is_json = json.is_some();
        let mut outcome = json.map_or_else(Outcome::default, |reply| {
            read_reply(event, reply.for_event(self.event_name(event)))
        });
        if exit == 2 {
            // The reason is the plain text, standard output's first.
            let reason = match (is_json, out.is_empty()) {
                (true, true) => "",
                (true, false) | (false, true) => err,
                (false, false) => out,
            };
            blocked(&mut outcome, reason);
        } else if exit == 0 && !is_json && !out.is_empty() {
            // Gemini shows plain text to the user.
            outcome.user_message = Some(out.to_owned());
        }
        outcome
    }

    /// What Gemini will run: the new input over the one that is there.
    fn replace_input(&self, stdin: &[u8], input: &Map<String, Value>) -> Option<Vec<u8>> {
        merge_input(stdin, &["tool_input"], input)
    }
}

impl Registration for Gemini {
    fn hooks(&self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let shell = self.shell(placement.windows);
        let path = settings(placement, placement.is_global());
        let group = |event| group(event, placement.program, shell);
        HookPlace::shared(self, placement, path, RULES, "hooks", group)
    }

    fn shell(&self, windows: bool) -> Shell {
        if windows { Shell::PowerShell } else { Shell::Posix }
    }

    fn server(
        &self,
        _: &str,
        transport: &Transport,
        everywhere: bool,
        placement: &Placement<'_>,
    ) -> ServerPlace {
        let path = settings(placement, everywhere);
        let value = server_entry(transport);
        ServerPlace::entry(path, FileFormat::Json(RULES), "mcpServers", value, USERS_KEYS)
    }

    fn settings(&self, placement: &Placement<'_>) -> Vec<SettingsFile> {
        let path = user_settings(placement).with_file_name("trustedFolders.json");
        vec![SettingsFile { path, format: FileFormat::Json(RULES), has_hooks: false }]
    }
}

/// Guarded: Gemini takes a missing program for a block, of every tool and every prompt. Name and
/// command are alike in both scopes, so that it runs them once.
fn group(event: Event, program: &str, shell: Shell) -> Value {
    let command = match shell {
        Shell::PowerShell => powershell_command(IDENTITY.name, event, program, true),
        Shell::Posix | Shell::GitBash => hook_command(IDENTITY.name, event, program, true),
    };
    json!({
        "hooks": [{
            "name": "symposium",
            "type": "command",
            "command": command,
            "timeout": IDENTITY.hook_timeout * 1000,
        }],
    })
}

fn settings(placement: &Placement<'_>, is_users: bool) -> Option<PathBuf> {
    placement.path(is_users, || user_settings(placement), project_settings)
}

/// `GEMINI_CLI_HOME` stands for the home folder, not for `~/.gemini`.
fn user_settings(placement: &Placement<'_>) -> PathBuf {
    project_settings(&placement.agent_dir("GEMINI_CLI_HOME", ""))
}

fn project_settings(root: &Path) -> PathBuf {
    root.join(".gemini").join("settings.json")
}

fn server_entry(transport: &Transport) -> Value {
    let (mut entry, key, pairs) = match transport {
        Transport::Stdio { command, args, env } => {
            (json!({ "command": command, "args": args }), "env", env)
        }
        Transport::Http { url, headers } => (json!({ "httpUrl": url }), "headers", headers),
        Transport::Sse { url, headers } => (json!({ "url": url }), "headers", headers),
    };
    if !pairs.is_empty() {
        entry[key] = string_map(pairs);
    }
    entry
}

fn canonical(payload: &Payload, name: &str, input: &Value) -> (String, Value) {
    let context = |key: &str| payload.get("mcp_context")?.get(key)?.as_str();
    // The joined name is cut and mended by Gemini; the context has the names as they are.
    let mcp = context("server_name")
        .zip(context("tool_name"))
        .or_else(|| tools::split_first(name.strip_prefix("mcp_")?, "_"));
    match mcp {
        Some((server, tool)) => (tools::mcp_name(server, tool), input.clone()),
        None => tools::canonical(TOOLS, name, input),
    }
}

fn deny(envelope: &mut Envelope, reason: String) {
    envelope.top("decision", "deny");
    envelope.top("reason", reason);
}

fn read_reply(event: Event, mut reply: Reply) -> Outcome {
    let mut outcome = Outcome::default();
    reply.common(&mut outcome);
    let reason = reply.top_text("reason");
    let decision = match reply.top_text("decision").as_deref() {
        Some("deny" | "block") => Some(Decision::Deny),
        Some("ask") => Some(Decision::Ask),
        Some("allow" | "approve") => Some(Decision::Allow),
        _ => None,
    };
    decide(&mut outcome, decision, reason);
    if event == Event::PreToolUse {
        outcome.updated_input = reply.inner_object("tool_input");
    }
    outcome.extra = reply.rest();
    outcome
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
