//! Plugins: what they offer and when they apply.
//!
//! - [`model`]: a plugin, validated
//! - [`manifest`]: manifests become plugins, or diagnostics with file, line and column
//! - [`diagnostics`]: the codes of what can be wrong in one, explained
//! - [`predicate`]: whether a thing applies to a workspace
//! - sources (folders, git repositories, the binary itself) are scanned into a registry
//!
//! May use: `workspace`, `documents`, `process`, `fetch` and the ground. Used by: `skills`,
//! `installations`, `sync`, `hook`, `cli`.

pub mod diagnostics;
pub mod manifest;
pub mod model;
pub mod predicate;
