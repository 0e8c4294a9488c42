//! Which event a plugin is fed: the one that the command line says, else one that each of its hooks
//! asks for.

use std::path::Path;

use serde_json::{Value, json};
use symposium_hook::Event;

use super::event::Stimulus;
use super::suite::event_named;
use crate::cli::author_args::TestArgs;
use crate::files::{Limit, read_bytes};
use crate::plugins::model::Plugin;
use crate::text::Diagnostic;

/// What the command line says; `None` where it says nothing of an event.
///
/// # Errors
/// It says something that makes no event.
pub(super) fn said(cwd: &Path, args: &TestArgs) -> Result<Option<Stimulus>, Diagnostic> {
    let says = args.event.is_some() || args.tool.is_some() || args.input.is_some();
    if !says && args.captured.is_none() {
        return Ok(None);
    }
    let event = args.event.as_deref().map_or(Ok(Event::PreToolUse), event_named)?;
    let mut stimulus = Stimulus::harmless(event);
    if let Some(tool) = &args.tool {
        stimulus.tool.clone_from(tool);
        stimulus.input = input_of(tool);
    }
    if let Some(text) = &args.input {
        stimulus.input = input(event, &stimulus.tool, text)?;
    }
    if let Some(path) = &args.captured {
        let path = cwd.join(path);
        let read = read_bytes(&path, Limit::OURS);
        stimulus.captured = Some(read.map_err(|error| error.diagnose("this event", &path))?);
        if args.agent.len() != 1 || args.agent[0] == "all" {
            return Err(Diagnostic::error("whose event is it that was captured?")
                .note("name its agent: `--agent claude`, or `--agent symposium`"));
        }
    }
    Ok(Some(stimulus))
}

/// A prompt as it stands; a tool's input as JSON, or the command of a shell as it stands.
fn input(event: Event, tool: &str, text: &str) -> Result<Value, Diagnostic> {
    if event == Event::UserPromptSubmit {
        return Ok(text.into());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        _ if tool == "Bash" => Ok(json!({ "command": text })),
        _ => Err(Diagnostic::error(format!("the input of `{tool}` must be a JSON object"))
            .note("for example `--input '{\"file_path\": \"src/lib.rs\"}'`")),
    }
}

/// An event for each of the plugin's hooks, as harmless as can be.
pub(super) fn of_hooks(plugin: &Plugin) -> Vec<Stimulus> {
    let mut stimuli: Vec<Stimulus> = Vec::new();
    for hook in &plugin.hooks {
        let mut stimulus = Stimulus::harmless(hook.event);
        if let Some(tool) = hook.matcher.as_deref().and_then(a_tool) {
            stimulus.tool = tool.to_owned();
            stimulus.input = input_of(tool);
        }
        if !stimuli.contains(&stimulus) {
            stimuli.push(stimulus);
        }
    }
    stimuli
}

/// The first tool that a matcher names in so many words.
fn a_tool(matcher: &str) -> Option<&str> {
    let first = matcher.split('|').next()?.trim_matches(['^', '$', '(', ')', ' ']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (!first.is_empty() && first.chars().all(is_name)).then_some(first)
}

/// An input that a tool could get.
fn input_of(tool: &str) -> Value {
    let file = "src/lib.rs";
    match tool {
        "Bash" => json!({ "command": "echo hello" }),
        "Read" => json!({ "file_path": file }),
        "Write" => json!({ "file_path": file, "content": "// hello\n" }),
        "Edit" => json!({ "file_path": file, "old_string": "a", "new_string": "b" }),
        "Glob" => json!({ "pattern": "**/*.rs" }),
        "Grep" => json!({ "pattern": "hello" }),
        "WebFetch" => json!({ "url": "https://example.com/" }),
        "WebSearch" => json!({ "query": "hello" }),
        "Skill" => json!({ "skill": "hello" }),
        _ => json!({}),
    }
}
