#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs and read the environment themselves"
)]
//! Fixtures and helpers for Symposium's own tests.
//!
//! - [`Sandbox`]: a temporary home and workspace, and the built program run in them
//! - [`Tree`]: everything below a folder, to compare before and after
//! - [`Terminal`]: a program at a pseudo-terminal
//! - [`LocalRegistry`]: a crate registry on a loopback port
//! - [`large`]: a workspace of many members and packages

pub mod large;
mod registry;
mod sandbox;
#[cfg(unix)]
mod terminal;
mod tree;

pub use registry::{LocalRegistry, Publication};
pub use sandbox::{Run, Sandbox};
#[cfg(unix)]
pub use terminal::Terminal;
pub use tree::Tree;
