//! Asking about dependencies that ship skills no source vouches for: once, for the answer is kept.

use dialoguer::Select;

use super::terminal::{RawKeys, is_ctrl_c};
use super::theme::Plain;
use crate::Symposium;
use crate::config::{Choice, ChoiceScope, Config, ConfigState};
use crate::documents::user_config;
use crate::report::{Event, fit};
use crate::sync::Synced;
use crate::text::Diagnostic;
use std::path::Path;

/// The answers, in the order of their meaning below.
const ANSWERS: [&str; 3] = ["yes, in this workspace", "yes, in every workspace", "no"];

/// The answer's place in the list; `None` with Esc or Ctrl-C. The sync itself is done by then, so
/// neither is a failure.
fn choose(theme: Plain, question: &str) -> anyhow::Result<Option<usize>> {
    let _raw_keys = RawKeys::new();
    let choice = Select::with_theme(&theme)
        .with_prompt(question)
        .items(ANSWERS)
        .default(ANSWERS.len() - 1)
        .interact_opt();
    match choice {
        Err(error) if is_ctrl_c(&error, theme.height(question) + ANSWERS.len()) => Ok(None),
        choice => Ok(choice?),
    }
}

/// Asks about each candidate that `synced` found. Says whether one was taken, so that another sync
/// is due. Esc leaves the rest for another time.
pub(super) fn about_candidates(sym: &mut Symposium, synced: &Synced) -> anyhow::Result<bool> {
    if synced.candidates.is_empty() || !sym.report.is_interactive() {
        return Ok(false);
    }
    let theme = Plain::new(&sym.report);
    let number = synced.candidates.len();
    let ship = if number == 1 { "dependency ships" } else { "dependencies ship" };
    sym.report.event(&Event::status(
        "Note",
        format!(
            "{number} {ship} skills that no plugin source vouches for. A skill is text that your \
             agents will follow"
        ),
    ));
    let mut taken = false;
    for candidate in &synced.candidates {
        let name = fit(&format!("{} {}", candidate.name, candidate.version), 60);
        let question = format!("Use the skills of {name} ({})?", candidate.offer());
        let Some(picked) = choose(theme, &question)? else {
            sym.report.event(&Event::status("Later", "`cargo agents status` lists them"));
            break;
        };
        let (choice, scope) = match picked {
            0 => (Choice::Use, ChoiceScope::Workspace),
            1 => (Choice::Use, ChoiceScope::Everywhere),
            _ => (Choice::Disable, ChoiceScope::Workspace),
        };
        save(sym, &candidate.name, Some(&synced.root), choice, scope)?;
        taken |= choice == Choice::Use;
    }
    Ok(taken)
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
