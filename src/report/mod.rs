//! The only room that prints.
//!
//! Logic hands [`Event`]s to a [`Reporter`], which renders them for people (cargo's manner, on
//! standard error) or as JSON lines (on standard output), or keeps silent (hooks). A command's
//! *result* goes to standard output through [`Reporter::result`]. What is worth keeping goes to
//! the log through `tracing`; see [`log`].
//!
//! May use: `text`, `files`, `config`. Used by: every room above.

mod event;
mod exit;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod log;
mod people;
mod progress;
mod reporter;
mod safe;
mod snippet;
mod wrap;

pub(crate) use event::{Action, Change, Event, Kind, Place, Verdict};
pub use exit::ExitCode;
pub(crate) use people::{Palette, fit, short_path};
pub(crate) use progress::Progress;
pub(crate) use reporter::{Format, Reporter, Verbosity};
pub(crate) use safe::{columns, safe};
pub(crate) use wrap::{Long, wrap, wrap_hanging};
