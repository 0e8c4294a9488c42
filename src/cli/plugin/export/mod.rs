//! `cargo agents plugin export`: one of our plugins as a package of another format, for those who
//! distribute without us.

pub(super) mod folder;
mod package;
mod programs;

use std::path::Path;

use super::show;
use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::grammar::PackageFormat;
use crate::cli::screen::count;
use crate::plugins::registry::Registry;
use crate::plugins::source::Refresh;
use crate::report::{Event, ExitCode};
use package::Package;

pub(super) fn run(sym: &Symposium, name: &str, format: PackageFormat, dir: &Path) -> CommandResult {
    // As it is written: what the user said of it here is nobody else's.
    let registry = Registry::load(sym, &Refresh::for_command(sym));
    let plugin = &show::find(&registry, name)?.plugin;
    folder::check(dir)?;
    let package = Package::of(sym, plugin, format)?;
    for left_out in &package.left_out {
        sym.report.warn(left_out.as_str());
    }
    folder::write(dir, &package.content)?;
    let files = count(package.content.files.len(), "file");
    let place = sym.report.path(dir);
    sym.report.event(&Event::status("Exported", format!("{name} to {place} ({files})")));
    Ok(ExitCode::SUCCESS)
}
