//! Plugins: what they offer and when they apply.
//!
//! - [`model`]: a plugin, validated
//! - [`manifest`]: manifests become plugins, or diagnostics with file, line and column
//! - [`packages`]: plugins in formats of others become the same
//! - [`in_words`]: gates as people read them; [`programs`]: everything that a plugin could run
//! - [`trust`]: the user's word on that
//! - [`git`]: a repository that a manifest names
//! - [`diagnostics`]: the codes of what can be wrong in one, explained
//! - [`predicate`]: whether a thing applies to a workspace
//! - [`source`]: the sources in force (folders, git repositories, the binary itself)
//! - [`registry`]: what is found in them
//! - [`builtin`]: the source inside the binary
//!
//! May use: `workspace`, `documents`, `process`, `fetch` and the ground. Used by: `skills`,
//! `installations`, `sync`, `hook`, `cli`.

pub(crate) mod builtin;
pub(crate) mod diagnostics;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod git;
pub(crate) mod in_words;
pub(crate) mod manifest;
pub(crate) mod model;
pub(crate) mod packages;
pub(crate) mod predicate;
pub(crate) mod programs;
pub(crate) mod registry;
pub(crate) mod source;
pub(crate) mod trust;
