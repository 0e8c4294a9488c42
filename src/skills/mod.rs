//! Skills: `SKILL.md` folders, where they come from, and what they are called once installed.
//!
//! - [`document`]: one `SKILL.md`, read leniently; [`rewrite`]: as it is installed; [`scan`]: what
//!   in it hides or runs
//! - [`discover`]: the skills below a folder; [`files`]: what of one is installed
//! - [`crate_source`]: where the sources of crates are, and how to get them
//! - [`metadata`]: where a crate says its skills are
//! - [`resolve`]: from groups in plugins to skills that apply
//! - [`naming`]: what they are called once installed
//!
//! May use: `plugins`, `workspace`, `fetch`, `process` and the ground. Used by: `sync`, `cli`.

pub(crate) mod content;
pub(crate) mod crate_source;
pub(crate) mod discover;
pub(crate) mod document;
pub(crate) mod files;
mod frontmatter;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod metadata;
mod model;
pub(crate) mod name;
pub(crate) mod naming;
pub(crate) mod resolve;
pub(crate) mod rewrite;
pub(crate) mod scan;
#[cfg(test)]
pub(crate) mod schema;

pub(crate) use document::{RawGate, SkillDocument};
pub(crate) use model::{Skill, SkillOrigin};
pub(crate) use scan::{Hidden, runs_unasked, scan_skill};
