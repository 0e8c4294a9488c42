//! Qwen Code.
//!
//! What is stated here was measured with version 0.24.4, or stands in the documentation that its package
//! brings (`bundled/qc-helper/docs`: features/hooks, features/mcp, configuration/settings).

pub(super) mod checkup;
mod headless;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use symposium_hook::{Decision, Event};

use super::codec::Codec;
use super::command::{Shell, looking_command, powershell_command};
use super::envelope::{Envelope, Reply, blocked, decide, permission};
use super::identity::{EnvReference, Identity, UsersFolder};
use super::payload::{Fields, Payload};
use super::places::{
    FileFormat, HookPlace, JsonRules, Placement, ServerPlace, SettingsFile, Transport, string_map,
};
use super::registration::Registration;
use super::tools::{self, Tool};
use super::wire::{Answer, Capability, ChildAnswer, Decoded, Outcome, Support, WireError};
use crate::config::Environment;

/// Qwen Code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Qwen;

/// What comes instead of `PostToolUse` where a tool failed.
const FAILURE: &str = "PostToolUseFailure";

/// From captured payloads. An event has its moment, the same for every handler.
const FIELDS: Fields = Fields { moment: &["timestamp"], ..Fields::COMMON };

/// What the user wrote, where Qwen is sure of it.
const SUBMITTED: &str = "submitted_prompt";

/// Its tools, from captured payloads and from what it offers to the model. A tool of a server has its
/// canonical name already.
const TOOLS: &[Tool] = &[
    Tool::new("Bash", &["run_shell_command"]),
    Tool::new("Read", &["read_file"]),
    Tool::new("Write", &["write_file"]),
    // The second is the older name.
    Tool::new("Edit", &["edit", "replace"]),
    Tool::new("NotebookEdit", &["notebook_edit"]).fields(&[("file_path", "notebook_path")]),
    Tool::new("Glob", &["glob"]),
    // The second is the older name.
    Tool::new("Grep", &["grep_search", "search_file_content"]),
    Tool::new("WebFetch", &["web_fetch"]),
    Tool::new("WebSearch", &["web_search"]),
    Tool::new("Skill", &["skill"]),
];

/// It takes comments and a byte order mark; with a trailing comma it does not start.
const RULES: JsonRules = JsonRules { comments: true, trailing_commas: false, bom: true };

/// Its names and folders.
pub(super) static IDENTITY: Identity = Identity {
    headless: Some(headless::HEADLESS),
    programs: &["qwen"],
    home_folder: ".qwen",
    skill_dirs: &[".agents/skills", ".qwen/skills"],
    users_skills: &[
        UsersFolder::moved_by("QWEN_HOME", ".qwen", "skills"),
        UsersFolder::in_home(".agents/skills"),
    ],
    own_names: &[".qwen", "QWEN.md", "AGENTS.md"],
    tells_skill_reads: true,
    verified_version: Some("0.24.4"),
    // The same name and command run once.
    runs_both_scopes: false,
    failure_event: Some(FAILURE),
    fields: FIELDS,
    answer_keys: Identity::CLAUDES_ANSWER,
    env_reference: Some(EnvReference::BRACES),
    project_variable: Some("QWEN_PROJECT_DIR"),
    has_stop: true,
    tools: TOOLS,
    ..Identity::new("qwen", "Qwen Code")
};

/// Keys of a server's entry that are the user's to set.
const USERS_KEYS: &[&str] = &[
    "disabled",
    "cwd",
    "timeout",
    "discoveryTimeoutMs",
    "trust",
    "description",
    "includeTools",
    "excludeTools",
    "versionNegotiation",
];

