//! Getting things from elsewhere: bounded in time and size, and never by a program that the thing
//! itself brings.
//!
//! - [`git`]: repositories, through the `git` program
//! - [`http`]: files by URL
//! - [`archive`]: archives, unpacked without escape
//!
//! May use: `process` and the ground. Used by: `plugins`, `skills`, `installations`, `sync`, `cli`.

pub(crate) mod archive;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod git;
pub(crate) mod http;
