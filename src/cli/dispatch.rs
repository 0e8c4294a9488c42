//! `cargo agents <name> …` for a name that is none of ours: a plugin's subcommand.
//!
//! The child gets our terminal, the arguments as they were typed, and the exit code is its own.

use crate::report::ExitCode;
use std::ffi::OsString;

use clap::CommandFactory as _;

use super::CommandResult;
use super::grammar::Cli;
use crate::Symposium;
use crate::installations::{Acquirer, Mode, Network};
use crate::process::{Status, run_inherited};
use crate::sync::snapshot::subcommands::{self, Listing, Vended};
use crate::text::{Diagnostic, closest, did_you_mean};

/// Runs the subcommand `words[0]` with the other words.
pub(super) fn run(sym: &Symposium, words: &[OsString]) -> CommandResult {
    let Some((name, args)) = words.split_first() else { return Ok(ExitCode::SUCCESS) };
    let listing = subcommands::listing(sym);
    let vended = find(sym, &listing, &name.to_string_lossy())?;
    let (plugin, subcommand) = subcommands::load(sym, vended)?;
    let network = Network::new(sym);
    let acquirer = Acquirer::new(sym, &network);
    let prepared = acquirer.command(&plugin, &subcommand.command, Mode::Explicit)?;
    for missing in &prepared.missing {
        sym.report.warn(missing.to_string());
    }
    let mut child = prepared.invocation.child().args(args.iter().cloned()).in_environment(&sym.env);
    if let Some(root) = &listing.root {
        child = child.env("SYMPOSIUM_WORKSPACE", root);
    }
    for (name, value) in prepared.env {
        child = child.env(name, value);
    }
    let status = run_inherited(&child)?;
    // A reader that has read enough ends the program with SIGPIPE, and is content.
    if let Status::Signalled(signal) = status
        && signal != SIGPIPE
    {
        let ended = format!("`{}` was ended by signal {signal}", vended.name);
        sym.report.diagnostic(&Diagnostic::error(ended));
    }
    Ok(ExitCode::from(status.exit_code()))
}

/// The subcommand `name`. Where there is none, what may be the reason is told before the error.
pub(super) fn find<'a>(
    sym: &Symposium,
    listing: &'a Listing,
    name: &str,
) -> Result<&'a Vended, Diagnostic> {
    choose(listing, name).map_err(|mut problem| {
        // What else is wrong is no answer here.
        let (meant, other): (Vec<_>, Vec<_>) =
            listing.diagnostics.iter().partition(|trouble| is_about(trouble, name));
        sym.report.diagnostics(listing.trouble.iter().chain(meant));
        if other.iter().any(|trouble| trouble.is_error()) {
            problem = problem.note(BROKEN);
        }
        if !sym.config_state.is_clear() {
            let file = sym.report.path(&sym.dirs.config_file());
            problem = problem.note(format!(
                "the configuration can't be read, and may name a plugin that has it: mend {file}"
            ));
        }
        problem
    })
}

/// The signal of a pipe that nobody reads any more: the same number on all Unix systems.
const SIGPIPE: i32 = 13;

const BROKEN: &str = "something can't be read that could have it: `cargo agents doctor` tells more";

/// Whether `trouble` is in a file that names the command.
fn is_about(trouble: &Diagnostic, name: &str) -> bool {
    let text = trouble.source.as_ref().map(|source| source.text.as_str()).unwrap_or_default();
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let (before, after) = (&text[..at], &text[at + found.len()..]);
            !before.ends_with(is_word) && !after.starts_with(is_word)
        })
}

/// The one that is meant.
fn choose<'a>(listing: &'a Listing, name: &str) -> Result<&'a Vended, Diagnostic> {
    let (here, elsewhere): (Vec<&Vended>, Vec<&Vended>) = listing
        .vended
        .iter()
        .filter(|vended| vended.name == name)
        .partition(|vended| vended.needs.is_none());
    match (here.as_slice(), elsewhere.as_slice()) {
        ([one], _) => Ok(one),
        ([], []) => Err(unknown(listing, name)),
        ([], elsewhere) => Err(not_here(name, elsewhere)),
        (several, _) => Err(contested(name, several)),
    }
}

