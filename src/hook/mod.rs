//! An agent's event, answered: decode → make sure the snapshot is current → our own context → plugin
//! hooks → merge → encode.
//!
//! The law here: whatever goes wrong, the agent carries on. Arguments are read by hand, no error
//! leaves this room other than into the log, and nothing but the agent's answer reaches standard
//! output. Only an explicit deny denies.
//!
//! - `event`: what a call says
//! - `pipeline`: the steps, in order
//! - `session_context`: our own part in a session, with `builtin`'s words, those about
//!   `dependencies`, and `session`'s memory, in which a `skill_read` is counted
//! - `sessions`: all of them, of which old ones are forgotten
//! - `hints`: what the locked versions of dependencies say about a compiler's errors
//! - `dispatch`: the plugins' hooks, chosen by `select`, started by `run`, joined
//!   by [`crate::agents::merge`]
//! - `dedup`: an event that two registrations deliver is answered once
//! - `install_wait`: a program that is being installed is waited for, once and for a moment
//! - `unsupported`: what the agent can't do is logged
//! - `witness`: what is seen of it by those who try a plugin out ([`rehearse`])
//!
//! May use: `sync` (to make sure that the snapshot is current) and every floor below. Used by:
//! the program's entry, before the command line is parsed.

mod builtin;
mod dedup;
mod dependencies;
mod dispatch;
mod end_of_turn;
mod event;
mod hints;
mod install_wait;
mod pipeline;
mod run;
mod select;
mod session;
mod session_context;
mod sessions;
mod skill_read;
mod trace;
mod unsupported;
mod witness;

use crate::report::ExitCode;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, Write as _};

use symposium_hook::Event;

use self::event::Call;
use self::witness::Witness;
use crate::agents::wire::Answer;
use crate::config::{Config, Dirs, Environment};
use crate::report::log;

#[cfg(any(test, fuzzing))]
pub(crate) use self::hints::fuzzing;
pub(crate) use self::sessions::{AgentReads, skill_reads};
pub(crate) use self::witness::Seen;

/// Bytes of the largest event that is read; no agent sends as much.
const LARGEST_EVENT: usize = 256 * 1024 * 1024;

/// Answers `hook <agent> <event>`: `args` are those after `hook`. Never fails; the exit code is the
/// agent's answer.
#[allow(clippy::disallowed_methods, reason = "nothing unwinds: the panic hook has the last word")]
pub(crate) fn main(args: &[OsString], env: &Environment) -> ExitCode {
    // A panic is logged like any other trouble, and the event goes on: its usual message would reach the
    // agent's screen. The program does not unwind, so this is the last place to answer from, and no
    // output with exit code 0 is "carry on" for every agent.
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!("{panic}");
        std::process::exit(i32::from(Answer::carry_on().exit));
    }));
    let answer = read_and_answer(args, env);
    // An agent that closed its end does not want to hear it.
    let _ = std::io::stdout().lock().write_all(answer.stdout.as_bytes());
    let _ = std::io::stderr().lock().write_all(answer.stderr.as_bytes());
    ExitCode::from(answer.exit)
}

fn read_and_answer(args: &[OsString], env: &Environment) -> Answer {
    let Ok(dirs) = Dirs::resolve(env) else { return Answer::carry_on() };
    let config_dirs = dirs.clone();
    log::install(dirs.logs(), move || Config::load(&config_dirs).config.log_level);
    let mut stdin = Vec::new();
    let by_hand = std::io::stdin().is_terminal();
    if !by_hand {
        let most = LARGEST_EVENT as u64 + 1;
        let _ = std::io::stdin().lock().take(most).read_to_end(&mut stdin);
    }
    if stdin.len() > LARGEST_EVENT {
        // The half of an event must not be taken for the whole.
        tracing::warn!("the event is larger than {} MB", LARGEST_EVENT / 1024 / 1024);
        return Answer::carry_on();
    }
    pipeline::answer(&Call { args, stdin: &stdin, by_hand, env, dirs: &dirs, witness: None })
}

/// Answers an event as [`main`] does, in surroundings made for it, and tells what was seen on the way:
/// for authors of plugins. Nothing is started in the background.
pub(crate) fn rehearse(
    agent: &str,
    event: Event,
    stdin: &[u8],
    (env, dirs): (&Environment, &Dirs),
) -> (Answer, Seen) {
    let witness = Witness::default();
    let args = [OsString::from(agent), OsString::from(event.cli_name())];
    let call = Call { args: &args, stdin, by_hand: false, env, dirs, witness: Some(&witness) };
    let answer = pipeline::answer(&call);
    (answer, witness.into_seen())
}
