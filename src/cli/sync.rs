//! `cargo agents sync`.

use crate::report::ExitCode;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use super::CommandResult;
use super::ask::tell_candidates;
use super::grammar::SyncArgs;
use super::lock;
use super::screen::count;
use super::self_update;
use super::team::{self, Settled};
use super::terminal::INTERRUPTED;
use crate::Symposium;
use crate::agents::Agent;
use crate::report::{Action, Change, Event, Kind};
use crate::sync::background::Background;
use crate::sync::{Caller, Mode, Request, Synced, sync};

pub(super) fn run(sym: &mut Symposium, args: &SyncArgs) -> CommandResult {
    let start = Instant::now();
    let named = named_agents(&args.agent)?;
    let mode = match args {
        SyncArgs { dry_run: true, .. } | SyncArgs { check: true, .. } => Mode::Plan,
        // An event started us, and its user wants no sync by events.
        SyncArgs { background: true, .. } if !sym.config.auto_sync => Mode::Look,
        _ => Mode::Apply,
    };
    let is_broken = if args.background {
        false
    } else {
        if team::settle(sym, &args.team, mode)? == Settled::Interrupted {
            sym.report.event(&Event::status("Cancelled", "nothing was changed"));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        sym.team.as_ref().is_some_and(|team| !team::problems(team).is_empty())
    };
    let locked = if args.locked { Some(lock::pin(sym)?) } else { None };
    let request = Request {
        locked,
        start: sym.cwd()?,
        named: (!named.is_empty()).then_some(named),
        force: args.force,
        mode,
        caller: if args.background { Caller::Background } else { Caller::Command },
        ..Request::default()
    };
    if args.background {
        let background = Background::of(&sym.dirs, &request.start);
        let work = || {
            let done = sync(sym, &request).map(drop);
            self_update::check_in_background(sym);
            done
        };
        background.run(&sym.env, work).transpose()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut synced = sync(sym, &request)?;
    if mode != Mode::Apply || !sym.report.is_interactive() {
        tell_candidates(sym, &synced);
    }
    finish(sym, &synced, mode, start);
    if mode == Mode::Apply {
        match settle(sym, &request, synced)? {
            Some(settled) => synced = settled,
            None => return Ok(ExitCode::from(INTERRUPTED)),
        }
    }
    // A fresh checkout has no copies of skills: there the lock file is what is checked.
    let found = args.check && !args.locked && synced.is_change();
    Ok(if synced.failed || found || is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Asks about what waits for the user's word, and syncs again where something was taken. `None`
/// where Ctrl-C ended the questions.
pub(super) fn settle(
    sym: &mut Symposium,
    request: &Request,
    synced: Synced,
) -> anyhow::Result<Option<Synced>> {
    let answers = super::ask::about_candidates(sym, &synced)?;
    if answers.interrupted {
        return Ok(None);
    }
    if !answers.taken {
        return Ok(Some(synced));
    }
    let start = Instant::now();
    let again = sync(sym, request)?;
    finish(sym, &again, Mode::Apply, start);
    Ok(Some(again))
}

/// The agents of `--agent`, each once.
fn named_agents(names: &[String]) -> anyhow::Result<Vec<Agent>> {
    let mut agents = Vec::new();
    for name in names {
        let agent = Agent::from_name(name).ok_or_else(|| Agent::unknown(name))?;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    Ok(agents)
}

pub(super) fn finish(sym: &Symposium, synced: &Synced, mode: Mode, start: Instant) {
    let changes = Change::count(&synced.changes);
    let summary = match (mode, changes) {
        (Mode::Plan, 1..) => planned(changes),
        _ if synced.failed => in_part(&synced.changes),
        (_, 0) => format!("nothing to do ({})", synced.summary),
        _ => synced.summary.clone(),
    };
    tell_what_to_commit(sym, &synced.to_commit);
    sym.report.finished(start, summary, changes, mode == Mode::Plan);
}

/// Files that a team shares are of use to it only once they are committed.
pub(super) fn tell_what_to_commit(sym: &Symposium, files: &[PathBuf]) {
    let mut files: Vec<_> = files.iter().map(|file| sym.report.path(file)).collect();
    files.sort();
    files.dedup();
    if !files.is_empty() {
        let message = format!("commit {}: your team shares them", listed(&files));
        sym.report.event(&Event::status("Note", message));
    }
}

/// What was done where not everything could be.
pub(super) fn in_part(changes: &[Change]) -> String {
    let mut groups: Vec<(Kind, Action, BTreeSet<String>)> = Vec::new();
    for change in changes.iter().filter(|change| change.action.is_change()) {
        let name = match change.kind {
            Kind::Hooks => change.shown_places(),
            _ => change.name.clone(),
        };
        let same = |(kind, action, _): &&mut (Kind, Action, _)| {
            (*kind, *action) == (change.kind, change.action)
        };
        match groups.iter_mut().find(same) {
            Some((.., names)) => drop(names.insert(name)),
            None => groups.push((change.kind, change.action, BTreeSet::from([name]))),
        }
    }
    let done = groups.into_iter().map(|(kind, action, names)| {
        let names = Vec::from_iter(names);
        let what = match kind {
            Kind::Hooks => format!("hooks of {}", listed(&names)),
            Kind::Skill => count(names.len(), "skill"),
            Kind::Server => count(names.len(), "server"),
            _ => listed(&names),
        };
        format!("{what} {}", action.past().to_lowercase())
    });
    match done.collect::<Vec<_>>().join(", ") {
        done if done.is_empty() => "with errors: nothing changed".to_owned(),
        done => format!("with errors: {done}"),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The summary of a dry run that found `changes` to make.
pub(super) fn planned(changes: usize) -> String {
    let them = if changes == 1 { "it" } else { "them" };
    format!("{}; run without --dry-run to make {them}", count(changes, "change"))
}
