//! Hooks of a Claude package.

use std::time::Duration;

use serde_json::{Map, Value};
use symposium_hook::Event;

use super::draft::{Draft, strings};
use crate::agents::Agent;
use crate::plugins::manifest::compile_matcher;
use crate::plugins::model::{Gate, Hook, Installation, OnFailure, Runnable};

/// How long a hook may take at most, and where it does not say, in seconds.
const LONGEST: u64 = 600;

/// Adds the hooks in `value`: an object of events, or one that holds it under `hooks`.
pub(super) fn read(draft: &mut Draft<'_>, file: &str, value: &Value) {
    let events = match value.get("hooks") {
        Some(hooks) => hooks,
        None => value,
    };
    let Value::Object(events) = events else {
        return draft.mistake(format!("`{file}`"), "it has no object of hooks");
    };
    for (name, groups) in events {
        if ["description", "$schema"].contains(&name.as_str()) {
            continue;
        }
        let Some(event) = Event::from_name(name) else {
            let what = format!("hooks on `{}`", crate::report::fit(name, 80));
            draft.leave(what, "Symposium has no such event");
            continue;
        };
        let Value::Array(groups) = groups else {
            draft.mistake(format!("hooks on `{name}`"), "they are no list");
            continue;
        };
        for group in groups {
            of_group(draft, event, group);
        }
    }
}

fn of_group(draft: &mut Draft<'_>, event: Event, group: &Value) {
    let what = format!("a hook on `{}`", event.name());
    let Some(Value::Array(handlers)) = group.get("hooks") else {
        return draft.mistake(what, "its group has no list `hooks`");
    };
    let matcher = match group.get("matcher") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => matcher(event, text),
        Some(_) => Err("its `matcher` is no string".to_owned()),
    };
    let matcher = match matcher {
        Ok(matcher) => matcher,
        Err(why) => return draft.mistake(what, why),
    };
    for handler in handlers {
        match command_of(handler) {
            Ok(command) => add(draft, event, matcher.clone(), (command, handler)),
            Err((why, true)) => draft.mistake(what.clone(), why),
            Err((why, false)) => draft.leave(what.clone(), why),
        }
    }
}

/// Claude's matchers in our words, which compare the whole name: names with `|` or `,` between them,
/// and expressions that match anywhere in the name.
fn matcher(event: Event, text: &str) -> Result<Option<String>, String> {
    let text = text.trim();
    let has_names = event.is_tool_event() || event == Event::SessionStart;
    if !has_names || text.is_empty() || text == "*" {
        return Ok(None);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | ',' | ' ');
    if text.chars().all(is_name) {
        let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        return Ok(Some(names.collect::<Vec<_>>().join("|")));
    }
    let has_choices = text.contains('|');
    let before = if text.starts_with('^') && !has_choices { "" } else { ".*" };
    let after =
        if (text.ends_with('$') || text.ends_with(".*")) && !has_choices { "" } else { ".*" };
    let inner = if has_choices { format!("(?:{text})") } else { text.to_owned() };
    // By itself first: an unbalanced parenthesis must not be closed by ours.
    let whole = format!("{before}{inner}{after}");
    match compile_matcher(text).and_then(|_| compile_matcher(&whole)) {
        Ok(_) => Ok(Some(whole)),
        Err(error) => {
            let shown = crate::report::fit(text, 80);
            Err(format!("its matcher `{shown}` is none that Symposium reads: {error}"))
        }
    }
}

/// The command of a handler.
///
/// # Errors
/// Why there is none, and whether that is its author's mistake.
fn command_of(handler: &Value) -> Result<String, (String, bool)> {
    let Value::Object(handler) = handler else { return Err(("it is no object".to_owned(), true)) };
    match handler.get("type").and_then(Value::as_str) {
        Some("command") => {}
        Some(other) => {
            let other = crate::report::fit(other, 80);
            return Err((format!("its type is `{other}`, and only commands are run"), false));
        }
        None => return Err(("it has no `type`".to_owned(), true)),
    }
    let is_on = |key: &str| handler.get(key) == Some(&Value::Bool(true));
    if is_on("async") || is_on("asyncRewake") {
        return Err((
            "it runs in the background, so that nobody waits for its answer".to_owned(),
            false,
        ));
    }
    if handler.contains_key("if") {
        let why = "its `if` is a rule of Claude Code's permissions, which Symposium does not have";
        return Err((why.to_owned(), false));
    }
    if handler.get("shell").is_some_and(|shell| shell != "bash") {
        return Err(("it is for another shell than `sh`".to_owned(), false));
    }
    let Some(command) =
        handler.get("command").and_then(Value::as_str).filter(|c| !c.trim().is_empty())
    else {
        return Err(("it has no `command`".to_owned(), true));
    };
    let whole = with_args(handler, command)
        .ok_or(("its `args` are no list of strings".to_owned(), true))?;
    if whole.contains(super::USER_OPTION) {
        return Err((super::ASKS_OPTIONS.to_owned(), false));
    }
    Ok(whole)
}

