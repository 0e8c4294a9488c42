//! The canonical agent hook events of Symposium.
//!
//! An agent tells Symposium of an event in its own words; Symposium hands every program that
//! handles events the same words, which are the types here.

mod types;

pub use types::{
    Decision, Event, Input, Output, PostToolUseInput, PostToolUseOutput, PreToolUseInput,
    PreToolUseOutput, SessionStartInput, SessionStartOutput, UserPromptSubmitInput,
    UserPromptSubmitOutput,
};
