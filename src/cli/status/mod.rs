//! `cargo agents status`: one screen of what is registered where, what applies, and what a sync
//! would change.

mod gather;
pub(super) mod model;
mod show;

use crate::report::ExitCode;

use super::CommandResult;
use crate::Symposium;
use crate::sync::survey::Inputs;

pub(super) fn run(sym: &Symposium) -> CommandResult {
    let inputs = Inputs::read(sym, &sym.cwd()?)?;
    let survey = inputs.survey()?;
    let status = gather::gather(&survey);
    sym.report.json(&status);
    let home = sym.env.home();
    let view = show::View {
        width: sym.report.width(),
        home: home.as_deref(),
        verbosity: sym.report.verbosity(),
        synced: inputs.root().and_then(|root| gather::last_sync(&survey, root)),
    };
    sym.report.result(&show::show(&status, &view));
    Ok(ExitCode::SUCCESS)
}