fn unknown(listing: &Listing, name: &str) -> Diagnostic {
    let mut problem = Diagnostic::error(format!("there is no command `{}`", name.escape_debug()));
    let grammar = Cli::command();
    let own = grammar.get_subcommands().filter(|command| !command.is_hide_set());
    let own = own.map(clap::Command::get_name);
    let vended = listing.applicable().map(|vended| vended.name.as_str());
    problem.notes.extend(did_you_mean(&closest(name, own.chain(vended))));
    problem = problem.note("`cargo agents --help` lists the commands");
    if !listing.absent.is_empty() {
        problem = problem.note(format!(
            "not fetched yet, so not looked into: {}; `cargo agents plugin sync` fetches",
            listing.absent.join(", ")
        ));
    }
    problem
}

fn not_here(name: &str, elsewhere: &[&Vended]) -> Diagnostic {
    let needs = |vended: &Vended| vended.needs.clone().unwrap_or_default();
    let from = |vended: &Vended| {
        format!("it is from plugin `{}` (source `{}`)", vended.plugin, vended.source)
    };
    let problem = match elsewhere {
        [one] => {
            let message = format!("`{name}` is of no use here: {}", needs(one));
            return Diagnostic::error(message).note(from(one)).note(LISTS);
        }
        _ => Diagnostic::error(format!("`{name}` is of no use here")),
    };
    let notes = elsewhere.iter().map(|vended| {
        format!("plugin `{}` (source `{}`): {}", vended.plugin, vended.source, needs(vended))
    });
    notes.fold(problem, Diagnostic::note).note(LISTS)
}

const LISTS: &str = "`cargo agents --help` lists what there is here";

fn contested(name: &str, several: &[&Vended]) -> Diagnostic {
    let problem = Diagnostic::error(format!("several plugins have a command `{name}`"));
    let notes = several
        .iter()
        .map(|vended| format!("plugin `{}`, from source `{}`", vended.plugin, vended.source));
    let disable = several.first().map_or("", |vended| vended.plugin.as_str());
    notes
        .fold(problem, Diagnostic::note)
        .note(format!("switch one off in the configuration: `[plugins] disable = [\"{disable}\"]`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::model::Audience;

    fn vended(name: &str, plugin: &str, needs: Option<&str>) -> Vended {
        Vended {
            name: name.to_owned(),
            plugin: plugin.to_owned(),
            source: "tools".to_owned(),
            description: String::new(),
            audience: Audience::Agents,
            manifest: None,
            needs: needs.map(str::to_owned),
        }
    }

    fn listing(vended: Vec<Vended>) -> Listing {
        Listing { vended, ..Listing::default() }
    }

    fn refused(listing: &Listing, name: &str) -> String {
        let problem = choose(listing, name).expect_err("it is refused");
        format!("{}\n{}", problem.message, problem.notes.join("\n"))
    }

    #[test]
    fn f8_f185_unknown_names_get_a_suggestion_and_the_way_to_the_list() {
        let mut known = listing(vec![vended("analyse", "a", None)]);
        for (name, meant) in
            [("snyc", "sync"), ("analise", "analyse"), ("self-updat", "self-update")]
        {
            let text = refused(&known, name);
            assert!(text.contains(&format!("did you mean `{meant}`?")), "{text}");
            assert!(text.contains("`cargo agents --help`"), "{text}");
        }
        let text = refused(&known, "xyzzy");
        assert!(!text.contains("did you mean"), "{text}");
        known.absent.push("far".to_owned());
        let text = refused(&known, "xyzzy");
        assert!(text.contains("not looked into: far"), "{text}");
    }

    #[test]
    fn f186_a_command_of_elsewhere_says_what_it_needs() {
        let needs = "bevy is not a dependency of this workspace";
        let text = refused(&listing(vec![vended("ecs", "bevy", Some(needs))]), "ecs");
        assert!(text.contains(needs) && text.contains("plugin `bevy`"), "{text}");
    }

    #[test]
    fn f180_a_contested_name_lists_every_plugin_and_source() {
        let text = refused(&listing(vec![vended("x", "a", None), vended("x", "b", None)]), "x");
        assert!(text.contains("plugin `a`, from source `tools`"), "{text}");
        assert!(text.contains("plugin `b`, from source `tools`"), "{text}");
    }

    #[test]
    fn f180_what_does_not_apply_here_contests_nothing() {
        let listing = listing(vec![vended("x", "a", Some("bevy")), vended("x", "b", None)]);
        assert_eq!(choose(&listing, "x").expect("one is left").plugin, "b");
    }
}
