//! Plugins: what they offer and when they apply.
//!
//! - [`model`]: a plugin, validated
//! - manifests become plugins, or diagnostics with file, line and column
//! - [`source`]: the sources in force (folders, git repositories, the binary itself)
//! - [`registry`]: what is found in them
//! - [`builtin`]: the source inside the binary
//! - predicates decide whether a thing applies to a workspace
//!
//! May use: `workspace`, `documents`, `process`, `fetch` and the ground. Used by: `skills`,
//! `installations`, `sync`, `hook`, `cli`.

pub mod builtin;
pub mod manifest;
pub mod model;
pub mod registry;
pub mod source;
