//! The only room that starts programs.
//!
//! - [`run`]: a child in a group of its own, fed, drained and ended in time
//! - [`Conversation`]: a child that is talked to, line by line
//! - [`run_inherited`]: a child that has our terminal, for subcommands
//! - [`spawn_detached`]: a background process of ours that outlives us
//! - [`end_after`]: a limit for such a process
//! - [`exec_replace`]: a program that takes our place
//! - `hold_signals`: no signal ends us while a question is open
//! - [`find_program`]: where a program is
//!
//! Programs get their arguments as they are, never through a shell, and are looked up on `PATH`
//! by us, so that no system's own rule can find one in the current folder.
//!
//! May use: the ground. Used by: `fetch` and every floor above.

mod allowance;
#[cfg(unix)]
mod child_io;
#[cfg(not(unix))]
mod child_io_threads;
mod conversation;
mod detached;
mod find;
mod group;
mod inherited;
mod model;
mod orphans;
mod run;
#[cfg(windows)]
mod script;
#[cfg(unix)]
mod signals;
mod start;
#[cfg(all(test, unix))]
mod tests;
mod work;

pub(crate) use allowance::end_after;
pub(crate) use conversation::{Conversation, Silence};
pub(crate) use detached::{Detached, spawn_detached};
pub(crate) use find::{find_program, find_sh};
#[cfg(unix)]
pub(crate) use inherited::outlive_file_limits;
pub(crate) use inherited::{exec_replace, run_inherited};
pub(crate) use model::{Child, Leftovers, Output, RunError, Status};
pub(crate) use run::run;
#[cfg(unix)]
pub(crate) use signals::{HeldSignals, hold as hold_signals};
pub(crate) use work::Work;
