//! The help: all there is in two sections, for people and for agents, or one command's own page.
//!
//! What plugins vend is listed as the folder's workspace has it. Nothing is fetched, synced or
//! written for it.

use crate::report::ExitCode;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use clap::{Arg, ArgAction, CommandFactory as _};
use serde::Serialize;

use super::grammar::{Cli, audience};
use super::{dispatch, errors};
use crate::Symposium;
use crate::config::Environment;
use crate::plugins::model::Audience;
use crate::report::{Format, Palette, Reporter, columns, safe, wrap};
use crate::symposium::{Options, VERSION};
use crate::sync::snapshot::subcommands::{self, Vended};

/// Lines are not longer than this, in columns, however wide the terminal is.
const WIDEST: usize = 100;
/// Names longer than this, in columns, have a line of their own.
const NAMES: usize = 24;

/// One line of the two sections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Entry {
    name: String,
    audience: Audience,
    description: String,
    /// Whoever vends it; several when it can't be run for that reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<String>,
}

/// All there is, with `--json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Overview {
    /// The program's version.
    version: &'static str,
    /// Our own commands, then what plugins vend.
    commands: Vec<Entry>,
}

/// One command's page, with `--json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Page {
    /// The text that people see.
    help: String,
}

/// Shows the page of the command `path`; of all there is when that is empty.
pub(super) fn show(report: Reporter, env: Environment, path: &[String], long: bool) -> ExitCode {
    let width = report.width().min(WIDEST);
    if !path.is_empty() {
        let text = page(path, long, width);
        match report.format() {
            Format::Json => report.json(&Page { help: plain(&text) }),
            _ => report.result(text.trim_end()),
        }
        return report.exit_code(ExitCode::SUCCESS);
    }
    let format = report.format();
    // Without a home folder there are no plugins; there is help all the same.
    let (report, entries) = match Symposium::new(env.clone(), report, Options::default()) {
        Ok(sym) => {
            let vended = vended(&sym);
            (sym.report, entries(&vended))
        }
        Err(_) => {
            let verbosity = crate::report::Verbosity::Normal;
            (Arc::new(Reporter::new(&env, format, verbosity)), entries(&[]))
        }
    };
    match format {
        Format::Json => report.json(&Overview { version: VERSION, commands: entries }),
        _ => report.result(overview(&entries, width).trim_end()),
    }
    report.exit_code(ExitCode::SUCCESS)
}

/// Shows what is known of the command `name`, which is none of ours. Its program is not run for it.
pub(super) fn show_vended(report: Reporter, env: Environment, name: &str) -> ExitCode {
    let (format, verbosity) = (report.format(), report.verbosity());
    let sym = match Symposium::new(env.clone(), report, Options::default()) {
        Ok(sym) => sym,
        Err(error) => {
            return errors::fail(&Reporter::new(&env, format, verbosity), &error.into());
        }
    };
    let listing = subcommands::listing(&sym);
    let vended = match dispatch::find(&sym, &listing, name) {
        Ok(vended) => vended,
        Err(problem) => return errors::fail(&sym.report, &problem.into()),
    };
    let text = vended_page(vended, sym.report.width().min(WIDEST));
    match format {
        Format::Json => sym.report.json(&Page { help: plain(&text) }),
        _ => sym.report.result(&text),
    }
    sym.report.exit_code(ExitCode::SUCCESS)
}

fn vended_page(vended: &Vended, width: usize) -> String {
    let Vended { name, plugin, source, .. } = vended;
    let (title, accent) = (Palette::CARGO.good, Palette::CARGO.accent);
    let mut text = wrap(&tidy(&vended.description), width).join("\n");
    let _ = write!(
        text,
        "\n\n{title}Usage:{title:#} {accent}cargo agents {name}{accent:#} [ARGUMENTS]...\n"
    );
    for line in [
        format!("It comes from plugin `{plugin}` (source `{source}`)."),
        format!("`cargo agents plugin show {plugin}` shows what it would run."),
        format!("`cargo agents {name} --help` runs it, and asks it for its own help."),
    ] {
        let _ = write!(text, "\n{}", wrap(&safe(&line), width).join("\n"));
    }
    text
}

