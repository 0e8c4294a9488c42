//! `cargo agents status`: one screen of what is registered where, what applies, and what a sync
//! would change. With `--use`, how often the skills are read.

mod gather;
pub(super) mod model;
mod show;
pub(super) mod usage;

use crate::report::ExitCode;

use super::CommandResult;
use super::grammar::StatusArgs;
use crate::Symposium;
use crate::sync::survey::Inputs;

pub(super) fn run(sym: &Symposium, args: &StatusArgs) -> CommandResult {
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let survey = inputs.survey()?;
    if args.usage {
        let usage = usage::gather(&survey);
        sym.report.json(&usage);
        sym.report.result(&usage::show(&usage, &sym.report, survey.inputs.trouble.as_ref()));
        return Ok(ExitCode::SUCCESS);
    }
    let status = gather::gather(&survey);
    sym.report.json(&status);
    let home = sym.env.home();
    let view = show::View {
        width: sym.report.width(),
        home: home.as_deref(),
        verbosity: sym.report.verbosity(),
        synced: gather::last_sync(&survey),
    };
    sym.report.result(&show::show(&status, &view));
    Ok(ExitCode::SUCCESS)
}
