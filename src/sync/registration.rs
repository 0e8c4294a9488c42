//! Hooks and servers in the agents' own files.
//!
//! What should be there is computed as [`Work`], file by file; [`Work::edit`] turns a file's text
//! into what it should be, and says what changed. The same edit serves the plan (on a text that was
//! read) and the apply (under the file's lock, on the text that is there then).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agents::Agent;
use crate::agents::command::is_ours;
use crate::agents::places::{FileFormat, HookEntry};
use crate::documents::{
    Candidate, Change as FileChange, Created, Document, Edited, Entry, Keep, Ledger, Ours, Record, Surroundings, hash_bytes,
    hash_value,
};
use crate::report::{Action, Change, Kind};
use crate::text::Diagnostic;

/// What one agent's part of one file should be.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// These hook entries, once each, and no others of ours.
    Hooks {
        /// The agent.
        agent: Agent,
        /// The entries; empty to take ours away.
        entries: Vec<HookEntry>,
        /// Arrays to look into for strays.
        arrays: Vec<Vec<String>>,
    },
    /// A server's entry.
    Server {
        /// The agent.
        agent: Agent,
        /// The server's name.
        name: String,
        /// Keys that lead to the table.
        table: Vec<String>,
        /// The entry.
        value: Value,
        /// Keys that are the user's.
        users_keys: &'static [&'static str],
    },
}

/// Everything about one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The file.
    pub path: PathBuf,
    /// What kind of file it is.
    pub format: FileFormat,
    /// What should be in it.
    pub wishes: Vec<Wish>,
}

/// What an edit of a file came to.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// For people.
    pub changes: Vec<Change>,
    /// What to remember.
    pub records: Vec<Record>,
    /// What to forget.
    pub forgotten: Vec<Record>,
    /// What exists because of us now.
    pub created: Vec<Created>,
    /// What does no longer.
    pub undone: Vec<Created>,
    /// What was left alone, and why.
    pub notes: Vec<Diagnostic>,
}
