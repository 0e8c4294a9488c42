//! Ownership a hook handler or a server's entry is.

use std::borrow::Cow;

use serde_json::{Map, Value};
use symposium_hook::Event;

use crate::agents::command::is_ours;
use crate::documents::{Candidate, Entry, HandlerState, Record, hash_value};

/// Keys by which users switch a server off, in whatever agent.
const USERS_SWITCHES: &[&str] = &["enabled", "disabled"];

/// Tells our handlers in one array from those of others.
///
/// A handler is ours by its command, which must be exactly one of ours. Of those, the one that says
/// what we wrote (or would write) is it, and all others are strays. Where there is none, but the
/// ledger knows that there was, the first that has the command we write was changed by the user: it
/// stays as it is, once.
#[derive(Debug)]
pub(super) struct Ownership<'a> {
    agent: &'a str,
    /// The handler that the user changed, in its group as if alone there.
    edited: Option<Value>,
}

impl<'a> Ownership<'a> {
    /// Looks at `array` as it is. `group` is the entry that we would write; `written` are the hashes
    /// of those that we did.
    pub(super) fn of(
        agent: &'a str,
        array: Option<&Value>,
        group: Option<&Value>,
        written: &[String],
    ) -> Self {
        let mut edited = None;
        for (handler, item) in handlers(array) {
            if !has_our_command(agent, handler) {
                continue;
            }
            let alone = Candidate { handler, group: item, is_repeated: false }.alone();
            if group == Some(&alone) || written.contains(&hash_value(&alone)) {
                return Self { agent, edited: None };
            }
            let same = group.is_some_and(|group| command(&group["hooks"][0]) == command(handler));
            if edited.is_none() && same && !written.is_empty() {
                edited = Some(alone);
            }
        }
        Self { agent, edited }
    }

    /// Whether the user changed ours.
    pub(super) fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    pub(super) fn verdict(&self, candidate: &Candidate<'_>) -> HandlerState {
        if !has_our_command(self.agent, candidate.handler) {
            return HandlerState::Foreign;
        }
        let is_edited = self.edited.as_ref() == Some(&candidate.alone());
        if is_edited && !candidate.is_repeated { HandlerState::Edited } else { HandlerState::Own }
    }
}

/// Whether `array` holds a handler of ours, in whatever form.
pub(in crate::sync) fn has_ours(agent: &str, array: Option<&Value>) -> bool {
    handlers(array).any(|(handler, _)| has_our_command(agent, handler))
}

/// The handlers of an array of hooks, each with its group.
fn handlers(array: Option<&Value>) -> impl Iterator<Item = (&Value, Option<&Value>)> {
    let items = array.and_then(Value::as_array).into_iter().flatten();
    items.flat_map(|item| match item.get("hooks").and_then(Value::as_array) {
        Some(handlers) => handlers.iter().map(|handler| (handler, Some(item))).collect(),
        None => vec![(item, None)],
    })
}

fn has_our_command(agent: &str, handler: &Value) -> bool {
    our_event(agent, handler).is_some()
}

/// The event that a handler calls us for, if it is ours.
pub(super) fn our_event(agent: &str, handler: &Value) -> Option<Event> {
    is_ours(&command(handler)?, agent)
}

/// What a handler runs; some agents take the arguments apart from the program.
fn command(handler: &Value) -> Option<Cow<'_, str>> {
    let program = handler.get("command")?.as_str()?;
    let args = handler.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if args.is_empty() {
        return Some(program.into());
    }
    let words: Option<Vec<&str>> =
        std::iter::once(Some(program)).chain(args.iter().map(Value::as_str)).collect();
    shlex::try_join(words?).ok().map(Cow::from)
}

/// Whether `existing` says all that `wanted` does.
pub(super) fn covers(existing: &Value, wanted: &Value, users_keys: &[&str]) -> bool {
    match (existing.as_object(), wanted.as_object()) {
        (Some(existing), Some(wanted)) => wanted.iter().all(|(key, value)| {
            users_keys.contains(&key.as_str()) || existing.get(key) == Some(value)
        }),
        _ => existing == wanted,
    }
}

/// Whether the keys that we wrote still say what we wrote.
pub(super) fn is_as_written(existing: &Value, record: &Record) -> bool {
    match &record.entry {
        Entry::Member { keys, hash, .. } => restricted_hash(existing, keys) == *hash,
        _ => false,
    }
}

/// The hash of what we wrote, without the users' switches.
pub(super) fn restricted_hash(value: &Value, keys: &[String]) -> String {
    let Some(object) = value.as_object() else { return hash_value(value) };
    let kept: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| keys.contains(key) && !USERS_SWITCHES.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    hash_value(&Value::Object(kept))
}