impl Codec for Qwen {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn event_name(&self, event: Event) -> &'static str {
        event.name()
    }

    fn decode(&self, event: Event, stdin: &[u8], _: &Environment) -> Result<Decoded, WireError> {
        let mut payload = Payload::parse(self.name(), event, stdin)?;
        let failed = event == Event::PostToolUse
            && payload.text("hook_event_name").is_some_and(|name| name == FAILURE);
        let name = if failed { FAILURE } else { self.event_name(event) };
        payload.expect_event("hook_event_name", &[name])?;
        if failed {
            // What a command printed begins behind this word; errors are looked for at the start of lines.
            let error = payload.text("error").unwrap_or_default();
            let error = error.replacen("\nOutput: ", "\nOutput:\n", 1);
            payload.default_text("tool_response", &error);
        }
        let decoded =
            payload.decode(&FIELDS, |name, input| tools::canonical(TOOLS, name, input))?;
        // It tells of a prompt whenever it sends something to its model, a tool's result too: then the
        // prompt is empty, and is nobody's.
        let is_resent = event == Event::UserPromptSubmit
            && payload.text("prompt").is_some_and(str::is_empty)
            && payload.text(SUBMITTED).is_none();
        Ok(Decoded { foreign: is_resent, failed, ..decoded })
    }

    fn support(&self, event: Event, capability: Capability) -> Support {
        match (event, capability) {
            (Event::PreToolUse, Capability::Context) => Support::Instead("words beside the result"),
            (Event::Stop, Capability::Context) => Support::LATER,
            (_, Capability::Context)
            | (Event::PreToolUse, Capability::Ask)
            | (Event::Stop, Capability::Message) => Support::Yes,
            (Event::SessionStart, _) | (Event::Stop, Capability::Stop) => Support::No,
            (_, Capability::Deny) => Support::Yes,
            (_, Capability::Stop) => Support::REFUSED,
            // It documents `updatedInput`, and runs the old one; it has asked its user by the time that
            // "allow" is said.
            (
                _,
                Capability::Ask | Capability::Allow | Capability::Rewrite | Capability::Message,
            ) => Support::No,
        }
    }

    fn encode(&self, event: Event, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::with_extra(self.event_name(event), &outcome.extra);
        match event {
            Event::PreToolUse => encode_tool_use(&mut envelope, outcome),
            Event::PostToolUse => {
                // A "block" changes nothing here; a result that is to end the run is replaced by the
                // reason, and the run goes on. Then it drops what is said besides.
                if let Some(reason) = outcome.refusal() {
                    let whole = [Some(reason), outcome.context_text()];
                    let whole: Vec<String> = whole.into_iter().flatten().collect();
                    envelope.top("continue", false);
                    envelope.top("stopReason", whole.join("\n\n"));
                    return envelope.answer();
                }
            }
            Event::UserPromptSubmit => {
                if let Some(reason) = outcome.refusal() {
                    block(&mut envelope, reason);
                }
            }
            // `continue: false` would have it go on.
            Event::Stop => {
                if outcome.decision == Some(Decision::Deny) {
                    block(&mut envelope, outcome.reason());
                }
                envelope.user_message(outcome);
            }
            Event::SessionStart => {}
        }
        if self.delivers_context(event) {
            envelope.context(outcome);
        }
        envelope.answer()
    }

    fn encode_failure(&self, outcome: &Outcome) -> Answer {
        let mut envelope = Envelope::new(FAILURE);
        envelope.context(outcome);
        envelope.answer()
    }

    fn delivers_context(&self, event: Event) -> bool {
        // Before a tool it is read and dropped.
        !matches!(event, Event::PreToolUse | Event::Stop)
    }

    fn decode_answer(&self, event: Event, answer: &ChildAnswer<'_>) -> Outcome {
        let (out, err) = (answer.stdout.trim(), answer.stderr.trim());
        let name = self.event_name(event);
        let read = |text| Reply::parse(text).map(|reply| read_reply(event, reply.for_event(name)));
        match answer.exit {
            // Standard output does not count then.
            Some(2) => {
                let mut outcome = read(err).unwrap_or_default();
                let reason = if outcome.is_empty() { err } else { "" };
                blocked(&mut outcome, reason);
                outcome
            }
            // JSON counts at any other exit code, and on standard error when nothing else is said.
            Some(exit) => read(if out.is_empty() { err } else { out }).unwrap_or_else(|| {
                let takes = matches!(event, Event::SessionStart | Event::UserPromptSubmit);
                let is_context = exit == 0 && takes && !out.is_empty() && !out.starts_with('{');
                let context = is_context.then(|| out.to_owned()).into_iter().collect();
                Outcome { context, ..Outcome::default() }
            }),
            None => Outcome::default(),
        }
    }
}

impl Registration for Qwen {
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
        ServerPlace::entry(path, FileFormat::Json(RULES), "mcpServers", value, USERS_KEYS).noted(
            (!everywhere).then_some(
                "Qwen Code asks each user before it starts servers of a project's settings",
            ),
        )
    }

    fn settings(&self, placement: &Placement<'_>) -> Vec<SettingsFile> {
        let path = trusted_folders(placement);
        vec![SettingsFile { path, format: FileFormat::Json(RULES), has_hooks: false }]
    }
}

/// Nothing is on the screen where our program is missing. Its exit code stays: what a crash leaves on
/// standard output would be context with exit code 0. Name and command are alike in both scopes, so that
/// they run once. A limit of 1000 and more is in milliseconds for all versions. On Windows the shell would
/// be the one that Qwen was started from.
fn group(event: Event, program: &str, shell: Shell) -> Value {
    let command = match shell {
        Shell::PowerShell => powershell_command(IDENTITY.name, event, program, false),
        Shell::Posix | Shell::GitBash => looking_command(IDENTITY.name, event, program),
    };
    let mut hook = json!({
        "name": "symposium",
        "type": "command",
        "command": command,
        "timeout": IDENTITY.hook_timeout * 1000,
    });
    if shell == Shell::PowerShell {
        hook["shell"] = "powershell".into();
    }
    json!({ "hooks": [hook] })
}

fn settings(placement: &Placement<'_>, is_users: bool) -> Option<PathBuf> {
    placement.path(is_users, || user_settings(placement), project_settings)
}

/// `QWEN_HOME` replaces `~/.qwen`.
fn user_settings(placement: &Placement<'_>) -> PathBuf {
    placement.agent_dir("QWEN_HOME", ".qwen").join("settings.json")
}

fn project_settings(root: &Path) -> PathBuf {
    root.join(".qwen").join("settings.json")
}

fn trusted_folders(placement: &Placement<'_>) -> PathBuf {
    user_settings(placement).with_file_name("trustedFolders.json")
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

fn encode_tool_use(envelope: &mut Envelope, outcome: &Outcome) {
    let (decision, reason) = match (outcome.refusal(), outcome.decision) {
        (Some(reason), _) => ("deny", reason),
        // Without a screen it is a denial, and the reason is for the model.
        (None, Some(Decision::Ask)) => ("ask", outcome.cannot_ask_reason()),
        (None, _) => return,
    };
    envelope.inner("permissionDecision", decision);
    envelope.inner("permissionDecisionReason", reason);
}

fn block(envelope: &mut Envelope, reason: String) {
    envelope.top("decision", "block");
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
        let reason = reply.inner_text("permissionDecisionReason");
        let word = reply.inner_text("permissionDecision");
        decide(&mut outcome, permission(word.as_deref()), reason);
        outcome.updated_input = reply.inner_object("updatedInput");
    }
    outcome.extra = reply.rest();
    outcome
}

#[cfg(test)]
pub(super) mod emulator;
#[cfg(test)]
mod tests;
