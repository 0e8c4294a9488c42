#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs and read the environment themselves"
)]
//! Fixtures and helpers for Symposium's own tests.
//!
//! - [`Sandbox`]: a temporary home and workspace, and the built program run in them
//! - [`Tree`]: everything below a folder, to compare before and after
//! - [`large`]: a workspace of many members and packages

pub mod large;
mod sandbox;
mod tree;

pub use sandbox::{Run, Sandbox};
pub use tree::{Node, Tree};
