//! Hooks and servers in the agents' own files, and out again.
//!
//! `desired` says what should be where, as data; `recorded` adds what only the ledger knows of. `edit`
//! turns a file's text into what it should be; the same edit serves the plan (on text that was read)
//! and the apply (under the file's lock, on the text that is there then). `own` does the same for
//! files that are ours alone. `whose` tells our entries from those of others. `carry` brings all to
//! disk and keeps the ledger; `project` keeps it away from git.

pub mod carry;
pub mod desired;
pub mod edit;
pub mod ledgers;
mod own;
mod project;
mod recorded;
pub mod remarks;
mod whose;

pub use carry::{Registered, Registrar};
pub use desired::{Desired, FileWork, OwnWork, Which, Wish};
pub use ledgers::Ledgers;
pub(super) use own::looks_ours;
pub(super) use whose::has_ours;

#[cfg(test)]
mod tests;
