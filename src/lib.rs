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
//! The rooms, from the ground up; a room imports only from floors below its own:
//!
//! | floor | room | what it is for |
//! |---|---|---|
//! | 6 | `cli` | one file per command |
//! | 5 | `hook` | an agent's event, answered |
//! | 4 | `sync` | facts → plan → effects → snapshot |
//! | 3 | `skills`, `installations` | what skills are; getting tools |
//! | 2 | `agents`, `plugins`, `hook_protocol` | one folder per agent; manifests, sources, predicates; canonical events |
//! | 1 | `workspace`, `documents`, `process`, `fetch` | facts and careful effects |
//! | 0 | `config`, `report`, `files`, `text`, `symposium` | the ground |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they wrote"))]

mod agents;
mod cli;
mod config;
mod documents;
mod fetch;
mod files;
mod hook;
mod installations;
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
