//! `cargo agents mcp`: the MCP server, on the standard streams.

use super::CommandResult;
use super::crate_info;
use super::grammar::CrateInfoArgs;
use crate::Symposium;
use crate::mcp::{AboutCrate, CrateChanges, CrateItem, CrateQuestion, serve};
use crate::report::ExitCode;

pub(super) fn run(sym: &Symposium) -> CommandResult {
    serve(sym, about_crate)?;
    Ok(ExitCode::SUCCESS)
}

/// What is asked of one crate is what `crate-info` tells.
fn about_crate(sym: &Symposium, question: CrateQuestion) -> CommandResult {
    let args = match question {
        CrateQuestion::About(AboutCrate { name, version }) => {
            CrateInfoArgs { name, path: None, version, since: None }
        }
        CrateQuestion::Changes(CrateChanges { name, since }) => {
            CrateInfoArgs { name, path: None, version: None, since: Some(since) }
        }
        CrateQuestion::Item(CrateItem { name, path }) => {
            CrateInfoArgs { name, path: Some(path), version: None, since: None }
        }
    };
    crate_info::run(sym, &args)
}
