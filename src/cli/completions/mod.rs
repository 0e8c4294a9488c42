//! Completion in shells, and manual pages: both made from the grammar.
//!
//! `completions <shell>` prints a short script. It asks `cargo-agents complete` at each press of
//! the Tab key, so what it offers is never older than the program, and names of plugins, sources,
//! skills and vended subcommands are offered too.

mod candidates;

use crate::report::ExitCode;
use std::ffi::OsString;
use std::io::Write as _;

use clap::CommandFactory as _;

use super::CommandResult;
use super::grammar::{Cli, CompletionsArgs, ManArgs, Shell};
use crate::Symposium;
use crate::config::Environment;
use crate::report::Event;
use crate::text::Diagnostic;

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("scripts/cargo-agents.bash"),
            Self::Elvish => include_str!("scripts/cargo-agents.elv"),
            Self::Fish => include_str!("scripts/cargo-agents.fish"),
            Self::Powershell => include_str!("scripts/cargo-agents.ps1"),
            Self::Zsh => include_str!("scripts/cargo-agents.zsh"),
        }
    }
}

/// The answer with `--json`.
#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Script {
    /// What the shell is to read.
    script: &'static str,
}

/// Prints the script of a shell.
pub(super) fn run(sym: &Symposium, args: &CompletionsArgs) -> CommandResult {
    let script = args.shell.script();
    sym.report.json(&Script { script });
    sym.report.result(script.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Answers `complete <index> -- <words>`: what could stand at `words[index]`, one a line, with its
/// description after a tab. The words are those after the program's name (`cargo agents` or
/// `cargo-agents`). Never fails: a question that can't be understood has no answers.
pub(super) fn answer(args: &[OsString], env: &Environment) -> ExitCode {
    let index = args.first().and_then(|index| index.to_str()).and_then(|index| index.parse().ok());
    let words = args.get(2..).unwrap_or_default();
    if let Some(index) = index
        && args.get(1).is_some_and(|mark| mark == "--")
    {
        let text: String = candidates::at(words, index, env)
            .iter()
            .map(|candidate| format!("{candidate}\n"))
            .collect();
        // A shell that does not listen any more does not want to know.
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
    }
    ExitCode::SUCCESS
}

/// Writes `cargo-agents.1`, which `cargo help agents` shows too, and a page for each command.
pub(super) fn man(sym: &Symposium, args: &ManArgs) -> CommandResult {
    let failed = |error: std::io::Error| {
        Diagnostic::error(format!("can't write the manual pages: {error}")).in_file(&args.folder)
    };
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    let mut grammar = Cli::command().name("cargo-agents").display_name("cargo-agents");
    grammar.build();
    clap_mangen::generate_to(grammar, &args.folder).map_err(failed)?;
    let path = sym.report.path(&args.folder);
    sym.report.event(&Event::status("Wrote", format!("the manual pages into {path}")));
    Ok(ExitCode::SUCCESS)
}
