#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs and read the environment themselves"
)]
//! Fixtures and helpers for Symposium's own tests.
//!
//! - [`Sandbox`]: a temporary home and workspace, and the built program run in them
//! - [`Tree`]: everything below a folder, to compare before and after
//! - [`World`]: a sandbox with a real agent program and a scripted [`model`] in it
//! - [`harness`]: checks of real agent programs as tests
//! - [`large`]: a workspace of many members and packages

mod book;
pub mod clients;
pub mod harness;
pub mod http;
pub mod isolation;
pub mod large;
pub mod mcp;
pub mod model;
pub mod roles;
mod sandbox;
pub mod selection;
mod tree;
mod world;

pub use book::stale as stale_pages;
pub use sandbox::{Run, Sandbox};
pub use tree::Tree;
pub use world::{Step, TURN_LIMIT, Turn, World};