/// With `args` the program is started without a shell: its words are quoted. A folder that is to be
/// put in is put in by the shell.
fn with_args(handler: &Map<String, Value>, command: &str) -> Option<String> {
    let Some(args) = handler.get("args") else { return Some(command.to_owned()) };
    let args = strings(args).filter(|_| args.is_array())?;
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    let quoted = words.map(quoted).collect::<Vec<_>>().join(" ");
    Some(format!("exec {quoted}"))
}

/// One word of the shell; only `${NAME}` of a package's folders is left to it.
fn quoted(word: &str) -> String {
    let mut quoted = String::from("\"");
    let mut rest = word;
    while let Some(char) = rest.chars().next() {
        let name = rest.strip_prefix("${").and_then(|inner| inner.split_once('}')).map(|(n, _)| n);
        let is_folder = |name: &&str| {
            let name = name.strip_prefix("CLAUDE_").unwrap_or(name);
            ["PLUGIN_ROOT", "PLUGIN_DATA", "PROJECT_DIR"].contains(&name)
        };
        if let Some(name) = name.filter(is_folder) {
            let length = name.len() + 3;
            quoted.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        if matches!(char, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(char);
        rest = &rest[char.len_utf8()..];
    }
    quoted.push('"');
    quoted
}

fn add(
    draft: &mut Draft<'_>,
    event: Event,
    matcher: Option<String>,
    (command, handler): (String, &Value),
) {
    let count = draft.hooks.iter().filter(|known| known.event == event).count();
    let name = format!("{}-{}", event.name(), count + 1);
    let seconds = match handler.get("timeout").map(Value::as_f64) {
        None => LONGEST as f64,
        Some(Some(seconds)) if seconds > 0.0 => seconds.min(LONGEST as f64),
        Some(_) => {
            let why = format!("it is no number above 0; {LONGEST} seconds are used");
            draft.mistake(format!("the timeout of a hook on `{}`", event.name()), why);
            LONGEST as f64
        }
    };
    draft.installations.push(Installation {
        name: name.clone(),
        source: None,
        install_commands: Vec::new(),
        requirements: Vec::new(),
        runnable: Some(Runnable::Shell),
        args: Some(vec!["-c".to_owned(), command]),
    });
    draft.hooks.push(Hook {
        name: name.clone(),
        gate: Gate::default(),
        event,
        matcher,
        command: name,
        runnable: None,
        args: None,
        requirements: Vec::new(),
        agent: None,
        format: Agent::Claude.name().to_owned(),
        is_portable: true,
        timeout: Duration::from_secs_f64(seconds),
        on_failure: OnFailure::Continue,
        detach: false,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &str, name: &str) -> bool {
        let ours = matcher(Event::PreToolUse, text).expect(text).unwrap_or_default();
        compile_matcher(&ours).expect("compiles").matches(&[name])
    }

    #[test]
    fn matchers_match_what_they_match_in_claude_code() {
        for (text, name, expected) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            ("Bash", "Bash", true),
            ("Ba", "Bash", false),
            ("bash", "Bash", false),
            ("Bash|Edit", "Edit", true),
            ("Bash, Edit", "Edit", true),
            ("Bash|Edit", "MultiEdit", false),
            ("^Bash$", "Bash", true),
            ("^Notebook", "NotebookEdit", true),
            ("^Notebook", "xNotebook", false),
            ("Edit$", "MultiEdit", true),
            ("Bas.", "Bash", true),
            ("^Edit$|^Write$", "Write", true),
            ("^Edit$|^Write$", "MultiEdit", false),
            ("mcp__echo", "mcp__echo__ping", false),
            ("mcp__echo__.*", "mcp__echo__ping", true),
            ("mcp__.*__write.*", "mcp__fs__write_file", true),
        ] {
            assert_eq!(matches(text, name), expected, "{text} {name}");
        }
        assert!(matcher(Event::PreToolUse, "a)(b").is_err());
        assert!(matcher(Event::PreToolUse, "(?=x)").is_err());
        assert_eq!(matcher(Event::UserPromptSubmit, "["), Ok(None));
    }

    #[test]
    fn a_word_stays_one_word_and_folders_are_put_in_by_the_shell() {
        for (word, expected) in [
            ("node", "\"node\""),
            ("a b", "\"a b\""),
            ("$(touch x) `y` \"z\" \\", "\"\\$(touch x) \\`y\\` \\\"z\\\" \\\\\""),
            ("${CLAUDE_PLUGIN_ROOT}/x", "\"${CLAUDE_PLUGIN_ROOT}/x\""),
            ("${HOME}", "\"\\${HOME}\""),
        ] {
            assert_eq!(quoted(word), expected, "{word}");
        }
    }
}
