//! Facts → plan → effects.
//!
//! [`facts`] gathers what applies, [`placing`] puts skill folders where agents look for them,
//! [`registration`] does the same for hooks and servers in the agents' own files, and [`snapshot`]
//! keeps what hooks, help and subcommands need. [`run`] is one sync from start to end, [`remove`]
//! takes everything back, [`survey`] only says what a sync would do, and [`current`] is what the hook
//! room calls.
//!
//! May use: every room below. Used by: `hook` (only "make sure it is current") and `cli`.

pub mod background;
mod bounds;
pub mod current;
pub mod facts;
pub mod placing;
pub mod registration;
pub mod remove;
mod request;
mod run;
pub mod snapshot;
#[cfg(test)]
mod stale_tests;
pub mod survey;

pub use placing::desired_skills::shown as shown_origin;
pub use registration::opt_out::forget as forget_leaving;
pub use request::{Caller, Mode, Request, Synced, configured_agents};
pub use run::sync;
