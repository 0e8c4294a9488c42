//! Facts → plan → effects.
//!
//! `facts` gathers what applies, [`plan`] says what should change (pure), [`apply`] changes it and
//! decides nothing.
//!
//! May use: every room below. Used by: `hook` (only "make sure it is current") and `cli`.

pub mod apply;
pub mod content;
pub mod marker;
pub mod observe;
pub mod plan;
pub mod targets;
