//! `cargo agents mcp`: the MCP server, on the standard streams.

use super::CommandResult;
use super::crate_info;
use super::grammar::CrateInfoArgs;
use crate::Symposium;
use crate::mcp::{CrateQuestion, serve};
use crate::report::ExitCode;

pub(super) fn run(sym: &Symposium) -> CommandResult {
    serve(sym, about_crate)?;
    Ok(ExitCode::SUCCESS)
}

/// What is asked of one crate is what `crate-info` tells.
fn about_crate(sym: &Symposium, question: CrateQuestion) -> CommandResult {
    let CrateQuestion { name, version } = question;
    crate_info::run(sym, &CrateInfoArgs { name, version, since: None })
}
