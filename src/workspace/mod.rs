//! Where am I, and what does it depend on?
//!
//! Reads `Cargo.toml` and `Cargo.lock` files by itself: it never runs cargo, never writes and never
//! reaches the network, so that an untrusted checkout can't make us do any of that.
//!
//! May use: `text`, `files`, `config`, `report`. Used by: plugins and every floor above.

mod model;

pub use model::{Dependency, DependencyOrigin, LockedPackage, Member, Workspace, same_crate};
