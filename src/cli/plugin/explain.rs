//! `cargo agents plugin explain`: what a code means.

use std::process::ExitCode;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::closest::{closest, did_you_mean};
use crate::plugins::diagnostics::{EXPLANATIONS, explain};
use crate::text::Diagnostic;

/// Runs the command.
pub(super) fn run(sym: &Symposium, code: &str) -> CommandResult {
    let Some(found) = explain(code) else {
        let shown: String = code.chars().filter(|letter| !letter.is_control()).take(40).collect();
        let mut problem = Diagnostic::error(format!("there is no code `{shown}`"));
        let codes = EXPLANATIONS.iter().map(|explanation| explanation.code);
        problem.notes.extend(did_you_mean(&closest(code, codes)));
        return Err(problem.into());
    };
    let text = wrapped(found.text, sym.report.width());
    sym.report.result(&format!("{}: {}\n\n{text}", found.code, found.title));
    sym.report.json(found);
    Ok(ExitCode::SUCCESS)
}

/// One paragraph in lines of at most `width` characters, where words allow it.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_between_words() {
        assert_eq!(wrapped("aa bb ccc dddddd", 5), "aa bb\nccc\ndddddd");
        assert_eq!(wrapped("", 5), "");
    }
}
