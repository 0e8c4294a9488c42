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
//! - [`World`]: a sandbox with a real agent program and a scripted [`model`] in it
//! - [`with_fixture`]: tests on prepared folders, with our program alone or with real agents
//! - [`harness`]: checks of real agent programs as tests
//! - [`readers`]: what Goose and Kiro, which can't be run, would make of our files and answers
//! - [`Server`]: git repositories and files over HTTP on the loopback, in good and bad manners
//! - [`SparseRegistry`]: a registry of crates on the loopback
//! - [`smuggled`]: skills whose `hooks:` one reader sees and another does not
//! - [`hostile`]: archives, texts and names that an attacker makes
//! - [`large`]: a workspace of many members and packages

mod book;
mod cargo;
pub mod clients;
pub mod fixture;
pub mod harness;
pub mod hostile;
pub mod http;
pub mod isolation;
pub mod large;
pub mod mcp;
pub mod model;
mod paths;
pub mod readers;
mod registry;
pub mod roles;
mod sandbox;
pub mod selection;
mod server;
pub mod simulated;
pub mod smuggled;
mod sparse_registry;
#[cfg(unix)]
mod terminal;
mod tree;
mod world;

/// Makes a pipe with a name, which std can't.
///
/// # Panics
/// When `mkfifo` fails.
#[cfg(unix)]
pub fn make_pipe(path: &std::path::Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.expect("mkfifo runs").success(), "{}", path.display());
}

pub use book::stale as stale_pages;
pub use cargo::metadata as cargo_metadata;
pub use fixture::{Answer, Context, HookCall, Scenario, TestMode, with_fixture};
pub use paths::slashes;
pub use registry::{LocalRegistry, Publication};
pub use sandbox::{Run, Sandbox, run_git};
pub use server::{Manner, Server};
pub use simulated::{AGENTS, HookAgent, HookStep, TELLING_ALL};
pub use sparse_registry::{SparseRegistry, vendor};
#[cfg(unix)]
pub use terminal::Terminal;
pub use tree::{Node, Tree};
pub use world::{Step, TURN_LIMIT, Turn, World};
