//! What the command line asks for: a command, a page of help, or the version.
//!
//! The grammar is clap's. That options stand before or after a command's name, and that help is
//! given whatever else is missing, is decided here.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, CommandFactory as _, FromArgMatches as _};

use super::grammar::{Cli, Command};
use crate::report::{Format, Verbosity};

#[derive(Debug)]
pub(super) struct Request {
    pub(super) invocation: Invocation,
    pub(super) format: Format,
    pub(super) verbosity: Verbosity,
}

#[derive(Debug)]
pub(super) enum Invocation {
    Run(Box<Cli>),
    /// Show help: of this command of ours, or all there is.
    Help {
        /// The command with those it is below, outermost first; empty for all there is.
        path: Vec<String>,
        /// Whether there is room for details.
        long: bool,
    },
    /// Show what is known of this command of a plugin's.
    PluginHelp(String),
    Version,
    Wrong(clap::Error),
}

/// Understands `args`, with the program's name first.
pub(super) fn read(args: &[OsString]) -> Request {
    let mut grammar = Cli::command();
    let read = grammar
        .try_get_matches_from_mut(args)
        .and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    match read {
        Ok(mut cli) => {
            let json = cli.global.json || cli.command.as_ref().is_some_and(Command::wants_json);
            let (mut format, verbosity) = output_form(json, cli.global.quiet, cli.global.verbose);
            let is_document = cli.command.as_ref().is_some_and(Command::answers_with_a_document);
            if format == Format::Json && is_document {
                format = Format::Document;
            }
            let invocation = match cli.command.take() {
                None => Invocation::Help { path: Vec::new(), long: true },
                Some(Command::Help(help)) => help_for(&mut grammar, &help.words),
                command => Invocation::Run(Box::new(Cli { command, ..cli })),
            };
            Request { invocation, format, verbosity }
        }
        Err(error) => {
            // As far as it was not understood, too.
            let (format, verbosity) = output_form(
                has(args, &["--json"]),
                has(args, &["-q", "--quiet"]),
                has(args, &["-v", "--verbose"]),
            );
            let invocation = match error.kind() {
                ErrorKind::DisplayHelp => {
                    Invocation::Help { path: path(&grammar, args), long: has(args, &["--help"]) }
                }
                ErrorKind::DisplayVersion => Invocation::Version,
                ErrorKind::InvalidUtf8 => {
                    non_utf8_command(args).map_or(Invocation::Wrong(error), Invocation::Run)
                }
                ErrorKind::UnknownArgument if is_version(&error) => Invocation::Version,
                _ => Invocation::Wrong(error),
            };
            Request { invocation, format, verbosity }
        }
    }
}

fn output_form(json: bool, quiet: bool, verbose: bool) -> (Format, Verbosity) {
    let format = if json { Format::Json } else { Format::People };
    let verbosity = match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    };
    (format, verbosity)
}

/// The command line when its command is no UTF-8, which the grammar does not take for a word: it is
/// a name that nobody has, as any other.
fn non_utf8_command(args: &[OsString]) -> Option<Box<Cli>> {
    let at = args.iter().position(|arg| arg.to_str().is_none())?;
    let (before, words) = args.split_at(at);
    let mut matches = Cli::command().try_get_matches_from(before).ok()?;
    let cli = Cli::from_arg_matches_mut(&mut matches).ok()?;
    let is_word = !words.first()?.as_encoded_bytes().starts_with(b"-");
    (cli.command.is_none() && is_word)
        .then(|| Box::new(Cli { command: Some(Command::External(words.to_vec())), ..cli }))
}

/// `help <words>`: a page of our own, or what is known of a plugin's command. Nobody expects that a
/// question runs a program, so that one is not asked.
fn help_for(grammar: &mut clap::Command, words: &[OsString]) -> Invocation {
    let mut path = Vec::new();
    let mut at = &*grammar;
    for word in words {
        match word.to_str().and_then(|word| at.find_subcommand(word)) {
            Some(below) => at = below,
            None if path.is_empty() => {
                return Invocation::PluginHelp(word.to_string_lossy().into_owned());
            }
            None => {
                let message = format!("`{}` has no `{}`", path.join(" "), word.to_string_lossy());
                return Invocation::Wrong(grammar.error(ErrorKind::InvalidSubcommand, message));
            }
        }
        path.push(at.get_name().to_owned());
    }
    // `help help`.
    path.retain(|name| name != "help");
    Invocation::Help { path, long: true }
}

/// The commands of ours that are named beside `--help`, outermost first.
fn path(grammar: &clap::Command, args: &[OsString]) -> Vec<String> {
    let help = Arg::new("help").short('h').long("help").global(true).action(ArgAction::SetTrue);
    let mut lenient = Cli::command().disable_help_flag(true).arg(help).ignore_errors(true);
    let sketch = lenient.try_get_matches_from_mut(args).unwrap_or_default();
    let mut path = Vec::new();
    let (mut at, mut matches) = (grammar, &sketch);
    while let Some((name, below)) = matches.subcommand()
        && let Some(found) = at.find_subcommand(name)
        && name != "help"
    {
        path.push(name.to_owned());
        (at, matches) = (found, below);
    }
    path
}

/// `sync --version`: as the other options of all commands, it may stand anywhere.
fn is_version(error: &clap::Error) -> bool {
    matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(arg)) if arg == "--version" || arg == "-V"
    )
}

