//! Facts → plan → effects.
//!
//! [`facts`] gathers what applies, [`plan`] says what should change in skill folders (pure),
//! [`apply`] changes it and decides nothing; [`registration`] does the same for hooks and servers in
//! the agents' own files, with [`trust`] for agents that ask for it. [`remove`] takes everything back.
//! [`snapshot`] keeps what hooks, help and subcommands need, [`subcommands`] reads from it what plugins
//! vend, and [`current`] is what the hook room calls.
//!
//! May use: every room below. Used by: `hook` (only "make sure it is current") and `cli`.

pub mod apply;
pub mod background;
mod bounds;
pub mod candidates;
pub mod content;
pub mod current;
pub mod facts;
mod folders;
pub mod gates;
pub mod gone;
pub mod hook_files;
mod left;
mod made;
pub mod marker;
pub mod observe;
pub mod parents;
pub mod plan;
mod programs;
pub mod register;
mod registering;
pub mod registration;
mod remember;
pub mod remove;
mod run;
pub mod servers;
pub mod setup;
pub mod snapshot;
#[cfg(test)]
mod stale_tests;
pub mod subcommands;
pub mod survey;
pub mod targets;
pub mod trust;
pub mod turn;
mod wanted;

pub use left::forget as forget_leaving;
pub use run::{Caller, Mode, Request, Synced, configured_agents, sync};
pub use wanted::shown as shown_origin;
