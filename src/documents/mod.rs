//! Edits of files that belong to the user, and the memory of what was edited.
//!
//! - [`Document`]: JSON with comments, TOML and YAML, edited so that all that is not ours stays byte
//!   for byte as it was; [`edit_file`] brings an edit to disk, safely beside other programs
//! - [`Ledger`]: what we wrote where, so that exactly that can be taken back
//! - [`user_config`]: our own `config.toml`, which people edit too
//! - [`exclude`]: lines in `.git/info/exclude`
//! - [`checkout`]: where that is, and what git tracks
//!
//! May use: `text`, `files`, `config`. Used by: `agents`, `sync`, `cli`.

#[cfg(test)]
mod cases_tests;
pub(crate) mod checkout;
mod compare;
mod document;
mod edited;
mod editor;
pub(crate) mod exclude;
mod file;
mod format;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod hash;
mod json;
pub(crate) mod ledger;
mod splice;
#[cfg(any(test, fuzzing))]
mod testing;
mod toml;
pub(crate) mod user_config;
mod yaml;

pub(crate) use document::Document;
pub(crate) use edited::{Candidate, Change, Created, Edited, HandlerState, Keep};
pub(crate) use file::{
    Outcome, edit_file, edit_file_then, missing_folders, read_document, read_text, read_whole,
    remove_empty_folders,
};
pub(crate) use format::{FileFormat, JsonRules};
pub(crate) use hash::{hash_bytes, hash_value};
pub(crate) use json::text_has_duplicate_keys;
pub(crate) use ledger::{Entry, Ledger, Record};
