//! Asking about dependencies that ship skills no source vouches for: once, for the answer is kept.

use dialoguer::Select;

use super::terminal::{RawKeys, is_ctrl_c};
use super::theme::Plain;
use crate::Symposium;
use crate::config::{Choice, ChoiceScope, Config, ConfigState};
use crate::documents::user_config;
use crate::report::{Event, fit};
use crate::sync::Synced;
use crate::sync::facts::candidates::Candidate;
use crate::text::Diagnostic;
use std::path::Path;

/// The answers: the choice that each makes, and for where. The last is the one that is proposed, for
/// who only presses Enter has decided nothing.
const ANSWERS: [(&str, Option<(Choice, ChoiceScope)>); 4] = [
    ("yes, in this workspace", Some((Choice::Use, ChoiceScope::Workspace))),
    ("yes, in every workspace", Some((Choice::Use, ChoiceScope::Everywhere))),
    ("no, and don't ask again in this workspace", Some((Choice::Disable, ChoiceScope::Workspace))),
    ("not now", None),
];
/// Skills that are named before a question.
const MOST_SKILLS: usize = 8;

/// What came of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Answers {
    /// Whether skills were taken, so that another sync is due.
    pub taken: bool,
    /// Whether Ctrl-C ended them.
    pub interrupted: bool,
}

enum Answer {
    Given(Option<(Choice, ChoiceScope)>),
    /// With Esc.
    Later,
    /// With Ctrl-C.
    Interrupted,
}

fn choose(theme: Plain, question: &str) -> anyhow::Result<Answer> {
    let _raw_keys = RawKeys::new();
    let choice = Select::with_theme(&theme)
        .with_prompt(question)
        .items(ANSWERS.map(|(text, _)| text))
        .default(ANSWERS.len() - 1)
        .interact_opt();
    match choice {
        Err(error) if is_ctrl_c(&error, theme.height(question) + ANSWERS.len()) => {
            Ok(Answer::Interrupted)
        }
        choice => Ok(match choice?.and_then(|index| ANSWERS.get(index)) {
            Some((_, answer)) => Answer::Given(*answer),
            None => Answer::Later,
        }),
    }
}

/// Names the skills that a question is about, with their folders.
fn show(sym: &Symposium, candidate: &Candidate) {
    let skills: Vec<_> = candidate.skills().collect();
    for (name, folder) in skills.iter().take(MOST_SKILLS) {
        sym.report.event(&Event::status("Skill", format!("{name} ({})", sym.report.path(folder))));
    }
    if let Some(more) = skills.len().checked_sub(MOST_SKILLS).filter(|more| *more > 0) {
        let place = sym.report.path(&candidate.dir);
        sym.report.event(&Event::status("Skill", format!("… and {more} more in {place}")));
    }
    for name in &candidate.ships.crates {
        sym.report.event(&Event::status("Skills", format!("those of the crate {name}")));
    }
}

/// Asks about each candidate that `synced` found. Esc leaves the rest for another time, and so does
/// Ctrl-C, which ends the program.
pub(super) fn about_candidates(sym: &mut Symposium, synced: &Synced) -> anyhow::Result<Answers> {
    let mut answers = Answers::default();
    if synced.candidates.is_empty() || !sym.report.is_interactive() {
        return Ok(answers);
    }
    let theme = Plain::new(&sym.report);
    let number = synced.candidates.len();
    let ship = if number == 1 { "dependency ships" } else { "dependencies ship" };
    let mut open = 0;
    sym.report.event(&Event::status(
        "Note",
        format!(
            "{number} {ship} skills that no plugin source vouches for. A skill is text that your \
             agents will follow"
        ),
    ));
    for (index, candidate) in synced.candidates.iter().enumerate() {
        show(sym, candidate);
        let name = fit(&format!("{} {}", candidate.name, candidate.version), 60);
        let question = format!("Use the skills of {name} ({})?", candidate.offer());
        match choose(theme, &question)? {
            Answer::Given(Some((choice, scope))) => {
                save(sym, &candidate.name, Some(&synced.root), choice, scope)?;
                answers.taken |= choice == Choice::Use;
            }
            Answer::Given(None) => open += 1,
            Answer::Later => {
                open += number - index;
                break;
            }
            Answer::Interrupted => {
                let rest = match answers.taken {
                    true => "the next `cargo agents sync` brings what you said yes to",
                    false => "the sync itself is done; the next one asks again",
                };
                sym.report.event(&Event::status("Cancelled", rest));
                return Ok(Answers { interrupted: true, ..answers });
            }
        }
    }
    if open > 0 {
        let rest = "the next sync asks again, and `cargo agents status` lists them";
        sym.report.event(&Event::status("Later", format!("{open} still to decide: {rest}")));
    }
    Ok(answers)
}

/// Writes the answer into the configuration, and takes over what it says now.
///
/// # Errors
/// When the configuration can't be read or written, or the root's path is not Unicode.
pub(super) fn save(
    sym: &mut Symposium,
    name: &str,
    root: Option<&Path>,
    choice: Choice,
    scope: ChoiceScope,
) -> Result<(), Diagnostic> {
    if sym.config_state == ConfigState::Broken {
        return Err(Diagnostic::error("the configuration can't be read, so it is not changed")
            .in_file(sym.dirs.config_file())
            .note("mend it, and say it again"));
    }
    let root = match (scope, root) {
        (ChoiceScope::Workspace, Some(root)) => {
            let plain = root.to_str().filter(|path| !path.contains(char::is_control));
            Some(plain.ok_or_else(|| {
                Diagnostic::error(
                    "the workspace's path is not Unicode, or has control characters: it can't be \
                     remembered by it",
                )
                .note("`--global` remembers the answer for every workspace")
            })?)
        }
        _ => None,
    };
    user_config::edit(&sym.dirs, &mut |config| config.choose(name, root, choice))?;
    let loaded = Config::load(&sym.dirs);
    sym.config = loaded.config;
    sym.config_state = loaded.state;
    Ok(())
}
