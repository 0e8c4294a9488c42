//! Symposium: a Rust workspace's dependencies become skills, hooks, MCP servers and subcommands of
//! the coding agents its developers use.
//!
//! As a library it is the program: [`run`] does what `cargo agents` does, in surroundings of the
//! caller's.
//!
//! ```
//! use std::ffi::OsString;
//! use symposium::{Environment, ExitCode, run};
//!
//! let home = tempfile::tempdir()?;
//! let env = Environment::with(home.path(), [("HOME", home.path())]);
//! let args = ["cargo-agents", "--version"].map(OsString::from).to_vec();
//! assert_eq!(run(args, env), ExitCode::SUCCESS);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The rooms, from the ground up; a room imports only from those above it in this list:
//!
//! | room | what it is for |
//! |---|---|
//! | `text` | files' text with positions; diagnostics; TOML with spans |
//! | `files` | bounded reads, atomic writes, locks, paths that stay inside their root |
//! | `config` | the process's surroundings, our folders, `config.toml`, `state.toml` |
//! | `report` | the only room that prints; the log |
//! | `symposium` | the context that every command shares |
//! | `hook_protocol` | the canonical events: the crate `symposium-hook` |
//! | `workspace` | root, members, direct dependencies, fingerprint |
//! | `documents` | edits of people's files that keep every byte not ours; the ledger |
//! | `process` | the only room that starts programs |
//! | `fetch` | git, HTTP, archives: bounded and contained |
//! | `agents` | one folder per agent, with everything about it |
//! | `plugins` | manifests, sources, the registry, predicates |
//! | `skills` | `SKILL.md`, crates' metadata, resolution, names |
//! | `crates` | what a crate's own files say of it: changelog, items |
//! | `installations` | getting a tool onto disk, and how to run it |
//! | `sync` | facts → plan → effects |
//! | `hook` | an agent's event, answered |
//! | `mcp` | an MCP server: the workspace's dependencies and their skills, for agents to ask |
//! | `cli` | one file per command |
//! | `fuzzing` | what holds of every input, for fuzzers and tests alone |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they wrote"))]

mod agents;
mod cli;
mod config;
mod crates;
mod documents;
mod fetch;
mod files;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod hook;
mod installations;
mod mcp;
mod plugins;
mod process;
mod report;
mod skills;
mod symposium;
mod sync;
mod text;
mod workspace;

use symposium::Symposium;

pub use cli::{command, main, run};
pub use config::Environment;
pub use plugins::manifest::RESERVED_SUBCOMMANDS;
pub use report::ExitCode;
