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

pub mod checkout;
mod compare;
mod document;
mod edited;
mod editor;
pub mod exclude;
mod file;
mod format;
mod hash;
mod json;
pub mod ledger;
mod splice;
mod toml;
pub mod user_config;
mod yaml;

pub use document::Document;
pub use edited::{Candidate, Change, Created, Edited, Keep, Ours};
pub use file::{
    Outcome, edit_file, edit_file_and, missing_folders, read_text, remove_empty_folders,
};
pub use format::{FileFormat, JsonRules};
pub use hash::{hash_bytes, hash_value};
pub use ledger::{Entry, Ledger, Record};
