//! Asking about what waits for the user's word (dependencies that ship skills no source vouches for,
//! suggested plugins): once, for the answer is kept.

use dialoguer::Select;

use super::terminal::{RawKeys, is_ctrl_c};
use super::theme::Plain;
use crate::Symposium;
use crate::config::{Choice, ChoiceScope, ConfigState};
use crate::documents::user_config;
use crate::report::{Event, fit};
use crate::sync::Synced;
use crate::sync::facts::candidates::{Candidate, Suggestion};
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

pub(super) enum Answer<T> {
    Given(Option<T>),
    /// With Esc.
    Later,
    /// With Ctrl-C.
    Interrupted,
}

/// Asks for one of `answers`; the last is proposed.
pub(super) fn choose<T: Copy>(
    theme: Plain,
    question: &str,
    answers: &[(&str, Option<T>)],
) -> anyhow::Result<Answer<T>> {
    let _raw_keys = RawKeys::new();
    let choice = Select::with_theme(&theme)
        .with_prompt(question)
        .items(answers.iter().map(|(text, _)| *text))
        .default(answers.len().saturating_sub(1))
        .interact_opt();
    match choice {
        Err(error) if is_ctrl_c(&error, theme.height(question) + answers.len()) => {
            Ok(Answer::Interrupted)
        }
        choice => Ok(match choice?.and_then(|index| answers.get(index)) {
            Some((_, answer)) => Answer::Given(*answer),
            None => Answer::Later,
        }),
    }
}

/// A question, with what people should see before they answer.
struct Question {
    /// The name that the answer is kept under.
    name: String,
    about: Vec<Event>,
    text: String,
}

/// The skills that a question is about, with their folders.
fn of_candidate(sym: &Symposium, candidate: &Candidate) -> Question {
    let skills: Vec<_> = candidate.skills().collect();
    let mut about = Vec::new();
    for (name, folder) in skills.iter().take(MOST_SKILLS) {
        about.push(Event::status("Skill", format!("{name} ({})", sym.report.path(folder))));
    }
    if let Some(more) = skills.len().checked_sub(MOST_SKILLS).filter(|more| *more > 0) {
        let place = sym.report.path(&candidate.dir);
        about.push(Event::status("Skill", format!("… and {more} more in {place}")));
    }
    for name in &candidate.ships.crates {
        about.push(Event::status("Skills", format!("those of the crate {name}")));
    }
    let shown = fit(&format!("{} {}", candidate.name, candidate.version), 60);
    let text = format!("Use the skills of {shown} ({})?", candidate.offer());
    Question { name: candidate.name.clone(), about, text }
}

/// What a suggested plugin would bring.
fn of_suggestion(plugin: &Suggestion) -> Question {
    let mut about = Vec::new();
    for (label, names) in
        [("Hook", &plugin.hooks), ("Server", &plugin.servers), ("Command", &plugin.subcommands)]
    {
        about.extend(names.iter().map(|name| Event::status(label, name.as_str())));
    }
    let shows =
        format!("`cargo agents plugin show {}` has its skills, and all that runs", plugin.name);
    about.push(Event::status("Plugin", shows));
    let text = format!("Use the plugin {} ({})?", fit(&plugin.name, 60), plugin.offer());
    Question { name: plugin.name.clone(), about, text }
}

/// The questions that `synced` leaves, each kind with a note before its first.
fn questions(sym: &Symposium, synced: &Synced) -> Vec<Question> {
    let mut crates: Vec<_> =
        synced.candidates.iter().map(|candidate| of_candidate(sym, candidate)).collect();
    let mut plugins: Vec<_> = synced.suggestions.iter().map(of_suggestion).collect();
    let ship = if crates.len() == 1 { "dependency ships" } else { "dependencies ship" };
    let number = crates.len();
    for (first, note) in [
        (
            crates.first_mut(),
            format!(
                "{number} {ship} skills that no plugin source vouches for. A skill is text that \
                 your agents will follow"
            ),
        ),
        (
            plugins.first_mut(),
            "your plugin sources suggest what follows; nothing of it is active until you say so"
                .to_owned(),
        ),
    ] {
        if let Some(first) = first {
            first.about.insert(0, Event::status("Note", note));
        }
    }
    crates.into_iter().chain(plugins).collect()
}

/// Tells of what waits for the user's word where nobody is asked about it.
pub(super) fn tell_candidates(sym: &Symposium, synced: &Synced) {
    let (crates, plugins) = (&synced.candidates, &synced.suggestions);
    let ships = match crates.as_slice() {
        [] => None,
        [one] => Some(format!("{} ships skills", one.name)),
        many => Some(format!("{} dependencies ship skills", many.len())),
    };
    let suggested = match plugins.as_slice() {
        [] => None,
        [one] => Some(format!("the plugin {} is suggested", one.name)),
        many => Some(format!("{} plugins are suggested", many.len())),
    };
    let what: Vec<_> = ships.into_iter().chain(suggested).collect();
    let names = crates.iter().map(|found| &found.name);
    let mut names = names.chain(plugins.iter().map(|found| &found.name));
    let how = match (names.next(), names.next()) {
        (None, _) => return,
        (Some(one), None) => format!("`cargo agents use {one}` takes, `--remove` declines"),
        _ => "`cargo agents status` names them, `cargo agents use NAME` takes one, `--remove` \
              declines it"
            .to_owned(),
    };
    let told = format!("{}, and you have not decided yet: {how}", what.join(" and "));
    sym.report.event(&Event::status("Note", told));
}

/// Asks about each thing that `synced` found waiting. Esc leaves the rest for another time, and so
/// does Ctrl-C, which ends the program.
pub(super) fn about_candidates(sym: &mut Symposium, synced: &Synced) -> anyhow::Result<Answers> {
    let mut answers = Answers::default();
    if !sym.report.is_interactive() {
        return Ok(answers);
    }
    let theme = Plain::new(&sym.report);
    let questions = questions(sym, synced);
    let mut open = 0;
    for (index, question) in questions.iter().enumerate() {
        question.about.iter().for_each(|event| sym.report.event(event));
        match choose(theme, &question.text, &ANSWERS)? {
            Answer::Given(Some((choice, scope))) => {
                save(sym, &question.name, Some(&synced.root), choice, scope)?;
                answers.taken |= choice == Choice::Use;
            }
            Answer::Given(None) => open += 1,
            Answer::Later => {
                open += questions.len() - index;
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
    *sym = sym.reread();
    Ok(())
}
