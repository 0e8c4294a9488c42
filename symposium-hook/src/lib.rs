#![doc = include_str!("../README.md")]

mod answers;
mod harness;
mod types;
mod wire;

pub use harness::{HookHandler, run, run_with};
pub use types::{
    Decision, Event, Input, Output, PostToolUseInput, PostToolUseOutput, PreToolUseInput,
    PreToolUseOutput, SessionStartInput, SessionStartOutput, StopInput, StopOutput,
    UserPromptSubmitInput, UserPromptSubmitOutput,
};
