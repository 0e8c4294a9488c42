//! Hooks and servers in the agents' own files, and out again.
//!
//! `desired` says what should be where, as data; `recorded` adds what only the ledger knows of. `edit`
//! turns a file's text into what it should be; the same edit serves the plan (on text that was read)
//! and the apply (under the file's lock, on the text that is there then). `own` does the same for
//! files that are ours alone. `ownership` tells our entries from those of others. `registrar` brings
//! all to disk and keeps the ledger; `project` keeps it away from git.
//!
//! [`setup`] knows how the agents call us and which of their files carry our hooks ([`hook_files`]),
//! [`hooks`] and [`servers`] which of them a workspace should have; [`register`] brings both to the
//! agents, with [`trust`] for those that ask for it. [`duplicates`] finds hooks at both scopes,
//! [`orphans`] registrations of workspaces that are gone. [`lock`] says who may change something,
//! [`created`] what exists because of us, [`opt_out`] where everything was taken back.
//!
//! May use: `bounds`, `facts` and `snapshot`. Used by: a sync, `remove`, `survey` and `cli`.

pub(crate) mod created;
pub(crate) mod desired;
pub(crate) mod duplicates;
pub(crate) mod edit;
pub(crate) mod hook_files;
pub(crate) mod hooks;
pub(crate) mod ledgers;
pub(crate) mod lock;
pub(crate) mod opt_out;
pub(crate) mod orphans;
mod own;
mod ownership;
mod project;
mod recorded;
pub(crate) mod register;
pub(crate) mod registrar;
pub(crate) mod remarks;
pub(crate) mod servers;
pub(crate) mod setup;
pub(crate) mod trust;

pub(crate) use desired::{Desired, DesiredEntry};
pub(crate) use ledgers::{LedgerKind, Ledgers};
pub(in crate::sync) use own::looks_ours;
pub(in crate::sync) use ownership::has_ours;
pub(crate) use registrar::{Registered, Registrar};

#[cfg(test)]
mod tests;
