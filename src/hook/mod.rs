//! An agent's event, answered: decode → make sure the snapshot is current → our own word → plugin
//! hooks → merge → encode.
//!
//! The law here: whatever goes wrong, the agent carries on. Arguments are read by hand, no error
//! leaves this room other than into the log, and nothing but the agent's answer reaches standard
//! output. Only an explicit deny denies.
//!
//! - `quick`: the short way, for an event that changes nothing and asks nobody
//! - `pipeline`: the steps, in order
//! - `conversation`: our own part in a session, with `builtin`'s words and `session`'s memory
//! - `dispatch`: the plugins' hooks, chosen by `select`, started by `run`, joined
//!   by [`crate::agents::merge`]
//! - `claims`: an event that is delivered twice is answered once
//! - `arrival`: a program that is missing is waited for, once and for a moment
//! - `wishes`: what the agent can't do is logged
//!
//! May use: `sync` (to make sure that the snapshot is current) and every floor below. Used by:
//! the program's entry, before the command line is parsed.

mod arrival;
mod builtin;
mod claims;
mod conversation;
mod dispatch;
mod pipeline;
mod quick;
mod run;
mod select;
mod session;
mod trace;
mod wishes;

use crate::report::ExitCode;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::panic::AssertUnwindSafe;

use self::quick::Quick;
use crate::agents::wire::Answer;
use crate::config::{Config, Dirs, Environment, LogLevel};
use crate::report::log;

/// Bytes of the largest event that is read; no agent sends as much.
const LARGEST_EVENT: usize = 256 * 1024 * 1024;

/// Answers `hook <agent> <event>`: `args` are those after `hook`. Never fails; the exit code is the
/// agent's answer.
pub fn main(args: &[OsString], env: &Environment) -> ExitCode {
    // A panic is logged like any other trouble; its usual message would reach the agent's screen.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let answer = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let Ok(dirs) = Dirs::resolve(env) else { return Answer::carry_on() };
        let mut stdin = Vec::new();
        let by_hand = std::io::stdin().is_terminal();
        if !by_hand {
            let most = LARGEST_EVENT as u64 + 1;
            let _ = std::io::stdin().lock().take(most).read_to_end(&mut stdin);
        }
        if stdin.len() > LARGEST_EVENT {
            // The half of an event must not be taken for the whole.
            log::install_lazily(dirs.logs(), LogLevel::default);
            tracing::warn!("the event is larger than {} MB", LARGEST_EVENT / 1024 / 1024);
            return Answer::carry_on();
        }
        let call = pipeline::Call { args, stdin: &stdin, by_hand, env, dirs: &dirs };
        // Were there a panic on the short way, the whole way is still there to answer.
        let quick = std::panic::catch_unwind(AssertUnwindSafe(|| quick::answer(&call)));
        match quick.unwrap_or_else(|_| Quick::More(Box::default())) {
            Quick::Answer(answer) => answer,
            Quick::More(seen) => {
                let place = dirs.clone();
                log::install_lazily(dirs.logs(), move || Config::load(&place).config.log_level);
                pipeline::answer(&call, seen)
            }
        }
    }))
    .unwrap_or_else(|_| Answer::carry_on());
    // An agent that closed its end does not want to hear it.
    let _ = std::io::stdout().lock().write_all(answer.stdout.as_bytes());
    let _ = std::io::stderr().lock().write_all(answer.stderr.as_bytes());
    ExitCode::from(answer.exit)
}
