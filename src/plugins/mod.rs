//! Plugins: what they offer and when they apply.
//!
//! - [`model`]: a plugin, validated
//! - manifests become plugins, or diagnostics with file, line and column
//! - sources (folders, git repositories, the binary itself) are scanned into a registry
//! - predicates decide whether a thing applies to a workspace
//!
//! May use: `workspace`, `documents`, `process`, `fetch` and the ground. Used by: `skills`,
//! `installations`, `sync`, `hook`, `cli`.

pub mod manifest;
pub mod model;
