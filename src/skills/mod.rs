//! Skills: `SKILL.md` folders, where they come from, and what they are called once installed.
//!
//! May use: `plugins`, `workspace`, `fetch`, `process` and the ground. Used by: `sync`, `cli`.

mod model;

pub use model::{Skill, SkillOrigin};
