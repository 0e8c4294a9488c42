//! Getting things from elsewhere, bounded and checked: archives are unpacked without escape.
//!
//! May use: `documents`, `process` and the ground. Used by: `plugins`, `skills`, `installations`.

pub mod archive;
