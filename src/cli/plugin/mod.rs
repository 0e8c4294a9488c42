//! `cargo agents plugin …`: writing plugins, looking at them, checking them, fetching their
//! sources, passing them on.

pub(super) mod add;
mod explain;
mod export;
mod lines;
pub(super) mod list;
mod new;
pub(super) mod offer;
pub(super) mod publish;
mod redact;
pub(super) mod schema;
pub(super) mod show;
mod sync;
pub(super) mod test;
pub(super) mod trust;
mod update;
mod validate;
mod view;

use super::CommandResult;
use super::grammar::PluginCommand;
use crate::Symposium;

pub(super) fn run(sym: &Symposium, command: &PluginCommand) -> CommandResult {
    match command {
        PluginCommand::List => list::run(sym),
        PluginCommand::New(args) => new::run(sym, args),
        PluginCommand::Test(args) => test::run(sym, args),
        PluginCommand::Show { name } => show::run(sym, name),
        PluginCommand::Add(args) => add::run(sym, args),
        PluginCommand::Sync { name } => sync::run(sym, name.as_deref()),
        PluginCommand::Update { name, dry_run } => update::run(sym, name.as_deref(), *dry_run),
        PluginCommand::Validate(args) => validate::run(sym, args),
        PluginCommand::Export { name, format, dir } => export::run(sym, name, *format, dir),
        PluginCommand::Publish { path, dry_run: _ } => publish::run(sym, path),
        PluginCommand::Schema { of } => schema::run(sym, *of),
        PluginCommand::Review { name } => trust::review(sym, name.as_deref()),
        PluginCommand::Allow { name } => trust::allow(sym, name),
        PluginCommand::Deny { name } => trust::deny(sym, name),
        PluginCommand::Explain { code } => explain::run(sym, code),
    }
}
