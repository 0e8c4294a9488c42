//! The command line: argv in, exit code out.
//!
//! [`grammar`] is the shape of the command line, `request` says what one asks for, and each
//! command has a file. One function, [`run`], turns what came of a command into an exit code:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | it failed, or a check found something |
//! | 2 | the command line is wrong (never from `hook`) |
//! | 130 | Ctrl-C ended a question of `init` or `sync` |
//! | a child's | a plugin's subcommand |
//!
//! A reader that closes its end of a pipe is content: output that nobody reads is no failure.
//!
//! May use: everything. Used by: the binary.

mod ask;
mod audit;
mod audit_args;
mod author_args;
mod codex_trust;
mod completions;
mod crate_info;
mod dispatch;
mod doctor;
mod errors;
mod forges;
mod grammar;
mod help;
mod init;
mod lock;
mod mcp;
mod plugin;
mod programs;
mod request;
mod run_server;
#[cfg(test)]
mod schemas;
mod screen;
mod self_update;
mod status;
mod sync;
mod team;
mod terminal;
mod theme;
mod uninstall;
mod use_;
mod version;
mod why;

use crate::report::ExitCode;
use std::ffi::OsString;

use crate::Symposium;
use crate::config::Environment;
use crate::config::state::State;
use crate::hook;
use crate::report::{Reporter, log};
use crate::symposium::Options;
use crate::sync::enter;
use grammar::{Cli, Command};
use request::{Invocation, Request};

/// What a command came to.
type CommandResult = anyhow::Result<ExitCode>;

/// The command line: every command with its options, as `--help` shows them.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the program with the process's own arguments and surroundings.
#[allow(clippy::disallowed_methods, reason = "the door: arguments come in here")]
pub fn main() -> ExitCode {
    #[cfg(unix)]
    crate::process::outlive_file_limits();
    end_at_a_panic();
    run(std::env::args_os().collect(), Environment::capture())
}

/// A panic ends the program with the exit code that Rust programs have then. A release build does not
/// unwind (see `Cargo.toml`), and would end by a signal, as if the system had stopped it.
#[allow(clippy::disallowed_methods, reason = "nothing unwinds: the panic hook has the last word")]
fn end_at_a_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        std::process::exit(101);
    }));
}

/// Runs the program: `args` with the program's name first, as `cargo agents …` or
/// `cargo-agents …` pass them.
pub fn run(args: Vec<OsString>, env: Environment) -> ExitCode {
    let mut words = args.clone();
    // Cargo runs `cargo-agents agents …` for `cargo agents …`.
    if words.get(1).is_some_and(|first| first == "agents") {
        words.remove(1);
    }
    let rest = words.get(2..).unwrap_or_default();
    match words.get(1).and_then(|first| first.to_str()) {
        // An agent waits, and must never be stopped by a word we do not know.
        Some("hook") if !is_question(rest) => return hook::main(rest, &env),
        // A shell waits, at each press of the Tab key.
        Some("complete") if !is_question(rest) => return completions::answer(rest, &env),
        _ => {}
    }
    let Request { invocation, format, verbosity } = request::read(&words);
    let report = Reporter::new(&env, format, verbosity);
    match invocation {
        Invocation::Help { path, long } => help::show(report, env, &path, long),
        Invocation::PluginHelp(name) => help::show_vended(report, env, &name),
        Invocation::Version => {
            version::show(&report);
            report.exit_code(ExitCode::SUCCESS)
        }
        Invocation::Wrong(error) => errors::usage(&report, &error),
        Invocation::Run(cli) => match cli.command {
            Some(Command::Hook(hook)) => hook::main(&hook.words, &env),
            Some(Command::External(words)) if words.first().is_some_and(|word| word == "hook") => {
                hook::main(&words[1..], &env)
            }
            _ => perform(*cli, &args, env, report),
        },
    }
}

/// Whether somebody asks what a command is, instead of calling it.
fn is_question(rest: &[OsString]) -> bool {
    matches!(rest, [only] if only == "--help" || only == "-h")
}

