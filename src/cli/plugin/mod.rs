//! `cargo agents plugin …`: looking at plugins, checking them, fetching their sources, passing them on.

pub(super) mod add;
mod explain;
mod export;
mod lines;
pub(super) mod list;
pub(super) mod offer;
mod programs;
mod redact;
pub(super) mod show;
mod sync;
mod validate;
mod view;

use super::CommandResult;
use super::grammar::PluginCommand;
use crate::Symposium;

pub(super) fn run(sym: &Symposium, command: &PluginCommand) -> CommandResult {
    match command {
        PluginCommand::List => list::run(sym),
        PluginCommand::Show { name } => show::run(sym, name),
        PluginCommand::Add(args) => add::run(sym, args),
        PluginCommand::Sync { name } => sync::run(sym, name.as_deref()),
        PluginCommand::Validate { path, no_check_crates } => {
            validate::run(sym, path, !no_check_crates)
        }
        PluginCommand::Export { name, format, dir } => export::run(sym, name, *format, dir),
        PluginCommand::Explain { code } => explain::run(sym, code),
    }
}
