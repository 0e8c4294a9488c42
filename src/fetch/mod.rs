//! Getting things from elsewhere: bounded in time and size.
//!
//! - [`http`]: files by URL
//!
//! May use: `process` and the ground. Used by: `plugins`, `skills`, `installations`, `sync`, `cli`.

pub mod http;