/// Runs one command; `args` are the process's own.
fn perform(cli: Cli, args: &[OsString], env: Environment, report: Reporter) -> ExitCode {
    let options = Options {
        update: cli.global.update,
        offline: cli.global.offline,
        timeout: std::time::Duration::from_secs(cli.global.timeout),
    };
    let (format, verbosity) = (report.format(), report.verbosity());
    let mut sym = match Symposium::new(env.clone(), report, options) {
        Ok(sym) => sym,
        Err(error) => {
            let report = Reporter::new(&env, format, verbosity);
            return errors::fail(&report, &error.into());
        }
    };
    enter(&mut sym);
    let leaves_no_trace = cli.command.as_ref().is_some_and(Command::leaves_no_trace);
    let level = sym.config.log_level;
    if !leaves_no_trace {
        log::install(sym.dirs.logs(), move || level);
    }
    // These have them among their findings.
    if !matches!(cli.command, Some(Command::Doctor(_) | Command::Audit(_))) {
        sym.report.diagnostics(&sym.config_diagnostics);
    }
    // `init` may be called off, and then nothing was written.
    if !leaves_no_trace && !matches!(cli.command, Some(Command::Init(_))) {
        record_start(&sym, &name_of(args));
    }
    if !leaves_no_trace
        && cli.command.as_ref().is_some_and(may_update)
        && let Some(code) = self_update::before(&sym, args)
    {
        return code;
    }
    if cli.command.as_ref().is_some_and(tells_of_changes) {
        plugin::trust::tell_changed(&sym);
    }
    let result = run_command(&mut sym, cli.command);
    let code = result.unwrap_or_else(|error| errors::fail(&sym.report, &error));
    sym.report.exit_code(code)
}

/// Runs `command` in its surroundings.
fn run_command(sym: &mut Symposium, command: Option<Command>) -> anyhow::Result<ExitCode> {
    match command {
        Some(Command::Init(args)) => init::run(sym, &args),
        Some(Command::Sync(args)) => sync::run(sym, &args),
        Some(Command::Status(args)) => status::run(sym, &args),
        Some(Command::Why(args)) => why::run(sym, &args),
        Some(Command::Doctor(args)) => doctor::run(sym, &args),
        Some(Command::Lock) => lock::run(sym),
        Some(Command::Audit(args)) => audit::run(sym, &args),
        Some(Command::Use(args)) => use_::run(sym, &args),
        Some(Command::Uninstall(args)) => uninstall::run(sym, &args),
        Some(Command::Plugin(args)) => plugin::run(sym, &args.command),
        Some(Command::CrateInfo(args)) => crate_info::run(sym, &args),
        Some(Command::SelfUpdate(args)) => self_update::run(sym, &args),
        Some(Command::Completions(args)) => completions::run(sym, &args),
        Some(Command::Man(args)) => completions::man(sym, &args),
        Some(Command::Mcp) => mcp::run(sym),
        Some(Command::RunServer(args)) => run_server::run(sym, &args),
        Some(Command::External(words)) => dispatch::run(sym, &words),
        // Answered before, without a context.
        Some(Command::Hook(_) | Command::Help(_)) | None => Ok(ExitCode::SUCCESS),
    }
}

/// Leaves in the log and in the state which version of us runs `command`, whose arguments may hold
/// secrets.
fn record_start(sym: &Symposium, command: &str) {
    tracing::info!("`cargo agents {command}`, version {}", crate::symposium::VERSION);
    State::stamp(&sym.dirs.state_file(), crate::symposium::VERSION);
}

/// The command's name, where it is one of ours.
fn name_of(args: &[OsString]) -> String {
    let words = args.iter().skip(1).filter_map(|word| word.to_str());
    let grammar = command();
    let name = words.filter(|word| *word != "agents").find(|word| !word.starts_with('-'));
    let own = name.filter(|name| grammar.find_subcommand(name).is_some());
    own.unwrap_or("…").to_owned()
}

/// Whether the user is told, before this command, of plugins that are no longer what was allowed: not
/// where the command says so itself, nor where its output is a program's.
fn tells_of_changes(command: &Command) -> bool {
    let says_it = match command {
        Command::Sync(_)
        | Command::Status(_)
        | Command::Doctor(_)
        | Command::Audit(_)
        | Command::Init(_) => true,
        Command::Plugin(args) => args.command.is_about_trust(),
        _ => false,
    };
    may_update(command) && !says_it
}

/// Whether a newer Symposium may be looked for before this command: not where its output is a
/// file's, and not before one that is about Symposium itself.
fn may_update(command: &Command) -> bool {
    !matches!(
        command,
        Command::SelfUpdate(_)
            | Command::Uninstall(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Mcp
            | Command::RunServer(_)
            | Command::Hook(_)
            | Command::Help(_)
    )
}
