//! The questions, where the command line does not say what is wanted.

use std::path::Path;

use dialoguer::{MultiSelect, Select};

use super::wish::{Choice, package_around};
use crate::Symposium;
use crate::cli::author_args::Part;
use crate::cli::terminal::{RawKeys, is_ctrl_c};
use crate::cli::theme::Plain;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    Chosen(Choice),
    /// With Esc.
    Cancelled,
    /// With Ctrl-C.
    Interrupted,
}

const PARTS: [(Part, &str); 4] = [
    (Part::Skills, "skills: text that tells an agent how to use something"),
    (Part::Hook, "a hook: a program that is asked before an agent acts"),
    (Part::Server, "a server: tools that an agent may call (MCP)"),
    (Part::Subcommand, "a subcommand of `cargo agents`"),
];

/// Asks.
///
/// # Errors
/// When the terminal can't show the questions.
pub(super) fn ask(sym: &Symposium, cwd: &Path) -> anyhow::Result<Asked> {
    let theme = Plain::new(&sym.report);
    let _raw_keys = RawKeys::new();
    let mut kinds = vec![
        (Choice::default(), "a plugin".to_owned()),
        (Choice::Skill, "a skill by itself, without a plugin".to_owned()),
    ];
    if let Some((_, package)) = package_around(cwd) {
        kinds.push((Choice::CrateSkill, format!("a skill that the crate {package} ships")));
    }
    let question = "What do you want to write?";
    let height = theme.height(question) + kinds.len();
    let texts = kinds.iter().map(|(_, text)| text);
    let picked =
        Select::with_theme(&theme).with_prompt(question).items(texts).default(0).interact_opt();
    let kind = match answered(picked, height)? {
        Ok(index) => kinds.swap_remove(index).0,
        Err(called_off) => return Ok(called_off),
    };
    if !matches!(kind, Choice::Plugin(_)) {
        return Ok(Asked::Chosen(kind));
    }
    let question = "What does it bring?  (space to select, enter to confirm)";
    let height = theme.height(question) + PARTS.len();
    let items = PARTS.map(|(part, text)| (text, part == Part::Skills));
    let picked =
        MultiSelect::with_theme(&theme).with_prompt(question).items_checked(items).interact_opt();
    Ok(match answered(picked, height)? {
        Ok(indices) => {
            let parts = indices.iter().filter_map(|index| PARTS.get(*index));
            Asked::Chosen(Choice::Plugin(parts.map(|(part, _)| *part).collect()))
        }
        Err(called_off) => called_off,
    })
}

/// What came of a question that drew `height` lines above the cursor's.
fn answered<T>(
    answer: dialoguer::Result<Option<T>>,
    height: usize,
) -> anyhow::Result<Result<T, Asked>> {
    match answer {
        Ok(Some(answer)) => Ok(Ok(answer)),
        Ok(None) => Ok(Err(Asked::Cancelled)),
        Err(error) if is_ctrl_c(&error, height) => Ok(Err(Asked::Interrupted)),
        Err(error) => Err(error.into()),
    }
}
