//! Facts → plan → effects.
//!
//! [`facts`] gathers what applies, with the map of the [`dependencies`]; [`placing`] puts skill
//! folders where agents look for them, [`registration`] does the same for hooks and servers in the
//! agents' own files, and [`snapshot`] keeps what hooks, help and subcommands need; [`lockfile`] writes down what
//! applies, for others to get the same. [`run`] is one
//! sync from start to end, with [`request`] its context; [`remove`] takes everything back,
//! [`survey`] only says what a sync would do, and [`current`] is what the hook room calls.
//!
//! May use: every room below. Used by: `hook` (only "make sure it is current") and `cli`.

pub(crate) mod background;
mod bounds;
pub(crate) mod current;
pub(crate) mod dependencies;
pub(crate) mod facts;
pub(crate) mod lockfile;
pub(crate) mod placing;
mod programs;
pub(crate) mod registration;
pub(crate) mod remove;
mod request;
mod run;
pub(crate) mod snapshot;
#[cfg(test)]
mod stale_tests;
mod stock;
mod summary;
pub(crate) mod survey;

pub(crate) use placing::desired_skills::shown as shown_origin;
pub(crate) use registration::opt_out::forget as forget_leaving;
pub(crate) use request::{
    Caller, Mode, Request, Sweep, Synced, configured_agents, enter, unclear_configuration,
};
pub(crate) use run::sync;
pub(crate) use stock::{Whole, look_through, stock};
