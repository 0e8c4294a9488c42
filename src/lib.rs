//! Symposium: a Rust workspace's dependencies become skills, hooks, MCP servers and subcommands of
//! the coding agents its developers use.
//!
//! The rooms, from the ground up; a room imports only from floors below its own:
//!
//! | floor | room | what it is for |
//! |---|---|---|
//! | 6 | [`cli`] | one file per command |
//! | 5 | [`hook`] | an agent's event, answered |
//! | 4 | [`sync`] | facts → plan → effects → snapshot |
//! | 3 | [`skills`], [`installations`] | what skills are; getting tools |
//! | 2 | [`agents`], [`plugins`], [`hook_protocol`] | one folder per agent; manifests, sources, predicates; canonical events |
//! | 1 | [`workspace`], [`documents`], [`process`], [`fetch`] | facts and careful effects |
//! | 0 | [`config`], [`report`], [`files`], [`text`], [`symposium`] | the ground |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they wrote"))]

pub mod agents;
pub mod cli;
pub mod config;
pub mod documents;
pub mod fetch;
pub mod files;
pub mod hook;
pub mod installations;
pub mod plugins;
pub mod process;
pub mod report;
pub mod skills;
pub mod symposium;
pub mod sync;
pub mod text;
pub mod workspace;

/// The canonical events and answers: the `symposium-hook` crate.
pub use symposium_hook as hook_protocol;

pub use symposium::Symposium;
