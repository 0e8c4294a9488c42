//! The command line: argv in, exit code out.
//!
//! [`grammar`] is the shape of the command line, and each command has a file. One function,
//! [`run`], turns what came of a command into an exit code:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | it failed, or a check found something |
//! | 2 | the command line is wrong (never from `hook`) |
//! | a child's | a plugin's subcommand |
//!
//! May use: everything. Used by: the binary.

mod closest;
mod codex_trust;
mod crate_info;
mod errors;
pub mod grammar;
mod init;
mod plugin;
mod sync;
mod uninstall;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::Symposium;
use crate::config::Environment;
use crate::config::state::State;
use crate::hook;
use crate::report::{Format, Reporter, Verbosity, log};
use crate::symposium::Options;
use grammar::{Cli, Command};

/// What a command came to.
type CommandResult = anyhow::Result<ExitCode>;

/// Runs the program with the process's own arguments and surroundings.
#[allow(clippy::disallowed_methods, reason = "the door: arguments come in here")]
pub fn main() -> ExitCode {
    run(std::env::args_os().collect(), Environment::capture())
}

/// Runs the program: `args` with the program's name first, as `cargo agents …` or
/// `cargo-agents …` pass them.
pub fn run(mut args: Vec<OsString>, env: Environment) -> ExitCode {
    // Cargo runs `cargo-agents agents …` for `cargo agents …`.
    if args.get(1).is_some_and(|first| first == "agents") {
        args.remove(1);
    }
    // An agent waits, and must never be stopped by a word we do not know.
    if args.get(1).is_some_and(|first| first == "hook") {
        return hook::main(&args[2..], &env);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let is_document = cli.command.as_ref().is_some_and(Command::answers_with_a_document);
    let format = match (cli.global.json, is_document) {
        (false, _) => Format::People,
        (true, false) => Format::Json,
        (true, true) => Format::Document,
    };
    let verbosity = match (cli.global.quiet, cli.global.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    };
    let report = Reporter::new(&env, format, verbosity);
    let options = Options {
        update: cli.global.update.map(Into::into),
        offline: cli.global.offline,
        timeout: std::time::Duration::from_secs(cli.global.timeout),
    };
    let mut sym = match Symposium::new(env.clone(), report, options) {
        Ok(sym) => sym,
        Err(error) => {
            let report = Reporter::new(&env, format, verbosity);
            return errors::fail(&report, &error.into());
        }
    };
    log::install(sym.dirs.logs(), sym.config.log_level);
    sym.report.diagnostics(&sym.config_diagnostics);
    // `init` may be called off, and then nothing was written.
    if !matches!(cli.command, Some(Command::Init(_))) {
        State::stamp(&sym.dirs.state_file(), crate::symposium::VERSION);
    }
    let result = match cli.command {
        Some(Command::Init(args)) => init::run(&mut sym, &args),
        Some(Command::Sync(args)) => sync::run(&sym, &args),
        Some(Command::Uninstall(args)) => uninstall::run(&sym, &args),
        Some(Command::Plugin(args)) => plugin::run(&sym, &args.command),
        Some(Command::CrateInfo(args)) => crate_info::run(&sym, &args),
        None => Ok(ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| errors::fail(&sym.report, &error))
}

/// Help and version go to standard output with code 0, a wrong command line to standard error with
/// code 2.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
