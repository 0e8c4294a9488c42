//! What could stand at a place of the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Arc;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{
    ArgValueCandidates, CompletionCandidate, SubcommandCandidates, complete,
};

use crate::Symposium;
use crate::agents::Agent;
use crate::cli::grammar::Cli;
use crate::config::Environment;
use crate::plugins::diagnostics::{EXPLANATIONS, Explanation};
use crate::plugins::registry::Registry;
use crate::plugins::source::{Refresh, effective};
use crate::report::Reporter;
use crate::symposium::Options;
use crate::sync::snapshot::subcommands;
use crate::sync::snapshot::{Offer, Stored};
use crate::workspace::Workspace;

/// How long a description may be, in letters.
const DESCRIPTION: usize = 70;

/// What could stand at `words[index]`: each with its description after a tab.
pub(super) fn at(words: &[OsString], index: usize, env: &Environment) -> Vec<String> {
    let words = words.get(..=index).unwrap_or(words);
    let sym = Symposium::new(
        env.clone(),
        Reporter::silent(),
        Options { offline: true, ..Options::default() },
    );
    let sym = sym.ok().map(|mut sym| {
        // Nothing of it can be named that is not known without it, and it would be put on disk.
        sym.config.defaults.builtin = false;
        crate::sync::enter(&mut sym);
        Arc::new(sym)
    });
    let mut grammar = grammar(sym.as_ref());
    let vended = sym.as_ref().map(|sym| vended(sym)).unwrap_or_default();
    if let Some(command) = command_in(&grammar, words, index)
        && vended.contains_key(&command)
    {
        // What follows is for the plugin's program to know; shells offer files.
        return Vec::new();
    }
    grammar = grammar.add(SubcommandCandidates::new(move || as_candidates(&vended)));
    let mut args: Vec<OsString> = vec!["cargo-agents".into()];
    args.extend(words.iter().cloned());
    args.resize(index.saturating_add(2).min(args.len() + 1), OsString::new());
    let index = args.len() - 1;
    let found = complete(&mut grammar, args, index, env.cwd()).unwrap_or_default();
    found.iter().filter(|candidate| !candidate.is_hide_set()).filter_map(line).collect()
}

fn line(candidate: &CompletionCandidate) -> Option<String> {
    let value = candidate.get_value().to_str()?;
    if value.contains(char::is_control) {
        return None;
    }
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let help = crate::report::fit(help.lines().next().unwrap_or_default(), DESCRIPTION);
    Some(if help.is_empty() { value.to_owned() } else { format!("{value}\t{help}") })
}

/// The first word before `words[index]` that is neither an option nor an option's value.
fn command_in(grammar: &Command, words: &[OsString], index: usize) -> Option<String> {
    let takes_value = |word: &str| {
        let named = |arg: &&Arg| {
            arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
                || arg.get_short().is_some_and(|short| {
                    word.strip_prefix('-').is_some_and(|rest| rest.ends_with(short))
                })
        };
        let found = grammar.get_arguments().find(named);
        found.is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut words = words.iter().take(index).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word.into_owned());
        }
        if takes_value(&word) {
            words.next();
        }
    }
    None
}

/// Vended subcommands that can be run here, by name, with what they are for.
fn vended(sym: &Symposium) -> BTreeMap<String, String> {
    let listing = subcommands::listing(sym);
    listing.applicable().map(|vended| (vended.name.clone(), vended.description.clone())).collect()
}

fn as_candidates(vended: &BTreeMap<String, String>) -> Vec<CompletionCandidate> {
    vended
        .iter()
        .map(|(name, help)| CompletionCandidate::new(name).help(Some(help.clone().into())))
        .collect()
}

/// The grammar, with names where an argument takes one: see [`names_of`].
fn grammar(sym: Option<&Arc<Symposium>>) -> Command {
    let mut grammar = Cli::command();
    if let Some(sym) = sym {
        grammar = with_names(grammar, sym);
    }
    grammar
}

fn with_names(command: Command, sym: &Arc<Symposium>) -> Command {
    let of = command.get_name().to_owned();
    let named = command.mut_args(|arg| match names_of(&of, arg.get_id().as_str()) {
        Some(names) => {
            let sym = Arc::clone(sym);
            arg.add(ArgValueCandidates::new(move || names(&sym)))
        }
        None => arg,
    });
    named.mut_subcommands(|below| with_names(below, sym))
}

type Names = fn(&Symposium) -> Vec<CompletionCandidate>;

/// What the argument `arg` of the command `command` takes, by their names in the grammar.
fn names_of(command: &str, arg: &str) -> Option<Names> {
    match (command, arg) {
        (_, "agent" | "add_agent" | "remove_agent") => Some(agents),
        ("why", "name") => Some(anything),
        ("use" | "crate-info", "name") => Some(crates),
        ("show" | "export", "name") => Some(plugins),
        ("sync", "name") => Some(sources),
        ("explain", "code") => Some(codes),
        ("help", "words") => Some(topics),
        _ => None,
    }
}

/// Whatever `why` can follow; a name that is several things is offered once.
fn anything(sym: &Symposium) -> Vec<CompletionCandidate> {
    let mut found = skills(sym);
    found.extend(plugins(sym));
    found.extend(offer(sym).servers.iter().map(|server| CompletionCandidate::new(&server.name)));
    found.extend(as_candidates(&vended(sym)));
    found.extend(crates(sym));
    let mut seen = BTreeSet::new();
    found.retain(|candidate| seen.insert(candidate.get_value().to_owned()));
    found
}

