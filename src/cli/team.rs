//! The team's `symposium.toml`: what of it waits, the one question about it, and the answers that the
//! command line gives.

use anyhow::Context as _;
use serde::Serialize;
use std::path::PathBuf;

use super::ask::{Answer, choose};
use super::theme::Plain;
use crate::Symposium;
use crate::config::team::{NAME, Offered, Standing, Team};
use crate::report::Event;
use crate::symposium::VERSION;
use crate::sync::Mode;
use crate::text::Diagnostic;

/// What the command line says of the team's file.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(super) struct TeamArgs {
    /// Put the team's symposium.toml in force, if this is its hash (`status` shows it)
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub accept_team_file: Option<String>,
    /// Take back what you accepted of the team's symposium.toml
    #[arg(long, conflicts_with = "accept_team_file")]
    pub decline_team_file: bool,
}

impl TeamArgs {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn hash(text: &str) -> Result<String, String> {
    let is_hash = (32..=64).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_hexdigit());
    is_hash
        .then(|| text.to_ascii_lowercase())
        .ok_or_else(|| "a hash has 32 to 64 hexadecimal digits; `status` shows it".to_owned())
}

/// How the file stands, for `status`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TeamStatus {
    /// The file.
    pub path: PathBuf,
    /// How it stands.
    pub state: Standing,
    /// What accepts it: the first digits of its SHA-256.
    pub hash: String,
    /// What it offers now, one thing each.
    pub offers: Vec<String>,
    /// What was accepted and is in force.
    pub in_force: Vec<String>,
    /// What there is to know of it, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// What to do then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl TeamStatus {
    /// `None` where there is nothing to say.
    pub(super) fn of(team: &Team) -> Option<Self> {
        if team.standing == Standing::Nothing && team.problems.is_empty() {
            return None;
        }
        let (notice, remedy) = notice(team).unzip();
        Some(Self {
            path: team.path.clone(),
            state: team.standing,
            hash: team.hash().to_owned(),
            offers: team.offers().iter().map(told).collect(),
            in_force: team.taken().iter().map(told).collect(),
            notice,
            remedy,
        })
    }
}

/// `use widget`.
fn told(offered: &Offered) -> String {
    format!("{} {}", offered.label.to_lowercase(), offered.text)
}

/// What of the file somebody should know, and what to do.
pub(super) fn notice(team: &Team) -> Option<(String, String)> {
    let accept = format!("`cargo agents sync --accept-team-file {}`", team.hash());
    let kept = match &team.in_force {
        Some(file) if !file.is_empty() => "what you accepted stays in force",
        _ => "nothing of it is in force",
    };
    let (message, remedy) = match team.standing {
        Standing::Nothing | Standing::InForce => return None,
        Standing::Waits => {
            let offers = team.now.iter().map(|file| file.counted()).collect::<String>();
            (
                format!("{NAME} offers {offers}; {kept}"),
                format!("`cargo agents sync` shows it and asks, {accept} accepts"),
            )
        }
        Standing::Changed => (
            format!("{NAME} changed since you accepted it; {kept}"),
            format!("`cargo agents sync` shows the difference and asks, {accept} accepts"),
        ),
        Standing::Gone => (
            format!("{NAME} is gone; {kept}"),
            "`cargo agents sync --decline-team-file` takes it back".to_owned(),
        ),
        Standing::Declined => {
            (format!("you declined {NAME} as it is; {kept}"), format!("{accept} accepts it"))
        }
        Standing::Broken => (format!("{NAME} can't be read; {kept}"), "correct it".to_owned()),
        Standing::TooNew => {
            let wanted = team.wants.iter().map(ToString::to_string).collect::<String>();
            (
                format!("{NAME} needs cargo-agents {wanted}, and this is {VERSION}; {kept}"),
                "`cargo agents self-update`".to_owned(),
            )
        }
    };
    Some((message, remedy))
}

/// That this program is older than the file asks for.
pub(super) fn too_old(team: &Team) -> Option<Diagnostic> {
    let wanted = team.wants.as_ref()?;
    let message = format!("{NAME} needs cargo-agents {wanted} or newer, and this is {VERSION}");
    let told = Diagnostic::warning(message).in_file(&team.path);
    Some(told.note("`cargo agents self-update` installs the newest one"))
}

/// What is wrong with the file, where it is what is wrong and not this program's age.
pub(super) fn problems(team: &Team) -> &[Diagnostic] {
    if team.standing == Standing::Broken { &team.problems } else { &[] }
}

/// What came of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// The command goes on.
    Done,
    /// With Ctrl-C.
    Interrupted,
}