fn has(args: &[OsString], words: &[&str]) -> bool {
    args.iter().any(|arg| words.iter().any(|word| arg == OsStr::new(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(words: &[&str]) -> Invocation {
        let args: Vec<OsString> =
            std::iter::once("cargo-agents").chain(words.iter().copied()).map(Into::into).collect();
        read(&args).invocation
    }

    fn help(words: &[&str]) -> Option<Vec<String>> {
        match invocation(words) {
            Invocation::Help { path, .. } => Some(path),
            _ => None,
        }
    }

    fn external(words: &[&str]) -> Vec<String> {
        match invocation(words) {
            Invocation::Run(cli) => match cli.command {
                Some(Command::External(words)) => {
                    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn f194_the_ways_to_ask_for_all_there_is() {
        for words in [
            &[][..],
            &["-h"],
            &["--help"],
            &["help"],
            &["--help", "--quiet"],
            &["--quiet", "--help"],
            &["-q"],
            &["help", "help"],
            &["help", "--help"],
            &["--help", "some-plugin-s"],
        ] {
            assert_eq!(help(words), Some(Vec::new()), "{words:?}");
        }
    }

    #[test]
    fn f195_the_ways_to_ask_for_one_command() {
        for words in [
            &["sync", "--help"][..],
            &["sync", "-h"],
            &["help", "sync"],
            &["--help", "sync"],
            &["-q", "sync", "--dry-run", "--help"],
            &["--help", "sync", "--agent"],
        ] {
            assert_eq!(help(words), Some(vec!["sync".to_owned()]), "{words:?}");
        }
        // An argument that it needs is missing.
        assert_eq!(help(&["completions", "--help"]), Some(vec!["completions".to_owned()]));
    }

    #[test]
    fn f195_every_command_shows_its_own_page_nested_ones_too() {
        fn walk(command: &clap::Command, above: &[String]) {
            for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
                let mut path = above.to_vec();
                path.push(below.get_name().to_owned());
                let mut words: Vec<&str> = path.iter().map(String::as_str).collect();
                let asked = [&["help"], words.as_slice()].concat();
                assert_eq!(help(&asked), Some(path.clone()), "{asked:?}");
                words.push("--help");
                assert_eq!(help(&words), Some(path.clone()), "{words:?}");
                walk(below, &path);
            }
        }
        let mut grammar = Cli::command();
        grammar.build();
        walk(&grammar, &[]);
    }

    #[test]
    fn f196_after_a_plugin_s_command_everything_is_the_command_s() {
        let words = ["demo", "--help", "-q", "--json", "--", "sync", "--version"];
        assert_eq!(external(&words), words);
        assert_eq!(external(&["-q", "demo", "-q"]), ["demo", "-q"]);
    }

    #[test]
    fn help_with_a_plugin_s_command_runs_nothing() {
        for words in [&["help", "demo"][..], &["help", "demo", "more"], &["-q", "help", "demo"]] {
            assert!(
                matches!(invocation(words), Invocation::PluginHelp(name) if name == "demo"),
                "{words:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_is_no_utf_8_is_one_that_nobody_has() {
        use std::os::unix::ffi::OsStringExt as _;

        let invocation = |before: &[&str]| {
            let mut args: Vec<OsString> =
                ["cargo-agents"].iter().chain(before).map(Into::into).collect();
            args.extend([OsString::from_vec(vec![b'a', 0xff]), "--help".into()]);
            read(&args).invocation
        };
        for before in [&[][..], &["-q"], &["--update", "none"]] {
            let Invocation::Run(cli) = invocation(before) else { panic!("{before:?}") };
            assert!(matches!(cli.command, Some(Command::External(words)) if words.len() == 2));
        }
        for before in [&["why"][..], &["--update"], &["--nonsense"]] {
            assert!(
                matches!(invocation(before), Invocation::Wrong(_) | Invocation::Help { .. }),
                "{before:?}"
            );
        }
    }

    #[test]
    fn f195_options_stand_before_or_after_help_s_words() {
        for words in [&["help", "sync", "--json"][..], &["--json", "help", "sync"]] {
            assert_eq!(help(words), Some(vec!["sync".to_owned()]), "{words:?}");
        }
        assert_eq!(help(&["help", "plugin", "-v", "show"]).unwrap(), ["plugin", "show"]);
    }

    #[test]
    fn f6_f7_the_version_is_asked_for_anywhere() {
        for words in [
            &["--version"][..],
            &["-V"],
            &["-q", "--version"],
            &["sync", "--version"],
            &["sync", "-V"],
        ] {
            assert!(matches!(invocation(words), Invocation::Version), "{words:?}");
        }
    }

    #[test]
    fn f9_what_is_wrong_is_said_in_the_form_that_was_asked_for() {
        let args = ["cargo-agents", "--json", "sync", "--nonsense"].map(OsString::from);
        let request = read(&args);
        assert!(matches!(request.invocation, Invocation::Wrong(_)));
        assert_eq!(request.format, Format::Json);
    }

    #[test]
    fn decision_20_no_plugin_may_take_the_name_of_a_command_of_ours() {
        let reserved = crate::plugins::manifest::RESERVED_SUBCOMMANDS;
        // These two are read by hand, before the grammar.
        let mut names = vec!["hook".to_owned(), "complete".to_owned(), "symposium".to_owned()];
        for command in Cli::command().get_subcommands() {
            names.push(command.get_name().to_owned());
            names.extend(command.get_all_aliases().map(str::to_owned));
        }
        for name in names {
            assert!(reserved.contains(&name.as_str()), "`{name}` is not reserved");
        }
    }
}