fn crates(sym: &Symposium) -> Vec<CompletionCandidate> {
    let loaded = sym.env.cwd().and_then(|cwd| Workspace::load(cwd, &sym.env).ok()?);
    let dependencies = loaded.map(|loaded| loaded.workspace.dependencies).unwrap_or_default();
    let names: BTreeSet<String> = dependencies.into_iter().map(|found| found.name).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn codes(_sym: &Symposium) -> Vec<CompletionCandidate> {
    let candidate =
        |found: &Explanation| CompletionCandidate::new(found.code).help(Some(found.title.into()));
    EXPLANATIONS.iter().map(candidate).collect()
}

/// Commands that have a page of help: ours and those of plugins.
fn topics(sym: &Symposium) -> Vec<CompletionCandidate> {
    let grammar = Cli::command();
    let ours = grammar.get_subcommands().filter(|command| !command.is_hide_set());
    let mut found: Vec<_> = ours
        .map(|command| {
            CompletionCandidate::new(command.get_name()).help(command.get_about().cloned())
        })
        .collect();
    found.extend(as_candidates(&vended(sym)));
    found
}

fn agents(_sym: &Symposium) -> Vec<CompletionCandidate> {
    let candidate =
        |agent: &Agent| CompletionCandidate::new(agent.name()).help(Some(agent.title().into()));
    Agent::ALL.iter().map(candidate).collect()
}

fn plugins(sym: &Symposium) -> Vec<CompletionCandidate> {
    let registry = Registry::load(sym, &Refresh::cached());
    let candidate = |plugin: &crate::plugins::model::Plugin| {
        let help = format!("from source {}", plugin.source);
        CompletionCandidate::new(&plugin.name).help(Some(help.into()))
    };
    registry.active().map(candidate).collect()
}

fn sources(sym: &Symposium) -> Vec<CompletionCandidate> {
    effective(sym).into_iter().map(|source| CompletionCandidate::new(source.name)).collect()
}

/// What the workspace's snapshot knows; one that is a little old will do.
fn offer(sym: &Symposium) -> Offer {
    let Some(root) = sym.env.cwd().and_then(|cwd| crate::workspace::locate(cwd, &sym.env).ok()?)
    else {
        return Offer::default();
    };
    let stored = Stored::of(&sym.dirs, &root);
    stored.map(|stored| stored.offer()).unwrap_or_default()
}

fn skills(sym: &Symposium) -> Vec<CompletionCandidate> {
    offer(sym)
        .skills
        .into_iter()
        .map(|skill| CompletionCandidate::new(skill.name).help(Some(skill.description.into())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values at the last of `words`, in an empty home.
    fn offered(words: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let env = Environment::with(dir.path(), [(variable, dir.path().as_os_str())]);
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        let lines = at(&words, words.len().saturating_sub(1), &env);
        assert!(!dir.path().join(".symposium").exists(), "something was written");
        lines.iter().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn commands_options_values_and_names_are_offered() {
        let commands = offered(&[""]);
        for name in ["init", "sync", "self-update", "completions"] {
            assert!(commands.iter().any(|offered| offered == name), "{commands:?}");
        }
        for hidden in ["hook", "man", "help", "complete", "run-server"] {
            assert!(!commands.iter().any(|offered| offered == hidden), "{commands:?}");
        }
        assert_eq!(offered(&["sy"]), ["sync"]);
        assert_eq!(offered(&["sync", "--dry"]), ["--dry-run"]);
        assert_eq!(offered(&["--update", ""]), ["none", "check", "fetch"]);
        assert_eq!(offered(&["--update=c"]), ["--update=check"]);
        assert_eq!(offered(&["completions", "z"]), ["zsh"]);
        let formats = offered(&["plugin", "export", "p", "--format", ""]);
        assert_eq!(formats, ["agent-plugins", "claude"]);
        assert!(offered(&["sync", "--agent", "cl"]).contains(&"claude".to_owned()));
        assert_eq!(offered(&["plugin", "explain", "S012"]), ["S012"]);
        assert_eq!(offered(&["help", "sy"]), ["sync"]);
        assert!(offered(&["plugin", "sync", ""]).contains(&"user-plugins".to_owned()));
        assert!(offered(&["init", "--add-agent", ""]).contains(&"opencode".to_owned()));
    }

    #[test]
    fn a_question_that_makes_no_sense_has_no_answers() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let env = Environment::with("/", [("HOME", home.path())]);
        assert!(at(&[], usize::MAX, &env).is_empty() || at(&[], 0, &env).len() > 1);
        assert_eq!(offered(&["sync", "--nonsense=x"]), Vec::<String>::new());
    }

    #[test]
    fn the_command_is_found_behind_options_and_their_values() {
        let mut grammar = Cli::command();
        grammar.build();
        let find = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            command_in(&grammar, &words, words.len() - 1)
        };
        assert_eq!(find(&["-q", "--update", "check", "demo", ""]), Some("demo".to_owned()));
        assert_eq!(find(&["--update=check", "demo", ""]), Some("demo".to_owned()));
        assert_eq!(find(&["--update", "demo"]), None);
    }
}
