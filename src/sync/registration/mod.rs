//! Hooks and servers in the agents' own files, and out again.
//!
//! [`desired`] says what should be where, as data. [`edit`] turns a file's text into what it should
//! be; the same edit serves the plan (on text that was read) and the apply (under the file's lock,
//! on the text that is there then). `own` does the same for files that are ours alone. `carry`
//! brings both to disk and keeps the ledger.

pub mod carry;
pub mod desired;
pub mod edit;
mod own;

pub use carry::{Registered, Registrar};
pub use desired::{Desired, FileWork, OwnWork, Which, Wish};