/// Takes what the command line says of the team's file, asks where somebody has to answer, and tells
/// the rest.
///
/// # Errors
/// The file is not what the command line accepts, or the answer can't be kept.
pub(super) fn settle(sym: &mut Symposium, args: &TeamArgs, mode: Mode) -> anyhow::Result<Settled> {
    if let Some(given) = &args.accept_team_file {
        accept(sym, given, mode)?;
    }
    let Some(team) = sym.team.clone() else { return Ok(Settled::Done) };
    if args.decline_team_file {
        if mode == Mode::Apply {
            keep(sym, &team, Team::take_back)?;
            sym.report
                .event(&Event::status("Declined", format!("{NAME}: nothing of it is in force")));
        }
        return Ok(Settled::Done);
    }
    let asks = mode == Mode::Apply && sym.report.is_interactive();
    if asks && team.waits() {
        return ask(sym, &team);
    }
    tell(sym, &team);
    Ok(Settled::Done)
}

fn tell(sym: &Symposium, team: &Team) {
    sym.report.diagnostics(problems(team));
    match too_old(team) {
        Some(told) => sym.report.diagnostic(&told),
        None => {
            // Who declined it knows.
            if let Some((message, remedy)) =
                notice(team).filter(|_| team.standing != Standing::Declined)
            {
                sym.report.event(&Event::status("Waiting", format!("{message}: {remedy}")));
            }
        }
    }
}

/// Accepts the file, where `given` is its hash.
fn accept(sym: &mut Symposium, given: &str, mode: Mode) -> anyhow::Result<()> {
    let nothing = || {
        Diagnostic::error(format!("there is no {NAME} to accept"))
            .note("it lies beside the Cargo.toml of the workspace")
    };
    let team = sym.team.clone().ok_or_else(nothing)?;
    if let Some(mut told) = too_old(&team) {
        told.severity = crate::text::Severity::Error;
        return Err(told.note("nothing was accepted").into());
    }
    if team.now.is_none() {
        sym.report.diagnostics(&team.problems);
        return Err(
            Diagnostic::error(format!("{NAME} can't be read, so it was not accepted")).into()
        );
    }
    if team.standing == Standing::Gone || !team.path.exists() {
        return Err(nothing().into());
    }
    if !team.is(given) {
        return Err(Diagnostic::error(format!("{NAME} is not what was to be accepted"))
            .in_file(&team.path)
            .note(format!("it is {}, and not {given}", team.hash()))
            .note("look at what it offers (`cargo agents status`), then accept it as it is now")
            .into());
    }
    if mode == Mode::Apply {
        team.accept(&sym.dirs).context("the answer is not kept")?;
        sym.report.event(&Event::status("Accepted", format!("{NAME} ({})", team.hash())));
    }
    sym.accepted_team = Some(given.to_owned());
    sym.enter(team.root());
    Ok(())
}

fn keep(
    sym: &mut Symposium,
    team: &Team,
    write: fn(&Team, &crate::config::Dirs) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    write(team, &sym.dirs).context("the answer is not kept")?;
    sym.enter(team.root());
    Ok(())
}

/// The one question.
fn ask(sym: &mut Symposium, team: &Team) -> anyhow::Result<Settled> {
    let (question, no) = show(sym, team);
    let answers = [("yes", Some(true)), (no, Some(false)), ("not now", None)];
    let theme = Plain::new(&sym.report);
    match choose(theme, question, &answers)? {
        Answer::Given(Some(true)) => keep(sym, team, Team::accept)?,
        Answer::Given(Some(false)) => keep(sym, team, Team::decline)?,
        Answer::Given(None) | Answer::Later => {
            let later = "the next sync asks again, and `cargo agents status` shows it";
            sym.report.event(&Event::status("Later", format!("{NAME}: {later}")));
        }
        Answer::Interrupted => return Ok(Settled::Interrupted),
    }
    Ok(Settled::Done)
}

/// Shows what the question is about. The answer: the question, and how a no reads.
fn show(sym: &Symposium, team: &Team) -> (&'static str, &'static str) {
    let status = |label: &str, text: String| sym.report.event(&Event::status(label, text));
    let (now, before) = (team.offers(), team.taken());
    let runs = "plugins of a source can run programs, and a skill is text that your agents follow";
    let gone = before.iter().filter(|item| !now.contains(item));
    let new = now.iter().filter(|item| !before.contains(item));
    match team.standing {
        Standing::Gone => {
            status("Team", format!("{NAME} is gone. You had accepted from it:"));
            before.iter().for_each(|item| status(item.label, item.text.clone()));
            ("Take it back?", "no, and don't ask again while it is gone")
        }
        Standing::Changed => {
            status("Team", format!("{NAME} changed since you accepted it:"));
            let changes = gone.map(|item| ("Gone", item)).chain(new.map(|item| ("New", item)));
            let changes: Vec<_> = changes.collect();
            changes.iter().for_each(|(label, item)| status(label, told(item)));
            if changes.is_empty() {
                status("New", "the order, or the secret part of an address".to_owned());
            }
            status("Note", runs.to_owned());
            ("Take it as it is now?", "no, keep what I accepted, and don't ask until it changes")
        }
        _ => {
            status("Team", format!("{NAME} offers, for this workspace alone:"));
            now.iter().for_each(|item| status(item.label, item.text.clone()));
            status("Note", runs.to_owned());
            ("Take what your team offers?", "no, and don't ask again until it changes")
        }
    }
}
