//! What a test binary is besides: started again with `SYMPOSIUM_TEST_ROLE` set, it plays an MCP
//! server or a client of the agent client protocol, so that tests need no further programs.

use std::process::{Command, ExitCode};

const VARIABLE: &str = "SYMPOSIUM_TEST_ROLE";

/// A part that a test binary can play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A client of the agent client protocol.
    Acp,
}

/// The command that starts this binary in `role`.
pub(crate) fn command(role: Role) -> Command {
    let this = std::env::current_exe().expect("this program has a file");
    let mut command = Command::new(this);
    let Role::Acp = role;
    command.env(VARIABLE, "acp");
    command
}

/// Plays the role that the environment or the first argument asks for, if any. To be called first
/// in a test binary's `main`.
pub fn play() -> Option<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // A server is started by the client, with arguments only.
    if args.first().is_some_and(|first| first == crate::mcp::ARGUMENT) {
        crate::mcp::serve_stdio(&args[1..]);
        return Some(ExitCode::SUCCESS);
    }
    if std::env::var_os(VARIABLE)? != "acp" {
        return None;
    }
    match crate::clients::play_acp(&args) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "{error:#}");
            Some(ExitCode::FAILURE)
        }
    }
}