fn vended(sym: &Symposium) -> Vec<Vended> {
    subcommands::listing(sym).applicable().cloned().collect()
}

/// Our own commands, then what plugins vend, each by name.
fn entries(vended: &[Vended]) -> Vec<Entry> {
    let mut own: Vec<Entry> = Cli::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| Entry {
            name: command.get_name().to_owned(),
            audience: audience(command.get_name()),
            description: command.get_about().map(ToString::to_string).unwrap_or_default(),
            plugins: Vec::new(),
        })
        .collect();
    own.sort_by(|one, other| one.name.cmp(&other.name));
    let mut by_name: BTreeMap<&str, Entry> = BTreeMap::new();
    for vended in vended {
        let entry = by_name.entry(&vended.name).or_insert_with(|| Entry {
            name: vended.name.clone(),
            audience: vended.audience,
            description: tidy(&vended.description),
            plugins: Vec::new(),
        });
        entry.plugins.push(vended.plugin.clone());
    }
    own.extend(by_name.into_values());
    own
}

/// One line of text from outside, without gaps.
fn tidy(text: &str) -> String {
    safe(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Commands that have no use for options which every command takes.
const WITHOUT: [(&[&str], &[&str]); 5] = [
    (&["plugin", "validate"], &["update"]),
    (&["plugin", "explain"], &["update", "timeout", "offline"]),
    (&["completions"], &["update", "timeout", "offline"]),
    (&["self-update"], &["update"]),
    (&["uninstall"], &["update", "timeout", "offline"]),
];

/// A command's own page, in clap's words.
fn page(path: &[String], long: bool, width: usize) -> String {
    let mut command = Cli::command().term_width(width);
    command.build();
    let mut at = &mut command;
    for name in path {
        match at.find_subcommand(name) {
            Some(_) => at = at.find_subcommand_mut(name).expect("it was found just now"),
            None => break,
        }
    }
    let useless = WITHOUT.iter().filter(|(command, _)| path == *command);
    for name in useless.flat_map(|(_, options)| options.iter()) {
        *at = at.clone().mut_arg(name, |option| option.hide(true));
    }
    let text = if long { at.render_long_help() } else { at.render_help() };
    text.ansi().to_string()
}

fn plain(styled: &str) -> String {
    anstream::adapter::strip_str(styled).to_string()
}

/// The page of all there is: clap's words around our two sections.
fn overview(entries: &[Entry], width: usize) -> String {
    let part = |template: &'static str| {
        // There is no longer and no shorter form of it.
        let help = Arg::new("help").short('h').long("help").help("Print help");
        let command = Cli::command().disable_help_flag(true).arg(help.action(ArgAction::Help));
        let command = command.term_width(width).help_template(template);
        command.disable_help_subcommand(true).render_help().ansi().to_string()
    };
    let style = Palette::CARGO;
    let mut text = part("{about-with-newline}\n{usage-heading} {usage}");
    let text_end = text.trim_end().len();
    text.truncate(text_end);
    let column = entries
        .iter()
        .map(|entry| columns(&entry.name))
        .filter(|length| *length <= NAMES)
        .max()
        .unwrap_or_default();
    for (title, audience) in
        [("Commands for humans", Audience::Humans), ("Commands for agents", Audience::Agents)]
    {
        let mut section = entries.iter().filter(|entry| entry.audience == audience).peekable();
        if section.peek().is_none() {
            continue;
        }
        let _ = write!(text, "\n\n{}{title}:{:#}", style.good, style.good);
        for entry in section {
            text.push('\n');
            text.push_str(&line(entry, column, width));
        }
    }
    let _ = write!(text, "\n\n{}Options:{:#}\n", style.good, style.good);
    text.push_str(part("{options}").trim_end());
    let name = style.accent;
    let _ = write!(text, "\n\nMore: {name}cargo agents <COMMAND> --help{name:#}");
    text
}

/// `  name   description`, wrapped beside the name.
fn line(entry: &Entry, column: usize, width: usize) -> String {
    let style = Palette::CARGO.accent;
    let mut description = entry.description.clone();
    if entry.plugins.len() > 1 {
        let _ = write!(
            description,
            " (can't be run: the plugins {} have it)",
            entry.plugins.join(" and ")
        );
    }
    let indent = column + 4;
    let mut lines = wrap(&description, width.saturating_sub(indent).max(16)).into_iter();
    let mut text = format!("  {style}{}{style:#}", entry.name);
    let pad = |count: usize| " ".repeat(count);
    if let Some(first) = lines.next() {
        match (column + 2).checked_sub(columns(&entry.name)) {
            Some(gap) if columns(&entry.name) <= column => {
                let _ = write!(text, "{}{first}", pad(gap));
            }
            _ => {
                let _ = write!(text, "\n{}{first}", pad(indent));
            }
        }
    }
    for line in lines {
        let _ = write!(text, "\n{}{line}", pad(indent));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vended(name: &str, plugin: &str, audience: Audience, description: &str) -> Vended {
        Vended {
            name: name.to_owned(),
            plugin: plugin.to_owned(),
            source: "user-plugins".to_owned(),
            description: description.to_owned(),
            audience,
            manifest: None,
            needs: None,
        }
    }

    #[test]
    fn f191_to_f193_two_sections_with_plugins_commands_among_them() {
        let vended = [
            vended("zeta", "z", Audience::Humans, "For people."),
            vended("demo", "d", Audience::Agents, "Run the demo\n\u{1b}[31mtool\u{202e}."),
            vended("twice", "a", Audience::Agents, "First."),
            vended("twice", "b", Audience::Agents, "Second."),
        ];
        let text = plain(&overview(&entries(&vended), 80));
        let humans = text.find("Commands for humans:").expect("a section");
        let agents = text.find("Commands for agents:").expect("a section");
        let options = text.find("Options:").expect("a section");
        let (humans, agents) = (&text[humans..agents], &text[agents..options]);
        for name in ["init", "sync", "self-update", "zeta"] {
            assert!(humans.contains(&format!("\n  {name} ")), "{humans}");
        }
        assert!(agents.contains("Run the demo [31mtool."), "{agents}");
        assert!(agents.contains("First. (can't be run: the plugins a and b have it)"), "{agents}");
        for hidden in ["\n  hook", "\n  help", "\n  man", "\n  run-server"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert!(text.contains("--quiet") && text.contains("--help"), "{text}");
        assert!(text.starts_with("Teach your AI coding agents"), "{text}");
        assert!(text.contains("Usage: cargo agents"), "{text}");
    }

    #[test]
    fn f192_the_audience_of_our_own() {
        assert_eq!(audience("crate-info"), Audience::Agents);
        for name in ["init", "plugin", "self-update", "sync"] {
            assert_eq!(audience(name), Audience::Humans);
        }
    }

    #[test]
    fn long_names_have_a_line_of_their_own() {
        let name = "n".repeat(NAMES + 1);
        let entry = Entry {
            name: name.clone(),
            audience: Audience::Agents,
            description: "one two three".to_owned(),
            plugins: Vec::new(),
        };
        assert_eq!(plain(&line(&entry, 4, 16)), format!("  {name}\n        one two three"));
    }

    #[test]
    fn decision_20_a_page_for_each_command_is_clap_s() {
        let text = plain(&page(&["sync".to_owned()], true, 80));
        assert!(text.contains("Usage: cargo agents sync [OPTIONS]"), "{text}");
        assert!(text.contains("--dry-run") && text.contains("--update"), "{text}");
    }

    #[test]
    fn an_option_without_an_effect_is_not_shown() {
        for (path, options) in WITHOUT {
            let path: Vec<_> = path.iter().map(|name| (*name).to_owned()).collect();
            for long in [true, false] {
                let text = plain(&page(&path, long, 80));
                assert!(text.contains(&format!("Usage: cargo agents {}", path.join(" "))));
                for option in options {
                    assert!(!text.contains(&format!("--{option}")), "{text}");
                }
                assert!(text.contains("--quiet"), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_has_no_control_characters(text in any::<String>()) {
            prop_assert!(!tidy(&text).chars().any(char::is_control));
        }
    }
}
