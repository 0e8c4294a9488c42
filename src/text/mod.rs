//! Structured text with positions: what every reader of a file shares.
//!
//! A file that people wrote is read into a [`Source`], problems in it become [`Diagnostic`]s that
//! know their line and column, and TOML is walked through [`toml::Table`], which remembers where
//! each key and value stands. This room reads; it neither opens files for writing nor prints.
//!
//! May use: nothing of ours. Used by: every room.

mod closest;
mod crate_name;
pub(crate) mod diagnostic;
mod hex;
pub(crate) mod toml;
pub(crate) mod url;
pub(crate) mod yaml;

pub(crate) use closest::{closest, did_you_mean, suggestion};
pub(crate) use crate_name::{check_crate_name, is_crate_name, is_name_char, spellings};
pub(crate) use crate_name::{same_crate, spelling};
pub(crate) use diagnostic::Subject;
pub(crate) use diagnostic::{Diagnostic, Location, Severity, Source};
pub(crate) use hex::{hex, sha256_hex};
pub(crate) use url::SecretUrl;
