//! Where am I, and what does it depend on?
//!
//! Reads `Cargo.toml` and `Cargo.lock` files by itself: it never runs cargo, never writes and never
//! reaches the network, so that an untrusted checkout can't make us do any of that.
//!
//! - [`locate`]: the workspace a folder belongs to, found as cargo finds it; [`nearest_manifest`]:
//!   where that begins
//! - [`Workspace::load`]: its members and direct dependencies
//! - [`Fingerprint`]: whether any file that was read has changed since; [`Observer`]: how files are
//!   read so that one tells
//! - [`vendored`]: folders that replace a registry, from cargo's configuration
//!
//! May use: `text`, `files`, `config`, `report`. Used by: plugins and every floor above.

#![allow(
    clippy::result_large_err,
    reason = "a `Diagnostic` is made once, at the end of a run, and handed on whole"
)]

mod cargo_config;
mod discover;
mod fingerprint;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod globs;
mod load;
mod lock;
mod manifest;
mod model;
mod observer;
mod origin;
mod overrides;
mod paths;
mod reader;
mod resolve;
#[cfg(test)]
mod tests;

pub(crate) use cargo_config::{Registries, SourceReplacement, is_offline, vendored};
pub(crate) use discover::{locate, nearest_manifest};
pub(crate) use fingerprint::Fingerprint;
pub(crate) use load::{Loaded, UNREAD_WORKSPACE};
pub(crate) use lock::{Lock, dependents, locked_dependency};
pub(crate) use model::{
    ByCrate, Dependency, DependencyKind, LockedPackage, Member, Usage, Workspace,
};
pub(crate) use observer::{Observer, UNOBSERVED};
pub(crate) use origin::{CRATES_IO, is_crates_io};
pub(crate) use origin::{DependencyOrigin, RegistryRequirement};
