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

pub mod content;
pub mod crate_source;
pub mod discover;
pub mod document;
pub mod files;
mod frontmatter;
pub mod metadata;
mod model;
pub mod name;
pub mod naming;
pub mod resolve;
pub mod rewrite;
pub mod scan;

pub use document::{RawGate, SkillDocument};
pub use model::{Skill, SkillOrigin};
pub use scan::{Hidden, scan_hidden};
