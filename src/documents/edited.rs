//! What an edit asks for, and what it leaves to remember.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key that holds the handlers of a matcher group (Claude Code's hooks reference; Codex, Gemini
/// and Goose use the same shape).
pub(super) const HANDLERS: &str = "hooks";

/// What shall become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing: it is as it should be.
    Keep,
    /// It gets this text, whole.
    Write(String),
    /// It goes.
    Delete,
}

/// What exists, or is filled, because of us. Handed back to [`super::Document::prune`], it goes when
/// it is empty again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum Created {
    /// A table or array in the file.
    Container {
        /// The keys that lead to it; none for the root.
        path: Vec<String>,
        /// The white space inside it before we came; absent when it was not there at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
    },
    /// All that the file says.
    File {
        /// The blank text that it had before; absent when there was no file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
    },
}

impl Created {
    pub(super) fn container(path: &[String], was: Option<String>) -> Self {
        Self::Container { path: path.to_vec(), was }
    }

    /// How deep it lies; what lies deeper is pruned first, the file last.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Container { path, .. } => path.len() + 1,
            Self::File { .. } => 0,
        }
    }
}

/// The outcome of a series of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    /// What to do with the file.
    pub change: Change,
    /// What to remember for [`super::Document::prune`].
    pub created: Vec<Created>,
}

/// Whose a handler in an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandlerState {
    /// Somebody else's: never touched.
    Foreign,
    /// Ours, to be brought up to date or removed.
    Own,
    /// Ours once, changed by the user since: left as it is, and counts as being there.
    Edited,
}

/// A handler found in an array of hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    /// The handler: an object with a command.
    pub handler: &'a Value,
    /// The matcher group it stands in; `None` when it stands in the array itself.
    pub group: Option<&'a Value>,
    /// Whether the same one stands before it in the array.
    pub is_repeated: bool,
}

impl Candidate<'_> {
    /// The handler's group as if it were the only one in it: others may have put theirs beside it.
    pub(crate) fn alone(&self) -> Value {
        let Some(group) = self.group else { return self.handler.clone() };
        let mut group = group.clone();
        group[HANDLERS] = Value::Array(vec![self.handler.clone()]);
        group
    }
}

/// The handlers that were met in an array.
#[derive(Debug, Default)]
pub(super) struct Met(HashSet<String>);

impl Met {
    /// The next one.
    pub(super) fn next<'a>(
        &mut self,
        handler: &'a Value,
        group: Option<&'a Value>,
    ) -> Candidate<'a> {
        let candidate = Candidate { handler, group, is_repeated: false };
        let is_repeated = !self.0.insert(candidate.alone().to_string());
        Candidate { is_repeated, ..candidate }
    }
}

/// Decides whose a handler is.
pub(super) type Classify<'a> = &'a dyn Fn(&Candidate<'_>) -> HandlerState;

/// What [`super::Document::set`] leaves alone in an entry that is there already. Without either,
/// keys that are not in the new value stay when we did not write them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keep<'a> {
    /// Keys whose values are the user's, such as `enabled`: an existing value stays, and one that
    /// is missing is filled in only when the new value has it.
    pub users_keys: &'a [&'a str],
    /// Keys that we wrote the last time: they go when the new value lacks them.
    pub our_keys: &'a [String],
}

impl Keep<'_> {
    /// What an entry that says `existing` shall say: the new value, with the user's own values and
    /// the keys that may stay.
    pub(super) fn wanted(&self, value: &Value, existing: &Value) -> Value {
        let (Value::Object(value), Value::Object(existing)) = (value, existing) else {
            return value.clone();
        };
        let mut wanted = serde_json::Map::new();
        for (key, old) in existing {
            let users = self.users_keys.contains(&key.as_str());
            match value.get(key) {
                Some(new) if !users => drop(wanted.insert(key.clone(), new.clone())),
                None if !users && self.our_keys.contains(key) => {}
                _ => drop(wanted.insert(key.clone(), old.clone())),
            }
        }
        for (key, new) in value {
            wanted.entry(key.clone()).or_insert_with(|| new.clone());
        }
        Value::Object(wanted)
    }
}
