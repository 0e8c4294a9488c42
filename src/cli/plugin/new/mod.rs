//! `cargo agents plugin new`: a plugin, a skill by itself or a crate's own skill, to start from.
//!
//! [`wish`] is what is wanted, said on the command line or, on a terminal, [`ask`]ed for; [`texts`]
//! are the files. What is written passes `plugin validate` and works as it is.

mod ask;
mod texts;
mod wish;

use std::path::Path;

use super::export::folder;
use super::schema::MANIFEST_COPY;
use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::author_args::NewArgs;
use crate::cli::terminal::INTERRUPTED;
use crate::report::{Event, ExitCode};
use crate::skills::content::Content;
use ask::Asked;
use wish::{Choice, Kind, Wish};

pub(super) fn run(sym: &Symposium, args: &NewArgs) -> CommandResult {
    let cwd = sym.cwd()?;
    let choice = match Choice::said(args) {
        Some(choice) => choice,
        None if sym.report.is_interactive() => match ask::ask(sym, &cwd)? {
            Asked::Chosen(choice) => choice,
            called_off => {
                sym.report.event(&Event::status("Cancelled", "nothing was written"));
                let interrupted = called_off == Asked::Interrupted;
                return Ok(if interrupted { INTERRUPTED.into() } else { ExitCode::SUCCESS });
            }
        },
        None => Choice::default(),
    };
    let wish = Wish::new(&cwd, args, choice)?;
    folder::check(&wish.dir)?;
    let content = texts::content(&wish);
    folder::write(&wish.dir, &content)?;
    tell(sym, &cwd, &wish, &content);
    Ok(ExitCode::SUCCESS)
}

fn tell(sym: &Symposium, cwd: &Path, wish: &Wish, content: &Content) {
    for path in content.files.keys().filter(|path| *path != MANIFEST_COPY) {
        sym.report.event(&Event::status("Created", sym.report.path(&wish.dir.join(path))));
    }
    let (checked, then) = match &wish.kind {
        Kind::Plugin(_) => {
            let place = typed(cwd, &wish.dir);
            (place.clone(), format!("`cargo agents plugin add {place}` brings it to your agents"))
        }
        Kind::Skill => {
            let above = typed(cwd, wish.dir.parent().unwrap_or(&wish.dir));
            let then = format!("`cargo agents plugin add {above}` brings it to your agents");
            (typed(cwd, &wish.dir), then)
        }
        Kind::CrateSkill { root, package } => {
            let then = format!(
                "`cargo agents use {package}` takes it in a workspace that depends on the crate"
            );
            (typed(cwd, root), then)
        }
    };
    let test = format!("`cargo agents plugin test {checked}` shows what agents get of it");
    for next in [test, then] {
        sym.report.event(&Event::status("Next", next));
    }
}

/// A folder as one types it: from where we are, quoted where a shell would split it.
fn typed(cwd: &Path, dir: &Path) -> String {
    let text = match dir.strip_prefix(cwd) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => dir.display().to_string(),
    };
    // The quotes that both `cmd` and PowerShell know.
    if cfg!(windows) {
        return if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text };
    }
    let quoted = shlex::try_quote(&text).map(std::borrow::Cow::into_owned);
    quoted.unwrap_or_else(|_| text.clone())
}
