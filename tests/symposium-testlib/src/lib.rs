#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs and read the environment themselves"
)]
//! Fixtures and helpers for Symposium's own tests.
//!
//! - [`Sandbox`]: a temporary home and workspace, and the built program run in them
//! - [`Tree`]: everything below a folder, to compare before and after
//! - [`Server`]: git repositories and files over HTTP on the loopback, in good and bad manners
//! - [`SparseRegistry`]: a registry of crates on the loopback
//! - [`large`]: a workspace of many members and packages

pub mod large;
mod registry;
mod sandbox;
mod server;
mod tree;

pub use registry::{SparseRegistry, vendor};
pub use sandbox::{Run, Sandbox};
pub use server::{Manner, Server};
pub use tree::{Node, Tree};
