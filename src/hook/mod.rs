//! An agent's event, answered: decode → make sure the snapshot is current → our own word → plugin
//! hooks → merge → encode.
//!
//! The law here: whatever goes wrong, the agent carries on. Arguments are read by hand, no error
//! leaves this room other than into the log, and nothing but the agent's answer reaches standard
//! output. Only an explicit deny denies.
//!
//! May use: `sync` (to make sure that the snapshot is current) and every floor below. Used by:
//! the program's entry, before the command line is parsed.

mod builtin;

pub mod merge;
mod pipeline;
mod run;
mod select;
mod session;
mod trace;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use crate::agents::wire::Answer;
use crate::config::Environment;

/// Most of an event that is read, in bytes; no agent sends as much.
const LARGEST_EVENT: u64 = 256 * 1024 * 1024;

/// Answers `hook <agent> <event>`: `args` are those after `hook`. Never fails; the exit code is the
/// agent's answer.
pub fn main(args: &[OsString], env: &Environment) -> ExitCode {
    // A panic is logged like any other trouble; its usual message would reach the agent's screen.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let answer = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut stdin = Vec::new();
        if !std::io::stdin().is_terminal() {
            let _ = std::io::stdin().lock().take(LARGEST_EVENT).read_to_end(&mut stdin);
        }
        pipeline::answer(args, stdin, env)
    }))
    .unwrap_or_else(|_| Answer::carry_on());
    // An agent that closed its end does not want to hear it.
    let _ = std::io::stdout().lock().write_all(answer.stdout.as_bytes());
    let _ = std::io::stderr().lock().write_all(answer.stderr.as_bytes());
    ExitCode::from(answer.exit)
}
